"""Gaps of dtef-app: between the selected runs, and of questions between all runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe import survey
from evalframe.compat.dtef.original_runs import (
    FIRST,
    ROW,
    best_and_worst,
    select_runs,
    with_categories,
    without_contexts,
)
from evalframe.core.frames import like_input
from evalframe.core.special import settled
from evalframe.survey.leaderboards.disparity import CONCERN, largest_gaps
from evalframe.survey.leaderboards.rows import is_baseline

if TYPE_CHECKING:
    from evalframe.compat.dtef.original_runs import Runs
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By


@like_input
def disparity(scored: Frame, *, by: By = None, attributes: Frame | None = None) -> pl.LazyFrame:
    """The gap between the segments of each category, see `ef.survey.disparity`.

    Rounds are not told apart, and a gap of exactly 0.10 is a concern if rounding puts it above.
    """
    runs = select_runs("disparity", scored, by).with_category(attributes)
    gaps = survey.disparity(runs.rows, by=runs.by, attributes=attributes)
    return ordered_gaps(runs, gaps, attributes)


def ordered_gaps(runs: Runs, gaps: pl.LazyFrame, attributes: Frame | None) -> pl.LazyFrame:
    """Documented gaps with the order, the ends and the concerns of dtef-app.

    Equal gaps are sorted by the mean score of their model, then by first appearance, then by name.
    """
    entry = [*runs.by, "model", "category"]
    score = pl.col("score")
    segments = runs.scores().with_columns(score.mean().over(entry[:-1]).alias(_MEAN))
    ends = (
        with_categories(segments, attributes)
        .group_by(entry)
        .agg(*best_and_worst(settled(score)), pl.col(FIRST).min(), pl.col(_MEAN).first())
    )
    columns = without_contexts(gaps).collect_schema().names()
    return (
        gaps.drop("best_segment", "worst_segment")
        .join(ends, on=entry, how="left", nulls_equal=True)
        .with_columns(concern=(pl.col("gap") > CONCERN) & ~is_baseline())
        .sort(*runs.by, -settled(pl.col("gap")), -settled(pl.col(_MEAN)), FIRST, "category")
        .select(columns)
    )


_MEAN = ":mean"


@like_input
def model_disparity(
    scored: Frame, *, by: By = None, attributes: Frame | None = None
) -> pl.LazyFrame:
    """The largest category gap of each model, see `ef.survey.model_disparity`."""
    runs = select_runs("model_disparity", scored, by).with_category(attributes)
    gaps = survey.disparity(runs.rows, by=runs.by, attributes=attributes)
    return largest_gaps(ordered_gaps(runs, gaps, attributes), runs.by)


@like_input
def question_disparity(scored: Frame, *, by: By = None) -> pl.LazyFrame:
    """The gap between the scores of each question, see `ef.survey.question_disparity`.

    All runs and amounts of context take part, each item by itself, and scores are not rounded.
    """
    runs = select_runs("question_disparity", scored, by, needs=["question_id"])
    return question_gaps(runs)


def question_gaps(runs: Runs) -> pl.LazyFrame:
    """The table of `question_disparity`."""
    entry = [*runs.by, "model", "question_id"]
    score = pl.col("score")
    gaps = (
        runs.every.drop_nulls(["question_id", "score"])
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
    )
    ends = ("best_segment", "best_score", "worst_segment", "worst_score")
    return gaps.sort(*runs.by, -pl.col("gap"), FIRST).select(*entry, "gap", *ends, "n_segments")
