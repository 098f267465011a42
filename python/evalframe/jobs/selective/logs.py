"""Items of logs as records of the selective family.

An answer is its score, the truth is 1: a right answer loses nothing, by `zero_one` any other loses
1, by `abs` what lacks to 1. An answer without a score abstains.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from evalframe.jobs.selective import ITEM, LABEL, PARTICIPANT, PREDICTION, SelectiveJob

if TYPE_CHECKING:
    from evalframe.jobs.inputs import Opened

_TRUTHS = {PREDICTION, LABEL, "loss", "correct"}
_SCORERS = ("scorer", "score_name")


def as_answers(job: SelectiveJob, opened: Opened) -> tuple[SelectiveJob, Opened]:
    """The job and its records with the roles that it does not name; scorers are kept apart."""
    table = opened.table
    present = table.collect_schema().names()
    roles = {
        PARTICIPANT: pl.concat_str("task", "sample_id", separator="/", ignore_nulls=True),
        ITEM: pl.format("{}/{}", "log", "epoch"),
    }
    if not _TRUTHS & {*present}:
        roles |= {PREDICTION: pl.col("score"), LABEL: pl.lit(1.0)}
    table = table.with_columns(
        expr.alias(role) for role, expr in roles.items() if role not in present
    )
    numbers = pl.col("scorer").n_unique(), pl.struct(_SCORERS).n_unique().alias("pairs")
    scorers, pairs = table.select(numbers).collect().row(0)
    apart = _SCORERS if pairs > scorers else _SCORERS[: scorers > 1]
    apart = tuple(name for name in apart if name not in job.by)
    notes = [*opened.notes]
    if PREDICTION in roles and PREDICTION not in present:
        notes.append("An answer is its score, 1 if right; one without a score abstains.")
    if apart:
        notes.append(f"Kept apart by {' and '.join(apart)}, of which there are several.")
    job = msgspec.structs.replace(job, by=(*job.by, *apart))
    return job, replace(opened, table=table, notes=notes)
