"""Columns that say how uncertain scores are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.intervals import Spread
    from evalframe.resample.methods import Bootstrap

ENTRY = ":entry"
"""Number of a row of the result."""


def with_entries(rows: pl.DataFrame, table: pl.DataFrame, group: Sequence[str]) -> pl.DataFrame:
    """The rows with the number of the row of the table that they belong to."""
    if not group:
        return rows.with_columns(pl.lit(0, dtype=pl.UInt32).alias(ENTRY))
    numbered = table.select(group).with_row_index(ENTRY)
    return rows.join(numbered, on=[*group], nulls_equal=True)


def with_spreads(
    method: Bootstrap,
    table: pl.DataFrame,
    spread: Mapping[str, Spread],
    clusters: Ints,
    bias: Mapping[str, Floats] | None = None,
) -> pl.DataFrame:
    """The table with the uncertainty of each score beside it, and the number of clusters last.

    There is none of what has no estimate, but for lenient rules.

    Args:
        method: Whose rules.
        table: Has the scores.
        spread: Their uncertainty.
        clusters: Their number.
        bias: Of the replicates, where it is told.
    """
    columns: list[pl.Series] = []
    for column in table.iter_columns():
        columns.append(column)
        if column.name in spread:
            made = spread[column.name]._asdict()
            if bias is not None:
                made["bias"] = bias[column.name]
            for name, values in made.items():
                full = pl.Series(f"{column.name}_{name}", values, dtype=pl.Float64).fill_nan(None)
                if name == "drop_rate":  # without a row it is undefined in each replicate
                    full = full.fill_null(1.0)
                else:
                    full = full.set(column.is_null(), None)
                columns.append(full)
    return pl.DataFrame([*columns, pl.Series("n_clusters", clusters, dtype=pl.Int64)])


def numbers(column: pl.Series) -> Floats:
    """A column as numbers, null as NaN."""
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
