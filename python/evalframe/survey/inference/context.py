"""A permutation test for gains of a model from the answers that its prompts show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core import segments
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy, starts_of_groups
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey.inference.common import (
    Correction,
    adjusted_p_value,
    check_columns,
    check_draws,
    shared_keys,
)

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


_CELLS = 1 << 20
_ROUNDING = 1e-12

RESULT = ("slope", "n_keys", "n_points", "context_levels", "p_value", "p_adjusted")
"""Columns of the result after the keys."""


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
    correction: Correction = "holm",
) -> pl.LazyFrame:
    """Test each model for a rise of its scores with the number of answers in the prompt.

    The slope is the mean over keys of each key's least-squares slope. Permutations exchange the
    context counts within each key. The p-value is one-sided: the share of permutations whose slope
    is at least as high, with one added to numerator and denominator. As in dtef-app 52d79c0, its
    analysis script.

    Args:
        scored: One row per model, key and context count; repeated rows are averaged first.
        by: The models, or models and categories; each group is tested.
        on: The keys, each of which has a slope.
        context_count: The number of answers shown; rows where it is null are left out.
        score: Null or NaN is missing.
        n: Number of permutations.
        seed: Seed of the permutations.
        correction: For all groups together, see `adjusted_p_value`.

    Returns:
        by..., `slope` (score per answer shown), `n_keys` (keys with a slope), `n_points`,
        `context_levels` (different counts), `p_value`, `p_adjusted`. Keys with a single count have
        no slope and are left out, and so are groups without any slope. Sorted by the keys.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = {"question_id": [1, 1, 2, 2], "score": [0.5, 0.6, 0.6, 0.8]}
        >>> scored = pl.DataFrame({"model": "a", "context_count": [0, 10, 0, 10], **scores})
        >>> test = ef.survey.context_test(scored, on="question_id")
        >>> test.select(pl.col("slope").round(4), "n_keys", "n_points").row(0)
        (0.015, 2, 4)
    """
    check_draws(n, seed)
    keys = Keys.of(by, taken=RESULT)
    points = points_of(scored, keys, on, context_count, score)
    within = [*keys.inner, ":on"]
    slopes, counts = permuted_slopes(points, keys, within, n, seed, _ROUNDING)
    tests = slope_table(points, keys, slopes, (counts + 1) / (n + 1))
    adjusted = tests.with_columns(adjusted_p_value(correction=correction))
    return adjusted.select(*keys.inner, *RESULT).rename(keys.restore()).lazy()


def points_of(
    scored: Frame,
    keys: Keys,
    on: IntoExpr | Sequence[IntoExpr],
    context_count: IntoExpr,
    score: IntoExpr,
) -> pl.DataFrame:
    """Mean score `y` at each context count `x` of each group and key, of keys with two counts."""
    rows, of = lazy(scored), shared_keys(on)
    count, value = as_expr(context_count).cast(pl.Float64), as_expr(score).cast(pl.Float64)
    check_columns("context_test", rows, [*keys.exprs, *of, count, value])
    columns = {":on": pl.struct(of), "x": count, "y": value.fill_nan(None)}
    return (
        rows.select(*keys.select(), **columns)
        .drop_nulls(["x", "y"])
        .group_by(*keys.inner, ":on", "x")
        .agg(pl.col("y").mean())
        .filter(pl.len().over(*keys.inner, ":on") > 1)
        .sort(*keys.inner, ":on", "x")
        .collect()
    )


def slope_table(points: pl.DataFrame, keys: Keys, slopes: Floats, p_values: Floats) -> pl.DataFrame:
    """One row per group with its numbers of keys, points and counts, its slope and p-value."""
    table = points.group_by(keys.inner, maintain_order=True).agg(
        n_keys=pl.col(":on").n_unique().cast(pl.Int64),
        n_points=pl.len().cast(pl.Int64),
        context_levels=pl.col("x").n_unique().cast(pl.Int64),
    )
    return table.with_columns(pl.Series("slope", slopes), pl.Series("p_value", p_values))


def permuted_slopes(
    points: pl.DataFrame, keys: Keys, within: Sequence[str], n: int, seed: int, rounding: float
) -> tuple[Floats, Ints]:
    """Slopes of groups, and how many permutations have a slope that is as high.

    Context counts are permuted among the points with equal columns `within`. Slopes that differ by
    `rounding` times the largest score are equal.
    """
    if points.is_empty():
        return np.empty(0), np.empty(0, dtype=np.int64)
    x, y = points["x"].to_numpy(), points["y"].to_numpy()
    cells, groups = (
        starts_of_groups(points, names) for names in ([*keys.inner, ":on"], keys.inner)
    )
    # Slopes need centred scores only, since a constant added to the scores of a key cancels.
    centred = y - np.repeat(segments.totals(y, cells) / np.diff(cells), np.diff(cells))
    edges = np.searchsorted(cells, groups)
    starts = starts_of_groups(points, within)
    block = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    slack = rounding * np.abs(y).max()
    observed = _mean_slopes(x[None, :], centred, cells, edges)[0]
    rng = np.random.default_rng(seed)
    count = np.zeros(len(groups) - 1, dtype=np.int64)
    step = max(1, _CELLS // len(x))
    for first in range(0, n, step):
        uniform = rng.random((min(step, n - first), len(x)))
        # Sorting block number plus a uniform number shuffles points within their block.
        permuted = x[np.argsort(block + uniform, axis=1)]
        count += (_mean_slopes(permuted, centred, cells, edges) >= observed - slack).sum(axis=0)
    return observed, count


def _mean_slopes(x: Floats, centred: Floats, cells: Ints, edges: Ints) -> Floats:
    """Mean slope of the keys of each group; x is replicates by points."""
    first, sizes = cells[:-1], np.diff(cells)
    mean = np.add.reduceat(x, first, axis=1) / sizes
    spread = np.add.reduceat(x * x, first, axis=1) - sizes * mean * mean
    product = np.add.reduceat(x * centred, first, axis=1)
    flat = spread <= _ROUNDING * sizes * (mean * mean + 1)
    slopes = np.where(flat, 0.0, product / np.where(flat, 1.0, spread))
    return np.add.reduceat(slopes, edges[:-1], axis=1) / np.diff(edges)
