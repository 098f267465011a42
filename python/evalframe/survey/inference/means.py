"""Means with intervals by resampling, and means weighted by sample size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core.choices import Context
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy, starts_of_groups
from evalframe.core.typing import Frame, IntoExpr
from evalframe.resample.draws import times_drawn
from evalframe.survey.contexts import included, mark, with_contexts
from evalframe.survey.inference.common import central_quantiles, check_columns, check_draws

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


_CELLS = 1 << 21


@like_input
def mean_intervals(
    frame: Frame,
    *,
    by: IntoExpr | Sequence[IntoExpr] = "model",
    value: IntoExpr = "score",
    context: Context = "highest",
    n: int = 1_000,
    seed: int = 42,
    level: float = 0.95,
) -> pl.LazyFrame:
    """Means of groups, with percentile intervals from drawing rows with replacement.

    With one row per model and segment these are the intervals of leaderboard means over other
    segments of the same kind. They ignore that segments share respondents and questions; see
    `respondent_intervals` for the noise of the answers.

    Args:
        frame: One row per unit that is drawn.
        by: The groups.
        value: The number to average; null or NaN is missing.
        context: As for `at_context`; selected in each group and, if present, `segment_id` and
            `round`.
        n: Number of draws.
        seed: Seed of the draws. The draws of a group do not depend on other groups.
        level: Coverage of the interval.

    Returns:
        by..., `mean`, `lower`, `upper` (null for fewer than two rows), `n`, and the columns about
        context of `leaderboard`. Sorted by the keys.

    References:
        Efron and Tibshirani (1993), An introduction to the bootstrap.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> segments = pl.DataFrame({"model": "a", "score": [0.5, 0.5, 0.75, 0.75]})
        >>> ef.survey.mean_intervals(segments).row(0)
        ('a', 0.625, 0.5, 0.75, 4)
    """
    return resampled_means(frame, by, value, context, n, seed, level, central_quantiles)


def resampled_means(
    frame: Frame,
    by: IntoExpr | Sequence[IntoExpr],
    value: IntoExpr,
    context: Context | None,
    n: int,
    seed: int,
    level: float,
    quantiles: Callable[[Floats, float], tuple[Floats, Floats]],
) -> pl.LazyFrame:
    """The table of `mean_intervals`, of all rows if there is no context to select."""
    check_draws(n, seed, level)
    keys = Keys.of(by, taken=("mean", "lower", "upper", "n"))
    rows, number = lazy(frame), as_expr(value).cast(pl.Float64).fill_nan(None)
    check_columns("mean_intervals", rows, [*keys.exprs, number])
    rows = rows if context is None else mark(rows, context, keys.exprs, number)
    selected = included(rows).select(*keys.select(), number.alias(":value")).drop_nulls(":value")
    ordered = selected.sort(keys.inner).collect()
    starts = starts_of_groups(ordered, keys.inner)
    lower, upper = _limits(ordered[":value"].to_numpy(), starts, n, seed, level, quantiles)
    means = ordered.group_by(keys.inner, maintain_order=True).agg(
        pl.col(":value").mean().alias("mean"), pl.len().cast(pl.Int64).alias("n")
    )
    table = (
        means.with_columns(pl.Series("lower", lower), pl.Series("upper", upper))
        .with_columns(pl.col("lower", "upper").fill_nan(None))
        .select(*keys.inner, "mean", "lower", "upper", "n")
        .rename(keys.restore())
        .lazy()
    )
    return with_contexts(table, rows, keys.exprs, keys.names)


def _limits(
    values: Floats,
    starts: Ints,
    n: int,
    seed: int,
    level: float,
    quantiles: Callable[[Floats, float], tuple[Floats, Floats]],
) -> tuple[Floats, Floats]:
    """Limits for groups of consecutive values; groups of one size share their draws.

    A draw is a vector of counts, so that the means of all groups of a size are one product of
    draws by rows with rows by groups.
    """
    sizes = np.diff(starts)
    lower, upper = np.full(len(sizes), np.nan), np.full(len(sizes), np.nan)
    for size in np.unique(sizes[sizes > 1]):
        groups = np.flatnonzero(sizes == size)
        rng = np.random.default_rng([seed, int(size)])
        lines = values[starts[groups][:, None] + np.arange(size)]
        means = np.empty((n, len(groups)))
        step = max(1, _CELLS // int(size))
        for first in range(0, n, step):
            rows = slice(first, min(first + step, n))
            chosen = rng.integers(0, size, size=(rows.stop - first, int(size)))
            means[rows] = times_drawn(chosen, int(size)) @ lines.T / size
        lower[groups], upper[groups] = quantiles(means, level)
    return lower, upper


@like_input
def weighted_means(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    score: IntoExpr = "score",
    sample_size: IntoExpr = "sample_size",
    context: Context = "highest",
) -> pl.LazyFrame:
    """Mean scores of models with equal weights, and with the root of the sample size as weight.

    Args:
        scored: One row per model, segment and question.
        between: The models.
        score: Null or NaN is missing.
        sample_size: Respondents of the segment; rows without a size above 0 have no weight.
        context: As for `mean_intervals`.

    Returns:
        The model, `mean`, `weighted_mean`, `rank`, `weighted_rank`, `rank_change` (rank minus
        weighted rank: above 0 for a model that gains), `n`, `n_unweighted` (rows without sample
        size) and the columns about context of `leaderboard`. Equal means share the best rank.
        Sorted by rank, then model.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scored = pl.DataFrame({"model": "a", "score": [0.5, 0.8], "sample_size": [100, 400]})
        >>> ef.survey.weighted_means(scored).select("mean", "weighted_mean").row(0)
        (0.65, 0.7)
    """
    rows, keys = lazy(scored), model_keys(between)
    size = as_expr(sample_size).cast(pl.Float64)
    value = as_expr(score).cast(pl.Float64).fill_nan(None)
    check_columns("weighted_means", rows, [*keys.exprs, value, size])
    rows = mark(rows, context, keys.exprs, value)
    size = pl.when(size.is_finite() & (size > 0)).then(size)
    return with_contexts(
        ranked_means(included(rows), keys, value, size), rows, keys.exprs, keys.names
    )


def model_keys(between: IntoExpr) -> Keys:
    """The key of `weighted_means`."""
    return Keys.of(between, taken=("mean", "weighted_mean", "rank", "weighted_rank", "n"))


def ranked_means(rows: pl.LazyFrame, keys: Keys, value: pl.Expr, size: pl.Expr) -> pl.LazyFrame:
    """Plain and weighted means of models with their ranks."""
    number, weight = pl.col(":value"), pl.col(":weight")
    weighted = pl.when(weight.is_not_null()).then(number)
    selected = rows.select(*keys.select(), value.alias(":value"), size.sqrt().alias(":weight"))
    means = (
        selected.drop_nulls(":value")
        .group_by(keys.inner)
        .agg(
            mean=number.mean(),
            weighted_mean=((weighted * weight).sum() / weight.sum()).fill_nan(None),
            n=pl.len().cast(pl.Int64),
            n_unweighted=weight.null_count().cast(pl.Int64),
        )
    )
    rank = {
        name: pl.col(mean).rank("min", descending=True).cast(pl.Int64)
        for name, mean in (("rank", "mean"), ("weighted_rank", "weighted_mean"))
    }
    change = pl.col("rank") - pl.col("weighted_rank")
    columns = ["mean", "weighted_mean", *rank, "rank_change", "n", "n_unweighted"]
    return (
        means.with_columns(**rank)
        .with_columns(rank_change=change)
        .sort("rank", *keys.inner)
        .select(*keys.inner, *columns)
        .rename(keys.restore())
    )
