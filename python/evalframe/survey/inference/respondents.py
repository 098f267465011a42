"""Scores against the answers of other respondents: how much of a leaderboard is sampling noise.

The answers of a segment are those of its n respondents. Another n of them would have answered a
little differently, which would change every score. A draw takes n answers from the actual
distribution of each segment and question, the same for all models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core.choices import Context
from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey.boards.rows import category_of, category_source, check_categories
from evalframe.survey.contexts import mark, with_contexts
from evalframe.survey.inference.common import (
    Correction,
    adjusted_p_value,
    central_quantiles,
    check_draws,
)
from evalframe.survey.inference.respondent_draws import Average, Drawn
from evalframe.survey.similarity.registry import SIMILARITIES, Metric, metric_expression

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


_GROUP = ["model", "round", "category"]

_ROUNDING = 1e-12
"""Drawn gaps that are smaller by at most this count as equal."""


@like_input
def respondent_intervals(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    average: Average = "segments",
    context: Context = "highest",
    metric: Metric = "jensen_shannon_similarity",
    n: int = 200,
    seed: int = 42,
    level: float = 0.95,
) -> pl.LazyFrame:
    """Mean scores of models, with intervals for the answers of other respondents.

    Drawn answers are noisier than the actual ones, which are a sample already, so scores against
    them are lower on average, by `bias`. The interval is shifted by it to surround the estimate.

    Args:
        scored: One row per model, segment and question, as `evalframe.survey.score` returns them:
            `round`, `segment_id`, `question_id`, `predicted`, `actual`, `sample_size`, `score`.
            Rows without a score are missing; repeated rows of a model, question and segment are
            averaged. Rows keep their score if the answer was not read or its length differs from
            that of the truth, the metric is undefined, or the truth is not a distribution.
        between: The models.
        average: `segments`: the mean of the means of segments, as on leaderboards; `items`: the
            mean of all rows.
        context: As for `at_context`.
        metric: The metric of the scores.
        n: Number of draws.
        seed: Seed of the draws.
        level: Coverage of the interval.

    Returns:
        The model, `estimate` (the mean score), `mean` (of the means against drawn answers), `bias`
        (mean minus estimate), `std_error`, `lower`, `upper`, `n` (rows) and the columns about
        context of `leaderboard`. Sorted by the model.

    Raises:
        ParameterError: A sample size is missing, models have different truths, or an argument lies
            outside its domain.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> key = {"round": "1", "segment_id": "s", "question_id": "q", "sample_size": 100}
        >>> lists = {"predicted": [[1.0, 0.0]], "actual": [[1.0, 0.0]]}
        >>> scored = pl.DataFrame({"model": "a", "score": 1.0, **key, **lists})
        >>> ef.survey.respondent_intervals(scored).select("estimate", "std_error", "lower").row(0)
        (1.0, 0.0, 1.0)
    """
    rows, drawn = drawn_scores(
        scored, between, average, context, metric, SIMILARITIES, n, seed, level
    )
    mean = drawn.means.mean(axis=0)
    lower, upper = (
        limit + drawn.estimates - mean for limit in central_quantiles(drawn.means, level)
    )
    if isinstance(metric, str):  # then its values are from 0 to 1
        lower, upper = lower.clip(0.0, 1.0), upper.clip(0.0, 1.0)
    return interval_table(rows, drawn, between, lower, upper)


def drawn_scores(
    scored: Frame,
    between: IntoExpr,
    average: Average,
    context: Context,
    metric: Metric,
    registry: Mapping[str, Callable[..., pl.Expr]],
    n: int,
    seed: int,
    level: float,
) -> tuple[pl.LazyFrame, Drawn]:
    """Rows marked by context, and mean scores by a metric of the registry."""
    check_draws(n, seed, level)
    value = metric_expression(metric, "predicted", "actual", registry)
    rows = mark(lazy(scored), context, [between])
    return rows, Drawn.of(rows, between, average, value, n, seed)


def interval_table(
    rows: pl.LazyFrame, drawn: Drawn, between: IntoExpr, lower: Floats, upper: Floats
) -> pl.LazyFrame:
    """Mean scores of models with these limits."""
    mean, model = drawn.means.mean(axis=0), as_expr(between)
    columns = {
        model.meta.output_name(): drawn.models,
        "estimate": drawn.estimates,
        "mean": mean,
        "bias": mean - drawn.estimates,
        "std_error": _std_error(drawn.means),
        "lower": lower,
        "upper": upper,
        "n": drawn.rows,
    }
    return with_contexts(pl.LazyFrame(columns), rows, [model], [model.meta.output_name()])


def _std_error(replicates: Floats) -> pl.Series:
    """Standard deviation of each column of replicates, null for one replicate."""
    if len(replicates) < 2:
        return pl.repeat(None, replicates.shape[1], dtype=pl.Float64, eager=True)
    return pl.Series(replicates.std(axis=0, ddof=1), nan_to_null=True)


@like_input
def respondent_differences(
    scored: Frame,
    *,
    between: IntoExpr = "model",
    average: Average = "segments",
    context: Context = "highest",
    metric: Metric = "jensen_shannon_similarity",
    n: int = 200,
    seed: int = 42,
    level: float = 0.95,
    correction: Correction = "holm",
) -> pl.LazyFrame:
    """Differences of models' mean scores, with intervals for the answers of other respondents.

    Both models of a pair have the same draws, so that common noise cancels. Models should have
    answered the same questions of the same segments; otherwise the difference includes that.

    Args:
        scored: As for `respondent_intervals`.
        between: The models, at least two.
        average: As for `respondent_intervals`.
        context: As for `at_context`.
        metric: The metric of the scores.
        n: Number of draws.
        seed: Seed of the draws.
        level: Coverage of the interval.
        correction: Of the p-values of all pairs, see `adjusted_p_value`.

    Returns:
        `left`, `right`, `delta` (right minus left), `std_error`, `lower`, `upper`, `p_value`
        (two-sided, by inverting the interval), `p_adjusted`, `within_noise` (Boolean: the interval
        contains 0), and the columns about context of `leaderboard`, of both models. Sorted by the
        pair.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> key = {"round": "1", "segment_id": "s", "question_id": "q", "sample_size": 50}
        >>> lists = {"predicted": [[0.5, 0.5], [0.45, 0.55]], "actual": [[0.5, 0.5]] * 2}
        >>> scored = pl.DataFrame({"model": ["a", "b"], "score": [1.0, 0.9574], **key, **lists})
        >>> ef.survey.respondent_differences(scored).select("left", "right", "within_noise").row(0)
        ('a', 'b', True)
    """
    rows, drawn = drawn_scores(
        scored, between, average, context, metric, SIMILARITIES, n, seed, level
    )
    left, right = pairs_of(drawn)
    deltas = drawn.means[:, right] - drawn.means[:, left]
    deltas = deltas - deltas.mean(axis=0) + (drawn.estimates[right] - drawn.estimates[left])
    limits = central_quantiles(deltas, level)
    return difference_table(rows, drawn, between, deltas, limits, correction)


def pairs_of(drawn: Drawn) -> tuple[Ints, Ints]:
    """Numbers of the left and right models of all pairs."""
    if len(drawn.models) < 2:
        models = drawn.models.to_list()
        raise ParameterError(f"respondent_differences needs two models, found {models}")
    left, right = np.triu_indices(len(drawn.models), 1)
    return left, right


def difference_table(
    rows: pl.LazyFrame,
    drawn: Drawn,
    between: IntoExpr,
    deltas: Floats,
    limits: tuple[Floats, Floats],
    correction: Correction,
) -> pl.LazyFrame:
    """Differences of pairs with these replicates and limits."""
    from evalframe.resample.intervals import Sample, p_values

    left, right = pairs_of(drawn)
    delta = drawn.estimates[right] - drawn.estimates[left]
    columns = {
        "left": drawn.models.gather(left),
        "right": drawn.models.gather(right),
        "delta": delta,
        "std_error": _std_error(deltas),
        "lower": limits[0],
        "upper": limits[1],
        "p_value": pl.Series(p_values("percentile", Sample(delta, deltas)), nan_to_null=True),
    }
    noise = ((pl.col("lower") <= 0) & (pl.col("upper") >= 0)).alias("within_noise")
    table = pl.LazyFrame(columns).with_columns(adjusted_p_value(correction=correction), noise)
    return with_contexts(table, rows, [as_expr(between)], ["left"], ["right"])


@like_input
def respondent_gaps(
    scored: Frame,
    *,
    context: Context = "highest",
    metric: Metric = "jensen_shannon_similarity",
    n: int = 200,
    seed: int = 42,
    level: float = 0.95,
    correction: Correction = "holm",
) -> pl.LazyFrame:
    """Gaps between the best and the worst segment of a category, tested against sampling noise.

    Even segments that a model predicts equally well have different scores, since each has few
    respondents, and the largest of many such differences is large. The test centres the scores of
    drawn answers at the mean of each segment, and counts how often their gap is as large as the
    actual one.

    Args:
        scored: As for `respondent_intervals`, with optional `segment_attribute`, the category; by
            default it is the prefix of the segment's id. The score of a segment is the mean of its
            rows with one.
        context: As for `at_context`.
        metric: The metric of the scores.
        n: Number of draws.
        seed: Seed of the draws.
        level: `noise_gap` is the quantile at this level.
        correction: Of the p-values of all gaps, see `adjusted_p_value`.

    Returns:
        `model`, `round`, `category`, `n_segments` (Int64, 2 or more), `gap` (Float64, best minus
        worst), `best_segment`, `worst_segment` (the first by name of tied ones), `noise_gap` (gaps
        of equally predicted segments exceed it once in 20 times, at level 0.95), `p_value`,
        `p_adjusted`, `within_noise` (Boolean: the gap is not above `noise_gap`) and the columns
        about context of `leaderboard`. Sorted by model, round and category.

    Raises:
        ParameterError: No segment has a category, a sample size is missing, or an argument lies
            outside its domain.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> key = {"model": "a", "round": "1", "question_id": "q", "sample_size": 50}
        >>> lists = {"predicted": [[0.5, 0.5]] * 2, "actual": [[0.5, 0.5], [0.55, 0.45]]}
        >>> segments = {"segment_id": ["gender:female", "gender:male"], "score": [1.0, 0.9574]}
        >>> gaps = ef.survey.respondent_gaps(pl.DataFrame(key | lists | segments))
        >>> gaps.select("gap", "within_noise").row(0)
        (0.04259999999999997, True)
    """
    check_draws(n, seed, level)
    value = metric_expression(metric, "predicted", "actual")
    rows = mark(lazy(scored), context, ["model"])
    columns = frozenset(rows.collect_schema().names())
    category = category_of(columns)
    entry = pl.struct("model", "round", category, "segment_id").alias("entry")
    drawn = Drawn.of(rows, entry, "items", value, n, seed)
    entries = drawn.models.struct.unnest().with_columns(score=drawn.estimates)
    check_categories("respondent_gaps", category_source(columns), entries.to_struct())
    gaps = (
        entries.with_row_index(":first")
        .group_by(_GROUP, maintain_order=True)
        .agg(
            pl.col(":first").first(),
            n_segments=pl.len().cast(pl.Int64),
            gap=pl.col("score").max() - pl.col("score").min(),
            best_segment=pl.col("segment_id").get(pl.col("score").arg_max()),
            worst_segment=pl.col("segment_id").get(pl.col("score").arg_min()),
        )
    )
    centred, first = drawn.means - drawn.means.mean(axis=0), gaps[":first"].to_numpy()
    noise = np.maximum.reduceat(centred, first, axis=1)
    noise -= np.minimum.reduceat(centred, first, axis=1)
    as_large = (noise >= gaps["gap"].to_numpy() - _ROUNDING).sum(axis=0)
    tested = gaps.drop(":first").with_columns(
        noise_gap=pl.Series(np.quantile(noise, level, axis=0)),
        p_value=pl.Series((as_large + 1) / (n + 1)),
    )
    several = tested.filter((pl.col("n_segments") > 1) & pl.col("category").is_not_null())
    within = (pl.col("gap") <= pl.col("noise_gap")).alias("within_noise")
    table = several.with_columns(adjusted_p_value(correction=correction), within).lazy()
    return with_contexts(table, rows, [*map(pl.col, _GROUP[:-1]), category], _GROUP)
