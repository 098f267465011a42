"""Curve metrics of many rows, against a bare sort of the same columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import evalframe as ef
from benchmarks import data
from benchmarks.measure import Figure, against, in_process

if TYPE_CHECKING:
    import polars as pl

_PEAK = """
import resource
from benchmarks import data
import evalframe as ef
frame = data.rows({rows}, {groups})
columns = frame.estimated_size()
ef.evaluate(frame, [ef.aurc(), ef.augrc()], by="group").collect()
print(columns, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds = 1 if small else 11
    count = 10_000 if small else 1_000_000
    figures = [expression(data.rows(count, groups), groups, rounds) for groups in (1, 1_000)]
    count, groups = (20_000, 50) if small else (10_000_000, 10_000)
    rounds = 1 if small else 3
    figures.append(whole_table(data.rows(count, groups), groups, rounds))
    columns, peak = in_process(_PEAK.format(rows=count, groups=groups))
    figures.append(
        Figure(
            f"  peak memory: {peak / 2**20:,.0f} MiB for {columns / 2**20:,.0f} MiB of columns",
            limit="the columns",
            ratio=peak / columns,
            target="" if small else "4 x",
            holds=None if small else peak < 4 * columns,
        )
    )
    figures.append(under_ties(data.rows(count, 200, decimals=4), rounds))
    return figures


def expression(frame: pl.DataFrame, groups: int, rounds: int) -> Figure:
    """AURC as an expression, in one group or in many."""
    pair = frame.select("confidence", "loss")
    return against(
        f"aurc expression, {len(frame):,} rows, {groups:,} groups",
        lambda: frame.select(ef.aurc()) if groups == 1 else frame.group_by("group").agg(ef.aurc()),
        lambda: pair.sort("confidence", descending=True),
        called="sort",
        within=2.0,
        rounds=rounds,
    )


def whole_table(frame: pl.DataFrame, groups: int, rounds: int) -> Figure:
    """Two metrics in one pass and one sort."""
    return against(
        f"evaluate aurc and augrc, {len(frame):,} rows, {groups:,} groups",
        lambda: ef.evaluate(frame, [ef.aurc(), ef.augrc()], by="group").collect(),
        lambda: frame.sort("group", "confidence"),
        called="sort by group and confidence",
        within=1.7,
        rounds=rounds,
    )


def under_ties(frame: pl.DataFrame, rounds: int) -> Figure:
    """The plan that adds up tied rows first."""
    return against(
        f"evaluate aurc under ties, {len(frame):,} rows, 200 groups, 4 decimals",
        lambda: ef.evaluate(frame, ef.aurc(), by="group").collect(),
        lambda: frame.group_by("group", "confidence").sum(),
        called="group by the same levels",
        rounds=rounds,
    )
