"""Tests of pairs of models on the questions that both answered, by random signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_rules
from evalframe.core.tables import lazy
from evalframe.survey.contexts import check_context, counted, is_amount, marked, with_contexts
from evalframe.survey.contract import KEYS
from evalframe.survey.inference.adjust import adjusted_p_value
from evalframe.survey.inference.arguments import check_draws, shared_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats, Ints
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.survey.contexts import Context
    from evalframe.survey.inference.adjust import Correction

_SIGNS = 1 << 22
"""Signs, as floats, that are held at a time."""

_FEW_KEYS = 64
"""Up to so many, the original's sums are made in its order, since its ties hang on rounding."""

_RESULT = ("estimate_left", "estimate_right", "delta", "n_shared", "p_value", "p_adjusted")

_LEAST = {"documented": 2, "reference": 3}
"""Shared keys that a test needs."""

_ROUNDING = 1e-12
"""A tie is no farther off, relative to the sum of absolute differences, or to the scores."""


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
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Test each pair of models for a difference of their mean scores on what both answered.

    If two models are equal, the difference on each key may as well have the other sign. The p-value
    is the share of random signs whose mean difference is at least as far from 0. All pairs see the
    same signs. Where few keys have no more than n signs in all, each is tried once, which is exact.

    Keys are taken as independent. Questions of one segment, and segments of one question, are not
    quite: with whole questions as keys (`on="question_id"`) the test asks about other questions.

    Args:
        scored: One row per model and key, or several, which are averaged first.
        between: The models.
        on: What both must have answered.
        score: Null or NaN is missing.
        context: Which amount of context counts, see `at_context`; segments are told apart by
            `segment_id` and `round`, as far as there are.
        n: Number of random signs.
        seed: Of the signs.
        correction: For all pairs together, see `adjusted_p_value`.
        rules: `documented`: one is added to numerator and denominator, as the observed signs are
            one of the draws, and sums that differ by rounding alone are ties. `reference`: nothing
            is added, so p can be 0; ties hang on rounding; signs are always drawn; Holm without its
            running maximum; 3 shared keys at least, not 2; all amounts of context are averaged.

    Returns:
        `left`, `right` (in sorted order), `estimate_left`, `estimate_right` (mean scores on shared
        keys), `delta` (right minus left), `n_shared`, `p_value` (two-sided), `p_adjusted`; null
        where too few keys are shared. With amounts of context also `context_count` (Int64, the one
        that counts for both; null for several) and `n_other_context` (Int64, rows of both of other
        amounts, which do not count), but not by the original's rules. Sorted by the pair. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: Fewer than two models, or an argument outside its domain.

    References:
        Fisher (1935), The design of experiments; Phipson and Smyth (2010), Permutation p-values
        should never be zero. dtef-app 52d79c0, its analysis script.

    Examples:
        >>> import polars as pl
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a"] * 4 + ["b"] * 4,
        ...         "question_id": [1, 2, 3, 4] * 2,
        ...         "score": [0.9, 0.8, 0.7, 0.9, 0.8, 0.6, 0.6, 0.8],
        ...     }
        ... )
        >>> test = sign_flip_test(scored, on="question_id").collect()
        >>> test.select("left", "right", pl.col("delta").round(3), "p_value").row(0)
        ('a', 'b', -0.125, 0.125)
    """
    import numpy as np

    check_rules(rules)
    check_draws(n, seed)
    if rules == "reference" and correction != "holm":
        raise ParameterError("the original corrects by Holm alone; leave out rules or correction")
    check_context(context, rules)
    rows = lazy(scored)
    if rules == "documented":
        rows = marked(rows, context, [between, *filter(is_amount, shared_keys(on))], score)
    table = _Scores.of(rows, between, on, score)
    left, right = np.triu_indices(len(table.models), 1)
    pairs = _Pairs.of(table.values, left, right, rules)
    keys = len(pairs.differences)
    if rules == "documented" and 2**keys <= n:
        p_value = _as_far(pairs, _all_signs(keys), rules) / 2**keys
    else:
        own = 1 if rules == "documented" else 0
        drawn = _drawn_signs(n, keys, seed, len(left) if _one_by_one(rules, keys) else 1)
        p_value = (_as_far(pairs, drawn, rules) + own) / (n + own)
    made = {
        "estimate_left": pairs.left,
        "estimate_right": pairs.right,
        "delta": pairs.right - pairs.left,
        "p_value": p_value,
    }
    few = pairs.shared < _LEAST[rules]
    tested = pl.DataFrame(
        {
            "left": table.models.gather(left),
            "right": table.models.gather(right),
            "n_shared": pairs.shared,
            **{name: np.where(few, np.nan, values) for name, values in made.items()},
        }
    )
    adjusted = adjusted_p_value(correction=correction, rules=rules)
    tested = tested.with_columns(pl.col(*made).fill_nan(None)).with_columns(adjusted)
    result = tested.select("left", "right", *_RESULT).lazy()
    return with_contexts(result, rows, [as_expr(between)], ["left"], ["right"])


class _Scores(NamedTuple):
    """Mean scores, models by keys; NaN where there is none."""

    models: pl.Series
    values: Floats

    @classmethod
    def of(
        cls,
        rows: pl.LazyFrame,
        between: IntoExpr,
        on: IntoExpr | Sequence[IntoExpr],
        score: IntoExpr,
    ) -> _Scores:
        """Scores as a matrix, of the rows that count.

        Raises:
            MissingColumnsError: A column is not there.
            ParameterError: Fewer than two models.
        """
        import numpy as np

        keys = shared_keys(on)
        exprs = [as_expr(between), *keys, as_expr(score)]
        present = rows.collect_schema().names()
        if missing := columns_read(exprs) - {*present}:
            raise MissingColumnsError.of("sign_flip_test", missing, present)
        known = (
            counted(rows)
            .select(
                as_expr(between).alias("model"),
                pl.struct(keys).alias("key"),
                as_expr(score).cast(pl.Float64).fill_nan(None).alias("score"),
            )
            .drop_nulls("score")
        )
        if unnamed := known.select(pl.col("model").null_count()).collect().item():
            raise ParameterError(
                f"sign_flip_test: the model is null in {unnamed:,} rows with a score; name it, or "
                "drop these rows"
            )
        means = known.group_by("model", "key", maintain_order=True).agg(pl.col("score").mean())
        numbered = means.with_columns(
            column=pl.col("key").rank("dense") - 1, line=pl.col("model").rank("dense") - 1
        ).collect()
        models = numbered["model"].unique().sort()
        if len(models) < 2:
            raise ParameterError(f"sign_flip_test needs two models, found {models.to_list()}")
        values = np.full((len(models), numbered["key"].n_unique()), np.nan)
        place = numbered["line"].to_numpy(), numbered["column"].to_numpy()
        values[place] = numbered["score"].to_numpy()
        return cls(models, values)


class _Pairs(NamedTuple):
    """Pairs of models on the keys that both have.

    Attributes:
        differences: Keys by pairs, left minus right; 0 where a key is not shared.
        shared: How many keys are.
        left: The mean of the left model on them.
        right: That of the right one.
    """

    differences: Floats
    shared: Ints
    left: Floats
    right: Floats

    @classmethod
    def of(cls, values: Floats, left: Ints, right: Ints, rules: Rules) -> _Pairs:
        """Pairs of the lines of a matrix, models by keys."""
        import numpy as np

        known = ~np.isnan(values)
        filled, flags = np.where(known, values, 0.0), known.astype(np.float64)
        shared, totals = flags @ flags.T, filled @ flags.T
        differences = np.nan_to_num(values[left] - values[right], nan=0.0)
        if rules == "documented":
            differences[np.abs(differences) <= _ROUNDING * np.abs(filled[left])] = 0.0
        with np.errstate(invalid="ignore"):
            means = totals / shared
        return cls(
            np.ascontiguousarray(differences.T),
            shared[left, right].astype(np.int64),
            means[left, right],
            means[right, left],
        )


def _as_far(pairs: _Pairs, signs: Iterator[Floats], rules: Rules) -> Ints:
    """How many signed sums of each pair's differences are as far from 0 as the observed one."""
    import numpy as np

    differences = pairs.differences
    observed = np.abs(np.add.reduce(differences, axis=0))
    count = np.zeros(differences.shape[1], dtype=np.int64)
    if rules == "documented":
        bound = observed - _ROUNDING * np.abs(differences).sum(axis=0)
        for each in signs:
            count += (np.abs(each @ differences) >= bound).sum(axis=0)
        return count
    shared = np.maximum(pairs.shared, 1)
    bound = observed / shared
    for each in signs:
        if _one_by_one(rules, len(differences)):  # as numpy adds along the first axis
            sums = np.add.reduce(each.T[:, :, None] * differences[:, None, :], axis=0)
        else:
            sums = each @ differences
        count += (np.abs(sums / shared) >= bound).sum(axis=0)
    return count


def _one_by_one(rules: Rules, keys: int) -> bool:
    return rules == "reference" and keys <= _FEW_KEYS


def _all_signs(keys: int) -> Iterator[Floats]:
    """Every choice of signs, choices by keys."""
    import numpy as np

    choices = np.arange(2**keys)[:, None] >> np.arange(keys)
    yield 1.0 - 2.0 * (choices & 1).astype(np.float64)


def _drawn_signs(n: int, keys: int, seed: int, copies: int) -> Iterator[Floats]:
    """Random signs, draws by keys, a few draws at a time: a bit each of whole random words.

    Args:
        n: Number of draws.
        keys: Signs in each.
        seed: Of the draws, which do not depend on how many are made at a time.
        copies: How often each sign is held in memory.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    words = -(-keys // 64)
    step = max(1, _SIGNS // (max(keys, 1) * copies))
    for first in range(0, n, step):
        size = (min(step, n - first), words)
        drawn = rng.integers(0, 2**64, size=size, dtype=np.uint64).view(np.uint8)
        signs: Floats = np.unpackbits(drawn, axis=1, count=keys).astype(np.float64)
        signs *= 2.0
        signs -= 1.0
        yield signs
