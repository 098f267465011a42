"""Tables of a selective job that need all confidences: curves, their bands, reliability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import methodcaller
from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.jobs.family import LeftOut
from evalframe.jobs.selective.records import CORRECT, LOSS

if TYPE_CHECKING:
    from evalframe.jobs.rows import Rows
    from evalframe.jobs.selective import SelectiveJob

TABLES = ("curve", "optimal", "bands", "reliability")

DRAWS = 1_000
"""Resamples of a band at most: it needs all of them at each of its coverages."""


def items_of(job: SelectiveJob, rows: Mapping[str, Rows]) -> dict[str, pl.DataFrame]:
    """What the tables of each confidence are made of, in memory."""
    names = [LOSS, *job.by, *([job.weight] if job.weight else ()), CORRECT]
    names += [job.cluster] if job.bootstrap else []
    items = {}
    for confidence, each in rows.items():
        kept = [name for name in dict.fromkeys([confidence, *names]) if name in each.schema]
        items[confidence] = each.collect(methodcaller("select", kept))
    return items


def curves(job: SelectiveJob, items: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Tables of each group and confidence, by name, made by this process.

    `optimal` is the curve if losses were known. `bands` is empty without a bootstrap, and
    `reliability` where a confidence is no probability, or it is not known what is correct.
    """
    tables: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
    for confidence in job.confidence:
        for name, table in _made(job, items[confidence], confidence):
            named = table.select(
                *job.by, pl.lit(confidence).alias("confidence"), pl.exclude(job.by)
            )
            tables[name].append(named)
    return {name: pl.concat(parts) if parts else pl.DataFrame() for name, parts in tables.items()}


def _made(
    job: SelectiveJob, items: pl.DataFrame, confidence: str
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The tables of a confidence by name."""
    rc_curve, by, weight = ef.selective.rc_curve, job.by, job.weight
    yield "curve", rc_curve(items, LOSS, confidence, by=by, weight=weight)
    yield "optimal", rc_curve(items, LOSS, -pl.col(LOSS), by=by, weight=weight)
    resample = job.resample(job.cluster)
    if resample is not None:
        resample = replace(resample, n=min(resample.n, DRAWS))
        yield "bands", rc_curve(items, LOSS, confidence, by=by, weight=weight, resample=resample)
    if CORRECT in items.columns and items.select(_is_probability(confidence)).item():
        table = ef.selective.reliability_table(
            items, confidence, CORRECT, by=by, weight=weight, resample=resample
        )
        yield "reliability", table


def notes_of(job: SelectiveJob, items: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    """What these tables leave out."""
    if job.bootstrap is not None and job.bootstrap.n > DRAWS:
        yield f"Bands of curves and of reliability are from {DRAWS:,} resamples."
    is_known = all(CORRECT in each.columns for each in items.values())
    if not is_known:
        yield LeftOut("Reliability is left out: nothing says which predictions are correct.")
    for confidence in job.confidence:
        table = items[confidence]
        of = f" ({confidence})" if len(job.confidence) > 1 else ""
        if abstained := table[LOSS].null_count():
            count = f"{abstained:,} of {len(table):,} items"
            yield LeftOut(f"Abstentions have no risk: {count} are left out of it{of}.")
        if is_known and not table.select(_is_probability(confidence)).item():
            yield LeftOut(f"Reliability is left out: {confidence} is no probability from 0 to 1.")


def _is_probability(confidence: str) -> pl.Expr:
    return pl.col(confidence).cast(pl.Float64).is_between(0, 1).all()
