"""Pairs of lists, a column at a time: blocks of rows whose lists have the same lengths.

A block is a matrix of options by rows, so that every measure is plain arithmetic on two matrices
and adds its options in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr, spread_literals
from evalframe.core.typing import IntoExpr

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints

    Kernel: TypeAlias = Callable[[Floats, Floats], Floats]


# Values per chunk: few enough for the caches, and for the allocator, which returns larger memory to
# the system; to get it back, page by page, costs as much as the logarithms.
_CELLS = 1 << 17

# Fewer chunks than this are not distributed among threads.
_FEW = 16

_SMALL, _LARGE = 1e-100, 1e100


def over_rows(
    name: str, kernel: Kernel, predicted: IntoExpr, actual: IntoExpr, *, any_length: bool = False
) -> pl.Expr:
    """An elementwise expression: one Float64 for each pair of lists, null if either list is."""
    # The kernel turns two matrices, options by rows, into one number for each row. It can overwrite
    # them. A null within a list is NaN, and a NaN result becomes null. With `any_length` it also
    # gets empty lists and lists of different lengths, which are null otherwise.
    pair = spread_literals({"predicted": as_expr(predicted), "actual": as_expr(actual)})
    rows = pl.struct([expr.alias(role) for role, expr in pair.items()])
    compute = partial(_of_series, name=name, kernel=kernel, any_length=any_length)
    return rows.map_batches(compute, return_dtype=pl.Float64(), is_elementwise=True).alias(name)


def _of_series(pairs: pl.Series, name: str, kernel: Kernel, *, any_length: bool) -> pl.Series:
    """The numbers of a column of structs of two lists."""
    import numpy as np

    parts = []
    for chunk in pairs.get_chunks():
        lists = [Lists.of(column, name) for column in chunk.struct.unnest()]
        parts.append(_of_lists(lists[0], lists[1], kernel, any_length=any_length))
    values = np.concatenate(parts) if parts else np.empty(0)
    return pl.Series(values=values, dtype=pl.Float64, nan_to_null=True)


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """A column of lists, flat."""

    values: Floats  # a null is NaN
    lengths: Ints  # -1 for a null list
    starts: Ints  # of each row's values, and their total number

    @classmethod
    def of(cls, column: pl.Series, needed_by: str) -> Lists:
        """Return the lists of a column of lists or arrays of numbers."""
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
        values = flat.fill_null(np.nan) if flat.null_count() else flat
        sizes = column.list.len()
        lengths = sizes.cast(pl.Int64)
        starts = segments.starts_of(lengths.fill_null(0).to_numpy())
        return cls(values.to_numpy(), lengths.fill_null(-1).to_numpy(), starts)

    def chunk(self, rows: slice) -> Lists:
        """Consecutive rows, copied, since reading in steps from far memory is slow."""
        starts = self.starts[rows.start : rows.stop + 1]
        values = self.values[starts[0] : starts[-1]].copy()
        return Lists(values, self.lengths[rows], starts - starts[0])


def _of_lists(predicted: Lists, actual: Lists, kernel: Kernel, *, any_length: bool) -> Floats:
    """Compute all rows in chunks, on as many threads as Polars has."""
    # The threads call numpy only. One that called Polars could wait for a thread of Polars that
    # waits for it.
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    values = np.full(len(predicted.lengths), np.nan)

    def fill(part: slice) -> None:
        with np.errstate(all="ignore"):
            blocks = _blocks(predicted.chunk(part), actual.chunk(part), any_length=any_length)
            for rows, left, right in blocks:
                values[part][rows] = kernel(left, right)

    parts = list(_parts(predicted.starts, actual.starts))
    if len(parts) < _FEW:  # as in the streaming engine, which has its own threads
        for part in parts:
            fill(part)
    else:
        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
            list(pool.map(fill, parts))
    return values


def _parts(*starts: Ints) -> Iterator[slice]:
    """Consecutive rows with about equally many values; a longer list is a chunk by itself."""
    import numpy as np

    rows = len(starts[0]) - 1
    total = np.maximum(*starts)
    steps = np.arange(_CELLS, total[-1] + _CELLS, _CELLS)
    cuts = np.unique([0, *np.searchsorted(total, steps).clip(max=rows), rows])
    yield from map(slice, cuts[:-1], cuts[1:])


def _blocks(
    predicted: Lists, actual: Lists, *, any_length: bool
) -> Iterator[tuple[Ints | slice, Floats, Floats]]:
    """Rows with the same lengths and both their matrices, options by rows."""
    import numpy as np

    sizes, others = predicted.lengths, actual.lengths
    equal = (sizes == others) & (sizes >= (0 if any_length else 1))
    all_equal = bool(equal.all())
    if all_equal and sizes[0] and (sizes == sizes[0]).all():
        lines = [lists.values.reshape(len(sizes), -1).T for lists in (predicted, actual)]
        yield slice(None), np.ascontiguousarray(lines[0]), np.ascontiguousarray(lines[1])
        return
    for length in np.flatnonzero(np.bincount(sizes[equal])):
        rows = np.flatnonzero(equal & (sizes == length))
        options = np.arange(length)[:, None]
        index = predicted.starts[rows] + options
        # If all lists have equal lengths, both columns have their values at the same indices.
        other = index if all_equal else actual.starts[rows] + options
        yield rows, predicted.values[index], actual.values[other]
    unlike = ~equal & (sizes >= 0) & (others >= 0)
    if any_length and unlike.any():
        for pair in np.unique(np.column_stack([sizes, others])[unlike], axis=0):
            rows = np.flatnonzero((sizes == pair[0]) & (others == pair[1]))
            indices = [
                lists.starts[rows] + np.arange(length)[:, None]
                for lists, length in zip((predicted, actual), pair, strict=True)
            ]
            yield rows, predicted.values[indices[0]], actual.values[indices[1]]


def check_epsilon(epsilon: float | None) -> None:
    """Raise ParameterError unless a floor of shares is None or in [0, 1)."""
    if epsilon is not None and not 0 <= epsilon < 1:
        raise ParameterError(f"epsilon must be a share from 0 to below 1, or None, got {epsilon!r}")


def shares(values: Floats) -> Floats:
    """Shares of numbers that are finite, not negative and not all 0; NaN for other rows."""
    scaled, total = with_totals(values)
    return scaled / total


def with_totals(values: Floats) -> tuple[Floats, Floats]:
    """Return the numbers and their sum in each row; the sum is NaN for invalid rows."""
    import numpy as np

    total = values.sum(axis=0)
    # Very large or very small numbers are scaled by their maximum, so that neither the sum nor
    # the product of a number and a quotient of sums overflows.
    if (extreme := ~((total > _SMALL) & (total < _LARGE))).any():
        most = values.max(axis=0, initial=0.0)
        values = np.where(extreme & (most > 0), values / most, values)
        total = values.sum(axis=0)
        total[~(total > 0)] = np.nan
    if not values.min(initial=0.0) >= 0:
        total[values.min(axis=0, initial=np.inf) < 0] = np.nan
    return values, total
