"""`evalframe logs check` and `evalframe logs report`."""

import io
import json
import zipfile

import polars as pl
import pytest
from click.testing import CliRunner

import evalframe as ef
from evalframe.jobs.cli import cli


@pytest.fixture
def folder(tmp_path):
    """A sound log, one whose accuracy is another, and one that is cut short."""
    log = ef.logs.sample_log()
    (tmp_path / "a.eval").write_bytes(log)
    (tmp_path / "b.eval").write_bytes(with_header(log, change))
    (tmp_path / "c.eval").write_bytes(log[:-100])
    return tmp_path


def with_header(log, change):
    """A log with a change made to its header."""
    with zipfile.ZipFile(io.BytesIO(log)) as old, zipfile.ZipFile(new := io.BytesIO(), "w") as file:
        for name in old.namelist():
            content = json.loads(old.read(name))
            file.writestr(name, json.dumps(change(content) if name == "header.json" else content))
    return new.getvalue()


def change(header):
    header["results"]["scores"][0]["metrics"]["accuracy"]["value"] = 0.125
    return header


def test_a_check_prints_what_does_not_follow_and_fails(folder):
    result = CliRunner().invoke(cli, ["logs", "check", str(folder), "-o", str(folder / "checks")])
    assert result.exit_code == 1
    (line,) = (line for line in result.output.splitlines() if "0.125 " in line)
    assert "b.eval" in line
    assert "c.eval" in result.output
    assert "8 published numbers of 2 logs: 7 follow from the rows, 1 do not, 0 are" in result.output
    assert "1 log is skipped" in result.output
    assert len(pl.read_parquet(folder / "checks")) == 9
    sound = CliRunner().invoke(cli, ["logs", "check", str(folder / "a.eval")])
    assert sound.exit_code == 0


def test_a_report_has_a_line_per_log(folder):
    result = CliRunner().invoke(cli, ["logs", "report", str(folder), "--kind", "inspect"])
    assert result.exit_code == 0
    lines = [line for line in result.output.splitlines() if ".eval" in line]
    assert [line.split()[1:4] for line in lines[:2]] == [["inspect", "80", "160"]] * 2
    assert "no complete directory" in lines[2]
