"""Differences of metrics between systems, paired on shared clusters or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from evalframe.core.asked import AnyMetric, as_exprs
from evalframe.core.choices import check_choice
from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.evaluation import clustered
from evalframe.resample.independence import check_independent, named_cluster

if TYPE_CHECKING:
    from evalframe.engine.opening import AnyEngine
    from evalframe.engine.rows import Rows
    from evalframe.engine.store import AnyStore
    from evalframe.resample.methods import Bootstrap, Method


POWER = 0.8
"""The probability with which a detectable difference is found."""
DETECTABLE = "detectable"

Test: TypeAlias = Literal["bootstrap", "permutation"]
Correction: TypeAlias = Literal["holm", "bonferroni", "none"]

_SIDES = "side"


@like_input
def compare(
    frame: Frame,
    metrics: AnyMetric | Sequence[AnyMetric],
    *,
    between: IntoExpr | None = None,
    other: Frame | None = None,
    baseline: Any = None,
    paired: bool = True,
    pair_on: IntoExpr | None = None,
    by: By = None,
    weight: IntoExpr | None = None,
    resample: Method | None = None,
    test: Test = "bootstrap",
    correction: Correction = "holm",
    engine: AnyEngine | None = None,
    state: AnyStore | None = None,
) -> pl.LazyFrame:
    """Compare metrics between groups of one table, or between two tables.

    Both sides are computed on the clusters that they share, and every replicate draws the same
    clusters on both, so that what the clusters have in common cancels. More than two groups give
    all pairs. Groups of different people or items, such as the young and the old, share no cluster:
    with `paired=False` both sides use all their clusters and independent draws.

    All p-values of one call are one family: every pair, metric and group. `p_adjusted` bounds the
    chance of any false finding in the family, whatever the dependence of its tests. A separate
    question deserves a separate call, such as one call per metric. With n draws no p-value is below
    2 / (n + 1) (by permutation 1 / (n + 1), by expanded intervals of 30 clusters and 1,000 draws
    0.005), and of m tests none is adjusted below m times that: many tests need many draws.

    Few clusters make p-values too small: with 30 simulated clusters, areas under the risk-coverage
    curve of equal systems had one of at most 0.05 in 0.06 of all worlds by `expanded` (which
    replaces `expanded_bca` here) and by permutation, in 0.08 by `percentile`. With 5 clusters it
    was 0.15 by `percentile`; the others find nothing there with 1,000 draws, whose p-values stay
    above 0.05. Where differences are skewed (lognormal less its mean), systems of equal means
    differed in 0.14, 0.11 and 0.10 of all worlds of 8, 15 and 30 clusters, by permutation, too.

    Args:
        frame: Records, one row each; the left table if `other` is given. Of a LazyFrame the
            result is lazy.
        metrics: As for `evaluate`; all must declare a state.
        between: Column or expression whose values are the systems; left and right are in its
            sorted order.
        other: A second table instead, as the right side.
        baseline: A value of `between`: all other systems are compared with this one, the left
            side, and with nothing else. Groups without it are left out, with a warning.
        paired: True if the sides have clusters in common. False takes them as independent, and
            refuses a cluster that is on both sides of a pair.
        pair_on: The clusters, such as participants or questions; by default the cluster of
            `resample`.
        by: Compare within each group of these keys.
        weight: How often each row counts.
        resample: The bootstrap; by default 1,000 reference draws. Unpaired, it is required and
            names the clusters; `ef.Linearized(...)` or `ef.Jackknife(...)` then give Welch's test.
            The bootstrap expands intervals by the number of clusters of the smaller side.
        test: `bootstrap` inverts the interval of `resample`: a p-value is below 0.05 if the
            interval of 0.95 leaves out 0, as far as the replicates resolve it. `permutation` swaps
            the sides of random clusters, which is exact if the systems are exchangeable within
            clusters, and needs pairs. Both add one to numerator and denominator.
        correction: Of the p-values of the family: `holm` (step-down; never less powerful than
            Bonferroni's), `bonferroni`, or `none`, which makes `p_adjusted` the `p_value`.
        engine: Where shards are computed, as for `ef.evaluate`; both tables are then shards.
        state: A folder that keeps the sums of files, as for `ef.evaluate`.

    Returns:
        by..., `metric`, `left`, `right`, `estimate_left`, `estimate_right`, `delta` (right minus
        left), `std_error`, `lower`, `upper` (of delta), `p_value` (two-sided, that delta is 0),
        `p_adjusted` (in its family; null p-values are no tests and are not counted), `n_clusters`
        (shared; unpaired `n_clusters_left` and `n_clusters_right` instead), `drop_rate`,
        `n_missing_left` and `n_missing_right` (rows of these clusters that a side leaves out: an
        item that one side did not answer still counts for the other), `detectable` (the smallest
        true difference that one such comparison finds significant with probability 0.8: standard
        errors, of draws times sqrt(n / (n - 1)), times the quantiles of level and power of
        Student's t for n clusters of the smaller side; above 5 clusters, and too small if they
        are drawn `within` strata of a few; null if nothing varies); with a metric of units, paired,
        `n_units` (that both sides use) and `drawn`. Null if undefined; unpaired, the uncertainty
        also if a side has a single cluster. Intervals that are no quantiles of replicates are cut
        off at the range that the metric declares.

    Raises:
        ParameterError: Not exactly one of `between` and `other`; fewer than two systems; an unknown
            baseline, test or correction; no cluster to pair on, or no pair shares one; a metric
            without a state; unpaired, a cluster on both sides, a permutation, or no `resample`.
        MissingColumnsError: The frame lacks a column that a metric, key or cluster uses.

    References:
        Holm (1979), A simple sequentially rejective multiple test procedure: the default
        `correction`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> loss = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
        >>> items = pl.DataFrame({"mode": ["few"] * 4 + ["zero"] * 4, "loss": loss})
        >>> items = items.with_columns(person=pl.int_range(8) % 4)
        >>> pairs = ef.compare(items, ef.selective_risk(), between="mode", pair_on="person")
        >>> pairs.select("left", "right", "delta", "n_clusters").row(0)
        ('few', 'zero', 0.25, 4)
        >>> people = items.drop("person").with_row_index("person")
        >>> welch = {"paired": False, "resample": ef.Linearized(cluster="person")}
        >>> gap = ef.compare(people, ef.selective_risk(), between="mode", **welch)
        >>> gap.select(pl.col("delta", "std_error", "p_value").round(3)).row(0)
        (0.25, 0.382, 0.537)
    """
    from evalframe.core import tables
    from evalframe.core.per import units_of
    from evalframe.engine.rows import resampled
    from evalframe.resample.paired import (
        MISSING,
        PAIRED_RESULT,
        PAIRED_UNITS,
        Comparison,
        paired_spread,
    )
    from evalframe.resample.unpaired import UNPAIRED_RESULT, unpaired_spread

    check_choice("test", test, Test)
    check_choice("correction", correction, Correction)
    if not isinstance(paired, bool):
        raise ParameterError(f"paired must be True or False, got {paired!r}")
    if baseline is not None and between is None:
        raise ParameterError("baseline is a value of `between`; name that column")
    exprs = as_exprs(metrics, weight)
    bounds = tables.declared(exprs, "systems cannot be compared by it")
    taken = [*(PAIRED_RESULT if paired else UNPAIRED_RESULT), *MISSING, DETECTABLE]
    if paired and any(units_of(bound) for bound in bounds):
        taken += PAIRED_UNITS
    keys = tables.Keys.of(by, taken)
    side, frames = _sides(frame, other, between, engine, state)
    method: Method
    if paired:
        method, cluster = paired_method(pair_on, resample)
        rows = frames
    else:
        method = _unpaired_method(pair_on, resample, test)
        check_independent(bounds, method)
        taken_apart = [clustered(each, method) for each in frames]
        rows, cluster = [each for each, _ in taken_apart], taken_apart[0][1]
    inner = tables.Keys((*keys.names, _SIDES), (*keys.exprs, side))
    tables.check_units(bounds, inner)
    sides = None if other is None else ("left", "right")
    comparison = Comparison(sides, baseline, test, correction)
    finish = partial(paired_spread if paired else unpaired_spread, comparison=comparison)
    # A pair takes the units that both sides have, and a permutation swaps clusters.
    summed = test == "bootstrap" and not any(units_of(bound) for bound in bounds)
    result = resampled(rows, exprs, inner, cluster, method, finish, engine, state, summed=summed)
    found = pl.map_batches(
        ["std_error", *_CLUSTERS[paired]],
        partial(_detectable, level=method.level, is_drawn=paired or _is_drawn(method)),
        return_dtype=pl.Float64,
        is_elementwise=True,
    )
    return result.lazy().with_columns(found.alias(DETECTABLE)).rename(keys.restore())


_CLUSTERS = {True: ("n_clusters",), False: ("n_clusters_left", "n_clusters_right")}


def _detectable(columns: Sequence[pl.Series], level: float, *, is_drawn: bool) -> pl.Series:
    """Standard errors times quantiles of Student's t; those of draws are short for few clusters."""
    import numpy as np
    from scipy.special import stdtrit

    error, *counts = (column.cast(pl.Float64).to_numpy() for column in columns)
    freedom = np.maximum(np.minimum.reduce(counts) - 1.0, 1.0)
    times = stdtrit(freedom, (1 + level) / 2) + stdtrit(freedom, POWER)
    if is_drawn:
        times = times * np.sqrt((freedom + 1.0) / freedom)
    return pl.Series(np.where(error > 0, error * times, np.nan)).fill_nan(None)


def _is_drawn(method: Method) -> bool:
    from evalframe.resample.methods import Bootstrap

    return isinstance(method, Bootstrap)


def paired_method(pair_on: IntoExpr | None, resample: Method | None) -> tuple[Bootstrap, pl.Expr]:
    """The bootstrap of pairs, and the clusters to pair on."""
    from evalframe.resample.methods import Bootstrap

    if pair_on is None and resample is None:
        raise ParameterError("name the clusters to pair on, such as pair_on='participant_id'")
    if resample is None:
        assert pair_on is not None
        resample = Bootstrap(cluster=pair_on)
    if not isinstance(resample, Bootstrap):
        raise ParameterError(
            f"pairs are resampled by ef.Bootstrap, got {type(resample).__name__}; groups that "
            "share no cluster are compared by any method, with paired=False"
        )
    if pair_on is not None:
        resample = replace(resample, cluster=pair_on)
    return resample, named_cluster("compare", resample)


def _unpaired_method(pair_on: IntoExpr | None, resample: Method | None, test: Test) -> Method:
    """The method of independent sides; ParameterError if it does not fit them."""
    if pair_on is not None:
        raise ParameterError(
            "pair_on names what both sides share; with paired=False name the clusters that are "
            "drawn, resample=ef.Bootstrap(cluster=...)"
        )
    if resample is None:
        raise ParameterError(
            "name the clusters that are independent, such as "
            "resample=ef.Bootstrap(cluster='participant_id'); ef.Bootstrap() if rows are"
        )
    if test == "permutation":
        raise ParameterError(
            "a permutation swaps the sides of clusters that both have, and with paired=False there "
            "are none; use test='bootstrap'"
        )
    return resample


def _sides(
    frame: Frame,
    other: Frame | None,
    between: IntoExpr | None,
    engine: AnyEngine | None,
    state: AnyStore | None,
) -> tuple[pl.Expr, list[Rows]]:
    from evalframe.engine.rows import rows_of

    if (between is None) == (other is None):
        raise ParameterError(
            "name either between=... (a column of one table) or other=... (a second table)"
        )
    if other is None:
        assert between is not None
        return as_expr(between), [rows_of(frame, engine, state)]
    named = [
        rows_of(table, engine, state).with_columns(pl.lit(name).alias(":side"))
        for table, name in ((frame, "left"), (other, "right"))
    ]
    return pl.col(":side"), named
