"""Outputs that are a file for one table, or a folder for all of them."""

import polars as pl
import pytest

from evalframe.jobs.rag.run import TABLES
from evalframe.jobs.run import target_of
from evalframe.rag.sample.responses import sample_responses
from evalframe.replication.sample import sample_tests


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_folders_with_names_of_files(folder, call):
    sample_responses(questions=3).write_parquet("items.parquet")
    command = ["rag", "items.parquet", "-q"]
    (folder / "keep.csv").write_text("mine")
    told = call(*command, "-o", "keep.csv/", exit_code=1).output
    assert "keep.csv is a file, not a folder; name a folder" in " ".join(told.split())
    assert (folder / "keep.csv").read_text() == "mine"
    (folder / "out.v2").mkdir()
    for name in ("out.v1/", "out.v2", "new.csv/"):
        call(*command, "-o", name, "--on-invalid", "quarantine")
        found = {path.stem for path in (folder / name).iterdir()}
        assert found <= {*TABLES}
        assert len(found) > 1
        assert (folder / f"{name.strip('/')}.rejected.parquet").is_file()
    call(*command, "-o", "keep.csv")
    assert len(pl.read_csv("keep.csv")) > 1


def test_a_name_that_is_too_long_is_no_folder(folder, call):
    sample_tests().write_parquet("items.parquet")
    for name in ("x" * 300 + ".csv", "x" * 300, "x" * 300 + "/"):
        told = call("replication", "items.parquet", "-o", name, exit_code=1).output
        assert told.startswith("error: cannot write xxx")


@pytest.mark.parametrize(
    ("output", "is_folder"),
    [("a.csv", False), ("a", True), ("a.csv/", True), ("there.csv", True), (".hidden", True)],
)
def test_what_an_output_stands_for(folder, output, is_folder):
    (folder / "there.csv").mkdir()
    target = target_of(output, folder)
    assert target is not None
    assert (target.path, target.is_folder) == (folder / output, is_folder)
    assert target_of(None, folder) is None
