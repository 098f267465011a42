"""Sums of many rows over few cells: groups times levels that are short decimals, in one pass.

A group-by of millions of groups and levels fills a hash table slowly, and the streaming engine
holds a part of all rows meanwhile. If levels are decimals such as 0.8125, group and level give
the index of a row's cell in a flat array: one addition for each row and sum. All tables read the
rows together, in memory that depends on the number of cells alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.state import LEVEL

if TYPE_CHECKING:
    import numpy.typing as npt

    from evalframe.core.segments import Floats, Ints


_FEW, _PER_ROW, _PER_HEAD = 1 << 23, 8, 16
"""Cells of a table, at most: in all, for each row, and for each of the rows that are tried first.

Cells cost something even if they stay empty; a hash table has only those that occur.
"""

_FIRST, _MANY = 1 << 13, 1 << 16
"""Of so many rows the largest table has so many cells; a hash table of fewer is quick."""

_DECIMALS = 6

_WHOLE = 2.0**52
"""Whole numbers beyond this are not told apart from those beside them."""

HEAD = 1 << 17
"""Rows that are tried first; fewer are not worth the trouble."""

_KEYS = (pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Enum)
_SHORT, _RANGE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32), 1 << 20
"""Keys that are looked up by their place in a range, if it is that short."""
_CODE = ":code"


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
    if not all(dtype.is_integer() or dtype in _KEYS for dtype in dtypes):
        return None
    if all(sums.level is None for sums in tables):
        return None
    columns = _Columns()
    first, tried, complete = (
        [_Table(sums, columns, most) for sums in tables] for most in (_FEW, _PER_HEAD * HEAD, _FEW)
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
    except _TooManyError:
        return None


def _added_up(
    batches: Iterable[pl.DataFrame], keys: Sequence[str], tables: Sequence[_Table]
) -> list[pl.DataFrame]:
    groups = _Groups(keys)
    for batch in batches:
        groups.add(batch, {name for table in tables for name in table.plain.values()})
        for table in tables:
            table.add(batch, groups)
    return [table.frame(groups) for table in tables]


class _TooManyError(Exception):
    """Too many groups and levels, or levels that are no short decimals."""


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


class _Groups:
    """Groups by number, in the order of their appearance, and their sums.

    Attributes:
        rows: The number of rows of each.
        totals: The sums of columns without a level.
        numbers: The group of each row of the last batch.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        import numpy as np

        self.rows = _zeros(0)
        self.totals: dict[str, Floats] = {}
        self.numbers: Ints
        self._keys = keys
        self._known: pl.DataFrame | None = None
        self._first, self._places = 0, np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._known) if self._known is not None else not self._keys

    def add(self, batch: pl.DataFrame, columns: Iterable[str]) -> None:
        """Add up columns of rows."""
        self.numbers = self._find(batch)
        self.rows = _resized(self.rows, len(self))
        _add(self.rows, self.numbers)
        for name in columns:
            self.totals[name] = _resized(self.totals.get(name, _zeros(0)), len(self))
            _add(self.totals[name], self.numbers, batch[name].to_numpy())

    def _find(self, rows: pl.DataFrame) -> Ints:
        """The number of the group of each row."""
        import numpy as np

        if not self._keys:
            return np.zeros(len(rows), dtype=np.int64)
        keys = rows.select(self._keys)
        if (numbers := self._among_places(keys)) is not None:
            return numbers
        if self._known is None:
            self._known = keys.clear().with_columns(pl.lit(0, pl.Int64).alias(_CODE))
        codes = self._look_up(keys, self._known)
        if codes.null_count():
            new = keys.filter(codes.is_null()).unique()
            number = pl.int_range(pl.len(), dtype=pl.Int64) + len(self)
            self._known = pl.concat([self._known, new.with_columns(number.alias(_CODE))])
            self._note_places(self._known)
            codes = self._look_up(keys, self._known)
        return codes.to_numpy()

    def _among_places(self, keys: pl.DataFrame) -> Ints | None:
        """Numbers of integer keys that are all known, by their place in a short range."""
        import numpy as np

        column = keys.to_series()
        if not len(self._places) or not len(column) or column.null_count():
            return None
        places = column.to_numpy().astype(np.int64) - self._first
        if places.min() < 0 or places.max() >= len(self._places):
            return None
        numbers = self._places[places]
        return numbers if numbers.min() >= 0 else None

    def _note_places(self, groups: pl.DataFrame) -> None:
        """Remember the places of one integer key, if its values are near each other."""
        import numpy as np

        key = groups.drop_nulls(self._keys).select(*self._keys, _CODE)
        if len(self._keys) > 1 or groups.dtypes[0] not in _SHORT or key.is_empty():
            return
        values = key.to_series().to_numpy().astype(np.int64)
        self._first = int(values.min())
        if int(values.max()) - self._first < _RANGE:
            self._places = np.full(int(values.max()) - self._first + 1, -1)
            self._places[values - self._first] = key[_CODE].to_numpy()
        else:
            self._places = np.zeros(0, dtype=np.int64)

    def _look_up(self, keys: pl.DataFrame, groups: pl.DataFrame) -> pl.Series:
        return keys.join(groups, self._keys, "left", nulls_equal=True, maintain_order="left")[_CODE]

    def sorted_keys(self) -> pl.DataFrame:
        """The groups in order, each with its number."""
        if self._known is None:
            return pl.DataFrame({_CODE: [0]})
        return self._known.sort(self._keys)


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
        self._cells = _Cells(len(sums.by_level), most)

    @property
    def cells(self) -> int:
        """Number of cells so far."""
        return self._cells.count

    def add(self, batch: pl.DataFrame, groups: _Groups) -> None:
        """Add up rows by level."""
        if self._level is not None:
            values = [batch[column].to_numpy() for column in self._by_level.values()]
            self._cells.add(groups.numbers, len(groups), batch[self._level], values)

    def frame(self, groups: _Groups) -> pl.DataFrame:
        """The additive table, sorted: of each group first the plain sums, then its levels."""
        import numpy as np

        order = groups.sorted_keys()[_CODE].to_numpy()
        totals = {name: groups.totals[column][order] for name, column in self.plain.items()}
        if self._others is not None:
            name, counted = self._others
            totals[name] = groups.rows[order] - totals[counted]
        if self._level is None:
            return groups.sorted_keys().drop(_CODE).with_columns(**_series(totals))
        group, levels, sums = self._cells.filled(order)
        spread = {name: _zeros(len(group)) for name in totals}
        for name, values in totals.items():
            spread[name][np.isnan(levels)] = values
        by_level = dict(zip(self._by_level, sums, strict=True))
        keys = groups.sorted_keys().drop(_CODE)[group]
        level = pl.Series(LEVEL, levels, nan_to_null=True)
        return keys.with_columns(level, **_series(spread | by_level))


class _Cells:
    """Sums over a grid of groups and levels."""

    # Column 0 is for rows without a level. The other columns are steps: whole numbers of the last
    # decimal that occurs, so that 0.8125 is step 8125 of a grid of 4 decimals. A batch with more
    # decimals or a wider range makes the grid finer or wider and copies the sums to their new
    # steps. Memory is groups times steps, whatever the number of rows.

    def __init__(self, sums: int, most: int) -> None:
        self._most = most
        self._decimals, self._first, self._last = 0, 0, -1
        self._sums = _zeros((sums, 0, 1))

    @property
    def count(self) -> int:
        """Number of cells so far."""
        _, groups, steps = self._sums.shape
        return int(groups * steps)

    def add(self, group: Ints, groups: int, levels: pl.Series, values: Sequence[Floats]) -> None:
        """Add rows, by number of group and level; `_TooManyError` if the levels do not suit."""
        import numpy as np

        steps = self._steps(levels, groups)
        none = self._first - 1
        np.fmax(steps, none, out=steps)  # without a level it is NaN, which fmax passes over
        steps -= none
        cell = steps.astype(np.int64)
        cell += group * self._sums.shape[2]
        for sums, more in zip(self._sums, values, strict=True):
            _add(sums.reshape(-1), cell, more)

    def _steps(self, levels: pl.Series, groups: int) -> Floats:
        """The steps of levels, NaN for null, on a grid that is made as fine and large as needed."""
        import numpy as np

        numbers, present = levels.to_numpy(), len(levels) - levels.null_count()
        for decimals in range(self._decimals, _DECIMALS + 1):
            scale = 10.0**decimals
            with np.errstate(over="ignore"):
                steps = numbers * scale
            np.rint(steps, out=steps)
            if np.count_nonzero(steps / scale == numbers) == present:
                break
        else:
            raise _TooManyError
        finer = 10 ** (decimals - self._decimals)
        ends = [] if self._last < self._first else [self._first * finer, self._last * finer]
        if present:
            ends += [np.fmin.reduce(steps), np.fmax.reduce(steps)]
        first, last = (min(ends), max(ends)) if ends else (0, -1)
        if not -_WHOLE < first <= last + 1 < _WHOLE or groups * (last - first + 2) > self._most:
            raise _TooManyError
        self._make_room(groups, int(first), int(last), finer)
        self._decimals = decimals
        return steps

    def _make_room(self, groups: int, first: int, last: int, finer: int) -> None:
        """For so many groups and for these steps, so many of which are one of the former."""
        old = self._sums
        shape = len(old), groups, last - first + 2
        if shape != old.shape or finer > 1:
            self._sums = _zeros(shape)
            old_groups = slice(old.shape[1])
            self._sums[:, old_groups, 0] = old[:, :, 0]
            start = self._first * finer - first + 1
            old_steps = slice(start, start + (self._last - self._first) * finer + 1, finer)
            if self._last >= self._first:
                self._sums[:, old_groups, old_steps] = old[:, :, 1:]
        self._first, self._last = first, last

    def filled(self, order: Ints) -> tuple[Ints, Floats, list[Floats]]:
        """Group, level and sums of the cells that are not all 0, in this order of groups."""
        # Of each group those without a level come first.
        import numpy as np

        sums = self._sums[:, order]
        some = (sums != 0).any(axis=0)
        some[:, 0] = True
        group, column = np.nonzero(some)
        levels = (column + (self._first - 1)) / 10.0**self._decimals
        levels[column == 0] = np.nan
        return group, levels, [values[some] for values in sums]


def _zeros(shape: int | tuple[int, ...]) -> npt.NDArray[Any]:
    import numpy as np

    return np.zeros(shape)


def _resized(totals: Floats, length: int) -> Floats:
    """Totals with zeros at their end."""
    if len(totals) == length:
        return totals
    longer = _zeros(length)
    longer[: len(totals)] = totals
    return longer


def _add(totals: Floats, places: Ints, values: Floats | None = None) -> None:
    """Add values, by default ones, to the totals at these indices."""
    # If rows are many to a cell they are added up by themselves first, which rounds less.
    import numpy as np

    if len(totals) <= len(places):
        totals += np.bincount(places, weights=values, minlength=len(totals))
    else:
        np.add.at(totals, places, 1.0 if values is None else values)


def _series(values: Mapping[str, Floats]) -> dict[str, pl.Series]:
    return {name: pl.Series(name, numbers) for name, numbers in values.items()}
