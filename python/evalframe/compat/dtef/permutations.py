"""Permutation tests of dtef-app: nothing is added to the counts, and ties depend on rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.dtef.inference import adjusted_p_value
from evalframe.core.frames import like_input
from evalframe.core.tables import Keys, lazy
from evalframe.survey.contract import KEYS
from evalframe.survey.inference.arguments import check_draws
from evalframe.survey.inference.context import RESULT, permuted_slopes, points_of, tests_of
from evalframe.survey.inference.sign_flips import Pairs, random_signs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.segments import Floats
    from evalframe.core.typing import Frame, IntoExpr

_FEW_KEYS = 64
"""Up to so many keys, sums are computed in the order of dtef-app, since its ties depend on it."""

_LEAST = 3
"""Shared keys that a test needs."""


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
    tests = tests_of(points, keys, slopes, counts / n).with_columns(levels, adjusted_p_value())
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

    Signs are always drawn, p-values can be 0, three keys must be shared, and all amounts of context
    are averaged.
    """
    check_draws(n, seed)
    pairs = Pairs.of(lazy(scored), between, on, score)
    tests = pairs.table(_counts(pairs, n, seed) / n, _LEAST)
    return tests.with_columns(adjusted_p_value()).lazy()


def _counts(pairs: Pairs, n: int, seed: int) -> Floats:
    """Number of random signs whose mean difference is as far from 0 as the observed one."""
    import numpy as np

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
