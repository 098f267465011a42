"""Baselines of dtef-app 52d79c0.

| | evalframe.survey | dtef |
|---|---|---|
| metric | of `evalframe.survey` | of `dtef`, with a floor in Jensen-Shannon |
| `marginal` | of normalised shares | of percentages as printed, whose sums can differ from 100 |
| `cross_segment` without another segment | null | 0 |
| limits of permuted means | interpolated | sorted values at `floor(p n)` |

Baselines are not rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from evalframe.compat.dtef.inference import floor_quantiles
from evalframe.compat.dtef.similarity import SIMILARITIES
from evalframe.core.choices import BaselineKind
from evalframe.core.typing import Frame
from evalframe.survey.baselines import Task, check_options, scores_of
from evalframe.survey.permutations import By, permuted, with_limits
from evalframe.survey.similarity.registry import Metric, is_symmetric, metric_expression
from evalframe.survey.surveys.tables import AnySurvey, like_survey


@like_survey
def baseline(
    survey: AnySurvey,
    kind: BaselineKind,
    *,
    metric: Metric = "jensen_shannon_similarity",
    oracle: bool = True,
    questions: Frame | None = None,
    rounds: Sequence[str] | None = None,
    n: int = 100,
    seed: int = 42,
) -> pl.LazyFrame:
    """The baselines of `generateBaselines`."""
    check_options(kind, oracle=oracle, questions=questions, rounds=rounds)
    task = Task.of(survey, metric, SIMILARITIES, n, seed)
    task = replace(task, weighted=survey, oracle=oracle, questions=questions, rounds=rounds)
    scores = scores_of(kind, task).lazy()
    if kind == "cross_segment":
        scores = scores.with_columns(pl.col("score").fill_null(0.0))
    return scores


@like_survey
def permutation_baseline(
    survey: AnySurvey,
    *,
    by: By = "round",
    metric: Metric = "jensen_shannon_similarity",
    n: int = 1_000,
    seed: int = 42,
    level: float = 0.95,
) -> pl.LazyFrame:
    """The shuffled baseline of the analysis script."""
    value = metric_expression(metric, "predicted", "actual", SIMILARITIES)
    table, means = permuted(survey, by, value, n, seed, level, half=is_symmetric(metric))
    return with_limits(table, means, *floor_quantiles(means, level)).lazy()
