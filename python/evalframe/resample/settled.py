"""Scores to be compared: equal ones may differ by the rounding of their sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

DECIMALS = 12
"""Decimals that ranks go by; further ones hang on the order of summation."""


def settled(score: pl.Expr) -> pl.Expr:
    """Scores by which entries are ranked.

    >>> pl.select(settled(pl.lit(0.1) + pl.lit(0.2)) == settled(pl.lit(0.3))).item()
    True
    """
    return score.round(DECIMALS)


def ranks(score: pl.Expr, within: Sequence[str]) -> pl.Expr:
    """Ranks within groups of these keys, the best is 1; tied entries share the better one.

    >>> table = pl.DataFrame({"score": [0.5, 0.9, 0.5, None]})
    >>> table.select(ranks(pl.col("score"), [])).to_series().to_list()
    [2, 1, 2, None]
    """
    rank = settled(score).rank("min", descending=True).cast(pl.Int64)
    return rank.over(within) if within else rank
