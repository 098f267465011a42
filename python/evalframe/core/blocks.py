"""Blocks: what several metrics share, so that one pass and one sort serve them all.

A block is one additive table: keys, perhaps a cluster, perhaps a level, and named sums. Metrics
over the same columns that order by the same level share a block.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import expression, kernel, segments
from evalframe.core.state import LEVEL, N_MISSING, Axis, N, Totals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.metric import Bound
    from evalframe.core.segments import Floats, Ints

_CHUNK = 1 << 20


@dataclass
class Block:
    """Sums shared by metrics.

    Attributes:
        columns: Role expressions over the user's columns, by canonical name.
        axis: Level, direction and rows of the level; None for plain sums.
        plain: Sums that belong to no level, over the canonical columns.
        sums: Sums per level, over the canonical columns.
        uses: The metrics that use it: number of the metric, number of its axis.
        terms: The axes of those uses, with the prefix of their terms.
    """

    columns: Mapping[str, pl.Expr]
    axis: Axis | None
    plain: dict[str, pl.Expr]
    sums: dict[str, pl.Expr]
    uses: list[tuple[int, int]] = field(default_factory=list)
    terms: list[tuple[str, Axis]] = field(default_factory=list)

    @property
    def all_sums(self) -> dict[str, pl.Expr]:
        """Plain sums and sums per level."""
        return self.plain | self.sums

    def admits(self, bound: Bound, axis: Axis | None) -> bool:
        """Whether this metric's sums on this axis can stand in this block."""
        mine, theirs = self.axis, axis
        if (mine is None) != (theirs is None) or not _same(self.columns, bound.columns, whole=True):
            return False
        if mine is not None and theirs is not None:
            if mine.descending != theirs.descending or not mine.level.meta.eq(theirs.level):
                return False
            if not mine.where.meta.eq(theirs.where):
                return False
        theirs_sums = {**bound.state.sums, **(theirs.sums if theirs else {})}
        return _same(self.all_sums, theirs_sums)

    def add(self, number: int, bound: Bound, axis_number: int, axis: Axis | None) -> None:
        """Let a metric use this block."""
        self.plain |= bound.state.sums
        self.uses.append((number, axis_number))
        if axis is not None:
            self.sums |= axis.sums
            self.terms.append((f"{number}.", axis))

    def per_level(self, rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
        """The block's additive table of rows that hold the canonical columns."""
        levels = []
        if self.axis is not None:
            # Adding 0 makes one level of 0.0 and -0.0.
            level = pl.when(self.axis.where).then(self.axis.level.cast(pl.Float64) + 0.0)
            levels = [level.alias(LEVEL)]
        return self.added_up(rows.select(*keys, *levels, **self.all_sums), keys)

    def added_up(self, rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
        """Rows of sums, added up by keys and level."""
        by = [*keys] + [LEVEL] * (self.axis is not None)
        sums = pl.col(*self.all_sums).sum()
        return rows.group_by(by).agg(sums) if by else rows.select(sums)

    def summary_of_rows(self, rows: pl.DataFrame, starts: Ints) -> dict[str, Floats]:
        """Totals and terms per group, from rows sorted by group and level."""
        import numpy as np

        parts = []
        for first, last in chunks(starts):
            begin, end = int(starts[first]), int(starts[last])
            part = rows.slice(begin, end - begin)
            within = starts[first : last + 1] - begin
            parts.append(expression.axis_summary(part, within, self.plain, self.terms))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def summary_of_levels(self, levels: pl.DataFrame, starts: Ints) -> dict[str, Floats]:
        """Totals and terms per group, from the additive table sorted by group and level."""
        import numpy as np

        totals = {n: segments.totals(levels[n].to_numpy(), starts) for n in self.all_sums}
        if self.axis is None:
            return totals
        inside = levels[LEVEL].is_not_null().to_numpy()
        count = np.zeros(len(inside) + 1, dtype=np.int64)
        np.cumsum(inside, out=count[1:])
        levels = levels.filter(pl.col(LEVEL).is_not_null())
        own = {name: levels[name].to_numpy() for name in self.sums}
        views = kernel.Views(own, count[starts], totals, levels[LEVEL].to_numpy())
        return totals | kernel.terms(views, self.terms)


def chunks(starts: Ints, rows: int = _CHUNK) -> list[tuple[int, int]]:
    """Consecutive ranges of segments of about this many rows (at least one segment each)."""
    import numpy as np

    groups = len(starts) - 1
    cuts = np.searchsorted(starts, np.arange(rows, int(starts[-1]), rows))
    edges = np.unique(np.concatenate([[0], np.clip(cuts, 0, groups), [groups]]))
    return [(int(a), int(b)) for a, b in itertools.pairwise(edges)] or [(0, groups)]


def share(bounds: Sequence[Bound]) -> list[Block]:
    """The fewest blocks that hold the states of all metrics."""
    blocks: list[Block] = []
    for number, bound in enumerate(bounds):
        axes: Sequence[Axis | None] = bound.state.axes or (None,)
        for axis_number, axis in enumerate(axes):
            for block in blocks:
                if block.admits(bound, axis):
                    break
            else:
                block = Block(bound.columns, axis, {}, {})
                blocks.append(block)
            block.add(number, bound, axis_number, axis)
    return blocks


def finishes(bounds: Sequence[Bound], blocks: Sequence[Block]) -> list[list[pl.Expr]]:
    """For each metric its value, n and n_missing over the columns `<block>:<name>`."""
    seen: list[dict[str, pl.Expr]] = [{} for _ in bounds]
    for place, block in enumerate(blocks):
        for number, axis_number in block.uses:
            state = bounds[number].state
            names = [*state.sums]
            if state.axes:
                axis = state.axes[axis_number]
                names += [*axis.sums]
                for term in axis.results:
                    seen[number][term] = pl.col(f"{place}:{number}.{term}")
            for name in names:
                seen[number].setdefault(name, pl.col(f"{place}:{name}"))
    return [
        [bound.state.finish(Totals(named)), named[N], named[N_MISSING]]
        for bound, named in zip(bounds, seen, strict=True)
    ]


def _same(
    mine: Mapping[str, pl.Expr], theirs: Mapping[str, pl.Expr], *, whole: bool = False
) -> bool:
    if whole and mine.keys() != theirs.keys():
        return False
    return all(mine[name].meta.eq(theirs[name]) for name in mine.keys() & theirs.keys())
