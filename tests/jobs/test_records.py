"""Rows that serve some confidences and not others."""

import shutil
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.jobs.written import read_provenance

FLAGS = (
    *("-o", "out.parquet", "--by", "mode", "--loss", "abs_norm"),
    *("--confidence", "confidence,evidence"),
)


@pytest.fixture
def bad(folder, items):
    """Row 1 lacks its label, row 2 one confidence, row 3 both."""
    row = pl.int_range(pl.len())
    bad = items.with_columns(
        label=pl.when(row != 1).then("label"),
        confidence=pl.when(row == 3).then(float("nan")).otherwise("confidence"),
        evidence=pl.when(~row.is_in([2, 3])).then("evidence"),
    )
    bad.write_parquet("bad.parquet")
    return bad


def test_a_row_is_rejected_for_the_confidence_it_lacks(call, bad):
    done = call("selective", "bad.parquet", *FLAGS, "--on-invalid", "quarantine", "-q")
    assert "confidence: 46 of 48 rows accepted" in done.stderr
    assert "evidence: 45 of 48 rows accepted" in done.stderr
    assert "label is present where prediction is: not so in 1" in done.stderr
    rejected = pl.read_parquet("out.rejected.parquet")
    assert rejected.columns == [*bad.columns, "row", "rejected_for", "broken_rules"]
    assert rejected.select("row", "rejected_for").rows() == [
        (1, None),
        (3, "confidence"),
        (2, "evidence"),
        (3, "evidence"),
    ]
    record = read_provenance("out.parquet")["records"]
    assert record == {"rows": 48, "rejected": {"confidence": 2, "evidence": 3}}


def test_one_confidence_has_the_numbers_it_has_alone(call, bad):
    call("selective", "bad.parquet", *FLAGS, "--on-invalid", "quarantine", "-q")
    both = pl.read_parquet("out.parquet")
    for name, rows in {"confidence": [1, 3], "evidence": [1, 2, 3]}.items():
        good = bad.with_row_index().filter(~pl.col("index").is_in(rows)).drop("index")
        good.write_parquet("good.parquet")
        call("selective", "good.parquet", *FLAGS[:-1], name, "-q")
        assert_frame_equal(both.filter(confidence=name), pl.read_parquet("out.parquet"))


def test_nothing_is_left(call, folder, items):
    items.with_columns(participant_id=None).write_parquet("bad.parquet")
    Path("out.parquet").write_text("yesterday's")
    done = call("selective", "bad.parquet", *FLAGS, "--on-invalid", "quarantine", exit_code=1)
    assert "error: none of 48 rows keeps the rules, so nothing is computed" in done.stderr
    assert Path("out.parquet").read_text() == "yesterday's"
    assert not [*folder.glob(".*"), *folder.glob("*.rejected.*")]


def test_the_quarantine_is_no_input(call, bad):
    shutil.copy("bad.parquet", "out.rejected.parquet")
    flags = (*FLAGS, "--on-invalid", "quarantine")
    done = call("selective", "out.rejected.parquet", *flags, exit_code=1)
    assert "error: out.rejected.parquet is one of the inputs" in done.stderr
    assert_frame_equal(pl.read_parquet("out.rejected.parquet"), bad)
    assert not Path("out.parquet").exists()
