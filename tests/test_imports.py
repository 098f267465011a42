"""The order of the rooms (design section 2), and what `import evalframe` may load."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import evalframe
from evalframe.jobs.family import FAMILIES

PACKAGE = Path(evalframe.__file__).parent

PUBLIC = ""
VERBS = {"evaluation", "comparison", "ranking"}
FAMILY = {"core", "resample", "standard", *VERBS}
MAY_IMPORT = {
    "core": set(),
    "resample": {"core"},
    "engine": {"core", "resample"},
    "evaluation": {"core", "resample", "engine"},
    "comparison": {"core", "resample", "engine", "evaluation"},
    "ranking": {"core", "resample", "engine", "evaluation", "comparison"},
    "standard": {"core"},
    **dict.fromkeys(FAMILIES, FAMILY),
    "compat": {*FAMILY, *FAMILIES},
    "logs": {"core"},
    "jobs": {
        *(PUBLIC, *FAMILY, *FAMILIES),
        *("compat", "engine", "logs", "plot", "reporting", "sections"),
    },
    "reporting": {"core"},
    "plot": {"core", "reporting"},
    "sections": {PUBLIC, "core", "plot", "reporting"},
    "testing": FAMILY,
    "__init__": {"core.lazy"},
    "__main__": {"jobs"},
    "reference_texts": {PUBLIC, "core"},
}


def imported(path):
    """What of this package a file imports anywhere, with the line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"relative import in {path.name}:{node.lineno}"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, _, rest = name.partition(".")
            if first == "evalframe":
                yield rest, node.lineno


FILES = sorted(PACKAGE.rglob("*.py"))


def test_rooms_import_only_what_stands_above_them():
    for path in FILES:
        parts = path.relative_to(PACKAGE).parts
        room = parts[0].removesuffix(".py")
        allowed = MAY_IMPORT[room] | ({room} if len(parts) > 1 else set())
        for name, line in imported(path):
            other, _, rest = name.partition(".")
            ways = {other, f"{other}.{rest.partition('.')[0]}"}
            told = f"{'/'.join(parts)}:{line}: {room} must not import evalframe.{name}"
            assert ways & allowed, told


def loaded_by(code):
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(shown.stdout.split())


HEAVY = {
    "numpy",
    "scipy",
    "pyarrow",
    "click",
    "msgspec",
    "altair",
    "vl_convert",
    "matplotlib",
    "pandas",
    "dask",
    "tqdm",
    "great_tables",
}
ROOMS = {f"evalframe.{room}" for room in ("jobs", "reporting", "testing", "engine", "plot")}


def test_import_loads_nothing():
    assert not loaded_by("import evalframe") & (HEAVY | ROOMS | {"polars"})


def test_charts_load_altair_when_one_is_drawn():
    assert not loaded_by("import evalframe as ef; ef.plot.forest") & {"altair", "vl_convert"}


def test_a_metric_loads_its_family_only():
    others = {f"evalframe.{family}" for family in ("compat", "rag", "replication", "survey")}
    assert not loaded_by("import evalframe as ef; ef.aurc") & others


def test_metrics_load_polars_and_nothing_heavy():
    use = "ef.aurc(); ef.metric_set(ef.coverage, ef.risk_at(0.5))()"
    loaded = loaded_by(f"import evalframe as ef; {use}")
    assert "polars" in loaded
    assert not loaded & (HEAVY | ROOMS)


NAMES = {
    "selective": "confidence",
    "rag": "answers_from_text",
    "survey": "cosine_similarity",
    "replication": "pas",
}
USES = {
    "a family": "import evalframe as ef; ef.{family}",
    "a name of a family": "import evalframe as ef; ef.{family}.{name}",
    "a name from a family": "from evalframe.{family} import {name}",
    "a family by itself": "from evalframe import {family}",
}


def test_every_family_has_a_name_to_try():
    assert {*NAMES, "items"} == {*FAMILIES}


def test_families_and_their_names_load_nothing_heavy():
    code = "\n".join(
        [
            "import sys",
            *(
                f"{use.format(family=family, name=name)}\n"
                f"print({called!r}, {family!r}, *sys.modules, flush=True)"
                for family, name in NAMES.items()
                for called, use in USES.items()
            ),
        ]
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for line in shown.stdout.splitlines():
        loaded = set(line.split())
        assert not loaded & (HEAVY | ROOMS), line[:60]


def test_public_names_are_found_and_others_refused_with_a_hint():
    assert dir(evalframe) == sorted(evalframe.__all__)
    namespace = {}
    exec("from evalframe import *", namespace)
    assert set(evalframe.__all__) <= set(namespace)
    with pytest.raises(AttributeError, match=r"no attribute 'aucr'\. Did you mean 'aurc'"):
        evalframe.aucr  # noqa: B018


PACKAGES = sorted(path.parent for path in FILES if path.name == "__init__.py")


@pytest.mark.parametrize("folder", PACKAGES, ids=[str(f.relative_to(PACKAGE)) for f in PACKAGES])
def test_no_public_name_is_that_of_a_module(folder):
    """An import of the module would bind its name in the package, and hide the other."""
    stub = folder / "__init__.pyi"
    tree = ast.parse((stub if stub.exists() else folder / "__init__.py").read_text())
    package = ".".join(["evalframe", *folder.relative_to(PACKAGE).parts])
    names = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module != package
        for alias in node.names
    }
    assert not names & {path.stem for path in folder.iterdir()}
