"""Curve metrics of many rows, against a bare sort of the same columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import evalframe as ef
from benchmarks import data
from benchmarks.measure import Figure, against, memory

if TYPE_CHECKING:
    import polars as pl

_WHOLE_TABLE = """
from benchmarks import data
import evalframe as ef
frame = data.rows({rows}, {groups})
ef.evaluate(frame, [ef.aurc(), ef.augrc()], by="group")
"""


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    rounds = 1 if small else 11
    count = 10_000 if small else 1_000_000
    figures = [expression(data.rows(count, groups), groups, rounds) for groups in (1, 1_000)]
    count, groups = (20_000, 50) if small else (10_000_000, 10_000)
    rounds = 1 if small else 3
    frame = data.rows(count, groups)
    return [
        *figures,
        whole_table(frame, groups, rounds),
        memory(
            "its peak memory, the whole process",
            _WHOLE_TABLE.format(rows=count, groups=groups),
            frame.estimated_size("mb"),
            called="the columns",
            within=4.0,
            small=small,
        ),
        under_ties(data.rows(count, 200, decimals=4), rounds),
    ]


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
        lambda: ef.evaluate(frame, [ef.aurc(), ef.augrc()], by="group"),
        lambda: frame.sort("group", "confidence"),
        called="sort by group and confidence",
        within=1.7,
        rounds=rounds,
    )


def under_ties(frame: pl.DataFrame, rounds: int) -> Figure:
    """The plan that adds up tied rows first."""
    return against(
        f"evaluate aurc under ties, {len(frame):,} rows, 200 groups, 4 decimals",
        lambda: ef.evaluate(frame, ef.aurc(), by="group"),
        lambda: frame.group_by("group", "confidence").sum(),
        called="group by the same levels",
        rounds=rounds,
    )
