"""Items of logs as records of the selective family.

An answer is its score, the truth is 1: a right answer loses nothing, by `zero_one` any other loses
1, by `abs` what lacks to 1. An empty answer abstains, and so does one without a score.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from evalframe.jobs.items.records import counts_of, scorers_of
from evalframe.jobs.rows import Rows
from evalframe.jobs.selective import ITEM, LABEL, PARTICIPANT, PREDICTION, SelectiveJob

if TYPE_CHECKING:
    from evalframe.jobs.inputs import Opened

_TRUTHS = {PREDICTION, LABEL, "loss", "correct"}
_POOLED = ("model", "task")


def as_answers(job: SelectiveJob, opened: Opened) -> tuple[SelectiveJob, Opened]:
    """The job and its records with the roles that it does not name; scorers are kept apart."""
    table = opened.table
    present = table.collect_schema().names()
    roles = {
        PARTICIPANT: pl.concat_str("task", "sample_id", separator="/", ignore_nulls=True),
        ITEM: pl.format("{}/{}", "log", "epoch"),
    }
    if not _TRUTHS & {*present}:
        is_empty = pl.col("answer").eq_missing(pl.lit(""))  # of a choice: none of the letters
        roles |= {PREDICTION: pl.when(~is_empty).then("score"), LABEL: pl.lit(1.0)}
    table = table.with_columns(
        expr.alias(role) for role, expr in roles.items() if role not in present
    )
    rows = Rows(table)
    counts = counts_of(rows, rows.schema)
    apart = scorers_of(counts, job.by)
    notes = [*opened.notes]
    if PREDICTION in roles and PREDICTION not in present:
        empty = "an empty answer abstains, and one without a score"
        notes.append(f"An answer is its score, 1 if right; {empty}.")
    if apart:
        notes.append(f"Kept apart by {' and '.join(apart)}, of which there are several.")
    notes += [
        f"{counts[name]} values of {name} are pooled; --by {name} keeps them apart."
        for name in _POOLED
        if counts[name] > 1 and name not in job.by
    ]
    job = msgspec.structs.replace(job, by=(*job.by, *apart))
    return job, replace(opened, rows=rows, notes=notes)
