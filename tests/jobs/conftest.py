"""Samples and folders for jobs."""

import functools
import shutil

import polars as pl
import pytest
from click.testing import CliRunner

from evalframe.jobs.cli import cli
from evalframe.jobs.samples import write_samples
from evalframe.rag.sample import responses
from evalframe.survey.parsing import parse


@pytest.fixture(scope="session", autouse=True)
def _made_once():
    """Parse the same responses, and write the texts of the samples, once: half of such jobs."""
    known, usual = {}, parse._parsed

    @functools.wraps(usual)
    def parsed(rows):
        key = rows.to_frame().serialize()
        if key not in known:
            known[key] = usual(rows)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse, "_parsed", parsed)
        patch.setattr(responses, "sample_files", functools.cache(responses.sample_files))
        yield


@pytest.fixture(scope="session")
def items():
    """Six participants answer four items in two modes; every fifth answer is an abstention."""
    row = pl.int_range(48)
    return pl.select(
        participant_id=row // 8,
        item=pl.format("q{}", row % 4),
        mode=pl.when(row // 4 % 2 == 0).then(pl.lit("few")).otherwise(pl.lit("zero")),
        prediction=pl.when(row % 5 > 0).then((row * 5 + row // 7) % 4),
        label=row * 3 % 4,
        confidence=(row * 37 % 48) / 48,
        evidence=(row * 11 % 6).cast(pl.Float64),
    )


@pytest.fixture
def folder(tmp_path, items, monkeypatch):
    """The working directory, with `items.parquet` in it."""
    items.write_parquet(tmp_path / "items.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder, participants=5)
    return folder


@pytest.fixture
def samples(written, tmp_path, monkeypatch):
    """The working directory, with the samples of all families in it."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call():
    """Run a command line in this process."""

    def run(*args, exit_code=0):
        result = CliRunner().invoke(cli, args, prog_name="evalframe")
        assert result.exit_code == exit_code, (result.output, result.exception)
        return result

    return run


@pytest.fixture
def selective(folder, call):
    """Run `evalframe selective` on the items and read what it wrote."""

    def run(*args, items=("items.parquet",)):
        line = [*items, "-o", "out.parquet", "--quiet", "--loss", "abs_norm"]
        call("selective", *line, *args)
        return pl.read_parquet("out.parquet")

    return run


@pytest.fixture
def commands(tmp_path, monkeypatch, call):
    """Make what runs the commands of a family, in a folder with these tables.

    It gives what they print, in one line if asked.
    """

    def made(family, *, in_one_line=False, **tables):
        for name, table in tables.items():
            table.write_parquet(tmp_path / f"{name}.parquet")
        monkeypatch.chdir(tmp_path)

        def run(*args, exit_code=0):
            output = call(family, *args, exit_code=exit_code).output
            return " ".join(output.split()) if in_one_line else output

        return run

    return made
