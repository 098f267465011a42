"""Item scores and sampling noise of dtef-app 52d79c0.

| | evalframe.survey | dtef |
|---|---|---|
| `length_mismatch` | 0 | 0.1 |
| `ok`, but not a distribution: all 0, or negative | 0 | the value of the metric |
| no actual distribution | null, left out | null for `ok`; else as above |
| the metric's values | unchanged | clipped to [0, 1], then rounded to 2 decimals |
| a prompt without a score | null | 0 |
| expected divergence | (k - 1) / (8 n ln 2), of Jensen-Shannon | (k - 1) / (2 n ln 2), \
of Kullback-Leibler: the distance is doubled |
| few respondents | at least 0 | below 0 |
| no respondents, or one option | null; 1 for one option | 0 |
| ceiling not above the uniform score | null | 0 |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.dtef.similarity import SIMILARITIES
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey import noise, scoring
from evalframe.survey.scoring import STATUS, VALUE, rounded, with_scores, with_values

if TYPE_CHECKING:
    from evalframe.survey.similarity.registry import Metric


_FACTOR = 2.0


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
        >>> pairs = pl.DataFrame({"n_options": [4, 4], "sample_size": [50, 1000]})
        >>> pairs.select(noise_ceiling().round(3)).to_series().to_list()
        [0.792, 0.953]
    """
    k, n = as_expr(n_options), as_expr(sample_size)
    is_undefined = ((n <= 0) | (k <= 1)).fill_null(value=False)
    ceiling = pl.when(is_undefined).then(0.0).otherwise(noise.ceiling_of(k, n, _FACTOR))
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
