"""What the figures of all families share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

import polars as pl

RULES = ("documented", "reference")


@functools.cache
def parquet(path: Path) -> pl.DataFrame:
    """A table of real records, read once."""
    return pl.read_parquet(path)


def rank_changes(scores: pl.DataFrame, columns: Sequence[str], *, over: str | None = None) -> int:
    """In how many rows the ranks by these columns are not the same."""
    groups = pl.lit(0) if over is None else pl.col(over)
    level = pl.col(columns).round(12)  # scores that are equal but for the order of their sums tie
    ranks = pl.concat_list(level.rank().over(groups))
    return scores.select((ranks.list.n_unique() > 1).sum()).item()
