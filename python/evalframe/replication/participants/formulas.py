"""Formulas: from the cells of a test to its statistic, for each kind of test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from evalframe.replication.participants.design import (
    ANOVA,
    BINOMIAL_TEST,
    CATEGORY,
    CHI_SQUARED,
    KIND,
    ONE_SAMPLE,
    PAIRED,
    PEARSON,
    PLACE,
    RANK_SUM,
    SPEARMAN,
    TEST,
    TWO_SAMPLES,
)

_NUMBERS = ("stat", "n1", "n2", "df1", "df2", "n_total", "k", "n", "p0", "a", "b", "c", "d")
STATISTICS = {
    **dict.fromkeys(_NUMBERS, pl.Float64()),
    "independent": pl.Boolean(),
    "direction": pl.Float64(),
}
"""Columns of a side of a test and their types; the name of the side is added later."""

OF_DESIGN = ("p0", "n_conditions", "n_categories")
"""Columns of the design that formulas read."""

_NOTHING = 1e-9

_ROW, _COLUMN = ":row", ":column"


class Formula(NamedTuple):
    """Computation of a kind of test."""

    sums: Mapping[str, pl.Expr]
    statistics: Mapping[str, pl.Expr]


def statistics_of(
    cells: pl.LazyFrame, kind: str, units: Sequence[str], designs: pl.LazyFrame, on: str
) -> pl.LazyFrame:
    """The statistics of all tests of one kind."""
    formula = FORMULAS[kind]
    if kind == CHI_SQUARED:
        n = pl.col("n").sum()
        row, column = n.over(*units, PLACE), n.over(*units, CATEGORY)
        cells = cells.with_columns(row.alias(_ROW), column.alias(_COLUMN))
    sums = {"n_missing": pl.col("n_missing").sum().cast(pl.Int64), **formula.sums}
    if on not in units:
        sums[on] = pl.col(on).first()
    columns = {
        name: formula.statistics.get(name, pl.lit(None)).cast(dtype)
        for name, dtype in STATISTICS.items()
    }
    keys = dict.fromkeys([*units, on, "n_missing"])
    return cells.group_by(units).agg(**sums).join(designs, on=on).select(*keys, **columns)


def all_statistics(cells: pl.LazyFrame, design: pl.DataFrame, units: Sequence[str]) -> pl.LazyFrame:
    """The statistics of all tests of all kinds, in no order."""
    designs = design.lazy().select(TEST, *OF_DESIGN)
    kinds = design[KIND].unique().sort().to_list()
    return pl.concat(
        statistics_of(cells.filter(pl.col(KIND) == kind), kind, units, designs, TEST)
        for kind in kinds
    )


def _at(place: int, value: str = "n") -> pl.Expr:
    return (pl.col(value) * (pl.col(PLACE) == place)).sum()


def _cell(place: int, category: int) -> pl.Expr:
    here = (pl.col(PLACE) == place) & (pl.col(CATEGORY) == category)
    return (pl.col("n") * here).sum()


def _where(condition: pl.Expr, value: pl.Expr) -> pl.Expr:
    """The value if the condition is true, else null."""
    return pl.when(condition).then(value)


def _sign(statistic: pl.Expr) -> pl.Expr:
    """The sign of a statistic, 0 for rounding errors of 0."""
    return pl.when(statistic.abs() > _NOTHING).then(statistic.sign()).otherwise(0.0 * statistic)


def _two_samples() -> Formula:
    n1, n2, within, gap = (pl.col(name) for name in ("n1", "n2", "within", "gap"))
    n = n1 + n2
    variance = within / (n - 2) * (1 / n1 + 1 / n2)
    known = (n1 > 0) & (n2 > 0) & (n > 2) & (within > 0)
    t = _where(known, gap / variance.sqrt())
    return Formula(
        {
            "n1": _at(0),
            "n2": _at(1),
            "gap": _at(0, "x") - _at(1, "x"),
            "within": pl.col("sxx").sum(),
        },
        {"stat": t, "n1": n1, "n2": n2, "independent": pl.lit(True), "direction": _sign(t)},
    )


def _one_sample() -> Formula:
    n, mean, within = (pl.col(name) for name in ("n", "mean", "within"))
    t = _where((n > 1) & (within > 0), mean / (within / (n - 1) / n).sqrt())
    return Formula(
        {"n": pl.col("n").sum(), "mean": pl.col("x").sum(), "within": pl.col("sxx").sum()},
        {"stat": t, "n1": n, "independent": pl.lit(False), "direction": _sign(t)},
    )


def _anova() -> Formula:
    n, within, between, gap = (pl.col(name) for name in ("n", "within", "between", "gap"))
    k, two = pl.col("n_conditions"), pl.col("n_conditions") == 2
    known = (pl.col("filled") == k) & (n > k) & (within > 0)
    f = _where(known, between / (k - 1) / (within / (n - k)))
    size, mean = pl.col("n"), pl.col("x")
    grand = (size * mean).sum() / size.sum()
    return Formula(
        {
            "n": size.sum(),
            "filled": (size > 0).sum(),
            "n1": _at(0),
            "n2": _at(1),
            "gap": _at(0, "x") - _at(1, "x"),
            "within": pl.col("sxx").sum(),
            "between": (size * (mean - grand) * (mean - grand)).sum(),
        },
        {
            "stat": f,
            "n1": _where(two, pl.col("n1")),
            "n2": _where(two, pl.col("n2")),
            "df1": k - 1,
            "df2": _where(n > k, n - k),
            "n_total": n,
            "n": _where(~two, n),
            "direction": _where(
                known, pl.when(two).then(_sign(f.sqrt() * gap.sign())).otherwise(1.0)
            ),
        },
    )


def _correlation() -> Formula:
    n, sxx, syy = (pl.col(name) for name in ("n", "sxx", "syy"))
    known = (n > 2) & (sxx > 0) & (syy > 0)
    r = _where(known, (pl.col("sxy") / sxx.sqrt() / syy.sqrt()).clip(-1.0, 1.0))
    return Formula(
        {name: pl.col(name).sum() for name in ("n", "sxx", "syy", "sxy")},
        {"stat": r, "n": n, "direction": _sign(r)},
    )


def _chi_square() -> Formula:
    a, b, c, d, n = (pl.col(name) for name in "abcdn")
    rows, columns = pl.col("n_conditions"), pl.col("n_categories")
    two_by_two = (rows == 2) & (columns == 2)
    filled = (pl.col("rows") == rows) & (pl.col("columns") == columns)

    # Yates: each observed count moves by a half towards the expected one, but not beyond.
    cross = a * d - b * c
    moved = cross.abs() - pl.min_horizontal(n / 2, cross.abs())
    yates = n * (moved / (a + b)) * (moved / (c + d)) / (a + c) / (b + d)

    # An empty cell adds its expected count.
    empty = pl.when(pl.col("cells") < rows * columns).then(n - pl.col("expected")).otherwise(0.0)
    stat = _where(filled, pl.when(two_by_two).then(yates).otherwise(pl.col("sum") + empty))

    observed, row, column = pl.col("n"), pl.col(_ROW), pl.col(_COLUMN)
    expected = row * column / observed.sum()
    there = observed > 0
    return Formula(
        {
            "n": observed.sum(),
            "sum": pl.when(there).then((observed - expected) ** 2 / expected).sum(),
            "expected": pl.when(there).then(expected).sum(),
            "cells": there.sum(),
            "rows": pl.when(there).then(PLACE).drop_nulls().n_unique(),
            "columns": pl.when(there).then(CATEGORY).drop_nulls().n_unique(),
            **{name: _cell(i // 2, i % 2) for i, name in enumerate("abcd")},
        },
        {
            "stat": stat,
            "df1": (rows - 1) * (columns - 1),
            "n_total": n,
            **{name: _where(two_by_two & filled, pl.col(name)) for name in "abcd"},
            "direction": _where(filled, pl.when(two_by_two).then(cross.sign()).otherwise(1.0)),
        },
    )


def _rank_sum() -> Formula:
    n1, n2 = pl.col("n1"), pl.col("n2")
    u = _where((n1 > 0) & (n2 > 0) & (n1 + n2 > 2), pl.col("u"))
    return Formula(
        {"n1": _at(0), "n2": _at(1), "u": _at(0, "u")},
        {
            "stat": u,
            "n1": n1,
            "n2": n2,
            "independent": pl.lit(True),
            "direction": (u - n1 * n2 / 2).sign(),
        },
    )


def _binomial() -> Formula:
    k, n = pl.col("k"), pl.col("n")
    stat = _where(n > 0, k)
    return Formula(
        {"n": pl.col("n").sum(), "k": (pl.col("n") * (pl.col(CATEGORY) == 0)).sum()},
        {
            "stat": stat,
            "k": k,
            "n": n,
            "p0": pl.col("p0"),
            "direction": (stat / n - pl.col("p0")).sign(),
        },
    )


FORMULAS: Mapping[str, Formula] = {
    TWO_SAMPLES: _two_samples(),
    PAIRED: _one_sample(),
    ONE_SAMPLE: _one_sample(),
    ANOVA: _anova(),
    PEARSON: _correlation(),
    SPEARMAN: _correlation(),
    CHI_SQUARED: _chi_square(),
    RANK_SUM: _rank_sum(),
    BINOMIAL_TEST: _binomial(),
}
