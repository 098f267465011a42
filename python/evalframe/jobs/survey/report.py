"""What the command line prints of leaderboards: the overall one, and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.report.table import numbers
from evalframe.report.wide_table import wide_table

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = {
    "score": "score",
    "parse_rate": "parsed",
    "tied_with_best": "tied",
    "best": "best segment",
    "worst": "worst segment",
    "n_segments": "segments",
    "n_items": "items",
}
_DIGITS = 3
"""Decimals of the scores of segments."""


def leaderboard_report(
    overall: pl.DataFrame,
    by: Sequence[str],
    *,
    notes: Sequence[str] = (),
    markdown: bool = False,
    level: float | None = None,
    width: int | None = None,
) -> str:
    """The overall leaderboard for a reader.

    Args:
        overall: What `evalframe.survey.leaderboard` gives.
        by: What its models are grouped by.
        notes: Sentences beneath the table.
        markdown: Markdown instead of aligned text.
        level: The confidence level of the intervals.
        width: Characters per line.
    """
    in_rounds = "by_round" not in by and _several_rounds(overall)
    ends = [_end(overall, end, ["round"] * in_rounds) for end in ("best", "worst")]
    table = overall.with_columns(ends).rename(
        {"lower": "score_lower", "upper": "score_upper"}, strict=False
    )
    if "tied_with_best" in table.columns:
        tied = pl.when("tied_with_best").then(pl.lit("yes")).otherwise(pl.lit(""))
        table = table.with_columns(tied.alias("tied_with_best"))
        notes = ["Tied: with the best, as far as the resamples tell.", *notes]
    shown = {name: head for name, head in _SHOWN.items() if name in table.columns}
    return wide_table(
        table,
        [*by, "rank", "model"],
        shown,
        markdown=markdown,
        level=level,
        width=width,
        notes=notes,
    )


def _end(overall: pl.DataFrame, end: str, rounds: Sequence[str]) -> pl.Series:
    """A segment with its score, and its round if there are several."""
    score = pl.Series(numbers(overall[f"{end}_score"], _DIGITS).cells, dtype=pl.String)
    names = [f"{end}_{name}" for name in (*rounds, "segment")]
    return overall.select(
        pl.concat_str(*names, pl.lit(score), separator=" ").alias(end)
    ).to_series()


def _several_rounds(overall: pl.DataFrame) -> bool:
    ends = [overall[name] for name in ("best_round", "worst_round") if name in overall.columns]
    return bool(ends) and pl.concat(ends).drop_nulls().n_unique() > 1
