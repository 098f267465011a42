"""Survey baselines and inference against the arithmetic that bounds them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measure import Figure, against
from evalframe.survey.baselines import baseline
from evalframe.survey.inference.context import context_test
from evalframe.survey.inference.differences import sign_flip_test
from evalframe.survey.inference.means import mean_intervals
from evalframe.survey.inference.respondents import respondent_intervals
from evalframe.survey.permutations import permutation_baseline

_PERMUTATIONS_AT_MOST = 0.5
"""A fifth of what the original takes for 1,000 permutations of one round."""

_FLIPS_AT_MOST = 4.0
"""What the original takes for three of 273 pairs of models."""


def run(small: bool) -> list[Figure]:
    """All figures of this module."""
    questions, segments = (4, 5) if small else (116, 49)
    models, flips, permutations = (3, 50, 20) if small else (24, 10_000, 1_000)
    survey = round_of(questions, segments)
    scored = scores(survey, models)
    items, pairs = questions * segments, models * (models - 1) // 2
    return [
        *_of_baselines(survey, permutations, small),
        against(
            f"{flips:,} sign flips, {pairs:,} pairs of models, {items:,} items",
            partial(sign_flip_test, scored, cluster=None, n=flips),
            product(flips, items, pairs),
            called="one matrix product of the size",
            at_most=_FLIPS_AT_MOST,
            rounds=1 if small else 3,
        ),
        *_of_inference(scored, models, items, small),
    ]


def _of_baselines(survey: pl.DataFrame, permutations: int, small: bool) -> list[Figure]:
    rounds = 1 if small else 5
    pairs = survey.select("question_id", "segment_id").unique()
    named = f"{len(pairs):,} distributions"
    draws = np.random.default_rng(0).random((permutations, *_shape(pairs)))
    return [
        against(
            f"marginal baseline, {named}",
            partial(baseline, survey, "marginal"),
            partial(baseline, survey, "uniform"),
            called="uniform baseline",
            rounds=rounds,
        ),
        against(
            f"cross-segment baseline, {named}",
            partial(baseline, survey, "cross_segment"),
            rounds=rounds,
        ),
        against(
            f"permutation baseline, {named}, {permutations:,} permutations",
            partial(permutation_baseline, survey, n=permutations),
            partial(np.sort, draws, axis=2),
            called="sorting as many draws",
            at_most=_PERMUTATIONS_AT_MOST,
            rounds=rounds,
        ),
    ]


def _of_inference(scored: pl.DataFrame, models: int, items: int, small: bool) -> list[Figure]:
    draws, rounds = (10, 1) if small else (50, 3)
    few = scored.filter(pl.col("model").is_in(["m00", "m01"]))
    contexts = few.with_columns(context_count=pl.int_range(pl.len()) % 4 * 5)
    return [
        against(
            f"{draws:,} draws of respondents, 2 models, {items:,} items each",
            partial(respondent_intervals, few, n=draws),
            rounds=rounds,
        ),
        against(
            f"bootstrap of means, {models:,} models, {items:,} items each, {draws:,} draws",
            partial(mean_intervals, scored, n=draws),
            product(draws, items, models),
            called="one matrix product of the size",
            rounds=rounds,
        ),
        against(
            f"context test, 2 models, {items:,} points each, {draws:,} permutations",
            partial(context_test, contexts, on="segment_id", n=draws),
            rounds=rounds,
        ),
    ]


def round_of(questions: int, segments: int, seed: int = 0) -> pl.DataFrame:
    """A round of a survey, with 2 to 7 options."""
    rng = np.random.default_rng(seed)
    options = rng.integers(2, 8, questions)
    rows = pl.DataFrame(
        {
            "question_id": [f"q{q:03}" for q in range(questions) for _ in range(segments)],
            "segment_id": [f"country:{s:02}" for _ in range(questions) for s in range(segments)],
            "sample_size": np.tile(rng.integers(10, 600, segments), questions),
        }
    )
    answers = [rng.dirichlet(np.full(k, 3.0)) for k in options for _ in range(segments)]
    return rows.with_columns(round=pl.lit("GD"), actual=pl.Series(answers))


def scores(survey: pl.DataFrame, models: int, seed: int = 1) -> pl.DataFrame:
    """Every model's scores of every distribution, each predicting the next one's answers."""
    rng = np.random.default_rng(seed)
    predicted = survey.with_columns(predicted=pl.col("actual").shift(1).over("question_id"))
    names = pl.DataFrame({"model": [f"m{m:02}" for m in range(models)]})
    rows = names.join(predicted.drop_nulls("predicted"), how="cross")
    first = names.join(survey.unique("question_id", keep="first"), how="cross")
    whole = pl.concat([rows, first.with_columns(predicted=pl.col("actual"))], how="diagonal")
    return whole.with_columns(score=pl.Series(rng.random(len(whole)).round(2)))


def _shape(pairs: pl.DataFrame) -> tuple[int, int]:
    return pairs["question_id"].n_unique(), pairs["segment_id"].n_unique()


def product(rows: int, inner: int, columns: int) -> Callable[[], Any]:
    """A matrix product of this size."""
    rng = np.random.default_rng(2)
    return partial(np.matmul, rng.random((rows, inner)), rng.random((inner, columns)))
