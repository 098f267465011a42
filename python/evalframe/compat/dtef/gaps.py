"""Runs as dtef-app selects them, their gaps and slopes, and gaps of questions between all runs.

Of each segment it selects the first run among those with most context.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.frames import like_input
from evalframe.core.special import settled
from evalframe.core.typing import By, Frame
from evalframe.survey.boards.context import (
    HIGHEST,
    LOWEST,
    SLOPES,
    STEREOTYPES,
    ContextLevel,
    improvements,
    mean_slopes,
    segment_slopes,
)
from evalframe.survey.boards.gaps import CONCERN, GAPS, category_gaps, largest_gaps
from evalframe.survey.boards.leaderboard import with_category
from evalframe.survey.boards.rows import CONTEXT, Rows, is_baseline, run_scores, scored_rows
from evalframe.survey.surveys.segments import LABELS

_MEAN = ":mean"
ROW, FIRST = ":row", ":first"
"""Number of a row, and the first row with a score of a run, a segment or a model."""

_RUN = {"context_count": CONTEXT, "round": "round", "run_id": "run_id"}
"""Columns of a table and of its rows that identify a run of a segment."""

# Rounds are not distinguished, and categories come from ids of segments.
_UNUSED = {"context_count", "round", "segment_attribute"}


@dataclass(frozen=True)
class Runs:
    """All rows of a table of scores, numbered, and its segments.

    Attributes:
        rows: The rows, without the columns that dtef-app does not use.
        segments: One row per model and segment: the score of its selected run and its `FIRST`.
        run: Columns that identify a run of a segment.
    """

    rows: Rows
    segments: pl.LazyFrame
    run: list[str]

    @property
    def entry(self) -> list[str]:
        """Columns that identify a model."""
        return [*self.rows.keys.inner, "model"]

    @property
    def segment(self) -> list[str]:
        """Columns that identify a segment of a model."""
        return [*self.entry, "segment_id"]

    def selected(self) -> Rows:
        """The rows of the selected runs."""
        key = [*self.segment, *self.run]
        coded = pl.col([name for name in key if name in self.rows.coded]).cast(pl.Categorical)
        selected = self.segments.select(key).with_columns(coded)
        frame = self.rows.frame.join(selected, on=key, how="semi", nulls_equal=True)
        return replace(self.rows, frame=frame)

    def named(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """A table under the public names of the keys."""
        return table.rename(self.rows.keys.restore())


def runs_of(table: Rows) -> Runs:
    """Select the runs of a table of scores."""
    run = [inner for name, inner in _RUN.items() if name in table.columns]
    frame = table.frame.with_row_index(ROW)
    # Without a caller segments without a category are no error.
    rows = replace(table, frame=frame, columns=table.columns - _UNUSED, caller=None)
    first = pl.col(ROW).filter(pl.col("score").is_not_null()).min()
    key = [*rows.keys.inner, "model", "segment_id"]
    most = [-pl.col(CONTEXT)] if CONTEXT in run else []
    segments = (
        run_scores(rows, run, **{FIRST: first})
        .drop_nulls(FIRST)
        .sort(*most, FIRST)
        .with_columns(pl.col(FIRST).min().over(key), category())
        .unique(subset=key, keep="first", maintain_order=True)
    )
    return Runs(rows, segments, run)


def best_and_worst(score: pl.Expr) -> list[pl.Expr]:
    """Best and worst segment; the first of equally good and the last of equally bad ones."""
    segment, first = pl.col("segment_id"), pl.col(FIRST).cast(pl.Int64)
    return [
        segment.sort_by(-score, first).first().alias("best_segment"),
        segment.sort_by(score, -first).first().alias("worst_segment"),
    ]


def category() -> pl.Expr:
    """The prefix of the id of a segment if dtef-app knows it; an id without `:` is a prefix."""
    prefix = pl.col("segment_id").cast(pl.String).str.split(":").list.first()
    return pl.when(prefix.is_in([*LABELS])).then(prefix).alias("category")


@like_input
def disparity(scored: Frame, *, by: By = None, attributes: Frame | None = None) -> pl.LazyFrame:
    """The gap between the segments of each category, see `ef.survey.disparity`.

    Rounds are not distinguished, and a gap of exactly 0.10 is a concern if rounding puts it above.
    Equal gaps are sorted by the mean score of their model, then by first appearance and by name.
    """
    runs = runs_of(scored_rows("disparity", scored, by, taken=GAPS))
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
    runs = runs_of(scored_rows("model_disparity", scored, by, taken=("overall_gap",)))
    return runs.named(largest_gaps(ordered_gaps(runs, attributes), runs.rows.keys.inner))


@like_input
def question_disparity(scored: Frame, *, by: By = None) -> pl.LazyFrame:
    """The gap between the scores of each question, see `ef.survey.question_disparity`.

    All runs and amounts of context are compared, each item by itself, and scores are not rounded.
    """
    runs = runs_of(scored_rows("question_disparity", scored, by, needs=["question_id"], taken=GAPS))
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
    runs = runs_of(
        scored_rows("context_responsiveness", scored, by, needs=["context_count"], taken=SLOPES)
    )
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
    runs = runs_of(scored_rows("stereotype_score", scored, by, needs=["context_count"]))
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
