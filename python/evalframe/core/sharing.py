"""Which metrics share a block, and their values from the sums of those blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.blocks import Block
from evalframe.core.state import N_MISSING, N, Totals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.metric import Bound
    from evalframe.core.state import Axis


def share(bounds: Sequence[Bound]) -> list[Block]:
    """The fewest blocks that hold the states of all metrics."""
    blocks: list[Block] = []
    for number, bound in enumerate(bounds):
        axes: Sequence[Axis | None] = bound.state.axes or (None,)
        for axis_number, axis in enumerate(axes):
            for block in blocks:
                if _admits(block, bound, axis):
                    break
            else:
                block = Block(bound.columns, axis, {}, {})
                blocks.append(block)
            add(block, number, bound, axis_number, axis)
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


def _admits(block: Block, bound: Bound, axis: Axis | None) -> bool:
    """Whether this metric's sums on this axis can stand in the block."""
    mine, theirs = block.axis, axis
    if (mine is None) != (theirs is None) or not _same(block.columns, bound.columns, whole=True):
        return False
    if mine is not None and theirs is not None:
        if mine.descending != theirs.descending or not mine.level.meta.eq(theirs.level):
            return False
        if not mine.where.meta.eq(theirs.where):
            return False
    theirs_sums = {**bound.state.sums, **(theirs.sums if theirs else {})}
    return _same(block.all_sums, theirs_sums)


def add(block: Block, number: int, bound: Bound, axis_number: int, axis: Axis | None) -> None:
    """Let a metric use the block."""
    block.plain |= bound.state.sums
    block.uses.append((number, axis_number))
    block.bounds.append(bound)
    if axis is not None:
        block.sums |= axis.sums
        block.terms.append((f"{number}.", axis))


def _same(
    mine: Mapping[str, pl.Expr], theirs: Mapping[str, pl.Expr], *, whole: bool = False
) -> bool:
    if whole and mine.keys() != theirs.keys():
        return False
    return all(mine[name].meta.eq(theirs[name]) for name in mine.keys() & theirs.keys())
