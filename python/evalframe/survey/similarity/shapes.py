"""Pairs of lists, whole columns at a time: blocks of rows whose lists have the same lengths.

A block holds one option of all its rows in each line, so that every measure is plain arithmetic on
two matrices, options by rows, and adds its options up in their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr, spread_literals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalframe.core.segments import Floats, Ints
    from evalframe.core.typing import IntoExpr

    Kernel: TypeAlias = Callable[[Floats, Floats], Floats]

_CELLS = 1 << 17
"""Values of one column that are worked on at a time, few enough for the caches.

And for the allocator, which keeps memory of that size for the next ones; more it hands back to the
system, and to get it again, page by page, costs as much as the logarithms.
"""

_FEW = 16
"""So many times as many are shared out among threads."""


def over_rows(
    name: str, kernel: Kernel, predicted: IntoExpr, actual: IntoExpr, *, any_length: bool = False
) -> pl.Expr:
    """One number for each pair of lists, as an elementwise expression of this name.

    Args:
        name: Of the expression.
        kernel: From two matrices, options by rows, to one number for each row; NaN becomes null. A
            null within a list is NaN. The matrices are the kernel's own to overwrite.
        predicted: Lists or arrays of numbers.
        actual: The same.
        any_length: Whether empty lists, and lists of different lengths, go to the kernel, too; else
            they give null.

    Returns:
        Float64, null where either list is.
    """
    pair = spread_literals({"predicted": as_expr(predicted), "actual": as_expr(actual)})
    rows = pl.struct([expr.alias(role) for role, expr in pair.items()])
    made = partial(_of_series, name=name, kernel=kernel, any_length=any_length)
    return rows.map_batches(made, return_dtype=pl.Float64(), is_elementwise=True).alias(name)


def _of_series(pairs: pl.Series, name: str, kernel: Kernel, *, any_length: bool) -> pl.Series:
    """The numbers of structs of predicted and actual."""
    import numpy as np

    parts = []
    for chunk in pairs.get_chunks():
        lists = [Lists.of(column, name) for column in chunk.struct.unnest()]
        parts.append(_of_lists(lists[0], lists[1], kernel, any_length=any_length))
    values = np.concatenate(parts) if parts else np.empty(0)
    return pl.Series(values=values, dtype=pl.Float64, nan_to_null=True)


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """A column of lists, flat.

    Args:
        values: All values; a null is NaN.
        lengths: Of each row's list, -1 for no list.
        starts: Where each row's values start, and how many there are.
    """

    values: Floats
    lengths: Ints
    starts: Ints

    @classmethod
    def of(cls, column: pl.Series, needed_by: str) -> Lists:
        """The lists of a column.

        Raises:
            ParameterError: It holds something else than lists or arrays of numbers.
        """
        import numpy as np

        from evalframe.core import segments

        dtype = column.dtype
        if dtype == pl.Null:
            column, dtype = column.cast(pl.List(pl.Float64)), pl.List(pl.Float64())
        if isinstance(dtype, pl.Array) and len(dtype.shape) == 1:
            column, dtype = column.arr.to_list(), pl.List(dtype.inner)
        inner = dtype.inner if isinstance(dtype, pl.List) else None
        if inner is None or not (inner == pl.Null or inner.is_numeric()):
            raise ParameterError(
                f"{needed_by}: column {column.name!r} must hold lists of numbers, but is "
                f"{column.dtype}; a table of one row for each option goes to similarity_table"
            )
        flat = column.explode(empty_as_null=False, keep_nulls=False).cast(pl.Float64)
        known = flat.fill_null(np.nan) if flat.null_count() else flat
        sizes = column.list.len()
        lengths = sizes.cast(pl.Int64)
        starts = segments.starts_of(lengths.fill_null(0).to_numpy())
        return cls(known.to_numpy(), lengths.fill_null(-1).to_numpy(), starts)

    def part(self, rows: slice) -> Lists:
        """Consecutive rows of it, copied, since reading in steps from far memory is slow."""
        starts = self.starts[rows.start : rows.stop + 1]
        values = self.values[starts[0] : starts[-1]].copy()
        return Lists(values, self.lengths[rows], starts - starts[0])


def _of_lists(predicted: Lists, actual: Lists, kernel: Kernel, *, any_length: bool) -> Floats:
    """The numbers of all rows, a few rows at a time, on as many threads as Polars has.

    The threads do numpy's work alone. One that called Polars could wait for a thread of Polars that
    waits for it.
    """
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    values = np.full(len(predicted.lengths), np.nan)

    def fill(part: slice) -> None:
        with np.errstate(all="ignore"):
            blocks = _blocks(predicted.part(part), actual.part(part), any_length=any_length)
            for rows, left, right in blocks:
                values[part][rows] = kernel(left, right)

    parts = list(_parts(predicted.starts, actual.starts))
    if len(parts) < _FEW:  # as in the streaming engine, which has threads of its own
        for part in parts:
            fill(part)
    else:
        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
            list(pool.map(fill, parts))
    return values


def _parts(*starts: Ints) -> Iterator[slice]:
    """Consecutive rows of about as many values each; a longer list stands alone."""
    import numpy as np

    rows = len(starts[0]) - 1
    total = np.maximum(*starts)
    steps = np.arange(_CELLS, total[-1] + _CELLS, _CELLS)
    cuts = np.unique([0, *np.searchsorted(total, steps).clip(max=rows), rows])
    yield from map(slice, cuts[:-1], cuts[1:])


def _blocks(
    predicted: Lists, actual: Lists, *, any_length: bool
) -> Iterator[tuple[Ints | slice, Floats, Floats]]:
    """Rows of the same lengths with both their matrices, options by rows."""
    import numpy as np

    sizes, others = predicted.lengths, actual.lengths
    equal = (sizes == others) & (sizes >= (0 if any_length else 1))
    alike = bool(equal.all())
    if alike and sizes[0] and (sizes == sizes[0]).all():
        lines = [lists.values.reshape(len(sizes), -1).T for lists in (predicted, actual)]
        yield slice(None), np.ascontiguousarray(lines[0]), np.ascontiguousarray(lines[1])
        return
    for length in np.flatnonzero(np.bincount(sizes[equal])):
        rows = np.flatnonzero(equal & (sizes == length))
        options = np.arange(length)[:, None]
        place = predicted.starts[rows] + options
        # Where all lists have equal lengths, both columns' values stand at the same places.
        twin = place if alike else actual.starts[rows] + options
        yield rows, predicted.values[place], actual.values[twin]
    unlike = ~equal & (sizes >= 0) & (others >= 0)
    if any_length and unlike.any():
        for pair in np.unique(np.column_stack([sizes, others])[unlike], axis=0):
            rows = np.flatnonzero((sizes == pair[0]) & (others == pair[1]))
            places = [
                lists.starts[rows] + np.arange(length)[:, None]
                for lists, length in zip((predicted, actual), pair, strict=True)
            ]
            yield rows, predicted.values[places[0]], actual.values[places[1]]
