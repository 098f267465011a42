"""`evalframe demo`: the main command of each family, on the samples."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from evalframe.jobs.cli import cli
from evalframe.jobs.samples import write_samples

ROOT = Path(__file__).parents[2]


def test_all_families_are_shown_and_written(tmp_path):
    samples = tmp_path / "data"
    write_samples(samples, participants=8)
    told = CliRunner().invoke(cli, ["demo", str(samples), "-o", str(tmp_path / "out")])
    assert told.exit_code == 0, told.output
    families = re.findall(r"^\$ evalframe (\w+) ", told.stdout, re.MULTILINE)
    assert families == ["selective", "rag", "survey", "replication"]
    assert told.stdout.count("95% intervals in brackets.") >= 4
    written = {path.parent.name for path in (tmp_path / "out").rglob("*.parquet")}
    assert written == {"out", "rag", "survey", "replication"}


def test_no_samples(tmp_path):
    told = CliRunner().invoke(cli, ["demo", str(tmp_path)])
    assert told.exit_code == 1
    assert f"write them by `evalframe sample {tmp_path}`" in told.stderr


def test_no_folder_for_results(tmp_path):
    samples = ROOT / "data"
    if not samples.exists():
        pytest.skip("an installed copy has no samples")
    (tmp_path / "out").write_text("")
    told = CliRunner().invoke(cli, ["demo", str(samples), "-o", str(tmp_path / "out")])
    assert told.exit_code == 1
    assert "cannot make the folder" in told.stderr
