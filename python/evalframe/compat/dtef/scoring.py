"""Similarities, item scores and baselines of dtef-app 52d79c0, if not those of `evalframe.survey`.

| | evalframe.survey | dtef |
|---|---|---|
| shares of 0 in Jensen-Shannon | add nothing: 0 log 0 is 0 | are raised to 1e-10 once normalised: \
disjoint distributions get 1.6e-9 and not 0. `epsilon=0` raises nothing |
| numbers that are all 0 | null | the uniform distribution; cosine 0 |
| negative numbers | null | count in sums and cosines, and are raised to 1e-10 in Jensen-Shannon; \
a vector with sum 0 is uniform |
| lists of different lengths | null | as many options as are predicted; null if fewer are actual |
| empty lists | null | Jensen-Shannon and earth mover's 1, cosine 0 |
| cosine | of shares, at most 1 | of the numbers, up to rounding above 1 |
| per-option accuracy | of percentages | of the numbers; 0 for different lengths |
| numbers whose sum is too large for a float | scaled first | what infinite sums lead to |
| Brier score with a wrong number of probabilities | 0 | 0.1 |
| score of `length_mismatch` | 0 | 0.1 |
| `ok`, but not a distribution: all 0, or negative | 0 | the value of the metric |
| no actual distribution | null, left out | null for `ok`; else as above |
| the metric's values | unchanged | clipped to [0, 1], then rounded to 2 decimals |
| a prompt without a score | null | 0 |
| expected divergence | (k - 1) / (8 n ln 2), of Jensen-Shannon | (k - 1) / (2 n ln 2), \
of Kullback-Leibler: the distance is doubled |
| few respondents | at least 0 | below 0 |
| no respondents, or one option | null; 1 for one option | 0 |
| ceiling not above the uniform score | null | 0 |
| `marginal` baseline | of normalised shares | of percentages as printed, whose sums can differ \
from 100 |
| `cross_segment` baseline without another segment | null | 0 |
| limits of permuted means | interpolated | sorted values at `floor(p n)` |

A null list, and a list with a null or NaN, give null in both. Baselines are not rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core.choices import BaselineKind
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey import noise, scoring
from evalframe.survey.baselines import Task, check_options, scores_of
from evalframe.survey.permutations import By, permuted, with_limits
from evalframe.survey.scoring import STATUS, VALUE, rounded, with_scores, with_values
from evalframe.survey.similarity import individual
from evalframe.survey.similarity.distances import check_option, near, product_and_size, work
from evalframe.survey.similarity.divergences import divergence, floored_divergence, one_minus, root
from evalframe.survey.similarity.lists import check_epsilon, over_rows
from evalframe.survey.similarity.registry import Metric, is_symmetric, metric_expression
from evalframe.survey.surveys.tables import Survey, like_survey

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.survey.similarity.individual import IndividualKind


EPSILON = 1e-10
"""The floor of shares."""


def jensen_shannon_similarity(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual", *, epsilon: float = EPSILON
) -> pl.Expr:
    """`js-divergence`: one minus the distance, of shares raised to `epsilon`."""
    check_epsilon(epsilon)
    kernel = partial(one_minus, kernel=partial(_distance, floor=epsilon))
    return over_rows("jensen_shannon_similarity", kernel, predicted, actual, any_length=True)


def jensen_shannon_distance(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual", *, epsilon: float = EPSILON
) -> pl.Expr:
    """The distance in `js-divergence`; above 1 if numbers are negative."""
    check_epsilon(epsilon)
    kernel = partial(_distance, floor=epsilon)
    return over_rows("jensen_shannon_distance", kernel, predicted, actual, any_length=True)


def cosine_similarity(predicted: IntoExpr = "predicted", actual: IntoExpr = "actual") -> pl.Expr:
    """`cosine`: of the raw numbers, 0 if a vector is 0, and not limited to 1."""
    return over_rows("cosine_similarity", _cosine, predicted, actual, any_length=True)


def earth_mover_similarity(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual"
) -> pl.Expr:
    """`earth-mover`: one minus the work, at least 0."""
    return over_rows("earth_mover_similarity", _nearness, predicted, actual, any_length=True)


def per_option_accuracy(
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    *,
    option: int | None = None,
    tolerance: float | None = None,
) -> pl.Expr:
    """`per_option_accuracy`: the raw numbers are percentages."""
    check_option(option, tolerance)
    kernel = partial(_near, option=option, tolerance=tolerance)
    return over_rows("per_option_accuracy", kernel, predicted, actual, any_length=True)


def individual_score(
    response: IntoExpr = "response", actual: IntoExpr = "actual", *, kind: IndividualKind = "brier"
) -> pl.Expr:
    """`individual_metric`: probabilities of 0 alone are uniform; 0.1 for a wrong number of them."""
    kernels = {"brier": _brier, "binary": _hit, "confidence": _confidence}
    return individual.score_by(kernels, response, actual, kind)


SIMILARITIES: dict[str, Callable[..., pl.Expr]] = {
    each.__name__: each
    for each in (
        jensen_shannon_similarity,
        cosine_similarity,
        earth_mover_similarity,
        per_option_accuracy,
    )
}
"""The metrics of `dtef.score`."""


def _shares(values: Floats) -> Floats:
    """Any numbers over their sum, and uniform if the sum is 0."""
    total = values.sum(axis=0)
    return np.where(total == 0, 1 / max(len(values), 1), values / total)


def _cut(values: Floats, length: int) -> Floats:
    """The first `length` options, NaN if there are fewer."""
    if len(values) >= length:
        return values[:length]
    return np.full((length, values.shape[1]), np.nan)


def _distance(predicted: Floats, actual: Floats, floor: float) -> Floats:
    p, t = _shares(predicted), _cut(_shares(actual), len(predicted))
    return root(floored_divergence(p, t, floor) if floor else divergence(p, 1.0, t, 1.0))


def _cosine(predicted: Floats, actual: Floats) -> Floats:
    product, size = product_and_size(predicted, _cut(actual, len(predicted)))
    return np.where(size == 0, 0.0, product / size)


def _nearness(predicted: Floats, actual: Floats) -> Floats:
    p, t = _shares(predicted), _cut(_shares(actual), len(predicted))
    return np.maximum(1 - work(p, t), 0.0)


def _near(predicted: Floats, actual: Floats, option: int | None, tolerance: float | None) -> Floats:
    if len(predicted) != len(actual):
        return np.zeros(predicted.shape[1])
    return near(predicted, actual, option, tolerance)


def _brier(stated: Floats, actual: Floats) -> Floats:
    truth = _shares(actual)
    if not len(stated) or len(stated) != len(truth):
        score = np.full(actual.shape[1], 0.1 if len(stated) else 0.0)
    else:
        score = individual.brier(_shares(stated), truth)
    return individual.where_valid(score, truth)


def _hit(stated: Floats, actual: Floats) -> Floats:
    return individual.hit(stated[0], _shares(actual))


def _confidence(stated: Floats, actual: Floats) -> Floats:
    truth = _shares(actual)
    return individual.where_valid(individual.at_mode(_shares(stated), truth), truth)


@like_input
def score(
    predictions: Frame,
    *,
    metric: Metric = "jensen_shannon_similarity",
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    status: str = "status",
    round_items: int | None = 2,
) -> pl.LazyFrame:
    """Item scores of `distribution_metric`, rounded to 2 decimals.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import dtef
        >>> lists = {"predicted": [[50, 50], [9, 1]], "actual": [[0.5, 0.5], [0.2, 0.8]]}
        >>> dtef.score(pl.DataFrame(lists))["score"].to_list()
        [1.0, 0.37]
    """
    rows = with_values(predictions, metric, SIMILARITIES, predicted, actual, status)
    values = {
        "ok": pl.col(VALUE).clip(0.0, 1.0),
        "unparsed": pl.lit(0.0),
        "length_mismatch": pl.lit(0.1),
    }
    cases = [pl.when(pl.col(STATUS) == name).then(value) for name, value in values.items()]
    return with_scores(rows, status, pl.coalesce(cases), round_items)


@like_input
def prompt_scores(
    points: Frame,
    *,
    by: IntoExpr | Sequence[IntoExpr],
    score: IntoExpr = "score",
    round_items: int | None = 2,
) -> pl.LazyFrame:
    """`avgCoverageExtent`: scores are clipped to [0, 1]; 0 for a prompt without any.

    It rounds the mean, not its parts: score the questions with `round_items=None` first.
    """
    clipped = as_expr(score).cast(pl.Float64).fill_nan(None).clip(0.0, 1.0)
    means = scoring.prompt_scores(points.lazy(), by=by, score=clipped)
    means = means.with_columns(pl.col("score").fill_null(0.0))
    scoring.check_decimals(round_items)
    return means if round_items is None else means.with_columns(rounded("score", round_items))


def noise_ceiling(
    n_options: IntoExpr = "n_options", sample_size: IntoExpr = "sample_size"
) -> pl.Expr:
    """`computeNoiseFloor`, whose divergence is that of Kullback and Leibler.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import dtef
        >>> pairs = pl.DataFrame({"n_options": [4, 4], "sample_size": [50, 1000]})
        >>> pairs.select(dtef.noise_ceiling().round(3)).to_series().to_list()
        [0.792, 0.953]
    """
    k, n = as_expr(n_options), as_expr(sample_size)
    is_undefined = ((n <= 0) | (k <= 1)).fill_null(value=False)
    ceiling = pl.when(is_undefined).then(0.0).otherwise(noise.ceiling_of(k, n, factor=2.0))
    return ceiling.fill_nan(None).alias("noise_ceiling")


def normalised_score(
    score: IntoExpr = "score", uniform: IntoExpr = "uniform", ceiling: IntoExpr = "noise_ceiling"
) -> pl.Expr:
    """The normalised score, 0 if the ceiling is not above the uniform score."""
    inputs = [as_expr(each).cast(pl.Float64) for each in (score, uniform, ceiling)]
    is_complete = pl.all_horizontal(each.is_not_null() for each in inputs)
    is_below = is_complete & ~(inputs[2] > inputs[1])
    position = noise.normalised_score(*inputs)
    return pl.when(is_below).then(0.0).otherwise(position).alias("normalised_score")


@like_survey
def baseline(
    survey: Survey | Frame,
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
    survey: Survey | Frame,
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


def floor_quantiles(replicates: Floats, level: float) -> tuple[Floats, Floats]:
    """Sorted values at `floor(p n)`, for p = (1 - level) / 2 and 1 - p; NaN if a value is NaN."""
    tail = (1.0 - level) / 2.0
    ordered = np.sort(replicates, axis=0)
    ordered[:, np.isnan(ordered[-1])] = np.nan
    # 0.975 n is a whole number up to rounding for the usual numbers of replicates.
    lower, upper = (int(p * len(ordered) + 1e-9) for p in (tail, 1.0 - tail))
    return ordered[lower], ordered[min(upper, len(ordered) - 1)]
