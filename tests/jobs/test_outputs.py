"""Files that jobs write: formats, provenance, and what is never lost."""

import subprocess
import sys

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.errors import OutputError
from evalframe.core.files import replacing
from evalframe.jobs.written import check_output, read_provenance, write_result

TABLE = pl.DataFrame({"metric": ["aurc", "augrc"], "estimate": [0.1, None]})


@pytest.mark.parametrize(
    ("suffix", "read"),
    [
        ("parquet", pl.read_parquet),
        ("csv", pl.read_csv),
        ("json", pl.read_json),
        ("jsonl", pl.read_ndjson),
        ("ndjson", pl.read_ndjson),
    ],
)
def test_the_extension_decides_the_format(tmp_path, suffix, read):
    path = tmp_path / f"out.{suffix}"
    check_output(path)
    write_result(TABLE, path, {"seed": 42})
    assert_frame_equal(read(path), TABLE)
    assert list(tmp_path.iterdir()) == [path]


def test_markdown_is_for_readers(tmp_path):
    path = tmp_path / "out.md"
    write_result(TABLE, path, {"seed": 42})
    assert path.read_text().splitlines() == [
        "| metric | estimate |",
        "| ------ | -------: |",
        "| aurc   |      0.1 |",
        "| augrc  |        — |",
    ]
    write_result(TABLE, path, {"seed": 42}, readable=lambda: "other")
    assert path.read_text() == "other\n"


def test_parquet_carries_the_provenance(tmp_path):
    write_result(TABLE, tmp_path / "out.parquet", {"seed": 42})
    assert read_provenance(tmp_path / "out.parquet") == {"seed": 42}


def test_a_file_without_provenance(tmp_path):
    TABLE.write_parquet(tmp_path / "out.parquet")
    with pytest.raises(OutputError, match="carries no provenance; was it written by evalframe"):
        read_provenance(tmp_path / "out.parquet")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, RuntimeError])
def test_the_old_file_survives_an_interruption(tmp_path, interruption):
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(interruption), replacing(path) as temporary:
        _write_half(temporary, interruption)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def _write_half(path, interruption):
    path.write_text("half of the n")
    raise interruption


def test_bad_places(tmp_path):
    (tmp_path / "taken.csv").mkdir()
    for name, message in {
        "absent/out.csv": "cannot write out.csv: no folder .*absent'; create it first",
        "out.xlsx": "cannot write out.xlsx: unknown format '.xlsx'; known: .parquet",
        "taken.csv": "cannot write taken.csv: there is a folder of this name",
    }.items():
        with pytest.raises(OutputError, match=message):
            check_output(tmp_path / name)


AS_NOBODY = """
import os, sys
from pathlib import Path
from evalframe.jobs.written import check_output
os.chdir(sys.argv[1])
if os.getuid() == 0:  # who may write anywhere
    os.setuid(65534)
check_output(Path("out.csv"))
"""


def test_read_only_folder(tmp_path):
    tmp_path.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, tmp_path], capture_output=True, text=True, check=False
    )
    assert "OutputError: cannot write out.csv into '.' (Permission denied); make it" in done.stderr


def test_a_link_stays_and_the_mode_too(tmp_path):
    target, link = tmp_path / "real.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("real.csv")
    check_output(link)
    write_result(TABLE, link, {})
    assert link.is_symlink()
    assert_frame_equal(pl.read_csv(target), TABLE)
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_device_is_not_replaced(tmp_path):
    (tmp_path / "null.csv").symlink_to("/dev/null")
    with pytest.raises(OutputError, match=r"cannot write null.csv: it is not a regular file"):
        check_output(tmp_path / "null.csv")
