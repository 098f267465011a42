"""Consistency: how much the scores of a model differ between segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.special import settled
from evalframe.survey.leaderboards.rows import deviation, is_baseline, scored_rows
from evalframe.survey.leaderboards.segments import kept_segments

if TYPE_CHECKING:
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By
    from evalframe.survey.contexts import Context
    from evalframe.survey.leaderboards.rows import Rows


@like_input
def consistency(
    scored: Frame,
    *,
    by: By = None,
    context: Context = "highest",
    min_segments: int = 2,
    baselines: bool = False,
) -> pl.LazyFrame:
    """Models by the population standard deviation of their segment scores, the smallest first.

    Models of a single segment and pseudo-models have no rank. A small deviation is no
    merit of its own: a model that always gives the same answer is consistent, too.

    Args:
        scored: One row per item, see `segment_scores`.
        by: Group keys.
        context: Which amount of context counts, see `at_context`.
        min_segments: Models with fewer segments have no rank.
        baselines: Whether pseudo-models have a rank.

    Returns:
        by..., `rank` (Int64, null for models without), `model`, `sd_segments` and `score`
        (Float64), `n_segments` (Int64) and as of `leaderboard` `context_count` and
        `n_other_context`. Sorted by rank. Lazy if the table is.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: An argument lies outside its domain.

    References:
        dtef-app 52d79c0, the consistency leaderboard.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey.leaderboards import consistency
        >>> scored = pl.DataFrame(
        ...     {
        ...         "model": ["a", "a", "b", "b", "c"],
        ...         "segment_id": ["country:chad", "country:peru"] * 2 + ["country:peru"],
        ...         "score": [0.75, 0.25, 0.5, 0.5, 0.5],
        ...     }
        ... )
        >>> consistency(scored).select("rank", "model", "sd_segments").rows()
        [(1, 'b', 0.0), (2, 'a', 0.25), (None, 'c', 0.0)]
    """
    rows = scored_rows("consistency", scored, by).at(context)
    if min_segments < 1:
        raise ParameterError(f"min_segments must be 1 or more, got {min_segments!r}")
    table = ranked_by_deviation(rows, kept_segments(rows), min_segments, baselines=baselines)
    return table.rename(rows.keys.restore())


def ranked_by_deviation(
    rows: Rows,
    kept: pl.LazyFrame,
    min_segments: int = 2,
    *,
    baselines: bool = False,
) -> pl.LazyFrame:
    """The table of `consistency`, under internal names of the keys."""
    score, group = pl.col("score"), rows.keys.inner
    table = kept.group_by([*group, "model"]).agg(
        sd_segments=deviation(score),
        score=score.mean(),
        n_segments=score.count().cast(pl.Int64),
        **rows.summed,
    )
    enters = pl.col("n_segments") >= min_segments
    if not baselines:
        enters &= ~is_baseline()
    rank = pl.when(enters).then(settled(pl.col("sd_segments"))).rank("min").cast(pl.Int64)
    table = table.with_columns(rank=rank.over(group) if group else rank)
    table = table.sort(*group, "rank", "model", nulls_last=True)
    shown = [*group, "rank", "model", "sd_segments", "score", "n_segments"]
    return table.select(*shown, **rows.told)
