"""Columns as numbers: as they are, without NaN, or finite; and kernels over whole columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evalframe.core.contract import Column, Contract
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr

if TYPE_CHECKING:
    from evalframe.core.segments import Floats

    Kernel: TypeAlias = Callable[..., Floats]

NO_NUMBER = pl.lit(None, pl.Float64)


def raw_number(column: IntoExpr | None) -> pl.Expr:
    """A column as Float64 with its NaN; null if there is no column."""
    return NO_NUMBER if column is None else as_expr(column).cast(pl.Float64)


def number(column: IntoExpr | None) -> pl.Expr:
    """A column as Float64 in which NaN is null."""
    return raw_number(column).fill_nan(None)


def finite(column: IntoExpr | None) -> pl.Expr:
    """A column as Float64 in which NaN and infinity are null."""
    value = raw_number(column)
    return pl.when(value.is_finite()).then(value)


def number_if_present(name: str, columns: Collection[str]) -> pl.Expr:
    """A column as Float64 in which NaN is null; null if the table lacks it."""
    return number(name if name in columns else None)


def check_numbers(schema: pl.Schema, names: Iterable[str]) -> None:
    """Raise ContractError if a column of tests holds no numbers; a table can lack any of them."""
    columns = (Column(name, ("number", "boolean"), required=False, nullable=True) for name in names)
    Contract("tests", tuple(columns)).check_schema(schema)


def over_numbers(kernel: Kernel, columns: Sequence[pl.Expr]) -> pl.Expr:
    """Apply a kernel of flat arrays to the rows without null and NaN; the others are null."""
    # A struct of the columns, so that constants are spread to the length of the others.
    rows = pl.struct([column.alias(str(index)) for index, column in enumerate(columns)])
    return rows.map_batches(
        partial(_of_rows, kernel=kernel), return_dtype=pl.Float64(), is_elementwise=True
    )


def _of_rows(rows: pl.Series, kernel: Kernel) -> pl.Series:
    import numpy as np

    arrays = [column.to_numpy() for column in rows.struct.unnest()]  # null becomes NaN
    values = np.full(len(rows), np.nan)
    complete = np.flatnonzero(~np.isnan(sum(arrays)))
    with np.errstate(all="ignore"):
        if len(complete):
            values[complete] = kernel(*(array[complete] for array in arrays))
    return pl.Series(values=values, dtype=pl.Float64, nan_to_null=True)
