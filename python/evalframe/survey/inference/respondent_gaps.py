"""Gaps between the segments of a category, held against what other respondents would change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.frames import like_input
from evalframe.core.tables import lazy
from evalframe.survey.contexts import mark, with_contexts
from evalframe.survey.inference.adjust import adjusted_p_value
from evalframe.survey.inference.arguments import check_draws
from evalframe.survey.inference.respondent_draws import Drawn
from evalframe.survey.leaderboards.rows import category_of, category_source, check_categories
from evalframe.survey.similarity.registry import metric_expression

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.core.typing import Frame
    from evalframe.survey.contexts import Context
    from evalframe.survey.inference.adjust import Correction
    from evalframe.survey.similarity.registry import Metric

_GROUP = ["model", "round", "category"]

_ROUNDING = 1e-12
"""A drawn gap that is smaller by no more than this is as large."""


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
    """Gaps between the best and the worst segment of a category, and what of them may be noise.

    Even segments that a model predicts equally well have different scores, as each asked few
    respondents, and the largest of many such differences is large. The test takes the scores of
    drawn answers around the mean of each segment, and asks how often their gap is as large as the
    one that was found.

    Args:
        scored: One row per model, segment and question, as `evalframe.survey.score` gives them:
            `model`, `round`, `segment_id`, `question_id`, `predicted`, `actual`, `sample_size`,
            `score`, perhaps `segment_attribute`, which is the category; by default it is the prefix
            of the segment's id. The score of a segment is the mean of its rows with one.
        context: Which amount of context counts, see `at_context`, as of `disparity`.
        metric: The one that the scores are of.
        n: Number of draws.
        seed: Of the draws.
        level: `noise_gap` is the quantile at this level.
        correction: Of the p-values of all gaps, see `adjusted_p_value`.

    Returns:
        `model`, `round`, `category`, `n_segments` (Int64, 2 or more), `gap` (Float64, best minus
        worst), `best_segment`, `worst_segment` (the first by name of equals), `noise_gap` (gaps of
        equally predicted segments are above it once in 20 times, at level 0.95), `p_value`,
        `p_adjusted`, `within_noise` (Boolean: the gap is not above `noise_gap`) and, if the table
        has amounts of context, `context_count` (Int64, the one that counts; null for several) and
        `n_other_context` (Int64, rows of others, which do not count). Sorted by model, round and
        category. Lazy if the table is.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: No segment has a category, a sample size is not known, or an argument lies
            outside its domain.

    Examples:
        >>> import polars as pl
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a", "a"],
        ...         "round": ["1"] * 2,
        ...         "segment_id": ["gender:female", "gender:male"],
        ...         "question_id": ["q"] * 2,
        ...         "predicted": [[0.5, 0.5]] * 2,
        ...         "actual": [[0.5, 0.5], [0.55, 0.45]],
        ...         "sample_size": [50] * 2,
        ...         "score": [1.0, 0.9574],
        ...     }
        ... )
        >>> found = respondent_gaps(scored).select("category", "gap", "within_noise")
        >>> found.row(0)
        ('gender', 0.04259999999999997, True)
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
    noise = _ranges(drawn.means - drawn.means.mean(axis=0), gaps[":first"].to_numpy())
    as_large = (noise >= gaps["gap"].to_numpy() - _ROUNDING).sum(axis=0)
    tested = gaps.drop(":first").with_columns(
        noise_gap=_quantile(noise, level), p_value=pl.Series((as_large + 1) / (n + 1))
    )
    several = tested.filter((pl.col("n_segments") > 1) & pl.col("category").is_not_null())
    within = (pl.col("gap") <= pl.col("noise_gap")).alias("within_noise")
    table = several.with_columns(adjusted_p_value(correction=correction), within).lazy()
    return with_contexts(table, rows, [*map(pl.col, _GROUP[:-1]), category], _GROUP)


def _ranges(means: Floats, first: Ints) -> Floats:
    """Largest minus smallest of each run of columns, by rows."""
    import numpy as np

    ranges: Floats = np.maximum.reduceat(means, first, axis=1)
    ranges -= np.minimum.reduceat(means, first, axis=1)
    return ranges


def _quantile(values: Floats, level: float) -> pl.Series:
    import numpy as np

    return pl.Series(np.quantile(values, level, axis=0))
