"""The ranks of models by PAS, and how far a bootstrap knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.replication.uncertainty.spreads import numbers
from evalframe.resample.ranks import rank_columns, rank_limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.segments import Floats, Ints

_DECIMALS = 12
"""Decimals of PAS that ranks go by; further ones hang on the order of summation."""


def with_ranks(
    table: pl.DataFrame, among: Sequence[str], drawn: Floats, clusters: Ints, level: float
) -> pl.DataFrame:
    """The table with the ranks of its PAS, and how far they are known.

    Args:
        table: One row for each entry, with `pas`.
        among: Columns within which entries are ranked.
        drawn: PAS of replicates, replicates by entries.
        clusters: How many clusters vary in each entry.
        level: Of the limits.
    """
    score = pl.col("pas").round(_DECIMALS)
    rank = score.rank("min", descending=True).cast(pl.Int64)
    numbered = table.with_columns(rank=rank.over(among) if among else rank)
    group = np.zeros(len(table), dtype=np.int64)
    if among:
        boards = table.select(pl.struct(among).rank("dense").cast(pl.Int64))
        group = boards.to_series().to_numpy()
    points = np.round(numbers(table["pas"]), _DECIMALS)
    limits = rank_limits(points, np.round(drawn, _DECIMALS), group, level, clusters)
    return numbered.with_columns(rank_columns(limits))
