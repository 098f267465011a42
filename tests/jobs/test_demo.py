"""`evalframe demo`: the main command of each family, on the samples."""

import re
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from evalframe.jobs.cli import cli
from evalframe.jobs.samples import write_samples

FAMILIES = ["selective", "rag", "survey", "replication", "items"]


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples") / "of mine"
    write_samples(folder, participants=8)
    return folder


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    return tmp_path_factory.mktemp("output")


@pytest.fixture(scope="module")
def shown(samples, output):
    told = demo(samples, "-o", output)
    assert told.exit_code == 0, told.output
    return told.stdout


def demo(*words):
    return CliRunner().invoke(cli, ["demo", *map(str, words)])


def test_all_families_are_shown_and_written(shown, output):
    assert re.findall(r"^\$ evalframe (\w+) ", shown, re.MULTILINE) == FAMILIES
    places = re.findall(r"^Written: (?:\d+ tables? in )?(.*)$", shown, re.MULTILINE)
    assert places == [f"{output}/{name}/" for name in FAMILIES]
    tables = [path for place in places for path in Path(place).iterdir()]
    assert all(pl.read_parquet(path).width > 1 for path in tables)


def test_each_table_has_a_question_a_reading_and_intervals(shown):
    parts = re.split(r"\n(?=.*\n=+\n)", shown)[1:]
    assert len(parts) == len(FAMILIES)
    for part in parts:
        question, _, reading = part.splitlines()[:3]
        assert question.endswith("?")
        assert ":" in reading
        assert part.count("95% intervals in brackets.") == 1
        assert re.search(r"\d\.\d+ \[.?\d\.\d+, .?\d\.\d+\]", part)
    assert "README.md" in parts[-1]


def test_again_from_among_the_samples(shown, samples, output, monkeypatch):
    monkeypatch.chdir(samples)
    monkeypatch.setattr("evalframe.jobs.samples.FAMILIES", ["rag", "items"])
    told = demo(".", "-o", output)
    assert told.exit_code == 0, told.output
    intervals = re.compile(r"^.*\d \[.*$", re.MULTILINE)
    again = intervals.findall(told.stdout)
    assert again
    assert {*again} < {*intervals.findall(shown)}


@pytest.mark.parametrize("lacking", ["items", "survey"])
def test_no_samples(tmp_path, samples, lacking):
    folder = tmp_path / "data"
    folder.mkdir()
    for path in samples.glob("*.parquet"):
        if path.stem != lacking:
            (folder / path.name).write_bytes(path.read_bytes())
    told = demo(folder, "-o", tmp_path / "out")
    assert told.exit_code == 1
    assert f"no samples in {folder}: {folder}/{lacking}.parquet is not there" in told.stderr
    assert f"write them by `evalframe sample {folder}`" in told.stderr
    assert not (tmp_path / "out").exists()


def test_no_folder_for_results(tmp_path, samples):
    (tmp_path / "out").write_text("")
    told = demo(samples, "-o", tmp_path / "out")
    assert told.exit_code == 1
    assert "cannot make the folder" in told.stderr
