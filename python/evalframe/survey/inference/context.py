"""Tests of whether a model gains by the answers that its prompts show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import segments
from evalframe.core.errors import MissingColumnsError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_rules
from evalframe.core.tables import Keys, lazy, starts_of_groups
from evalframe.survey.inference.adjust import adjusted_p_value
from evalframe.survey.inference.arguments import check_draws, shared_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats, Ints
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.survey.inference.adjust import Correction

_CELLS = 1 << 20
_ROUNDING = 1e-12

_TAKEN = ("slope", "n_keys", "n_points", "context_levels", "p_value", "p_adjusted")


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
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Test each model for a rise of its scores with the number of answers in the prompt.

    The slope is the mean over keys of each key's least-squares slope. The p-value is one-sided: the
    share of permutations of the context counts whose slope is at least as high.

    Args:
        scored: One row per model, key and context count, or several, which are averaged first.
        by: The models, or models and categories; each group is tested.
        on: What a slope is taken of.
        context_count: Null is unknown, and left out.
        score: Null or NaN is missing.
        n: Number of permutations.
        seed: Of the permutations.
        correction: For all groups together, see `adjusted_p_value`.
        rules: `documented`: counts are permuted within each key, so that each key keeps those it
            was asked with; one is added to numerator and denominator. `reference`: counts are
            permuted over all points of a group, where a key that gets one count alone has slope 0;
            nothing is added; Holm's correction lacks its running maximum; and `context_levels` are
            those of all groups.

    Returns:
        by..., `slope` (score per answer shown), `n_keys` (keys with a slope), `n_points`,
        `context_levels` (different counts), `p_value`, `p_adjusted`. Keys seen at one count alone
        have no slope and are left out, and so are groups without any. Sorted by the keys. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: A parameter lies outside its domain.

    References:
        dtef-app 52d79c0, its analysis script.

    Examples:
        >>> import polars as pl
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a"] * 6,
        ...         "question_id": [1, 1, 2, 2, 3, 3],
        ...         "context_count": [0, 10] * 3,
        ...         "score": [0.5, 0.6, 0.6, 0.8, 0.7, 0.9],
        ...     }
        ... )
        >>> test = context_test(scored, on="question_id").collect()
        >>> test.select(pl.col("slope").round(4), "n_keys", "n_points").row(0)
        (0.0167, 3, 6)
    """
    check_rules(rules)
    check_draws(n, seed)
    keys, of = Keys.of(by, taken=_TAKEN), shared_keys(on)
    rows = lazy(scored)
    count, value = as_expr(context_count).cast(pl.Float64), as_expr(score).cast(pl.Float64)
    present = rows.collect_schema().names()
    exprs = [*keys.exprs, *of, count, value]
    if missing := columns_read(exprs) - {*present}:
        raise MissingColumnsError.of("context_test", missing, present)
    point = {":on": pl.struct(of), "x": count, "y": value.fill_nan(None)}
    known = rows.select(*keys.select(), **point).drop_nulls(["x", "y"])
    points = (
        known.group_by(*keys.inner, ":on", "x")
        .agg(pl.col("y").mean())
        # Averaged, two points of a key have two counts, so that there is a slope.
        .filter(pl.len().over(*keys.inner, ":on") > 1)
        .sort(*keys.inner, ":on", "x")
        .collect()
    )
    table = points.group_by(keys.inner, maintain_order=True).agg(
        n_keys=pl.col(":on").n_unique().cast(pl.Int64),
        n_points=pl.len().cast(pl.Int64),
        context_levels=pl.col("x").n_unique().cast(pl.Int64),
    )
    slope, p_value = _tested(
        points["x"].to_numpy(),
        points["y"].to_numpy(),
        starts_of_groups(points, [*keys.inner, ":on"]),
        starts_of_groups(points, keys.inner),
        n,
        seed,
        rules,
    )
    tested = table.with_columns(pl.Series("slope", slope), pl.Series("p_value", p_value))
    if rules == "reference":
        tested = tested.with_columns(context_levels=pl.lit(points["x"].n_unique(), dtype=pl.Int64))
    adjusted = adjusted_p_value(correction=correction, rules=rules)
    return tested.with_columns(adjusted).select(*keys.inner, *_TAKEN).rename(keys.restore()).lazy()


def _tested(
    x: Floats, y: Floats, cells: Ints, groups: Ints, n: int, seed: int, rules: Rules
) -> tuple[Floats, Floats]:
    """Slopes of groups and their p-values.

    Args:
        x: Context counts, by groups and within them by keys.
        y: Scores.
        cells: Where keys start.
        groups: Where groups start.
        n: Number of permutations.
        seed: Of the permutations.
        rules: What is permuted, and what is added.
    """
    import numpy as np

    if not len(x):
        return np.empty(0), np.empty(0)
    cell_of = np.repeat(np.arange(len(cells) - 1), np.diff(cells))
    # Slopes need centred scores alone, since what is added to all scores of a key cancels.
    centred = y - (segments.totals(y, cells) / np.diff(cells))[cell_of]
    edges = np.searchsorted(cells, groups)
    group_of = np.repeat(np.arange(len(groups) - 1), np.diff(groups))
    within = cell_of if rules == "documented" else group_of
    observed = _mean_slopes(x[None, :], centred, cells, edges)[0]
    # Permutations that give the same slope may differ from it by rounding.
    slack = _ROUNDING * np.abs(y).max() if rules == "documented" else 0.0
    rng = np.random.default_rng(seed)
    count = np.zeros(len(groups) - 1, dtype=np.int64)
    step = max(1, _CELLS // len(x))
    for first in range(0, n, step):
        drawn = rng.random((min(step, n - first), len(x)))
        # Sorted by where they belong and then at random, points stay among their own.
        permuted = x[np.argsort(within + drawn, axis=1)]
        count += (_mean_slopes(permuted, centred, cells, edges) >= observed - slack).sum(axis=0)
    own = 1 if rules == "documented" else 0
    return observed, (count + own) / (n + own)


def _mean_slopes(x: Floats, centred: Floats, cells: Ints, edges: Ints) -> Floats:
    """The mean slope of the keys of each group; x is replicates by points."""
    import numpy as np

    first, sizes = cells[:-1], np.diff(cells)
    mean = np.add.reduceat(x, first, axis=1) / sizes
    spread = np.add.reduceat(x * x, first, axis=1) - sizes * mean * mean
    product = np.add.reduceat(x * centred, first, axis=1)
    flat = spread <= _ROUNDING * sizes * (mean * mean + 1)
    slopes = np.where(flat, 0.0, product / np.where(flat, 1.0, spread))
    return np.add.reduceat(slopes, edges[:-1], axis=1) / np.diff(edges)
