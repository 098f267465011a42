"""Reliability tables: accuracy against confidence, bin by bin, as a frame to read or to plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from evalframe.core.frames import like_input
from evalframe.core.special import wilson
from evalframe.core.state import LEVEL, State
from evalframe.core.typing import Frame, IntoExpr, Role
from evalframe.selective.binning import (
    TO_UNIT,
    Binning,
    Closed,
    check_binning,
    is_outside,
    mass_bin,
)
from evalframe.selective.conventions import counted, refusing
from evalframe.selective.scoring import brier_reliability

RELIABILITY = (
    "bin",
    "lower_edge",
    "upper_edge",
    "n",
    "mean_confidence",
    "accuracy",
    "gap",
    "lower",
    "upper",
)
"""Columns of every reliability table, after the group keys."""


@like_input
def reliability_table(
    frame: Frame,
    confidence: IntoExpr = "confidence",
    correct: IntoExpr = "correct",
    *,
    by: IntoExpr | Sequence[IntoExpr] | None = None,
    weight: IntoExpr | None = None,
    bins: int = 10,
    binning: Binning = "equal_width",
    closed: Closed = "left",
    level: float = 0.95,
) -> pl.LazyFrame:
    """Mean confidence and accuracy of each bin of confidence: the table of a reliability diagram.

    The mean of |gap|, weighted by `n`, is `expected_calibration_error` with the same bins. Rows
    that it counts as missing are left out; a confidence outside [0, 1] is refused.

    Args:
        frame: Items, one row each.
        confidence: Stated probability of being correct, in [0, 1].
        correct: True if the item was answered correctly: Boolean, or a share in [0, 1].
        by: Group keys: column names or expressions.
        weight: Weight of each row.
        bins: Number of bins.
        binning: `equal_width` bins over [0, 1], or `equal_mass` bins of as many items each (items
            of equal confidence stay together).
        closed: The end that belongs to a bin of equal width.
        level: Confidence level of the intervals, in (0, 1).

    Returns:
        by..., then `bin` (Int64, from 0), `lower_edge` and `upper_edge` (edges of the bin; with
        `equal_mass` the smallest and the largest confidence in it), `n` (Int64; with `weight` the
        weight, Float64), `mean_confidence`, `accuracy`, `gap` (accuracy minus mean confidence:
        below 0 is overconfident), `lower` and `upper` (Wilson interval of the accuracy, which
        takes items as independent and a weight as a number of items). Sorted by the keys, then by
        bin. A bin without items has no row.

    Raises:
        ContractError: On collect: a confidence is outside [0, 1], such as percent.
        MissingColumnsError: A column is missing.
        ParameterError: An argument is outside its domain, or a key has the name of a column of the
            result.

    References:
        DeGroot & Fienberg (1983), The comparison and evaluation of forecasters; Wilson (1927),
        Probable inference, the law of succession, and statistical inference.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame(
        ...     {"confidence": [0.9, 0.9, 0.6, 0.6], "correct": [True, True, True, False]}
        ... )
        >>> table = ef.selective.reliability_table(items)
        >>> table.select("bin", "n", "mean_confidence", "accuracy", "gap")
        shape: (2, 5)
        ┌─────┬─────┬─────────────────┬──────────┬──────┐
        │ bin ┆ n   ┆ mean_confidence ┆ accuracy ┆ gap  │
        │ --- ┆ --- ┆ ---             ┆ ---      ┆ ---  │
        │ i64 ┆ i64 ┆ f64             ┆ f64      ┆ f64  │
        ╞═════╪═════╪═════════════════╪══════════╪══════╡
        │ 5   ┆ 2   ┆ 0.6             ┆ 0.5      ┆ -0.1 │
        │ 9   ┆ 2   ┆ 0.9             ┆ 1.0      ┆ 0.1  │
        └─────┴─────┴─────────────────┴──────────┴──────┘
    """
    from evalframe.core import tables
    from evalframe.core.states import States

    check_binning(bins, binning, closed)
    lazy, keys = tables.lazy(frame), tables.Keys.of(by, taken=RELIABILITY)
    # The state of this metric is the table: mass, confidence and correct answers per bin, or per
    # distinct confidence, which bins of equal mass are made of.
    params = {"bins": bins, "binning": binning, "closed": closed}
    metric = _TABLE.bind((confidence, correct), weight=weight, params=params)
    tables.check_columns(lazy, [metric], *keys.exprs)
    (levels,) = States.of(lazy, [metric.bound], keys).tables
    what = "confidence lies outside [0, 1]"
    levels = refusing(levels, "outside", "reliability_table", what, TO_UNIT)
    filled = levels.filter(pl.col(LEVEL).is_not_null() & (pl.col("mass") > 0))
    if binning == "equal_width":
        number, width = pl.col(LEVEL), 1.0 / bins
        edges = [
            (number * width).alias("lower_edge"),
            pl.when(number < bins - 1)
            .then((number + 1.0) * width)
            .otherwise(1.0)
            .alias("upper_edge"),
        ]
        binned = filled.with_columns(*edges, bin=number)
    else:
        binned = _of_equal_mass(filled, keys.inner, bins)
    n, dtype = pl.col("mass"), pl.Int64 if weight is None else pl.Float64
    accuracy, stated = pl.col("correct") / n, pl.col("confidence") / n
    lower, upper = wilson(accuracy.clip(0.0, 1.0), n, level)
    return (
        binned.select(
            *keys.inner,
            pl.col("bin").cast(pl.Int64),
            "lower_edge",
            "upper_edge",
            n.cast(dtype).alias("n"),
            stated.alias("mean_confidence"),
            accuracy.alias("accuracy"),
            (accuracy - stated).alias("gap"),
            lower.alias("lower"),
            upper.alias("upper"),
        )
        .sort(*keys.inner, "bin")
        .rename(keys.restore())
    )


def _state(
    confidence: Role = "confidence", correct: Role = "correct", *, weight: Role = None, **bins: Any
) -> State:
    """The state of `brier_reliability`, which knows of confidences that are no probabilities."""
    state: State = brier_reliability.metric.define(confidence, correct, weight=weight, **bins)
    return replace(state, left_out={"outside": counted(is_outside(confidence), weight)})


_TABLE = replace(brier_reliability.metric, name="reliability_table", define=_state, checked=set())


def _of_equal_mass(levels: pl.LazyFrame, keys: list[str], bins: int) -> pl.LazyFrame:
    """Distinct confidences added up into bins of equal mass."""
    mass = pl.col("mass")
    below, everything = mass.cum_sum().shift(1, fill_value=0.0), mass.sum()
    if keys:
        below, everything = below.over(keys), everything.over(keys)
    # Times 0 and added, the total is a column like any other: Polars divides by a constant one
    # through its reciprocal.
    number = mass_bin(below, everything + 0.0 * mass, bins)
    return (
        levels.sort(*keys, LEVEL)
        .with_columns(number.alias("bin"))
        .group_by(*keys, "bin")
        .agg(
            pl.col(LEVEL).min().alias("lower_edge"),
            pl.col(LEVEL).max().alias("upper_edge"),
            pl.col("mass", "confidence", "correct").sum(),
        )
    )
