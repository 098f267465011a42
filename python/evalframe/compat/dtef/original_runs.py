"""Runs as dtef-app selects them: of each segment the first run among those with most context."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe import survey
from evalframe.survey.leaderboards.leaderboard import named_attributes
from evalframe.survey.leaderboards.rows import CONTEXT, scored_rows
from evalframe.survey.surveys.segments import LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.typing import Frame
    from evalframe.evaluation import By

ROW, FIRST = ":row", ":first"
"""Number of a row, and the first row with a score of a run, a segment or a model."""

# The documented functions tell rounds apart and choose among amounts of context by themselves, so
# that these columns have other names.
_HIDDEN = ("context_count", "round", "run_id")
_RUN = {"context_count": CONTEXT, "round": ":round", "run_id": ":run_id"}


@dataclass(frozen=True)
class Runs:
    """Scored rows with their group keys, numbered, and the runs that dtef-app selects.

    Attributes:
        every: All rows; the category replaces `segment_attribute`, and there are no rounds.
        rows: Those of the selected runs.
        selected: One row per model and segment with `FIRST` and the names of its run.
        by: Names of the group keys.
        run: Columns that name a run of a segment: its context, its round and its id.
        columns: Columns of the table of scores that leaderboards use.
    """

    every: pl.LazyFrame
    rows: pl.LazyFrame
    selected: pl.LazyFrame
    by: list[str]
    run: list[str]
    columns: frozenset[str]

    @property
    def segment(self) -> list[str]:
        """Columns that name a segment of a model."""
        return [*self.by, "model", "segment_id"]

    def scores(self) -> pl.LazyFrame:
        """Segment scores of the documented function, with the run and `FIRST`."""
        table = without_contexts(survey.segment_scores(self.rows, by=self.by))
        return table.join(self.selected, on=self.segment, nulls_equal=True)

    def with_category(self, attributes: Frame | None) -> Runs:
        """Leave out segments without a category, which are no error in dtef-app."""
        if attributes is None:
            return replace(self, rows=self.rows.drop_nulls("segment_attribute"))
        named = categories_of(attributes)
        return replace(self, rows=self.rows.join(named, on="segment_id", how="semi"))


def without_contexts(table: pl.LazyFrame) -> pl.LazyFrame:
    """Drop the count of rows of other contexts, which a table grouped by context has."""
    return table.drop("n_other_context", strict=False)


def categories_of(attributes: Frame) -> pl.LazyFrame:
    """Categories of segments from a table of attributes."""
    return named_attributes(attributes, ["segment_id"])[0].drop_nulls("category")


def with_categories(scores: pl.LazyFrame, attributes: Frame | None) -> pl.LazyFrame:
    """Segment scores once for each category of the segment."""
    if attributes is None:
        return scores.drop_nulls("category")
    return scores.drop("category").join(categories_of(attributes), on="segment_id")


def best_and_worst(score: pl.Expr) -> list[pl.Expr]:
    """Best and worst segment; the first of equally good and the last of equally bad ones."""
    segment, first = pl.col("segment_id"), pl.col(FIRST).cast(pl.Int64)
    return [
        segment.sort_by(-score, first).first().alias("best_segment"),
        segment.sort_by(score, -first).first().alias("worst_segment"),
    ]


def select_runs(
    caller: str,
    scored: Frame,
    by: By,
    *,
    needs: Sequence[str] = (),
    baselines: bool = True,
    extra: Mapping[str, pl.Expr] | None = None,
) -> Runs:
    """Select the runs of a table of scores; the arguments are those of `scored_rows`."""
    table = scored_rows(caller, scored, by, needs=needs, baselines=baselines, extra=extra)
    every = (
        table.frame.with_row_index(ROW)
        .with_columns(segment_attribute=_category())
        .rename({name: f":{name}" for name in _HIDDEN if name in table.columns})
        .rename(table.keys.restore())
    )
    by_names = list(table.keys.names)
    segment = [*by_names, "model", "segment_id"]
    run = [inner for name, inner in _RUN.items() if name in table.columns]
    first = pl.col(ROW).filter(pl.col("score").is_not_null()).min()
    runs = every.group_by([*segment, *run]).agg(first.alias(FIRST)).drop_nulls(FIRST)
    most = [-pl.col(CONTEXT)] if CONTEXT in run else []
    selected = (
        runs.sort(*most, FIRST)
        .with_columns(pl.col(FIRST).min().over(segment))
        .unique(subset=segment, keep="first", maintain_order=True)
    )
    rows = every.join(selected, on=[*segment, *run], how="semi", nulls_equal=True)
    if isinstance(scored, pl.DataFrame):
        rows = rows.collect().lazy()
    return Runs(every, rows, selected, by_names, run, table.columns)


def _category() -> pl.Expr:
    """The prefix of the id of a segment if the program knows it; an id without `:` is a prefix."""
    prefix = pl.col("segment_id").cast(pl.String).str.split(":").list.first()
    return pl.when(prefix.is_in([*LABELS])).then(prefix)
