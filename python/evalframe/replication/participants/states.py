"""Cells of replicates: sums over participants, weighted by the number of their draws.

Draws are arrays of slots by replicates, results are cells by replicates. The sums are products with
sparse matrices of cells by slots, which are built once: a replicate costs one product per sum, and
rows are never grouped again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalframe.replication.participants.design import (
    BINOMIAL_TEST,
    CATEGORY,
    CHI_SQUARED,
    PEARSON,
    PLACE,
    RANK_SUM,
    SPEARMAN,
)
from evalframe.replication.participants.rows import GROUP, SCALE, VALID, X, Y
from evalframe.replication.participants.statistics import ROUNDING
from evalframe.resample.strata import SLOT

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.segments import Floats, Ints

_CELL = ":cell"
_IN_CELL = (GROUP, PLACE, CATEGORY)

_NOISE = 2.0**-40
"""Times a sum of squares about another centre, what rounding leaves of a central one of 0."""


class States:
    """Sums over the participants of the tests of one kind; here their number in each cell."""

    def __init__(self, rows: pl.DataFrame, slots: int) -> None:
        self.cells = rows.select(_IN_CELL).unique().sort(_IN_CELL)
        self.width = len(self.cells)
        numbered = rows.join(self.cells.with_row_index(_CELL), on=list(_IN_CELL))
        self._entries = numbered.filter(VALID)
        self._shape = (len(self.cells), slots)
        self._owner = self._entries[_CELL].to_numpy().astype(np.int64)
        self._slot = self._entries[SLOT].to_numpy()
        self._members = self._summing(np.ones(len(self._owner)))

    def _summing(self, values: Floats) -> Any:
        """The matrix that sums values of drawn participants."""
        return _matrix(values, self._owner, self._slot, self._shape)

    def _centred(self, name: str) -> tuple[Floats, Floats]:
        """The mean of each cell, and values about it; in a replicate both add up again."""
        values = self._entries[name].to_numpy()
        count = np.bincount(self._owner, minlength=len(self.cells))
        centre = np.bincount(self._owner, values, len(self.cells)) / np.maximum(count, 1)
        return centre, values - centre[self._owner]

    def columns(self, drawn: Floats) -> dict[str, Floats]:
        """Columns of the cells, each cells by replicates."""
        return {"n": self._members @ drawn}


class _Moments(States):
    """Count, mean and central sum of squares."""

    def __init__(self, rows: pl.DataFrame, slots: int) -> None:
        super().__init__(rows, slots)
        self._centre, x = self._centred(X)
        self._first, self._second = self._summing(x), self._summing(x * x)
        scale = np.zeros(len(self.cells))
        np.maximum.at(scale, self._owner, self._entries[SCALE].to_numpy())
        self._rounding = (ROUNDING * scale) ** 2

    def columns(self, drawn: Floats) -> dict[str, Floats]:
        n = self._members @ drawn
        first, second = self._first @ drawn, self._second @ drawn
        shift = first / np.maximum(n, 1.0)
        sxx = _central(second, first * shift, second, n * self._rounding[:, None])
        return {"n": n, "x": np.where(n > 0, self._centre[:, None] + shift, 0.0), "sxx": sxx}


class _Products(States):
    """Count, central sums of squares and of products."""

    def __init__(self, rows: pl.DataFrame, slots: int) -> None:
        super().__init__(rows, slots)
        x, y = self._centred(X)[1], self._centred(Y)[1]
        self._sums = [self._summing(values) for values in (x, y, x * x, y * y, x * y)]

    def columns(self, drawn: Floats) -> dict[str, Floats]:
        n = self._members @ drawn
        x, y, xx, yy, xy = (sums @ drawn for sums in self._sums)
        shift_x, shift_y = (sums / np.maximum(n, 1.0) for sums in (x, y))
        central = {"sxx": _central(xx, x * shift_x, xx), "syy": _central(yy, y * shift_y, yy)}
        return {"n": n, **central, "sxy": xy - x * shift_y}


class _RankSums(States):
    """Count, and U: in how many pairs the member of the first cell has the larger measure."""

    # Equal measures of a test form a run. Per run and replicate there are `above` members of the
    # first cell and `below` of the other; the first win against the others of earlier runs, and
    # against half of those in their own run.

    def __init__(self, rows: pl.DataFrame, slots: int) -> None:
        super().__init__(rows, slots)
        group = self._entries[GROUP].to_numpy()
        self._block, self._groups = _blocks(group, self._entries[X].to_numpy())
        self.width = max(self.width, len(self._groups))
        shape = (len(self._groups), slots)
        first = self._entries[PLACE].to_numpy() == 0
        self._above, self._below = (
            _matrix(part.astype(np.float64), self._block, self._slot, shape)
            for part in (first, ~first)
        )
        # The first cell of a group has its U, others have none.
        cell = self.cells[GROUP].to_numpy()
        heads = np.flatnonzero(self.cells[PLACE].to_numpy() == 0)
        owner = np.full(int(cell.max(initial=0)) + 1, -1)
        owner[cell[heads]] = heads
        owned = np.flatnonzero(owner[self._groups] >= 0)
        self._total = _matrix(
            np.ones(len(owned)),
            owner[self._groups[owned]],
            owned,
            (len(self.cells), len(self._groups)),
        )

    def columns(self, drawn: Floats) -> dict[str, Floats]:
        above, below = self._above @ drawn, self._below @ drawn
        wins = above * (_before(below, self._groups) + below / 2)
        return {"n": self._members @ drawn, "u": self._total @ wins}


class _RankProducts(States):
    """Count, central sums of squares and of products of ranks."""

    # A run of equal measures has the mean rank (earlier + (tied + 1) / 2), from draws alone.

    def __init__(self, rows: pl.DataFrame, slots: int) -> None:
        super().__init__(rows, slots)
        self.width = max(self.width, len(self._owner))
        self._ranks = []
        for name in (X, Y):
            block, groups = _blocks(self._owner, self._entries[name].to_numpy())
            shape = (len(groups), slots)
            members = _matrix(np.ones(len(block)), block, self._slot, shape)
            self._ranks.append((block, groups, members))
        entries = np.arange(len(self._owner))
        shape = (len(self.cells), len(entries))
        self._total = _matrix(np.ones(len(entries)), self._owner, entries, shape)

    def columns(self, drawn: Floats) -> dict[str, Floats]:
        n = self._members @ drawn
        mean = (n + 1.0) / 2
        weight = drawn[self._slot]
        about = []
        for block, groups, members in self._ranks:
            tied = members @ drawn
            rank = _before(tied, groups) + (tied + 1.0) / 2
            about.append((rank - mean[groups])[block])
        x, y = about
        sums = {"sxx": x * x, "syy": y * y, "sxy": x * y}
        return {"n": n, **{name: self._total @ (weight * v) for name, v in sums.items()}}


def _matrix(values: Floats, row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    from scipy import sparse

    return sparse.csr_array((values, (row, column)), shape=shape)


def _central(
    sums: Floats, correction: Floats, squares: Floats, rounding: Floats | float = 0.0
) -> Floats:
    """Sums of squares about the mean, 0 if only rounding errors are left."""
    central = sums - correction
    return np.where(central <= _NOISE * squares + rounding, 0.0, central)


def _blocks(group: Ints, values: Floats) -> tuple[Ints, Ints]:
    """Runs of equal values within groups, in order: the run of each row, the group of each run."""
    order = np.lexsort([values, group])
    group_, values_ = group[order], values[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (group_[1:] != group_[:-1]) | (values_[1:] != values_[:-1])
    block = np.empty(len(order), dtype=np.int64)
    block[order] = np.cumsum(new) - 1
    return block, group_[new]


def _before(sums: Floats, groups: Ints) -> Floats:
    """What is in the runs before each run of its group; counts are exact."""
    earlier = np.cumsum(sums, axis=0) - sums
    first = np.searchsorted(groups, groups)
    result: Floats = earlier - earlier[first]
    return result


_BY_KIND: dict[str, type[States]] = {
    CHI_SQUARED: States,
    BINOMIAL_TEST: States,
    RANK_SUM: _RankSums,
    SPEARMAN: _RankProducts,
    PEARSON: _Products,
}


def states_of(kind: str, rows: pl.DataFrame, slots: int) -> States:
    """The states of the tests of one kind."""
    return _BY_KIND.get(kind, _Moments)(rows, slots)
