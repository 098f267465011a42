"""Inference of dtef-app 52d79c0, as far as it differs from that of `evalframe.survey`.

| | evalframe.survey | dtef |
|---|---|---|
| Holm's correction | with a running maximum | without it |
| p-values of permutations | one is added to both counts | nothing is added: 0 is possible |
| ties of permutations | up to rounding | exact, in its order of addition |
| context test | counts are permuted within keys | over all points of a group |
| Welch's test | Student's t, null if undefined | normal, t = 0 and p = 1 if undefined |
| gap decomposition | of percentages, null if undefined | of raw numbers, 0, 1 or infinite |
| limits of intervals | interpolated quantiles | sorted values at `floor(p n)` |
| unknown sample sizes | no weight | 30 respondents |
| amounts of context | one is selected | all are pooled |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe import survey
from evalframe.compat.dtef.scoring import SIMILARITIES, floor_quantiles
from evalframe.core.choices import Context
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey.contexts import COLUMNS
from evalframe.survey.contract import KEYS
from evalframe.survey.inference import differences
from evalframe.survey.inference.common import Correction, adjusted_by, check_columns, check_draws
from evalframe.survey.inference.context import RESULT, permuted_slopes, points_of, slope_table
from evalframe.survey.inference.differences import Pairs, random_signs
from evalframe.survey.inference.gap import MEANS, NEGLIGIBLE, with_lists, with_shifts
from evalframe.survey.inference.means import model_keys, ranked_means, resampled_means
from evalframe.survey.inference.respondents import (
    difference_table,
    drawn_scores,
    interval_table,
    pairs_of,
)

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.survey.inference.respondent_draws import Average
    from evalframe.survey.similarity.registry import Metric


# Abramowitz and Stegun, 26.2.17.
_POLYNOMIAL = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
_STEP = 0.2316419

_UNKNOWN_SIZE = 30
"""Respondents of a segment whose size is missing."""

_FEW_KEYS = 64
"""Up to so many keys, sums are computed in the order of dtef-app, since its ties depend on it."""

_LEAST = 3
"""Shared keys that a test needs."""


def adjusted_p_value(p_value: IntoExpr = "p_value") -> pl.Expr:
    """Holm's correction without its running maximum, which is not valid.

    A larger p-value can be adjusted to a smaller one, so that a test can pass after one that
    failed.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import dtef
        >>> tests = pl.DataFrame({"p_value": [0.01, 0.04, 0.03, 0.005]})
        >>> tests.select(dtef.adjusted_p_value()).to_series().to_list()
        [0.03, 0.04, 0.06, 0.02]
    """
    return adjusted_by(_holm_unordered, p_value)


def _holm_unordered(p_values: Floats) -> Floats:
    """Multiply the k-th smallest of m p-values by m - k + 1; NaN sorts last."""
    order = np.argsort(p_values, kind="stable")
    tests = np.count_nonzero(~np.isnan(p_values))
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(p_values[order] * (tests - np.arange(len(p_values))), 1.0)
    return adjusted


@like_input
def welch_test(
    runs: Frame,
    *,
    between: IntoExpr = "condition",
    value: IntoExpr = "score",
    by: IntoExpr | Sequence[IntoExpr] | None = None,
    conditions: tuple[str, str] | None = None,
) -> pl.LazyFrame:
    """Welch's test with p-values of the normal distribution, see `ef.survey.welch_test`.

    They are too small for few runs. Undefined tests have t = 0, p = 1 and d = 0, also for a
    condition without runs; df is then that of equal variances, or 0 for fewer than two runs.
    """
    rows, keys = differences.compared(runs, by, between, value, conditions, need_both=False)
    t, df, d = differences.statistics(pl.col(":left") + pl.col(":right") > 0)
    spare = [pl.col(f"n_{side}").cast(pl.Float64) - 1 for side in ("left", "right")]
    equal = pl.when(pl.min_horizontal(spare) >= 1).then(spare[0] + spare[1]).otherwise(0.0)
    return differences.result_of(
        rows,
        keys,
        t.fill_null(0.0),
        df.fill_null(equal),
        (2 * (1 - _normal_cdf(t.abs()))).fill_null(1.0),
        d.fill_null(0.0),
    )


def _normal_cdf(x: pl.Expr) -> pl.Expr:
    """Normal distribution function of numbers from 0, to 1e-7, by a polynomial."""
    step = 1 / (1 + _STEP * x)
    tail = pl.lit(0.0)
    for constant in reversed(_POLYNOMIAL):
        tail = step * (constant + tail)
    return 1 - (-x * x / 2).exp() / math.sqrt(2 * math.pi) * tail


@like_input
def gap_decomposition(
    predictions: Frame,
    *,
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    marginal: IntoExpr = "marginal",
) -> pl.LazyFrame:
    """Direction and magnitude of percentages, see `ef.survey.gap_decomposition`.

    Numbers are not scaled. The direction is 0 if it is undefined; the magnitude is 1 if both shifts
    are 0, and infinite if only the truth does not differ from the population.
    """
    shifts = with_shifts(with_lists(predictions, predicted, actual, marginal))
    a, b = pl.col("model_shift"), pl.col("truth_shift")
    none = pl.when(a < NEGLIGIBLE).then(1.0).otherwise(float("inf"))
    undefined = pl.when((b < NEGLIGIBLE) | (a == 0))
    return shifts.with_columns(
        direction=undefined.then(0.0 * a).otherwise(pl.col(":cosine")),
        magnitude=pl.when(b < NEGLIGIBLE).then(none).otherwise(a / b),
    ).drop(":cosine")


@like_input
def gap_summary(
    gaps: Frame, *, by: IntoExpr | Sequence[IntoExpr] = "model", min_shift: float = 1.0
) -> pl.LazyFrame:
    """Means of gaps of all amounts of context, 0 if undefined, see `ef.survey.gap_summary`."""
    table = survey.gap_summary(lazy(gaps), by=by, context="all", min_shift=min_shift)
    contexts = [name for name in COLUMNS if name not in Keys.of(by, taken=()).names]
    return table.drop(contexts, strict=False).with_columns(pl.col(MEANS).fill_null(0.0))


@like_input
def mean_intervals(
    frame: Frame,
    *,
    by: IntoExpr | Sequence[IntoExpr] = "model",
    value: IntoExpr = "score",
    n: int = 1_000,
    seed: int = 42,
    level: float = 0.95,
) -> pl.LazyFrame:
    """Means with percentile intervals, see `ef.survey.mean_intervals`.

    Limits are sorted means at `floor(p n)`, those of a single row are its value, and all amounts of
    context are included.
    """
    table = resampled_means(frame, by, value, None, n, seed, level, floor_quantiles)
    return table.with_columns(
        pl.when(pl.col("n") == 1).then("mean").otherwise(name).alias(name)
        for name in ("lower", "upper")
    )


@like_input
def weighted_means(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    score: IntoExpr = "score",
    sample_size: IntoExpr = "sample_size",
) -> pl.LazyFrame:
    """Means weighted by the root of the sample size, see `ef.survey.weighted_means`.

    A missing sample size is 30, and all amounts of context are included. Published rank changes of
    0 come from look-ups that failed: all weights were the root of 30.
    """
    rows, keys = lazy(scored), model_keys(between)
    size, value = as_expr(sample_size).cast(pl.Float64), as_expr(score).cast(pl.Float64)
    check_columns("weighted_means", rows, [*keys.exprs, value, size])
    return ranked_means(rows, keys, value.fill_nan(None), size.fill_null(_UNKNOWN_SIZE))


@like_input
def respondent_intervals(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    average: Average = "segments",
    context: Context = "highest",
    metric: Metric = "jensen_shannon_similarity",
    n: int = 200,
    seed: int = 42,
    level: float = 0.95,
) -> pl.LazyFrame:
    """Intervals against drawn answers without a shift by the bias.

    See `ef.survey.respondent_intervals`. dtef-app draws so for a single distribution
    (`bootstrapGroundTruth`).
    """
    rows, drawn = drawn_scores(
        scored, between, average, context, metric, SIMILARITIES, n, seed, level
    )
    return interval_table(rows, drawn, between, *floor_quantiles(drawn.means, level))


@like_input
def respondent_differences(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    average: Average = "segments",
    context: Context = "highest",
    metric: Metric = "jensen_shannon_similarity",
    n: int = 200,
    seed: int = 42,
    level: float = 0.95,
    correction: Correction = "holm",
) -> pl.LazyFrame:
    """`ef.survey.respondent_differences` against drawn answers, without a shift by the bias."""
    rows, drawn = drawn_scores(
        scored, between, average, context, metric, SIMILARITIES, n, seed, level
    )
    left, right = pairs_of(drawn)
    deltas = drawn.means[:, right] - drawn.means[:, left]
    limits = floor_quantiles(deltas, level)
    return difference_table(rows, drawn, between, deltas, limits, correction)


@like_input
def context_test(
    scored: Frame,
    *,
    by: IntoExpr | Sequence[IntoExpr] = "model",
    on: IntoExpr | Sequence[IntoExpr] = ("segment_id", "question_id"),
    context_count: IntoExpr = "context_count",
    score: IntoExpr = "score",
    n: int = 10_000,
    seed: int = 42,
) -> pl.LazyFrame:
    """Test of slopes with counts permuted over all points of a group, see `ef.survey.context_test`.

    A key that gets a single count has the slope 0, `context_levels` are those of all groups, and
    p-values can be 0.
    """
    check_draws(n, seed)
    keys = Keys.of(by, taken=RESULT)
    points = points_of(scored, keys, on, context_count, score)
    slopes, counts = permuted_slopes(points, keys, keys.inner, n, seed, rounding=0.0)
    levels = pl.lit(points["x"].n_unique(), dtype=pl.Int64).alias("context_levels")
    tests = slope_table(points, keys, slopes, counts / n).with_columns(levels, adjusted_p_value())
    return tests.select(*keys.inner, *RESULT).rename(keys.restore()).lazy()


@like_input
def sign_flip_test(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    on: IntoExpr | Sequence[IntoExpr] = KEYS,
    score: IntoExpr = "score",
    n: int = 10_000,
    seed: int = 42,
) -> pl.LazyFrame:
    """Test of pairs by random signs, see `ef.survey.sign_flip_test`.

    Each key has a sign of its own, signs are always drawn, p-values can be 0, three keys must be
    shared, and all amounts of context are averaged.
    """
    check_draws(n, seed)
    pairs = Pairs.of(lazy(scored), between, on, score)
    tests = pairs.table(_counts(pairs, n, seed) / n, _LEAST)
    return tests.with_columns(adjusted_p_value()).lazy()


def _counts(pairs: Pairs, n: int, seed: int) -> Floats:
    """Number of random signs whose mean difference is as far from 0 as the observed one."""
    differences, shared = pairs.differences, np.maximum(pairs.shared, 1)
    keys, tests = differences.shape
    limit = np.abs(np.add.reduce(differences, axis=0)) / shared
    in_order = keys <= _FEW_KEYS
    count = np.zeros(tests)
    for signs in random_signs(n, keys, seed, tests if in_order else 1):
        if in_order:  # numpy adds one by one along the first axis
            sums = np.add.reduce(signs.T[:, :, None] * differences[:, None, :], axis=0)
        else:
            sums = signs @ differences
        count += (np.abs(sums / shared) >= limit).sum(axis=0)
    return count
