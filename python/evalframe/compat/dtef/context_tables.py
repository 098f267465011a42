"""Tables of dtef-app about context: a segment with two runs has a slope, if need be of 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.dtef.original_runs import FIRST, ROW, select_runs
from evalframe.core.frames import like_input
from evalframe.core.rules import check_choice
from evalframe.core.special import settled
from evalframe.survey.leaderboards.context import ContextLevel, mean_slopes, segment_slopes
from evalframe.survey.leaderboards.rows import CONTEXT

if TYPE_CHECKING:
    from evalframe.compat.dtef.original_runs import Runs
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By

_LOWEST, _HIGHEST = ":lowest", ":highest"


@like_input
def context_responsiveness(
    scored: Frame, *, level: ContextLevel = "overall", by: By = None
) -> pl.LazyFrame:
    """Slopes of scores by amount of context, see `ef.survey.context_responsiveness`.

    A segment with two runs of the same context has the slope 0, and so has a model without slopes.
    There are no rows if the table (or group) has a single amount of context.
    """
    check_choice("level", level, ContextLevel)
    runs = select_runs("context_responsiveness", scored, by, needs=["context_count"])
    return slopes(runs, level)


def slopes(runs: Runs, level: ContextLevel = "overall") -> pl.LazyFrame:
    """The table of `context_responsiveness`."""
    points = _points(runs)
    flat = pl.when(pl.col("n_points") > 1).then(0.0)
    segments = segment_slopes(points, runs.segment).with_columns(pl.col("slope").fill_null(flat))
    if level == "segment":
        lines = segments.filter(pl.col("n_points") > 1).sort(runs.segment)
        return lines.select(*runs.segment, "slope", "std_error", "n_points")
    slope = pl.col("slope").fill_null(0.0)
    if level == "category":
        entry = [*runs.by, "model", "category"]
        return mean_slopes(segments.drop_nulls("category"), entry).with_columns(slope).sort(entry)
    entry = [*runs.by, "model"]
    seen = points.group_by(entry).agg(pl.col(FIRST).min())
    table = mean_slopes(segments, entry).with_columns(slope).join(seen, on=entry, nulls_equal=True)
    return table.sort(*runs.by, -settled(pl.col("slope")), FIRST).drop(FIRST)


@like_input
def stereotype_score(scored: Frame, *, by: By = None) -> pl.LazyFrame:
    """Gain of models from context, see `ef.survey.stereotype_score`.

    All runs at the least against all at the most context of the table, of segments with two runs.
    """
    runs = select_runs("stereotype_score", scored, by, needs=["context_count"])
    return stereotypes(runs)


def stereotypes(runs: Runs) -> pl.LazyFrame:
    """The table of `stereotype_score`."""
    score, context = pl.col("score"), pl.col(CONTEXT)
    low, high = pl.col(_LOWEST), pl.col(_HIGHEST)
    at_low, at_high = context == low, context == high
    lowest, highest = pl.col("lowest_score"), pl.col("highest_score")
    table = (
        _points(runs)
        .filter(pl.len().over(runs.segment) > 1)
        .group_by([*runs.by, "model"])
        .agg(
            pl.col(FIRST).min(),
            lowest_context=low.min(),
            highest_context=high.max(),
            lowest_score=score.filter(at_low).mean(),
            highest_score=score.filter(at_high).mean(),
            n_segments=pl.col("segment_id").filter(at_low | at_high).n_unique().cast(pl.Int64),
        )
        .filter(lowest.is_not_null() & highest.is_not_null())
        .with_columns(
            improvement=pl.when(highest > 0).then((highest - lowest) / highest).otherwise(0.0)
        )
    )
    ends = ("lowest_context", "highest_context", "lowest_score", "highest_score")
    ordered = table.sort(*runs.by, settled(pl.col("improvement")), FIRST)
    return ordered.select(*runs.by, "model", *ends, "improvement", "n_segments")


def _points(runs: Runs) -> pl.LazyFrame:
    """Mean scores of runs with a known context; none if a group has one amount of context.

    Runs without a score still count among the amounts.
    """
    context, score = pl.col(CONTEXT), pl.col("score")
    low, high = context.min(), context.max()
    known = runs.every.filter(pl.col(":context_count").is_not_null())
    ends = known.with_columns(
        (low.over(runs.by) if runs.by else low).alias(_LOWEST),
        (high.over(runs.by) if runs.by else high).alias(_HIGHEST),
    )
    return (
        ends.filter(pl.col(_LOWEST) < pl.col(_HIGHEST))
        .drop_nulls("score")
        .group_by([*runs.segment, *runs.run])
        .agg(
            score.mean(),
            pl.col(ROW).min().alias(FIRST),
            pl.col("segment_attribute").first().alias("category"),
            pl.col(_LOWEST, _HIGHEST).first(),
        )
    )
