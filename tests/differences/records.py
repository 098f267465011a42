"""What the figures of all families share."""

import functools

import polars as pl

RULES = ("documented", "reference")


@functools.cache
def parquet(path):
    """A table of real records, read once."""
    return pl.read_parquet(path)


def rank_changes(scores, columns, *, over=None):
    """In how many rows the ranks by these columns are not the same."""
    groups = pl.lit(0) if over is None else pl.col(over)
    level = pl.col(columns).round(12)  # scores that are equal but for the order of their sums tie
    ranks = pl.concat_list(level.rank().over(groups))
    return scores.select((ranks.list.n_unique() > 1).sum()).item()
