"""Curve metrics of many rows, against a bare sort of the same columns."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

import evalframe as ef
from benchmarks import data
from benchmarks.measure import Figure, against, memory

_AUROC = ef.auroc("confidence", pl.col("loss") > 0.5)

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
    figures = [
        curve(name, metric, data.rows(count, groups), groups, rounds)
        for name, metric in (("aurc", ef.aurc()), ("auroc", _AUROC))
        for groups in (1, 100, 1_000)
    ]
    count, groups = (20_000, 50) if small else (10_000_000, 10_000)
    rounds = 1 if small else 3
    frame = data.rows(count, groups)
    return [
        *(figure for pair in figures for figure in pair),
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


def curve(
    name: str, metric: pl.Expr, frame: pl.DataFrame, groups: int, rounds: int
) -> list[Figure]:
    """A curve metric as an expression and through `evaluate`, in one group or in many."""
    keys = [] if groups == 1 else ["group"]
    rows = frame.select(*keys, "confidence", "loss")
    called = "sort" if groups == 1 else "sort by group and confidence"
    calls: dict[str, Callable[[], object]] = {
        "expression": lambda: frame.group_by(keys).agg(metric) if keys else frame.select(metric),
        "evaluate": lambda: ef.evaluate(frame, metric, by=keys),
    }
    return [
        against(
            f"{name}, {how}, {len(frame):,} rows, {groups:,} groups",
            call,
            lambda: rows.sort(*keys, "confidence"),
            called=called,
            within=1.3,
            rounds=rounds,
        )
        for how, call in calls.items()
    ]


def whole_table(frame: pl.DataFrame, groups: int, rounds: int) -> Figure:
    """Two metrics in one pass and one sort."""
    return against(
        f"evaluate aurc and augrc, {len(frame):,} rows, {groups:,} groups",
        lambda: ef.evaluate(frame, [ef.aurc(), ef.augrc()], by="group"),
        lambda: frame.sort("group", "confidence"),
        called="sort by group and confidence",
        within=1.3,
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
