"""Run the verbs that take metrics of a table: open, validate, compute; and the printed table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.core.scan import reading
from evalframe.jobs.items.records import records_of
from evalframe.report.table import render

if TYPE_CHECKING:
    from evalframe.jobs.family import Outcome, Place
    from evalframe.jobs.items import EvaluateJob
    from evalframe.resample.methods import Progress

TABLES = ("estimates",)
"""Tables that are written to a folder, as Parquet files of these names."""


def evaluate(job: EvaluateJob, place: Place, progress: Progress | None) -> Outcome:
    """The metrics of each group."""
    records = records_of(job, place)
    resample = job.resample(records.drawn, progress) if job.bootstrap else None
    with reading(", ".join(job.items), "is it whole?"):
        result = ef.evaluate(
            records.report.valid,
            records.metrics,
            by=records.keys,
            weight=job.weight,
            resample=resample,
        ).collect()
    return records.outcome(job, result, TABLES[0])


def check(job: EvaluateJob, place: Place) -> str:
    """A report on records that keep their contract."""
    records = records_of(job, place)
    return "\n".join([str(records.report), *records.notes])


def report(
    result: pl.DataFrame, keys: Sequence[str], *, markdown: bool = False, **style: Any
) -> str:
    """The main table, one row for each group and metric."""
    return render(result, markdown=markdown, limit=None if markdown else 60, **style)
