"""Gaps of dtef-app, between the selected runs or all runs of a question, and slopes by context."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from evalframe.compat.dtef.original_runs import (
    FIRST,
    ROW,
    Runs,
    best_and_worst,
    category,
    select_runs,
)
from evalframe.core.choices import check_choice
from evalframe.core.frames import like_input
from evalframe.core.special import settled
from evalframe.core.typing import By, Frame
from evalframe.survey.boards.context import (
    HIGHEST,
    LOWEST,
    STEREOTYPES,
    TAKEN,
    ContextLevel,
    improvements,
    mean_slopes,
    segment_slopes,
)
from evalframe.survey.boards.disparity import CONCERN, GAPS, category_gaps, largest_gaps
from evalframe.survey.boards.leaderboard import with_category
from evalframe.survey.boards.rows import CONTEXT, is_baseline, run_scores

_MEAN = ":mean"


@like_input
def disparity(scored: Frame, *, by: By = None, attributes: Frame | None = None) -> pl.LazyFrame:
    """The gap between the segments of each category, see `ef.survey.disparity`.

    Rounds are not distinguished, and a gap of exactly 0.10 is a concern if rounding puts it above.
    Equal gaps are sorted by the mean score of their model, then by first appearance and by name.
    """
    runs = select_runs("disparity", scored, by, taken=GAPS)
    return runs.named(ordered_gaps(runs, attributes))


def ordered_gaps(runs: Runs, attributes: Frame | None) -> pl.LazyFrame:
    """The table of `disparity`: documented gaps with other ends, concerns and order."""
    entry, score = [*runs.entry, "category"], pl.col("score")
    gaps = category_gaps(runs.rows, runs.segments, attributes)
    segments = runs.segments.with_columns(score.mean().over(runs.entry).alias(_MEAN))
    seen = (
        with_category(runs.rows, segments, attributes)
        .group_by(entry)
        .agg(*best_and_worst(settled(score)), pl.col(FIRST).min(), pl.col(_MEAN).first())
    )
    order = [-settled(pl.col("gap")), -settled(pl.col(_MEAN)), pl.col(FIRST), pl.col("category")]
    return (
        gaps.drop("best_segment", "worst_segment")
        .join(seen, on=entry, how="left", nulls_equal=True)
        .with_columns(concern=(pl.col("gap") > CONCERN) & ~is_baseline())
        .sort(*runs.rows.keys.inner, *order)
        .select(gaps.collect_schema().names())
    )


@like_input
def model_disparity(
    scored: Frame, *, by: By = None, attributes: Frame | None = None
) -> pl.LazyFrame:
    """The largest category gap of each model, see `ef.survey.model_disparity`."""
    runs = select_runs("model_disparity", scored, by, taken=("overall_gap",))
    return runs.named(largest_gaps(ordered_gaps(runs, attributes), runs.rows.keys.inner))


@like_input
def question_disparity(scored: Frame, *, by: By = None) -> pl.LazyFrame:
    """The gap between the scores of each question, see `ef.survey.question_disparity`.

    All runs and amounts of context are compared, each item by itself, and scores are not rounded.
    """
    runs = select_runs("question_disparity", scored, by, needs=["question_id"], taken=GAPS)
    return runs.named(question_gaps(runs))


def question_gaps(runs: Runs) -> pl.LazyFrame:
    """The table of `question_disparity`."""
    entry, score = [*runs.entry, "question_id"], pl.col("score")
    gaps = (
        runs.rows.frame.drop_nulls(["question_id", "score"])
        .with_columns(pl.col(ROW).alias(FIRST))
        .group_by(entry)
        .agg(
            *best_and_worst(score),
            pl.col(FIRST).min(),
            best_score=score.max(),
            worst_score=score.min(),
            n_segments=pl.len().cast(pl.Int64),
        )
        .filter(pl.col("n_segments") > 1)
        .with_columns(gap=pl.col("best_score") - pl.col("worst_score"))
        .sort(*runs.rows.keys.inner, -pl.col("gap"), FIRST)
    )
    ends = pl.col("best_segment", "worst_segment").cast(pl.String)
    columns = [*entry, "gap", "best_segment", "best_score", "worst_segment", "worst_score"]
    return runs.rows.decoded(gaps).with_columns(ends).select(*columns, "n_segments")


@like_input
def context_responsiveness(
    scored: Frame, *, level: ContextLevel = "overall", by: By = None
) -> pl.LazyFrame:
    """Slopes of scores by amount of context, see `ef.survey.context_responsiveness`.

    A segment with two runs of the same context has the slope 0, and so has a model without slopes.
    There are no rows if the table (or group) has a single amount of context.
    """
    check_choice("level", level, ContextLevel)
    runs = select_runs("context_responsiveness", scored, by, needs=["context_count"], taken=TAKEN)
    return runs.named(slopes(runs, level))


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
        entry = [*runs.entry, "category"]
        return mean_slopes(segments.drop_nulls("category"), entry).with_columns(slope).sort(entry)
    seen = points.group_by(runs.entry).agg(pl.col(FIRST).min())
    table = mean_slopes(segments, runs.entry).with_columns(slope)
    table = table.join(seen, on=runs.entry, nulls_equal=True)
    return table.sort(*runs.rows.keys.inner, -settled(pl.col("slope")), FIRST).drop(FIRST)


@like_input
def stereotype_score(scored: Frame, *, by: By = None) -> pl.LazyFrame:
    """Gain of models from context, see `ef.survey.stereotype_score`.

    All runs at the least against all at the most context of the table, of segments with two runs.
    """
    runs = select_runs("stereotype_score", scored, by, needs=["context_count"])
    return runs.named(stereotypes(runs))


def stereotypes(runs: Runs) -> pl.LazyFrame:
    """The table of `stereotype_score`."""
    ends = _points(runs).filter(pl.len().over(runs.segment) > 1)
    table = improvements(ends, runs.entry, ["segment_id"], **{FIRST: pl.col(FIRST).min()})
    table = table.with_columns(pl.col("improvement").fill_null(0.0))
    ordered = table.sort(*runs.rows.keys.inner, settled(pl.col("improvement")), FIRST)
    return ordered.select(*runs.entry, *STEREOTYPES)


def _points(runs: Runs) -> pl.LazyFrame:
    """Mean scores of runs with a known context; none if a group has one amount of context.

    The number of amounts includes runs without a score.
    """
    row = pl.col(ROW).filter(pl.col("score").is_not_null()).min()
    known = runs.rows.frame.filter(pl.col("context_count").is_not_null())
    points = run_scores(replace(runs.rows, frame=known), runs.run, **{FIRST: row})
    low, high, group = pl.col(CONTEXT).min(), pl.col(CONTEXT).max(), runs.rows.keys.inner
    ends = points.with_columns(
        (low.over(group) if group else low).alias(LOWEST),
        (high.over(group) if group else high).alias(HIGHEST),
        category(),
    )
    return ends.filter(pl.col(LOWEST) < pl.col(HIGHEST)).drop_nulls(FIRST)
