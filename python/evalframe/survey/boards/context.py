"""Effects of the amount of context on scores: slopes, and what lies behind stereotypes."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.frames import like_input
from evalframe.core.special import settled
from evalframe.core.typing import By, Frame
from evalframe.survey.boards.leaderboard import with_category
from evalframe.survey.boards.rows import (
    CONTEXT,
    Rows,
    run_scores,
    scored_rows,
)

ContextLevel: TypeAlias = Literal["overall", "segment", "category"]

SLOPES = ("slope", "std_error", "n_points", "n_levels")
"""Columns of tables of slopes, which keys cannot have."""

STEREOTYPES = (
    *("lowest_context", "highest_context", "lowest_score", "highest_score"),
    *("improvement", "n_segments"),
)
"""Columns of `stereotype_score` after the model."""

LOWEST, HIGHEST = ":lowest", ":highest"
_X, _Y = ":x", ":y"


@like_input
def context_responsiveness(
    scored: Frame,
    *,
    level: ContextLevel = "overall",
    by: By = None,
) -> pl.LazyFrame:
    """How much a model gains from each additional answer of the segment in the prompt.

    Each run is a point with its amount of context and its mean item score. Each segment of a model
    has a least-squares slope, and a model the mean slope of its segments, whose spread gives the
    standard error. Runs of unknown context are left out, and a segment with a single amount of
    context has no slope. As in dtef-app 52d79c0, context analysis.

    Args:
        scored: As for `segment_scores`, with `context_count` (null if unknown) and, if a segment
            was asked several times with the same context, `run_id`.
        level: `overall`, by `category`, or by `segment`.
        by: Group keys.

    Returns:
        by..., `model`, then `category`, or `round` and `segment_id`; `slope` (Float64, score per
        answer shown, null if undefined), `std_error` (Float64: over segments, or of the
        least-squares line of a segment; null if undefined), `n_segments` (Int64, not by segment)
        and `n_points`. Overall the largest slope first; otherwise sorted by keys.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import context_responsiveness
        >>> scores = {"segment_id": ["a", "b"] * 2, "score": [0.5, 0.5, 0.75, 0.5]}
        >>> scored = pl.DataFrame({"model": "m", "context_count": [0, 0, 5, 5], **scores})
        >>> context_responsiveness(scored).select("slope", "std_error", "n_segments").rows()
        [(0.025, 0.025, 2)]
    """
    check_choice("level", level, ContextLevel)
    rows = scored_rows("context_responsiveness", scored, by, needs=["context_count"], taken=SLOPES)
    return slopes(rows, run_points(rows), level).rename(rows.keys.restore())


def slopes(rows: Rows, points: pl.LazyFrame, level: ContextLevel = "overall") -> pl.LazyFrame:
    """The table of `context_responsiveness`, under internal names of the keys."""
    names = [*rows.keys.inner, "model", *rows.segment]
    segments = segment_slopes(points, names)
    if level == "segment":
        table = segments.filter(pl.col("n_points") > 1).sort(names)
        return table.select(*names, "slope", "std_error", "n_points")
    entry = [*rows.keys.inner, "model", *(["category"] if level == "category" else [])]
    if level == "category":
        return mean_slopes(with_category(rows, segments, None), entry).sort(entry)
    order = [*rows.keys.inner, -settled(pl.col("slope")), pl.col("model")]
    return mean_slopes(segments, entry).sort(order, nulls_last=True)


def mean_slopes(segments: pl.LazyFrame, entry: list[str]) -> pl.LazyFrame:
    """Mean slope of the segments of each entry, whose spread gives the standard error."""
    slope = pl.col("slope")
    return segments.group_by(entry).agg(
        slope=slope.mean(),
        std_error=slope.std() / slope.count().cast(pl.Float64).sqrt(),
        n_segments=slope.count().cast(pl.Int64),
        n_points=pl.col("n_points").filter(slope.is_not_null()).sum(),
    )


@like_input
def stereotype_score(scored: Frame, *, by: By = None) -> pl.LazyFrame:
    """How little a model gains from context: good without it and no better with it.

    Each segment's run with least context is compared with its run with most, so that both means
    are over the same segments. As in dtef-app 52d79c0, stereotype scores.

    Args:
        scored: As for `context_responsiveness`.
        by: Group keys.

    Returns:
        by..., `model`, `lowest_context` and `highest_context` (Int64, the smallest and largest of
        the model), `lowest_score` and `highest_score` (Float64, mean run scores there),
        `improvement` (Float64: the difference divided by the highest score; null if that is 0) and
        `n_segments` (Int64). The smallest improvement first.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = {"context_count": [0, 5], "score": [0.6, 0.8]}
        >>> scored = pl.DataFrame({"model": "a", "segment_id": "country:chad", **scores})
        >>> ef.survey.stereotype_score(scored)["improvement"].round(2).to_list()
        [0.25]
    """
    rows = scored_rows(
        "stereotype_score",
        scored,
        by,
        needs=["context_count"],
        taken=("lowest_context", "highest_context", "improvement"),
    )
    return stereotypes(rows, run_points(rows)).rename(rows.keys.restore())


def stereotypes(rows: Rows, points: pl.LazyFrame) -> pl.LazyFrame:
    """The table of `stereotype_score`, under internal names of the keys."""
    group = rows.keys.inner
    segment = [*group, "model", *rows.segment]
    context = pl.col(CONTEXT)
    ends = points.with_columns(
        context.min().over(segment).alias(LOWEST), context.max().over(segment).alias(HIGHEST)
    )
    at_an_end = (context == pl.col(LOWEST)) | (context == pl.col(HIGHEST))
    ends = ends.filter(pl.col(LOWEST) < pl.col(HIGHEST), at_an_end)
    # Repeated runs are averaged within their segment first.
    ends = ends.group_by([*segment, CONTEXT, LOWEST, HIGHEST]).agg(pl.col("score").mean())
    table = improvements(ends, [*group, "model"], rows.segment)
    ordered = table.sort(*group, settled(pl.col("improvement")), "model", nulls_last=True)
    return ordered.select(*group, "model", *STEREOTYPES)


def improvements(
    ends: pl.LazyFrame, entry: list[str], segment: list[str], **others: pl.Expr
) -> pl.LazyFrame:
    """Mean scores of each entry at its `LOWEST` and its `HIGHEST` context, and their difference."""
    low, high, score = pl.col(LOWEST), pl.col(HIGHEST), pl.col("score")
    at_low, at_high = pl.col(CONTEXT) == low, pl.col(CONTEXT) == high
    lowest, highest = pl.col("lowest_score"), pl.col("highest_score")
    table = ends.group_by(entry).agg(
        lowest_context=low.min(),
        highest_context=high.max(),
        lowest_score=score.filter(at_low).mean(),
        highest_score=score.filter(at_high).mean(),
        n_segments=pl.struct(segment).filter(at_low | at_high).n_unique().cast(pl.Int64),
        **others,
    )
    gain = pl.when(highest > 0).then((highest - lowest) / highest)
    return table.drop_nulls(["lowest_score", "highest_score"]).with_columns(improvement=gain)


def run_points(rows: Rows, runs: pl.LazyFrame | None = None) -> pl.LazyFrame:
    """Runs with a score and a known amount of context; `runs` are all runs if all are known."""
    if runs is None:
        known = rows.frame.filter(pl.col("context_count").is_not_null())
        runs = run_scores(replace(rows, frame=known), rows.run)
    return runs.filter(pl.col("n_items") > 0)


def segment_slopes(points: pl.LazyFrame, segment: list[str]) -> pl.LazyFrame:
    """The least squares line of each segment of each model."""
    x, y = pl.col(CONTEXT).cast(pl.Float64), pl.col("score")
    means = points.group_by(segment).agg(x.mean().alias(_X), y.mean().alias(_Y))
    away = points.join(means, on=segment, nulls_equal=True).with_columns(
        (x - pl.col(_X)).alias(_X), (y - pl.col(_Y)).alias(_Y)
    )
    away_x, away_y = pl.col(_X), pl.col(_Y)
    products = away.with_columns(xx=away_x * away_x, xy=away_x * away_y, yy=away_y * away_y)
    sums = products.group_by(segment).agg(
        pl.col("category").first(),
        pl.col("xx", "xy", "yy").sum(),
        n_points=pl.len().cast(pl.Int64),
    )
    xx, xy, yy, count = pl.col("xx"), pl.col("xy"), pl.col("yy"), pl.col("n_points")
    slope = pl.when(xx > 0).then(xy / xx)
    rest = (yy - xy * xy / xx).clip(0.0, None)
    error = pl.when((count > 2) & (xx > 0)).then((rest / (count - 2) / xx).sqrt())
    return sums.with_columns(slope=slope, std_error=error)
