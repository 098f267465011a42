"""Sums of many rows over few cells: groups times levels that are short decimals, in one pass.

A group-by of millions of groups and levels fills a hash table slowly, and the streaming engine
holds a part of all rows meanwhile. If levels are decimals such as 0.8125, group and level give
the index of a row's cell in a flat array: one addition for each row and sum. All tables read the
rows together, in memory that depends on the number of cells alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from evalframe.core.grids import CODE, Cells, Groups, TooManyError, has_keys, series, zeros
from evalframe.core.state import LEVEL

FEW, _PER_ROW, PER_HEAD = 1 << 23, 16, 16
"""Cells of a table, at most: in all, for each row, and for each of the rows that are tried first.

Cells cost something even if they stay empty; a hash table has only those that occur.
"""

_FIRST, _MANY = 1 << 13, 1 << 16
"""Of so many rows the largest table has so many cells; a hash table of fewer is quick."""

HEAD = 1 << 17
"""Fewer rows are not worth the trouble; of many more, so many are tried before all are read."""

_BATCH = 1 << 20
"""Rows that are added up at a time."""


@dataclass(frozen=True)
class Sums:
    """Sums that are added up from rows.

    Attributes:
        level: Number to add up by, in addition to the keys; null if a row has none.
        plain: Sums without a level.
        by_level: Sums per level.
        others: Another plain sum, and the one, per level if there is one, that adds up with it to
            the number of rows.
    """

    level: pl.Expr | None
    plain: Mapping[str, pl.Expr]
    by_level: Mapping[str, pl.Expr]
    others: tuple[str, str] | None = None


def added_up(
    frame: pl.LazyFrame, keys: Mapping[str, pl.Expr], tables: Sequence[Sums]
) -> list[pl.DataFrame] | None:
    """Additive tables of all sums, by keys and level; None if a group-by does better."""
    # It does if rows are few, cells few or too many, or levels no short decimals. The first rows
    # are tried before all are read, so that a table that does not suit costs little; and rows are
    # counted, which costs nothing in memory and in Parquet.
    dtypes = frame.select(**keys).collect_schema().dtypes() if keys else []
    if not has_keys(dtypes):
        return None
    if all(sums.level is None for sums in tables):
        return None
    columns = _Columns()
    complete = [_Table(sums, columns, FEW) for sums in tables]
    rows = frame.select(**keys, **columns.exprs)
    try:
        groups = Groups([*keys])
        most = _cells(rows.head(_FIRST), groups, complete, FEW)
        count = frame.select(pl.len()).collect().item()
        if most < _MANY or count < HEAD or count * _PER_ROW < most:
            return None
        if count > 8 * HEAD:
            _cells(rows.head(HEAD), groups, complete, PER_HEAD * HEAD)
        batches = rows.collect_batches(chunk_size=_BATCH, maintain_order=False, engine="streaming")
        return _added_up(batches, groups, complete)
    except TooManyError:
        return None


def _cells(rows: pl.LazyFrame, groups: Groups, tables: Sequence[_Table], most: int) -> int:
    """The cells of the largest table for these rows; `TooManyError` if it has more than `most`."""
    read = rows.collect()
    numbers = groups.find(read)
    trials = {table.level: Cells(0, most) for table in tables if table.level is not None}
    for level, cells in trials.items():
        cells.places(numbers, len(groups), read[level])
    return max(cells.count for cells in trials.values())


def _added_up(
    batches: Iterable[pl.DataFrame], groups: Groups, tables: Sequence[_Table]
) -> list[pl.DataFrame]:
    for batch in batches:
        groups.add(batch, {name for table in tables for name in table.plain.values()})
        for table in tables:
            table.add(batch, groups)
    return [table.frame(groups) for table in tables]


@dataclass
class _Columns:
    """Columns to be read, equal ones once."""

    exprs: dict[str, pl.Expr] = field(default_factory=dict)

    def names(self, exprs: Mapping[str, pl.Expr]) -> dict[str, str]:
        """The names of the columns that hold them."""
        return {name: self.name(expr) for name, expr in exprs.items()}

    def name(self, expr: pl.Expr) -> str:
        """The name of the column that holds it."""
        for name, other in self.exprs.items():
            if other.meta.eq(expr):
                return name
        name = f":{len(self.exprs)}"
        self.exprs[name] = expr
        return name


class _Table:
    """An additive table that is being filled."""

    def __init__(self, sums: Sums, columns: _Columns, most: int) -> None:
        self.plain = columns.names(sums.plain)
        self._by_level = columns.names(sums.by_level)
        self.level = None if sums.level is None else columns.name(sums.level)
        self._others = sums.others
        self._cells = Cells(len(sums.by_level), most)

    def add(self, batch: pl.DataFrame, groups: Groups) -> None:
        """Add up rows by level."""
        if self.level is not None:
            values = [batch[column].to_numpy() for column in self._by_level.values()]
            self._cells.add(groups.numbers, len(groups), batch[self.level], values)

    def frame(self, groups: Groups) -> pl.DataFrame:
        """The additive table, sorted: of each group first the plain sums, then its levels."""
        import numpy as np

        order = groups.sorted_keys()[CODE].to_numpy()
        totals = {name: groups.totals[column][order] for name, column in self.plain.items()}
        if self.level is None:
            if self._others is not None:
                name, counted = self._others
                totals[name] = groups.rows[order] - totals[counted]
            return groups.sorted_keys().drop(CODE).with_columns(**series(totals))
        self._cells.seen[:, 0] = True
        group, levels, sums = self._cells.filled(order)
        by_level = dict(zip(self._by_level, sums, strict=True))
        if self._others is not None:
            name, counted = self._others
            totals[name] = groups.rows[order] - np.bincount(group, weights=by_level[counted])
        spread = {name: zeros(len(group)) for name in totals}
        for name, values in totals.items():
            spread[name][np.isnan(levels)] = values
        keys = groups.sorted_keys().drop(CODE)[group]
        level = pl.Series(LEVEL, levels, nan_to_null=True)
        return keys.with_columns(level, **series(spread | by_level))
