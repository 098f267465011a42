"""Tests of differences: of pairs of models by random signs, of two conditions by Welch's test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.choices import Context
from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy
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


_CLUSTER = "#cluster"

_SIGNS = 1 << 22
"""Signs, as floats, that are in memory at a time."""

_LEAST = 2
"""Shared keys that a test needs."""

_ROUNDING = 1e-12
"""Ties differ by no more, relative to the sum of absolute differences or to the scores."""

_NEGLIGIBLE = 1e-28
"""Squared standard errors below it, relative to the squared means, are rounding."""

_LABELS = {"negligible": 0.2, "small": 0.5, "medium": 0.8}
"""Upper bounds of the effects; others are large."""

WELCH = (
    "left",
    "right",
    "mean_left",
    "mean_right",
    "delta",
    "t",
    "df",
    "p_value",
    "cohens_d",
    "effect",
    "n_left",
    "n_right",
)
"""Columns of the result after the keys."""


@like_input
def sign_flip_test(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    on: IntoExpr | Sequence[IntoExpr] = KEYS,
    cluster: IntoExpr | None = "question_id",
    score: IntoExpr = "score",
    context: Context = "highest",
    n: int = 10_000,
    seed: int = 42,
    correction: Correction = "holm",
) -> pl.LazyFrame:
    """Test each pair of models for a difference of their mean scores on what both answered.

    If two models are equal, the differences of each cluster could as well have the other sign. The
    p-value is the share of random signs whose mean difference is at least as far from 0, with one
    added to numerator and denominator. All pairs have the same signs. If there are at most n
    choices of signs in all, each is tried once, which is exact.

    Clusters are taken as independent. Segments answer the same question alike, so that each key by
    itself (`cluster=None`) finds too much: of two equal models with 20 questions of 20 segments,
    half of whose differences were of the question, it found a difference (p <= 0.05) in 0.55 of 100
    simulated worlds, by question in 0.05.

    Args:
        scored: One row per model and key; repeated rows are averaged first.
        between: The models, at least two.
        on: The keys that both models must have; the cluster is one of them.
        cluster: What is drawn, and gets one sign; None takes each key by itself.
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
        >>> import polars as pl, evalframe as ef
        >>> scores = {"model": ["a", "a", "b", "b"], "score": [0.75, 0.5, 0.5, 0.25]}
        >>> scored = pl.DataFrame({"question_id": [1, 2, 1, 2], **scores})
        >>> test = ef.survey.sign_flip_test(scored, on="question_id")
        >>> test.select("left", "right", "delta", "p_value").row(0)
        ('a', 'b', -0.25, 0.5)
    """
    check_draws(n, seed)
    rows = mark(lazy(scored), context, [between, *filter(is_context_count, shared_keys(on))], score)
    pairs = Pairs.of(included(rows), between, on, score, _ROUNDING, cluster)
    p_value = _p_values(pairs.differences, n, seed)
    table = pairs.table(p_value, _LEAST).with_columns(adjusted_p_value(correction=correction))
    return with_contexts(table.lazy(), rows, [as_expr(between)], ["left"], ["right"])


class Pairs(NamedTuple):
    """Pairs of models on the keys that both have.

    Attributes:
        models: Left and right models.
        differences: Sums of clusters by pairs, left minus right; 0 if no key is shared.
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
        cluster: IntoExpr | None = None,
    ) -> Pairs:
        """Pair the models of scored rows, which are averaged by model and key first.

        Differences that are no more than `rounding` times the left score are 0.
        """
        models, scores, starts = _score_matrix(rows, between, on, score, cluster)
        left, right = np.triu_indices(len(models), 1)
        is_known = ~np.isnan(scores)
        filled, flags = np.where(is_known, scores, 0.0), is_known.astype(np.float64)
        shared = flags @ flags.T
        with np.errstate(invalid="ignore"):
            means = filled @ flags.T / shared
        differences = np.nan_to_num(scores[left] - scores[right], nan=0.0)
        differences[np.abs(differences) <= rounding * np.abs(filled[left])] = 0.0
        if cluster is not None and len(starts):
            differences = np.add.reduceat(differences, starts, axis=1)
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
    rows: pl.LazyFrame,
    between: IntoExpr,
    on: IntoExpr | Sequence[IntoExpr],
    score: IntoExpr,
    cluster: IntoExpr | None,
) -> tuple[pl.Series, Floats, Ints]:
    """Models, sorted, and their mean scores, models by keys, NaN where a model lacks a key.

    Keys are sorted by their cluster; the last array has the number of the first key of each.
    """
    keys = shared_keys(on)
    check_columns("sign_flip_test", rows, [as_expr(between), *keys, as_expr(score)])
    if cluster is not None:
        drawn = as_expr(cluster).meta.output_name()
        if drawn not in {key.meta.output_name() for key in keys}:
            raise ParameterError(
                f"sign_flip_test draws {drawn!r}, which is not among the keys that on names; name "
                "a key as cluster, or give cluster=None, which takes each key by itself"
            )
        keys = [as_expr(cluster).alias(_CLUSTER), *keys]
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
    first = numbered.group_by(pl.col("key").struct[0]).agg(pl.col("column").min())["column"].sort()
    return models, scores, first.cast(pl.Int64).to_numpy()


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


@like_input
def welch_test(
    runs: Frame,
    *,
    between: IntoExpr = "condition",
    value: IntoExpr = "score",
    by: IntoExpr | Sequence[IntoExpr] | None = None,
    conditions: tuple[str, str] | None = None,
) -> pl.LazyFrame:
    """Test two conditions for a difference of means, with unequal variances.

    Runs of the conditions must be independent. If they are paired, as the same segments at two
    temperatures are, `sign_flip_test` with the segments as keys is far more powerful.

    Args:
        runs: One row per run: its mean score.
        between: The conditions, as text.
        value: Null or NaN is missing.
        by: Group keys, such as experiments; each group is tested.
        conditions: The left and the right one; by default the two of the table, sorted.

    Returns:
        by..., `left`, `right`, `mean_left`, `mean_right`, `delta` (right minus left), `t` (of
        delta), `df` (Welch-Satterthwaite), `p_value` (two-sided, null if a side has fewer than two
        runs or nothing varies), `cohens_d` (delta over the pooled standard deviation), `effect`
        (`negligible` below 0.2, `small` below 0.5, `medium` below 0.8, `large`), `n_left`,
        `n_right`. Sorted by the keys.

    Raises:
        ParameterError: There are not two conditions.

    References:
        Welch (1947), The generalization of Student's problem; Cohen (1988), Statistical power
        analysis.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> runs = pl.DataFrame({"condition": [*"aaabbb"], "score": [1, 2, 3, 3, 4, 5]})
        >>> test = ef.survey.welch_test(runs)
        >>> test.select(pl.col("delta", "t", "df", "p_value", "cohens_d").round(4)).row(0)
        (2.0, 2.4495, 4.0, 0.0705, 2.0)
    """
    rows, keys = compared(runs, by, between, value, conditions)
    error = pl.col(":left") + pl.col(":right")
    varies = error > _NEGLIGIBLE * (pl.col("mean_left") ** 2 + pl.col("mean_right") ** 2)
    t, df, d = statistics(varies)
    return result_of(rows, keys, t, df, _student_p(t, df), d)


def compared(
    runs: Frame,
    by: IntoExpr | Sequence[IntoExpr] | None,
    between: IntoExpr,
    value: IntoExpr,
    conditions: tuple[str, str] | None,
    *,
    need_both: bool = True,
) -> tuple[pl.LazyFrame, Keys]:
    """Sizes, means, squared standard errors and the pooled standard deviation of two conditions."""
    keys, runs, side = Keys.of(by, taken=WELCH), lazy(runs), as_expr(between).alias(":side")
    number = as_expr(value).cast(pl.Float64).fill_nan(None).alias(":value")
    check_columns("welch_test", runs, [*keys.exprs, side, number])
    rows = runs.select(*keys.select(), side, number)
    levels = rows.select(pl.col(":side").drop_nulls().unique().sort()).collect()[":side"].to_list()
    left, right = conditions or (levels if len(levels) == 2 else (None, None))
    lacks_one = need_both and not {left, right} <= {*levels}
    if left is None or right is None or left == right or lacks_one:
        raise ParameterError(
            f"welch_test compares two conditions, found {levels}; name two of them in conditions"
        )
    moments: dict[str, pl.Expr] = {}
    for name, condition in (("left", left), ("right", right)):
        values = pl.col(":value").filter(pl.col(":side") == condition).drop_nulls()
        moments |= {f"n_{name}": values.len().cast(pl.Int64), f"mean_{name}": values.mean()}
        moments[f":var_{name}"] = values.var()
    table = rows.group_by(keys.inner).agg(**moments) if keys.names else rows.select(**moments)
    n = [pl.col(f"n_{side}").cast(pl.Float64) for side in ("left", "right")]
    variance = [pl.col(f":var_{side}") for side in ("left", "right")]
    pooled = ((n[0] - 1) * variance[0] + (n[1] - 1) * variance[1]) / (n[0] + n[1] - 2)
    table = table.with_columns(
        pl.lit(left).alias("left"),
        pl.lit(right).alias("right"),
        (pl.col("mean_right") - pl.col("mean_left")).alias("delta"),
        (variance[0] / n[0]).alias(":left"),
        (variance[1] / n[1]).alias(":right"),
        pooled.sqrt().alias(":pooled"),
    )
    return table, keys


def statistics(varies: pl.Expr) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """The statistic t, its degrees of freedom and Cohen's d; null where nothing varies."""
    left, right, delta = pl.col(":left"), pl.col(":right"), pl.col("delta")
    spare = [pl.col(f"n_{side}").cast(pl.Float64) - 1 for side in ("left", "right")]
    t = pl.when(varies).then(delta / (left + right).sqrt())
    df = pl.when(varies).then((left + right) ** 2 / (left**2 / spare[0] + right**2 / spare[1]))
    d = pl.when((pl.col(":pooled") > 0) & varies).then(delta / pl.col(":pooled"))
    return t, df, d


def result_of(
    table: pl.LazyFrame, keys: Keys, t: pl.Expr, df: pl.Expr, p_value: pl.Expr, d: pl.Expr
) -> pl.LazyFrame:
    """The result from the differences and the expressions of a test."""
    size = pl.col("cohens_d").abs()
    label = pl.lit("large")
    for name, limit in reversed(_LABELS.items()):
        label = pl.when(size < limit).then(pl.lit(name)).otherwise(label)
    effect = pl.when(size.is_not_null()).then(label)
    tests = table.with_columns(t=t, df=df, p_value=p_value, cohens_d=d).with_columns(effect=effect)
    result = tests.select(*keys.inner, *WELCH)
    return result.sort(keys.inner).rename(keys.restore()) if keys.names else result


def _student_p(t: pl.Expr, df: pl.Expr) -> pl.Expr:
    """Two-sided p-values of Student's t."""

    def p_values(columns: Sequence[pl.Series]) -> pl.Series:
        from scipy.special import stdtr

        statistic, freedom = (column.cast(pl.Float64).to_numpy() for column in columns)
        return pl.Series(values=2 * stdtr(freedom, -abs(statistic)), nan_to_null=True)

    return pl.map_batches([t, df], p_values, return_dtype=pl.Float64, is_elementwise=True)
