"""Gaps of dtef-app: between the selected runs, and of questions between all runs."""

from __future__ import annotations

import polars as pl

from evalframe.compat.dtef.original_runs import FIRST, ROW, Runs, best_and_worst, select_runs
from evalframe.core.frames import like_input
from evalframe.core.special import settled
from evalframe.core.typing import By, Frame
from evalframe.survey.boards.disparity import CONCERN, GAPS, category_gaps, largest_gaps
from evalframe.survey.boards.leaderboard import with_category
from evalframe.survey.boards.rows import is_baseline

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
