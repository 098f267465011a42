"""Numbers from columns, and whole-column kernels over them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evalframe.core.rows import as_expr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalframe.core.segments import Floats
    from evalframe.core.typing import IntoExpr

    Kernel: TypeAlias = Callable[..., Floats]

NOTHING = pl.lit(None, pl.Float64)
"""What an absent column holds."""


def number(column: IntoExpr | None) -> pl.Expr:
    """A column as Float64 in which NaN is kept apart from null; null where there is no column."""
    return NOTHING if column is None else as_expr(column).cast(pl.Float64)


def known(column: IntoExpr | None) -> pl.Expr:
    """A column as Float64 without NaN: what is missing is null."""
    return number(column).fill_nan(None)


def over_numbers(kernel: Kernel, columns: Sequence[pl.Expr]) -> pl.Expr:
    """One number for each row, as an elementwise expression.

    Args:
        kernel: From as many flat arrays as there are columns, without nulls and NaN, to one number
            for each row; NaN becomes null.
        columns: Float64. A structure of them is handed over, so that constants spread.

    Returns:
        Float64, null where a column is null or NaN.
    """
    rows = pl.struct([column.alias(str(place)) for place, column in enumerate(columns)])
    made = partial(_of_rows, kernel=kernel)
    return rows.map_batches(made, return_dtype=pl.Float64(), is_elementwise=True)


def _of_rows(rows: pl.Series, kernel: Kernel) -> pl.Series:
    """The numbers of structs; only rows that lack nothing reach the kernel."""
    import numpy as np

    arrays = [column.to_numpy() for column in rows.struct.unnest()]  # null becomes NaN
    values = np.full(len(rows), np.nan)
    complete = np.flatnonzero(~np.isnan(sum(arrays)))
    with np.errstate(all="ignore"):
        if len(complete):
            values[complete] = kernel(*(array[complete] for array in arrays))
    return pl.Series(values=values, dtype=pl.Float64, nan_to_null=True)
