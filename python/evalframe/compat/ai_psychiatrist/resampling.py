"""Intervals as ai-psychiatrist gives them: percentiles, and a number where ours are null.

| case | evalframe | ai-psychiatrist |
|---|---|---|
| fewer than two replicates in which the metric is defined | null | the estimate (or 0) twice |
| a single cluster | null, or refused | the estimate twice |
| no cluster in common of two tables | refused | deltas are null, intervals 0 to 0 |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe import comparison, evaluation
from evalframe.comparison import Correction, Test, paired_method
from evalframe.core import tables
from evalframe.core.frames import like_input
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.resample.methods import Bootstrap, Method
from evalframe.resample.paired import PAIRED_RESULT

if TYPE_CHECKING:
    from evalframe.core.asked import AnyMetric
    from evalframe.core.states import Plan


_CLUSTER = ":cluster"
_UNKNOWN = ("std_error", "lower", "upper", "p_value", "p_adjusted")


@like_input
def evaluate(
    frame: Frame,
    metrics: AnyMetric | Sequence[AnyMetric],
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    resample: Method | None = None,
    plan: Plan = "auto",
) -> pl.LazyFrame:
    """`ef.evaluate` with percentile intervals that are never null.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> from evalframe.compat import ai_psychiatrist
        >>> items = pl.DataFrame({"person": [1, 1], "loss": [0.0, 1.0]})
        >>> result = ai_psychiatrist.evaluate(
        ...     items, ef.selective_risk(), resample=ef.Bootstrap(cluster="person", n=10)
        ... )
        >>> result.select("estimate", "std_error", "lower", "upper").row(0)
        (0.5, 0.0, 0.5, 0.5)
    """
    lazy = tables.lazy(frame)
    if not isinstance(resample, Bootstrap):
        return evaluation.evaluate(
            lazy, metrics, by=by, weight=weight, resample=resample, plan=plan
        )
    method = replace(resample, interval="percentile")
    rows, cluster = evaluation.clustered(lazy, method)
    if _most_clusters(rows, tables.Keys.of(by).select(), cluster) == 1:
        points = evaluation.evaluate(lazy, metrics, by=by, weight=weight, plan=plan)
        return _filled(_resampled(points, "estimate", 1), "estimate", method)
    spread = evaluation.evaluate(lazy, metrics, by=by, weight=weight, resample=method, plan=plan)
    return _filled(spread, "estimate", method)


@like_input
def compare(
    frame: Frame,
    metrics: AnyMetric | Sequence[AnyMetric],
    *,
    between: IntoExpr | None = None,
    other: Frame | None = None,
    baseline: Any = None,
    pair_on: IntoExpr | None = None,
    by: By = None,
    weight: IntoExpr | None = None,
    resample: Method | None = None,
    test: Test = "bootstrap",
    correction: Correction = "holm",
) -> pl.LazyFrame:
    """`ef.compare` of pairs with percentile intervals that are never null.

    Two tables may have a single cluster in common, or none; groups of one table may not.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> from evalframe.compat import ai_psychiatrist
        >>> left = pl.DataFrame({"person": [1], "loss": [0.5]})
        >>> right = pl.DataFrame({"person": [1], "loss": [0.75]})
        >>> result = ai_psychiatrist.compare(
        ...     left, ef.selective_risk(), other=right, pair_on="person"
        ... )
        >>> result.select("delta", "lower", "upper", "n_clusters").row(0)
        (0.25, 0.25, 0.25, 1)
    """
    bootstrap, cluster = paired_method(pair_on, resample)
    method = replace(bootstrap, interval="percentile")
    if other is not None and by is None:
        sides = [tables.lazy(side) for side in (frame, other)]
        clusters = (side.select(cluster.alias(_CLUSTER)).unique() for side in sides)
        left, right = pl.collect_all(clusters)
        shared = left.join(right, on=_CLUSTER, how="semi")[_CLUSTER]
        if len(shared) < 2:
            sides = [side.filter(cluster.is_in(shared.implode())) for side in sides]
            return _filled(_differences(sides, metrics, weight, len(shared)), "delta", method)
    spread = comparison.compare(
        tables.lazy(frame),
        metrics,
        between=between,
        other=None if other is None else tables.lazy(other),
        baseline=baseline,
        by=by,
        weight=weight,
        resample=method,
        test=test,
        correction=correction,
    )
    return _filled(spread, "delta", method)


def _most_clusters(rows: pl.LazyFrame, keys: Sequence[pl.Expr], cluster: pl.Expr) -> int:
    """The number of clusters of the group that has most, 0 without rows."""
    count = cluster.n_unique().alias(":n")
    counts = rows.group_by(keys).agg(count) if keys else rows.select(count)
    return counts.select(pl.col(":n").max().fill_null(0)).collect().item()  # type: ignore[no-any-return]


def _resampled(points: pl.LazyFrame, point: str, clusters: int) -> pl.LazyFrame:
    """Estimates of at most one cluster as if they were resampled: every replicate is the same."""
    return points.with_columns(
        n_clusters=pl.lit(clusters, dtype=pl.Int64),
        drop_rate=pl.col(point).is_null().cast(pl.Float64),
    )


def _differences(
    sides: Sequence[pl.LazyFrame],
    metrics: AnyMetric | Sequence[AnyMetric],
    weight: IntoExpr | None,
    clusters: int,
) -> pl.LazyFrame:
    """Differences of two tables that have at most one cluster in common."""
    estimate = pl.col("estimate") if clusters else pl.lit(None, dtype=pl.Float64)
    left, right = (
        evaluation.evaluate(side, metrics, weight=weight).select("metric", estimate.alias(name))
        for side, name in zip(sides, ("estimate_left", "estimate_right"), strict=True)
    )
    points = left.join(right, on="metric", maintain_order="left").with_columns(
        delta=pl.col("estimate_right") - pl.col("estimate_left"),
        left=pl.lit("left"),
        right=pl.lit("right"),
        **dict.fromkeys(_UNKNOWN, pl.lit(None, dtype=pl.Float64)),
    )
    return _resampled(points, "delta", clusters).select(PAIRED_RESULT)


def _filled(result: pl.LazyFrame, point: str, method: Bootstrap) -> pl.LazyFrame:
    """A standard error of 0 and the estimate, or 0, for both ends where nothing varies."""
    few = ((1.0 - pl.col("drop_rate")) * method.n).round() < 2
    lone = pl.col("n_clusters") < 2
    value = pl.col(point).fill_null(0.0)
    return result.with_columns(
        pl.when(few | (lone & value.is_finite()))
        .then(0.0)
        .otherwise("std_error")
        .alias("std_error"),
        *(pl.when(few | lone).then(value).otherwise(end).alias(end) for end in ("lower", "upper")),
    )
