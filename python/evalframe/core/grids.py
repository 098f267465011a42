"""Flat arrays of sums, by groups times levels that are short decimals.

`Groups` numbers the keys of rows, `Cells` adds up by number and level, and `Grid` is the two
together: a sum of additive tables. `cells` uses them for rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.state import LEVEL
from evalframe.core.tables import starts_of_groups

if TYPE_CHECKING:
    import numpy.typing as npt

    from evalframe.core.segments import Floats, Ints


_DECIMALS = 6

_WHOLE = 2.0**52
"""Whole numbers beyond this are not told apart from those beside them."""

_KEYS = (pl.String, pl.Boolean, pl.Date, pl.Datetime, pl.Enum)
_SHORT, _RANGE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32), 1 << 20
"""Keys that are looked up by their place in a range, if it is that short."""
CODE = ":code"


class TooManyError(Exception):
    """Too many groups and levels, or levels that are no short decimals."""


class Groups:
    """Groups by number, in the order of their appearance, and their sums.

    Attributes:
        rows: The number of rows of each.
        totals: The sums of columns without a level.
        numbers: The group of each row of the last batch.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        import numpy as np

        self.rows = zeros(0)
        self.totals: dict[str, Floats] = {}
        self.numbers: Ints
        self._keys = keys
        self._known: pl.DataFrame | None = None
        self._first, self._places = 0, np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._known) if self._known is not None else not self._keys

    def add(self, batch: pl.DataFrame, columns: Iterable[str]) -> None:
        """Add up columns of rows."""
        self.numbers = self.find(batch)
        self.rows = _resized(self.rows, len(self))
        _add(self.rows, self.numbers)
        for name in columns:
            self.totals[name] = _resized(self.totals.get(name, zeros(0)), len(self))
            _add(self.totals[name], self.numbers, batch[name].to_numpy())

    def find(self, rows: pl.DataFrame) -> Ints:
        """The number of the group of each row."""
        import numpy as np

        if not self._keys:
            return np.zeros(len(rows), dtype=np.int64)
        keys = rows.select(self._keys)
        if (numbers := self._among_places(keys)) is not None:
            return numbers
        if self._known is None:
            self._known = keys.clear().with_columns(pl.lit(0, pl.Int64).alias(CODE))
        codes = self._look_up(keys, self._known)
        if codes.null_count():
            new = keys.filter(codes.is_null()).unique()
            number = pl.int_range(pl.len(), dtype=pl.Int64) + len(self)
            self._known = pl.concat([self._known, new.with_columns(number.alias(CODE))])
            self._note_places(self._known)
            return self.find(rows)
        return codes.to_numpy()

    def _among_places(self, keys: pl.DataFrame) -> Ints | None:
        """Numbers of integer keys that are all known, by their place in a short range."""
        import numpy as np

        column = keys.to_series()
        if not len(self._places) or not len(column) or column.null_count():
            return None
        places = np.subtract(column.to_numpy(), self._first, dtype=np.int64, casting="unsafe")
        if places.min() < 0 or places.max() >= len(self._places):
            return None
        numbers = self._places[places]
        return numbers if numbers.min() >= 0 else None

    def _note_places(self, groups: pl.DataFrame) -> None:
        """Remember the places of one integer key, if its values are near each other."""
        import numpy as np

        key = groups.drop_nulls(self._keys).select(*self._keys, CODE)
        if len(self._keys) > 1 or groups.dtypes[0] not in _SHORT or key.is_empty():
            return
        values = key.to_series().to_numpy().astype(np.int64)
        self._first = int(values.min())
        if int(values.max()) - self._first < _RANGE:
            self._places = np.full(int(values.max()) - self._first + 1, -1)
            self._places[values - self._first] = key[CODE].to_numpy()
        else:
            self._places = np.zeros(0, dtype=np.int64)

    def _look_up(self, keys: pl.DataFrame, groups: pl.DataFrame) -> pl.Series:
        return keys.join(groups, self._keys, "left", nulls_equal=True, maintain_order="left")[CODE]

    def sorted_keys(self) -> pl.DataFrame:
        """The groups in order, each with its number."""
        if self._known is None:
            return pl.DataFrame({CODE: [0]})
        return self._known.sort(self._keys)


class Cells:
    """Sums over a grid of groups and levels."""

    # Column 0 is for rows without a level. The other columns are steps: whole numbers of the last
    # decimal that occurs, so that 0.8125 is step 8125 of a grid of 4 decimals. A batch with more
    # decimals or a wider range makes the grid finer or wider and copies the sums to their new
    # steps. Memory is groups times steps, whatever the number of rows.

    def __init__(self, sums: int, most: int) -> None:
        self.most = most
        self._decimals, self._first, self._last = 0, 0, -1
        self.sums = zeros((sums, 0, 1))
        self.seen = zeros((0, 1), bool)

    @property
    def count(self) -> int:
        """Number of cells so far."""
        return self.seen.size

    def places(self, group: Ints, groups: int, levels: pl.Series) -> Ints:
        """The cells of rows, by number of group; `TooManyError` if the levels do not suit."""
        import numpy as np

        steps = self._steps(levels, groups)
        none = self._first - 1
        np.fmax(steps, none, out=steps)  # without a level it is NaN, which fmax passes over
        steps -= none
        cell = steps.astype(np.int64)
        cell += group * self.seen.shape[1]
        self.seen.reshape(-1)[cell] = True
        return cell

    def add(self, group: Ints, groups: int, levels: pl.Series, values: Sequence[Floats]) -> None:
        """Add rows, by number of group and level; `TooManyError` if the levels do not suit."""
        cell = self.places(group, groups, levels)
        for sums, more in zip(self.sums, values, strict=True):
            _add(sums.reshape(-1), cell, more)

    def _steps(self, levels: pl.Series, groups: int) -> Floats:
        """The steps of levels, NaN for null, on a grid that is made as fine and large as needed."""
        import numpy as np

        numbers, present = levels.to_numpy(), len(levels) - levels.null_count()
        few = numbers[: 1 << 10]
        few = few[~np.isnan(few)]
        for decimals in range(self._decimals, _DECIMALS + 1):
            scale = 10.0**decimals
            if (_whole(few, scale) / scale != few).any():
                continue
            steps = _whole(numbers, scale)
            if np.count_nonzero(steps / scale == numbers) == present:
                break
        else:
            raise TooManyError
        finer = 10 ** (decimals - self._decimals)
        ends = [] if self._last < self._first else [self._first * finer, self._last * finer]
        if present:
            ends += [np.fmin.reduce(steps), np.fmax.reduce(steps)]
        first, last = (min(ends), max(ends)) if ends else (0, -1)
        if not -_WHOLE < first <= last + 1 < _WHOLE or groups * (last - first + 2) > self.most:
            raise TooManyError
        self._make_room(groups, int(first), int(last), finer)
        self._decimals = decimals
        return steps

    def _make_room(self, groups: int, first: int, last: int, finer: int) -> None:
        """For so many groups and for these steps, so many of which are one of the former."""
        old, seen = self.sums, self.seen
        shape = groups, last - first + 2
        if shape != seen.shape or finer > 1:
            self.sums, self.seen = zeros((len(old), *shape)), zeros(shape, bool)
            old_groups = slice(len(seen))
            start = self._first * finer - first + 1
            old_steps = slice(start, start + (self._last - self._first) * finer + 1, finer)
            for new, former in [*zip(self.sums, old, strict=True), (self.seen, seen)]:
                new[old_groups, 0] = former[:, 0]
                if self._last >= self._first:
                    new[old_groups, old_steps] = former[:, 1:]
        self._first, self._last = first, last

    def filled(self, order: Ints) -> tuple[Ints, Floats, list[Floats]]:
        """Group, level and sums of the cells that have had rows, in this order of groups."""
        # Of each group those without a level come first.
        import numpy as np

        width = self.seen.shape[1]
        group, column = np.divmod(np.flatnonzero(self.seen[order]), width)
        levels = (column + (self._first - 1)) / 10.0**self._decimals
        levels[column == 0] = np.nan
        cell = order[group] * width + column
        return group, levels, [sums.reshape(-1)[cell] for sums in self.sums]


class Grid:
    """A sum of additive tables that come one after another, quick if they are sorted by the keys.

    Attributes:
        kind: The types of the keys, and the sums that have values.
    """

    def __init__(self, like: pl.DataFrame, keys: Sequence[str], most: int, per_row: int) -> None:
        self.kind = _kind(like, keys)
        self._keys, self._most, self._per_row, self._rows = keys, most, per_row, 0
        self._sums = [name for name in self.kind if name not in keys]
        self._groups, self._cells = Groups(keys), Cells(len(self._sums), most)

    def add(self, rows: pl.DataFrame) -> bool:
        """Add rows; False, and nothing is added, if they are of another kind or take too much."""
        import numpy as np

        if rows.is_empty():
            return True
        if _kind(rows, self._keys) != self.kind or not has_keys(self.kind[k] for k in self._keys):
            return False
        self._rows += len(rows)
        self._cells.most = min(self._most, self._per_row * self._rows)
        starts = starts_of_groups(rows, self._keys)
        heads = self._groups.find(rows[starts[:-1]])
        numbers = np.repeat(heads, np.diff(starts))
        try:
            cell = self._cells.places(numbers, len(self._groups), rows[LEVEL])
        except TooManyError:
            return False
        rises = cell[1:] > cell[:-1]
        rises[starts[1:-1] - 1] = True
        once = rises.all() and len(np.unique(heads)) == len(heads)
        for name, sums in zip(self._sums, self._cells.sums, strict=True):
            totals, values = sums.reshape(-1), rows[name].fill_null(0.0).to_numpy()
            some = np.flatnonzero(values != 0.0)  # sums without a level stand in few rows
            if not once:
                np.add.at(totals, cell, values)
            elif 2 * len(some) < len(values):
                totals[cell[some]] += values[some]
            else:
                totals[cell] += values
        return True

    def frame(self) -> pl.DataFrame:
        """The sum, sorted by keys and level."""
        keys = self._groups.sorted_keys().filter(pl.col(CODE) < len(self._cells.seen))
        group, levels, sums = self._cells.filled(keys[CODE].to_numpy())
        level = pl.Series(LEVEL, levels, nan_to_null=True)
        values = dict(zip(self._sums, sums, strict=True))
        return keys.drop(CODE)[group].with_columns(level, **series(values))


def has_keys(dtypes: Iterable[pl.DataType]) -> bool:
    """True if keys of these types can be told apart."""
    return all(dtype.is_integer() or dtype in _KEYS for dtype in dtypes)


def _kind(rows: pl.DataFrame, keys: Sequence[str]) -> dict[str, pl.DataType]:
    sums = rows.columns[rows.columns.index(LEVEL) + 1 :]
    filled = [name for name in sums if rows[name].null_count() < len(rows)]
    return {name: rows.schema[name] for name in (*keys, *filled)}


def _whole(numbers: Floats, scale: float) -> Floats:
    """The numbers times the scale, rounded."""
    import numpy as np

    with np.errstate(over="ignore"):
        steps = numbers * scale
    return np.rint(steps, out=steps)


def zeros(shape: int | tuple[int, ...], dtype: type = float) -> npt.NDArray[Any]:
    """An array of zeros."""
    import numpy as np

    return np.zeros(shape, dtype)


def _resized(totals: Floats, length: int) -> Floats:
    """Totals with zeros at their end."""
    if len(totals) == length:
        return totals
    longer = zeros(length)
    longer[: len(totals)] = totals
    return longer


def _add(totals: Floats, places: Ints, values: Floats | None = None) -> None:
    """Add values, by default ones, to the totals at these indices."""
    # If rows are not far fewer than cells they are added up by themselves first: that rounds less,
    # and numpy does it in half the time.
    import numpy as np

    if len(totals) <= 4 * len(places):
        totals += np.bincount(places, weights=values, minlength=len(totals))
    else:
        np.add.at(totals, places, 1.0 if values is None else values)


def series(values: Mapping[str, Floats]) -> dict[str, pl.Series]:
    """Numbers as columns."""
    return {name: pl.Series(name, numbers) for name, numbers in values.items()}
