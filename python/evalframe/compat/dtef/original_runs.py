"""Runs as dtef-app selects them: of each segment the first run among those with most context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from evalframe.core.typing import By, Frame
from evalframe.survey.boards.rows import CONTEXT, Rows, run_scores, scored_rows
from evalframe.survey.surveys.segments import LABELS

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


def select_runs(
    caller: str,
    scored: Frame,
    by: By,
    *,
    needs: Sequence[str] = (),
    taken: Sequence[str] = (),
    baselines: bool = True,
    extra: Mapping[str, pl.Expr] | None = None,
) -> Runs:
    """Select the runs of a table of scores; the arguments are those of `scored_rows`."""
    return runs_of(
        scored_rows(caller, scored, by, needs=needs, taken=taken, baselines=baselines, extra=extra)
    )


def runs_of(table: Rows) -> Runs:
    """Select the runs of checked rows."""
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
