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

FEW, _PER_ROW, PER_HEAD = 1 << 23, 8, 16
"""Cells of a table, at most: in all, for each row, and for each of the rows that are tried first.

Cells cost something even if they stay empty; a hash table has only those that occur.
"""

_FIRST, _MANY = 1 << 13, 1 << 16
"""Of so many rows the largest table has so many cells; a hash table of fewer is quick."""

HEAD = 1 << 17
"""Rows that are tried first; fewer are not worth the trouble."""


@dataclass(frozen=True)
class Sums:
    """Sums that are added up from rows.

    Attributes:
        level: Number to add up by, in addition to the keys; null if a row has none.
        plain: Sums without a level.
        by_level: Sums per level.
        others: Another plain sum, and the one that adds up with it to the number of rows.
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
    # are tried with a smaller limit of cells, so that a table that does not suit costs little; and
    # rows are counted, which costs nothing in memory and in Parquet.
    dtypes = frame.select(**keys).collect_schema().dtypes() if keys else []
    if not has_keys(dtypes):
        return None
    if all(sums.level is None for sums in tables):
        return None
    columns = _Columns()
    first, tried, complete = (
        [_Table(sums, columns, most) for sums in tables] for most in (FEW, PER_HEAD * HEAD, FEW)
    )
    rows = frame.select(**keys, **columns.exprs)
    head = rows.head(HEAD).collect()
    if len(head) < HEAD:
        return None
    try:
        _added_up([head.head(_FIRST)], [*keys], first)
        most = max(table.cells for table in first)
        if most < _MANY or frame.select(pl.len()).collect().item() * _PER_ROW < most:
            return None
        _added_up([head], [*keys], tried)
        first.clear()
        tried.clear()
        batches = rows.collect_batches(maintain_order=False, engine="streaming")
        return _added_up(batches, [*keys], complete)
    except TooManyError:
        return None


def _added_up(
    batches: Iterable[pl.DataFrame], keys: Sequence[str], tables: Sequence[_Table]
) -> list[pl.DataFrame]:
    groups = Groups(keys)
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
    """An additive table that is being filled.

    Attributes:
        plain: Columns of sums without a level, by the names of the sums.
    """

    def __init__(self, sums: Sums, columns: _Columns, most: int) -> None:
        self.plain = columns.names(sums.plain)
        self._by_level = columns.names(sums.by_level)
        self._level = None if sums.level is None else columns.name(sums.level)
        self._others = sums.others
        self._cells = Cells(len(sums.by_level), most)

    @property
    def cells(self) -> int:
        """Number of cells so far."""
        return self._cells.count

    def add(self, batch: pl.DataFrame, groups: Groups) -> None:
        """Add up rows by level."""
        if self._level is not None:
            values = [batch[column].to_numpy() for column in self._by_level.values()]
            self._cells.add(groups.numbers, len(groups), batch[self._level], values)

    def frame(self, groups: Groups) -> pl.DataFrame:
        """The additive table, sorted: of each group first the plain sums, then its levels."""
        import numpy as np

        order = groups.sorted_keys()[CODE].to_numpy()
        totals = {name: groups.totals[column][order] for name, column in self.plain.items()}
        if self._others is not None:
            name, counted = self._others
            totals[name] = groups.rows[order] - totals[counted]
        if self._level is None:
            return groups.sorted_keys().drop(CODE).with_columns(**series(totals))
        group, levels, sums = self._cells.filled(order)
        spread = {name: zeros(len(group)) for name in totals}
        for name, values in totals.items():
            spread[name][np.isnan(levels)] = values
        by_level = dict(zip(self._by_level, sums, strict=True))
        keys = groups.sorted_keys().drop(CODE)[group]
        level = pl.Series(LEVEL, levels, nan_to_null=True)
        return keys.with_columns(level, **series(spread | by_level))
