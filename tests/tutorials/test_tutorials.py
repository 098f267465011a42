"""The tutorials run as users get them, and their prose holds what their output shows.

Claims are in the metadata of cells of the package's own notebooks: expressions, evaluated after the
cell, that are true or a text that the cell holds.
"""

import ast
import json
import re
from importlib import resources
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbclient import NotebookClient

from evalframe.core.errors import OutputError
from evalframe.jobs.cli import cli
from evalframe.jobs.samples import write_tutorials

SOURCES = {
    file.name: nbformat.reads(file.read_text(encoding="utf-8"), as_version=4)
    for file in sorted(
        (resources.files("evalframe") / "tutorials").iterdir(), key=lambda file: file.name
    )
}
CELLS = 25
_ANEW = nbformat.v4.new_code_cell("%reset -f", id="anew")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorials")
    told = CliRunner().invoke(cli, ["tutorial", str(folder)], catch_exceptions=False)
    *paths, blank, opening = told.stdout.splitlines()
    assert paths == [str(folder / name) for name in SOURCES]
    assert (blank, opening.endswith(f"jupyter lab {folder}")) == ("", True)
    return folder


@pytest.fixture(scope="module")
def kernel(folder):
    """One kernel for all notebooks, each of which starts without the names of the others."""
    place = {"metadata": {"path": str(folder)}}
    client = NotebookClient(nbformat.v4.new_notebook(), timeout=120, resources=place)
    with client.setup_kernel():
        yield client


def run(kernel, cell):
    kernel.nb.cells = [cell]
    return kernel.execute_cell(cell, 0).get("outputs", [])


def broken(kernel, cell, prose):
    """The claims that do not hold."""
    claims = cell.metadata.get("evalframe", {}).get("claims", [])
    if not claims:
        return []
    each = f"[c if isinstance(c, str) else bool(c) for c in ({', '.join(claims)},)]"
    (output,) = run(kernel, nbformat.v4.new_code_cell(each))
    found = ast.literal_eval(output["data"]["text/plain"])
    told = zip(claims, found, strict=True)
    return [f"{c}: {v}" for c, v in told if not (v in prose if isinstance(v, str) else v)]


def check(kernel, source, mine):
    """Cells run without a word of warning, fetch nothing, and show what their prose says."""
    run(kernel, _ANEW)
    for given, cell in zip(source.cells, mine.cells, strict=True):
        if cell.cell_type == "code":
            for output in run(kernel, cell):
                is_told = output.get("name") == "stderr" and "\r" not in output.text  # no bar
                assert not is_told, f"{cell.source}\n{output}"
                addresses = re.findall(r"https?://[^\s\"'<>)]+", json.dumps(output))
                assert not {a for a in addresses if "w3.org" not in a}, cell.source
        wrong = broken(kernel, given, cell.source)
        assert not wrong, f"{cell.source}\n\n{wrong}"
    nbformat.validate(mine)


@pytest.mark.parametrize("name", SOURCES)
def test_a_tutorial_runs_and_says_what_it_shows(name, kernel, folder):
    check(kernel, SOURCES[name], nbformat.read(folder / name, as_version=4))


def test_a_study_of_real_records_says_what_it_shows(kernel, folder, shared):
    (folder / "shared").symlink_to(shared)
    study = nbformat.read(Path(__file__).with_name("from_logs.ipynb"), as_version=4)
    assert len(study.cells) <= 40
    check(kernel, study, study)


@pytest.mark.parametrize("name", SOURCES)
def test_notebooks_of_the_package_have_claims_and_no_outputs(name, folder):
    notebook = SOURCES[name]
    nbformat.validate(notebook)
    assert len(notebook.cells) < CELLS
    assert notebook.metadata.kernelspec.name == "python3"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    claims = [c for cell in notebook.cells for c in cell.metadata.get("evalframe", {}).values()]
    assert len(claims) > 4
    given = nbformat.read(folder / name, as_version=4)
    assert not any(cell.metadata for cell in given.cells)


def test_tutorials_that_were_run_are_kept(folder):
    changed, other = (folder / name for name in list(SOURCES)[:2])
    as_written = changed.read_text(encoding="utf-8")
    changed.write_text("mine")
    other.unlink()
    with pytest.raises(OutputError, match=rf"already has {changed.name} with other content"):
        write_tutorials(folder)
    assert changed.read_text() == "mine"
    assert not other.exists()
    write_tutorials(folder, overwrite=True)
    assert changed.read_text(encoding="utf-8") == as_written
    assert other.exists()
