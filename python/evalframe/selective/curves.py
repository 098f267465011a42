"""Risk-coverage curves and reliability tables, as frames to read or to plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core import tables
from evalframe.core.frames import like_input
from evalframe.core.special import wilson
from evalframe.core.state import LEVEL, State
from evalframe.core.typing import Frame, IntoExpr, Role
from evalframe.selective.areas import aurc
from evalframe.selective.calibration_error import (
    TO_UNIT,
    Binning,
    Closed,
    check_binning,
    is_outside,
    mass_bin,
)
from evalframe.selective.conventions import counted, is_negative, refusing
from evalframe.selective.scoring import brier_reliability

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr
    from evalframe.resample.methods import Bootstrap

CURVE = ("coverage", "selective_risk", "generalized_risk", "threshold", "count", "accepted")
"""Columns of every curve, after the group keys."""

RELIABILITY = (
    *("bin", "lower_edge", "upper_edge", "n", "mean_confidence", "accuracy", "gap"),
    *("lower", "upper"),
)
"""Columns of every reliability table, after the group keys."""


_BAND = ("band_lower", "band_upper")


@like_input
def rc_curve(
    frame: Frame,
    loss: IntoExpr = "loss",
    confidence: IntoExpr = "confidence",
    *,
    by: IntoExpr | Sequence[IntoExpr] | None = None,
    weight: IntoExpr | None = None,
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """Working points of the risk-coverage curve, one for each distinct confidence.

    No row has coverage 0. Rows that `aurc` leaves out are left out: a loss that is NaN, or
    a loss without a confidence. A negative loss is refused.

    With `resample` the curve is told at every 0.02 of coverage and at its end, with an interval for
    each of these points and a band for all of them: of intervals of 0.95, some missed the true
    curve in 0.12 to 0.29 of simulated worlds of 5 to 60 clusters, the band in 0.03 to 0.06. Both
    start where 10 items, and 5 clusters with some loss, are accepted. Within a plateau the risk at
    a coverage is the expectation over random order.

    Args:
        frame: Items, one row each.
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        by: Group keys: column names or expressions.
        weight: Weight of each row.
        resample: `ef.Bootstrap(cluster=...)`: whole clusters are drawn, the same at all points.

    Returns:
        by..., then Float64 `coverage` (accepted share of all items, increasing), `selective_risk`
        (mean loss of the accepted), `generalized_risk` (their loss over the number of all items),
        `threshold` (the smallest confidence accepted), and `count` and `accepted`: items at this
        confidence, and from it up (Int64; with `weight` their weight, Float64). Sorted by the keys,
        then from the most confident down. A group without predictions has no rows.

        With `resample` by..., `coverage`, `selective_risk`, `generalized_risk` and `threshold` at
        these coverages, `lower` and `upper` (the interval of the risk at this coverage),
        `band_lower` and `band_upper` (all risks lie between them at once, with the chance of
        `level`) and `n_clusters` (Int64). A replicate in which fewer items are predicted has the
        risk of all of these.

    Raises:
        ContractError: A loss is negative; on collect, unless clusters are resampled.
        ParameterError: `resample` is no bootstrap, or finds fewer than two clusters.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0, 1, None], "confidence": [0.9, 0.8, 0.1]})
        >>> curve = ef.selective.rc_curve(items)
        >>> curve.select("threshold", "coverage", "selective_risk").row(1)
        (0.8, 0.6666666666666666, 0.5)
    """
    if resample is not None:
        from evalframe.selective import bands

        keys = tables.Keys.of(by, taken=bands.WITH_BANDS)
        method = bands.joint("rc_curve", resample)
        told = bands.curve_with_bands(frame, (loss, confidence), weight, keys, method)
        return told.lazy().rename(keys.restore())
    keys = tables.Keys.of(by, taken=CURVE)
    # The state of `aurc` is the curve: mass and loss per level, to be run through from the top.
    levels = _levels(frame, _CURVE.bind((loss, confidence), weight=weight), keys)
    plateaus = refusing(levels, "negative", "rc_curve")
    order = [False] * len(keys.inner) + [True]
    # By a constant column Polars divides through its reciprocal, and 3 / 10 would not be 0.3: the
    # masses, times 0, make the number of items a column like any other.
    items = _within(pl.col("items").sum(), keys.inner) + 0 * pl.col("mass")
    mass, lost = (_within(pl.col(name).cum_sum(), keys.inner) for name in ("mass", "loss"))
    number = pl.Int64 if weight is None else pl.Float64
    return (
        plateaus.with_columns(items)
        .filter(pl.col(LEVEL).is_not_null() & (pl.col("mass") > 0))
        .sort([*keys.inner, LEVEL], descending=order)
        .select(
            *keys.inner,
            (mass / pl.col("items")).alias("coverage"),
            (lost / mass).alias("selective_risk"),
            (lost / pl.col("items")).alias("generalized_risk"),
            pl.col(LEVEL).alias("threshold"),
            pl.col("mass").cast(number).alias("count"),
            mass.cast(number).alias("accepted"),
        )
        .rename(keys.restore())
    )


def _levels(frame: Frame, metric: MetricExpr, keys: tables.Keys) -> pl.LazyFrame:
    """The state of a metric as a table: its sums per group and level."""
    from evalframe.core.states import States

    lazy = tables.lazy(frame)
    tables.check_columns(lazy, [metric], *keys.exprs)
    (levels,) = States.of(lazy, [metric.bound], keys).tables
    return levels


def _within(expr: pl.Expr, keys: list[str]) -> pl.Expr:
    return expr.over(keys) if keys else expr


def _curve(loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None) -> State:
    """The state of `aurc`, which also counts negative losses."""
    state: State = aurc.metric.define(loss, confidence, weight=weight)
    negative = {"negative": counted(is_negative(loss), weight)}
    return replace(state, left_out={**state.left_out, **negative})


_CURVE = replace(aurc.metric, name="rc_curve", define=_curve, params={}, checked=set())


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
    resample: Bootstrap | None = None,
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
        binning: See `expected_calibration_error`.
        closed: See `expected_calibration_error`.
        level: Confidence level of the intervals, in (0, 1).
        resample: `ef.Bootstrap(cluster=...)`, for a band that holds for all bins at once, whatever
            the dependence within clusters; its level is that of the bootstrap.

    Returns:
        by..., then `bin` (Int64, from 0), `lower_edge` and `upper_edge` (edges of the bin; with
        `equal_mass` the smallest and the largest confidence in it), `n` (Int64; with `weight` the
        weight, Float64), `mean_confidence`, `accuracy`, `gap` (accuracy minus mean confidence:
        below 0 is overconfident), `lower` and `upper` (Wilson interval of the accuracy, which
        takes items as independent and a weight as a number of items). With `resample` also
        `band_lower` and `band_upper` (all accuracies lie between them at once; nowhere inside the
        interval; null for bins of fewer than 5 items, and where all answers are right or wrong).
        Sorted by the keys, then by bin. A bin without items has no row.

    Raises:
        ContractError: A confidence is outside [0, 1], such as percent; on collect, unless clusters
            are resampled.
        ParameterError: An argument lies outside its domain, or `resample` is no bootstrap or finds
            fewer than two clusters.

    References:
        DeGroot & Fienberg (1983), The comparison and evaluation of forecasters; Wilson (1927),
        Probable inference, the law of succession, and statistical inference.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.75, 0.75], "correct": [True, False]})
        >>> table = ef.selective.reliability_table(items)
        >>> table.select("bin", "n", "mean_confidence", "accuracy", "gap").rows()
        [(7, 2, 0.75, 0.5, -0.25)]
    """
    check_binning(bins, binning, closed)
    keys = tables.Keys.of(by, taken=RELIABILITY if resample is None else (*RELIABILITY, *_BAND))
    # The state of this metric is the table: mass, confidence and correct answers per bin, or per
    # distinct confidence, which bins of equal mass are made of.
    params = {"bins": bins, "binning": binning, "closed": closed}
    metric = _TABLE.bind((confidence, correct), weight=weight, params=params)
    what = "confidence lies outside [0, 1]"
    levels = refusing(_levels(frame, metric, keys), "outside", "reliability_table", what, TO_UNIT)
    filled = levels.filter(pl.col(LEVEL).is_not_null() & (pl.col("mass") > 0))
    if binning == "equal_width":
        number, width = pl.col(LEVEL), 1.0 / bins
        upper_edge = pl.when(number < bins - 1).then((number + 1.0) * width).otherwise(1.0)
        filled = filled.with_columns(bin=number)
        binned = filled.with_columns(lower_edge=number * width, upper_edge=upper_edge)
    else:
        filled = _in_equal_mass(filled, keys.inner, bins)
        binned = _added_up(filled, keys.inner)
    n, dtype = pl.col("mass"), pl.Int64 if weight is None else pl.Float64
    accuracy, stated = pl.col("correct") / n, pl.col("confidence") / n
    lower, upper = wilson(accuracy.clip(0.0, 1.0), n, level)
    table = binned.select(
        *keys.inner,
        pl.col("bin").cast(pl.Int64),
        "lower_edge",
        "upper_edge",
        n=n.cast(dtype),
        mean_confidence=stated,
        accuracy=accuracy,
        gap=accuracy - stated,
        lower=lower,
        upper=upper,
    ).sort(*keys.inner, "bin")
    if resample is not None:
        binned_levels = filled.select(*keys.inner, LEVEL, pl.col("bin").cast(pl.Int64))
        table = _with_band(table, frame, metric, keys, binned_levels.collect(), resample)
    return table.rename(keys.restore())


def _with_band(
    table: pl.LazyFrame,
    frame: Frame,
    metric: MetricExpr,
    keys: tables.Keys,
    bins: pl.DataFrame,
    resample: Bootstrap,
) -> pl.LazyFrame:
    """The table with its band; `bins` are those of the levels."""
    from evalframe.core.states import States
    from evalframe.evaluation import clustered
    from evalframe.selective import bands

    method = bands.joint("reliability_table", resample)
    lazy, cluster = clustered(tables.lazy(frame), method)
    tables.check_columns(lazy, [], cluster)
    states = States.of(lazy, [metric.bound], keys, cluster)
    drawn = bands.bins_with_bands(states, bins, method).lazy()
    joined = table.join(drawn, on=[*keys.inner, "bin"], how="left", nulls_equal=True)
    lower, upper = (pl.when(pl.col(end).is_not_null()) for end in _BAND)
    return joined.with_columns(
        band_lower=lower.then(pl.min_horizontal("band_lower", "lower")),
        band_upper=upper.then(pl.max_horizontal("band_upper", "upper")),
    ).sort(*keys.inner, "bin")


def _table(
    confidence: Role = "confidence", correct: Role = "correct", *, weight: Role = None, **bins: Any
) -> State:
    """The state of `brier_reliability`, which also counts confidences outside [0, 1]."""
    state: State = brier_reliability.metric.define(confidence, correct, weight=weight, **bins)
    return replace(state, left_out={"outside": counted(is_outside(confidence), weight)})


_TABLE = replace(brier_reliability.metric, name="reliability_table", define=_table, checked=set())


def _in_equal_mass(levels: pl.LazyFrame, keys: list[str], bins: int) -> pl.LazyFrame:
    """Distinct confidences with their bins of equal mass."""
    mass = pl.col("mass")
    below = _within(mass.cum_sum().shift(1, fill_value=0.0), keys)
    everything = _within(mass.sum(), keys) + 0.0 * mass  # no constant column, as above
    number = mass_bin(below, everything, bins)
    return levels.sort(*keys, LEVEL).with_columns(number.alias("bin"))


def _added_up(levels: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Bins of distinct confidences."""
    return levels.group_by(*keys, "bin").agg(
        pl.col(LEVEL).min().alias("lower_edge"),
        pl.col(LEVEL).max().alias("upper_edge"),
        pl.col("mass", "confidence", "correct").sum(),
    )
