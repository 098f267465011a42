"""Tests of pairs of models on the questions that both answered, by random signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.choices import Context
from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey.contexts import included, is_context_count, mark, with_contexts
from evalframe.survey.contract import KEYS
from evalframe.survey.inference.common import (
    Correction,
    adjusted_p_value,
    check_columns,
    check_draws,
    shared_keys,
)

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


_SIGNS = 1 << 22
"""Signs, as floats, that are in memory at a time."""

_LEAST = 2
"""Shared keys that a test needs."""

_ROUNDING = 1e-12
"""Ties differ by no more, relative to the sum of absolute differences or to the scores."""


@like_input
def sign_flip_test(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    on: IntoExpr | Sequence[IntoExpr] = KEYS,
    score: IntoExpr = "score",
    context: Context = "highest",
    n: int = 10_000,
    seed: int = 42,
    correction: Correction = "holm",
) -> pl.LazyFrame:
    """Test each pair of models for a difference of their mean scores on what both answered.

    If two models are equal, the difference on each key could as well have the other sign. The
    p-value is the share of random signs whose mean difference is at least as far from 0, with one
    added to numerator and denominator. All pairs have the same signs. If there are at most n
    choices of signs in all, each is tried once, which is exact.

    Keys are taken as independent. Questions of one segment, and segments of one question, are not
    quite: with complete questions as keys (`on="question_id"`) the test is about other questions.

    Args:
        scored: One row per model and key; repeated rows are averaged first.
        between: The models, at least two.
        on: The keys that both models must have.
        score: Null or NaN is missing.
        context: As for `at_context`; segments are identified by `segment_id` and `round`, if
            present.
        n: Number of random signs.
        seed: Seed of the signs.
        correction: For all pairs together, see `adjusted_p_value`.

    Returns:
        `left`, `right` (in sorted order), `estimate_left`, `estimate_right` (mean scores on shared
        keys), `delta` (right minus left), `n_shared`, `p_value` (two-sided), `p_adjusted`; null
        if fewer than two keys are shared. With amounts of context also the columns about context of
        `leaderboard`, of both models. Sorted by the pair.

    References:
        Fisher (1935), The design of experiments; Phipson and Smyth (2010), Permutation p-values
        should never be zero.

    Examples:
        >>> scores = {"model": ["a", "a", "b", "b"], "score": [0.75, 0.5, 0.5, 0.25]}
        >>> scored = pl.DataFrame({"question_id": [1, 2, 1, 2], **scores})
        >>> test = sign_flip_test(scored, on="question_id")
        >>> test.select("left", "right", "delta", "p_value").row(0)
        ('a', 'b', -0.25, 0.5)
    """
    check_draws(n, seed)
    rows = mark(lazy(scored), context, [between, *filter(is_context_count, shared_keys(on))], score)
    pairs = Pairs.of(included(rows), between, on, score, _ROUNDING)
    p_value = _p_values(pairs.differences, n, seed)
    table = pairs.table(p_value, _LEAST).with_columns(adjusted_p_value(correction=correction))
    return with_contexts(table.lazy(), rows, [as_expr(between)], ["left"], ["right"])


class Pairs(NamedTuple):
    """Pairs of models on the keys that both have.

    Attributes:
        models: Left and right models.
        differences: Keys by pairs, left minus right; 0 if a key is not shared.
        shared: Number of shared keys.
        means: Mean scores of the left and the right models on them.
    """

    models: tuple[pl.Series, pl.Series]
    differences: Floats
    shared: Ints
    means: tuple[Floats, Floats]

    @classmethod
    def of(
        cls,
        rows: pl.LazyFrame,
        between: IntoExpr,
        on: IntoExpr | Sequence[IntoExpr],
        score: IntoExpr,
        rounding: float = 0.0,
    ) -> Pairs:
        """Pair the models of scored rows, which are averaged by model and key first.

        Differences that are no more than `rounding` times the left score are 0.
        """
        models, scores = _score_matrix(rows, between, on, score)
        left, right = np.triu_indices(len(models), 1)
        is_known = ~np.isnan(scores)
        filled, flags = np.where(is_known, scores, 0.0), is_known.astype(np.float64)
        shared = flags @ flags.T
        with np.errstate(invalid="ignore"):
            means = filled @ flags.T / shared
        differences = np.nan_to_num(scores[left] - scores[right], nan=0.0)
        differences[np.abs(differences) <= rounding * np.abs(filled[left])] = 0.0
        return cls(
            (models.gather(left), models.gather(right)),
            np.ascontiguousarray(differences.T),
            shared[left, right].astype(np.int64),
            (means[left, right], means[right, left]),
        )

    def table(self, p_value: Floats, least: int) -> pl.DataFrame:
        """The tests, null for pairs that share fewer keys than the least number."""
        estimates = {
            "estimate_left": self.means[0],
            "estimate_right": self.means[1],
            "delta": self.means[1] - self.means[0],
        }
        left, right = self.models
        columns = {"left": left, "right": right, **estimates, "n_shared": self.shared}
        tests = pl.DataFrame({**columns, "p_value": p_value})
        enough = pl.when(pl.col("n_shared") >= least)
        return tests.with_columns(
            enough.then(pl.col(name).fill_nan(None)).alias(name) for name in (*estimates, "p_value")
        )


def _score_matrix(
    rows: pl.LazyFrame, between: IntoExpr, on: IntoExpr | Sequence[IntoExpr], score: IntoExpr
) -> tuple[pl.Series, Floats]:
    """Models, sorted, and their mean scores, models by keys, NaN where a model lacks a key."""
    keys = shared_keys(on)
    check_columns("sign_flip_test", rows, [as_expr(between), *keys, as_expr(score)])
    known = rows.select(
        as_expr(between).alias("model"),
        pl.struct(keys).alias("key"),
        as_expr(score).cast(pl.Float64).fill_nan(None).alias("score"),
    ).drop_nulls("score")
    means = known.group_by("model", "key", maintain_order=True).agg(
        pl.col("score").mean(), pl.len()
    )
    numbered = means.with_columns(
        column=pl.col("key").rank("dense") - 1, line=pl.col("model").rank("dense") - 1
    ).collect()
    if unnamed := numbered.filter(pl.col("model").is_null())["len"].sum():
        raise ParameterError(
            f"sign_flip_test: the model is null in {unnamed:,} rows with a score; name it, or drop"
            " these rows"
        )
    models = numbered["model"].unique().sort()
    if len(models) < 2:
        raise ParameterError(f"sign_flip_test needs two models, found {models.to_list()}")
    scores = np.full((len(models), numbered["key"].n_unique()), np.nan)
    scores[numbered["line"].to_numpy(), numbered["column"].to_numpy()] = numbered["score"]
    return models, scores


def _p_values(differences: Floats, n: int, seed: int) -> Floats:
    """P-values of pairs from differences, keys by pairs; sums that differ by rounding are ties."""
    keys = len(differences)
    observed = np.abs(np.add.reduce(differences, axis=0))
    limit = observed - _ROUNDING * np.abs(differences).sum(axis=0)
    is_exact = 2**keys <= n
    count = np.zeros(len(observed), dtype=np.int64)
    for signs in _all_signs(keys) if is_exact else random_signs(n, keys, seed):
        count += (np.abs(signs @ differences) >= limit).sum(axis=0)
    return count / 2**keys if is_exact else (count + 1) / (n + 1)


def _all_signs(keys: int) -> Iterator[Floats]:
    """Every choice of signs, choices by keys."""
    choices = np.arange(2**keys)[:, None] >> np.arange(keys)
    yield 1.0 - 2.0 * (choices & 1).astype(np.float64)


def random_signs(n: int, keys: int, seed: int, copies: int = 1) -> Iterator[Floats]:
    """Random signs, draws by keys, in chunks that allow for some copies in memory.

    Each sign is a bit of random 64-bit words. The draws do not depend on the size of chunks.
    """
    rng = np.random.default_rng(seed)
    words = -(-keys // 64)
    step = max(1, _SIGNS // (max(keys, 1) * copies))
    for first in range(0, n, step):
        size = (min(step, n - first), words)
        random_bytes = rng.integers(0, 2**64, size=size, dtype=np.uint64).view(np.uint8)
        signs: Floats = np.unpackbits(random_bytes, axis=1, count=keys).astype(np.float64)
        signs *= 2.0
        signs -= 1.0
        yield signs
