"""Means with intervals by resampling, and means that weigh larger segments more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_rules
from evalframe.core.tables import Keys, lazy, starts_of_groups
from evalframe.survey.contexts import check_context, counted, marked, with_contexts
from evalframe.survey.inference.arguments import check_draws
from evalframe.survey.inference.percentiles import percentiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats, Ints
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.survey.contexts import Context

_CELLS = 1 << 21
_UNKNOWN_SIZE = 30
"""What the original takes for the respondents of a segment that it cannot find."""


def mean_intervals(
    frame: Frame,
    *,
    by: IntoExpr | Sequence[IntoExpr] = "model",
    value: IntoExpr = "score",
    context: Context = "highest",
    n: int = 1_000,
    seed: int = 42,
    level: float = 0.95,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Means of groups, with percentile intervals from drawing rows with replacement.

    With one row per model and segment these are the intervals of leaderboard means over other
    segments of the same kind. They do not know that segments share respondents and questions; see
    `respondent_intervals` for the noise of the answers.

    Args:
        frame: One row per unit that is drawn.
        by: The groups.
        value: What is averaged; null or NaN is missing.
        context: Which amount of context counts, see `at_context`, in each group and, as far as
            there are, `segment_id` and `round`.
        n: Number of draws.
        seed: Of the draws. Each group has the same draws whatever other groups there are.
        level: Coverage of the interval.
        rules: `documented`, or `reference`: sorted means at `floor(p n)` instead of interpolated
            ones, an interval from mean to mean of a group of one row, and all amounts of context.

    Returns:
        by..., `mean`, `lower`, `upper` (null where fewer than two rows vary), `n`, and if there are
        amounts of context `context_count` (Int64, the one that counts; null for several) and
        `n_other_context` (Int64, rows of others, which do not count), but not by the original's
        rules. Sorted by the keys. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: A parameter lies outside its domain.

    References:
        Efron and Tibshirani (1993), An introduction to the bootstrap. dtef-app 52d79c0.

    Examples:
        >>> import polars as pl
        >>> segments = pl.DataFrame({"model": ["a"] * 4, "score": [0.5, 0.5, 0.75, 0.75]})
        >>> mean_intervals(segments).collect().row(0)
        ('a', 0.625, 0.5, 0.75, 4)
    """
    check_rules(rules)
    check_draws(n, seed, level)
    keys = Keys.of(by, taken=("mean", "lower", "upper", "n"))
    rows, column = lazy(frame), as_expr(value).cast(pl.Float64).fill_nan(None).alias(":value")
    _check_columns("mean_intervals", rows, [*keys.exprs, column])
    rows = _at(rows, context, keys.exprs, column, rules)
    ordered = (
        counted(rows).select(*keys.select(), column).drop_nulls(":value").sort(keys.inner).collect()
    )
    starts = starts_of_groups(ordered, keys.inner)
    values = ordered[":value"].to_numpy()
    lower, upper = _intervals(values, starts, n, seed, level, rules)
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


def weighted_means(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    score: IntoExpr = "score",
    sample_size: IntoExpr = "sample_size",
    context: Context = "highest",
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Mean scores of models with equal weights, and with the root of the sample size as weight.

    Args:
        scored: One row per model, segment and question.
        between: The models.
        score: Null or NaN is missing.
        sample_size: Respondents of the segment.
        context: As for `mean_intervals`.
        rules: `documented`: rows without a sample size above 0 stand out of the weighted mean.
            `reference`: they count as segments of 30, and all amounts of context count.

    Returns:
        The model, `mean`, `weighted_mean`, `rank`, `weighted_rank`, `rank_change` (rank minus
        weighted rank: above 0 for a model that gains), `n`, `n_unweighted` (rows without sample
        size) and as of `mean_intervals` `context_count` and `n_other_context`. Equal means share
        the best rank. Sorted by rank, then model. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: Unknown rules.

    References:
        dtef-app 52d79c0. Published rank changes of 0 come from look-ups that failed: all weights
        were the root of 30.

    Examples:
        >>> import polars as pl
        >>> scored = pl.DataFrame(
        ...     {"model": ["a", "a"], "score": [0.5, 0.8], "sample_size": [100, 400]}
        ... )
        >>> weighted_means(scored).select("mean", "weighted_mean").collect().row(0)
        (0.65, 0.7)
    """
    check_rules(rules)
    keys = Keys.of(between, taken=("mean", "weighted_mean", "rank", "weighted_rank", "n"))
    rows, size = lazy(scored), as_expr(sample_size).cast(pl.Float64)
    value = as_expr(score).cast(pl.Float64).fill_nan(None)
    _check_columns("weighted_means", rows, [*keys.exprs, value, size])
    rows = _at(rows, context, keys.exprs, value, rules)
    if rules == "reference":
        size = size.fill_null(_UNKNOWN_SIZE)
    else:
        size = pl.when(size.is_finite() & (size > 0)).then(size)
    known = counted(rows).select(
        *keys.select(), value.alias(":value"), size.sqrt().alias(":weight")
    )
    valued, weight = pl.col(":value"), pl.col(":weight")
    weighed = pl.when(weight.is_not_null()).then(valued)
    means = (
        known.drop_nulls(":value")
        .group_by(keys.inner)
        .agg(
            mean=valued.mean(),
            weighted_mean=((weighed * weight).sum() / weight.sum()).fill_nan(None),
            n=pl.len().cast(pl.Int64),
            n_unweighted=weight.null_count().cast(pl.Int64),
        )
    )
    ranks = means.with_columns(
        rank=pl.col("mean").rank("min", descending=True).cast(pl.Int64),
        weighted_rank=pl.col("weighted_mean").rank("min", descending=True).cast(pl.Int64),
    ).with_columns(rank_change=pl.col("rank") - pl.col("weighted_rank"))
    shown = ["mean", "weighted_mean", "rank", "weighted_rank", "rank_change", "n", "n_unweighted"]
    table = ranks.sort("rank", *keys.inner).select(*keys.inner, *shown).rename(keys.restore())
    return with_contexts(table, rows, keys.exprs, keys.names)


def _at(
    rows: pl.LazyFrame, context: Context, by: Sequence[pl.Expr], value: pl.Expr, rules: Rules
) -> pl.LazyFrame:
    """Marked rows; the original takes all amounts of context."""
    check_context(context, rules)
    return rows if rules == "reference" else marked(rows, context, by, value)


def _check_columns(needed_by: str, rows: pl.LazyFrame, exprs: Sequence[pl.Expr]) -> None:
    present = rows.collect_schema().names()
    if missing := columns_read(exprs) - {*present}:
        raise MissingColumnsError.of(needed_by, missing, present)


def _intervals(
    values: Floats, starts: Ints, n: int, seed: int, level: float, rules: Rules
) -> tuple[Floats, Floats]:
    """Ends of the intervals of groups of consecutive rows, a group's draws from its size alone."""
    import numpy as np

    sizes = np.diff(starts)
    lower, upper = np.full(len(sizes), np.nan), np.full(len(sizes), np.nan)
    for size in np.unique(sizes):
        groups = np.flatnonzero(sizes == size)
        if size == 1:
            if rules == "reference":
                lower[groups] = upper[groups] = values[starts[groups]]
            continue
        rng = np.random.default_rng([seed, int(size)])
        lines = values[starts[groups][:, None] + np.arange(size)]
        drawn = np.empty((n, len(groups)))
        step = max(1, _CELLS // int(size))
        for first in range(0, n, step):
            rows = slice(first, min(first + step, n))
            chosen = rng.integers(0, size, size=(rows.stop - first, int(size)))
            times = chosen + size * np.arange(len(chosen))[:, None]
            weights = np.bincount(times.ravel(), minlength=chosen.size).reshape(chosen.shape)
            drawn[rows] = weights @ lines.T / size
        lower[groups], upper[groups] = percentiles(drawn, level, rules)
    return lower, upper
