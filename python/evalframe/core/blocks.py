"""Blocks: what several metrics share, so that one pass and one sort serve them all.

A block is one additive table: keys, perhaps a cluster, perhaps a level, and named sums. Metrics
over the same columns that order by the same level share a block.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import kernel, segments
from evalframe.core.cells import Sums
from evalframe.core.state import LEVEL, N_MISSING, N

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.metric import Bound
    from evalframe.core.segments import Floats, Ints
    from evalframe.core.state import Axis, State

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
        bounds: The metrics of those uses.
    """

    columns: Mapping[str, pl.Expr]
    axis: Axis | None
    plain: dict[str, pl.Expr]
    sums: dict[str, pl.Expr]
    uses: list[tuple[int, int]] = field(default_factory=list)
    terms: list[tuple[str, Axis]] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)

    @property
    def all_sums(self) -> dict[str, pl.Expr]:
        """Plain sums and sums per level."""
        return self.plain | self.sums

    def per_level(self, rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
        """The block's additive table of rows that hold the canonical columns."""
        levels = []
        if self.axis is not None:
            levels = [_level(self.axis).alias(LEVEL)]
        return self.added_up(rows.select(*keys, *levels, **self.all_sums), keys)

    def over_rows(self) -> Sums:
        """Level and sums over the user's columns."""
        level: pl.Expr | None = None
        plain: dict[str, pl.Expr] = {}
        sums: dict[str, pl.Expr] = {}
        for bound, (_, axis_number) in zip(self.bounds, self.uses, strict=True):
            state = bound.metric.state(bound.columns, bound.params)
            plain |= _counted(state.sums, state)
            if state.axes:
                axis = state.axes[axis_number]
                level, sums = _level(axis), sums | _counted(axis.sums, state)
        plain.pop(N_MISSING)
        return Sums(level, plain, sums, others=(N_MISSING, N))

    def over_sums(self) -> Sums:
        """Level and sums over the additive table itself."""
        level = None if self.axis is None else pl.col(LEVEL)
        plain = {name: pl.col(name) for name in self.plain}
        return Sums(level, plain, {name: pl.col(name) for name in self.sums})

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
            parts.append(axis_summary(part, within, self.plain, self.terms))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def summary_of_levels(self, levels: pl.DataFrame, starts: Ints) -> dict[str, Floats]:
        """Totals and terms per group, from the additive table sorted by group and level."""
        totals = {n: segments.totals(levels[n].to_numpy(), starts) for n in self.all_sums}
        if self.axis is None:
            return totals
        inside = levels[LEVEL].is_not_null().to_numpy()
        starts = segments.starts_of(inside)[starts]
        levels = levels.filter(pl.col(LEVEL).is_not_null())
        own = {name: levels[name].to_numpy() for name in self.sums}
        views = kernel.Views(own, starts, totals, levels[LEVEL].to_numpy())
        return totals | kernel.terms(views, self.terms)


def _level(axis: Axis) -> pl.Expr:
    """The level of each row, null where it stands at none; adding 0 makes 0.0 of -0.0."""
    return pl.when(axis.where).then(axis.level.cast(pl.Float64) + 0.0)


def _counted(sums: Mapping[str, pl.Expr], state: State) -> dict[str, pl.Expr]:
    """The sums, of which masses without weights become the number of rows, to be read once."""
    valid = pl.lit(value=True) if state.valid is None else state.valid
    ones = pl.when(valid).then(pl.lit(1.0).cast(pl.Float64)).otherwise(0.0).fill_null(0.0)
    return {n: state.sums[N] if expr.meta.eq(ones) else expr for n, expr in sums.items()}


def chunks(starts: Ints, rows: int = _CHUNK) -> list[tuple[int, int]]:
    """Consecutive ranges of segments of about this many rows (at least one segment each)."""
    import numpy as np

    groups = len(starts) - 1
    cuts = np.searchsorted(starts, np.arange(rows, int(starts[-1]), rows))
    edges = np.unique(np.concatenate([[0], np.clip(cuts, 0, groups), [groups]]))
    return [(int(a), int(b)) for a, b in itertools.pairwise(edges)] or [(0, groups)]


def axis_summary(
    rows: pl.DataFrame,
    starts: Ints,
    plain: Mapping[str, pl.Expr],
    uses: Sequence[tuple[str, Axis]],
) -> dict[str, Floats]:
    """Totals and added-up terms of axes that share level, direction and rows, per segment.

    Args:
        rows: Role columns, sorted by level within segments.
        starts: Segments.
        plain: Sums that belong to no level.
        uses: Prefix for the names of an axis's terms, and the axis.
    """
    axis = uses[0][1]
    sums = {name: expr for _, axis in uses for name, expr in axis.sums.items()}
    # Lazy, so that the condition that all of them share is computed once.
    wanted = {":where": axis.where, ":level": axis.level, **plain, **sums}
    made = rows.lazy().select(**wanted).collect(engine="in-memory")
    totals = {name: segments.totals(made[name].to_numpy(), starts) for name in {**plain, **sums}}
    inside = made[":where"].to_numpy()
    if not inside.all():
        made = made.filter(":where")
        starts = segments.starts_of(inside)[starts]
    own = {name: made[name].to_numpy() for name in sums}
    levels, own, starts = kernel.collapse(made[":level"].to_numpy(), own, starts)
    return totals | kernel.terms(kernel.Views(own, starts, totals, levels), uses)
