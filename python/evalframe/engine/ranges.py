"""Groups too large for one process: ranges of their levels, each computed by itself.

A *ladder* is a level that some blocks order rows by. A sample of the levels says where to cut
(`Cuts`); equal levels are never parted. When the rows have been split, the sums of all ranges are
known, and with them what lies before a range and in all (`pieces`). A task then computes the part
that a range has in the terms of its blocks (`of_range`), and the driver puts the parts together
(`totals_of`). Most terms add up; of bins of equal values and of hulls the rows that matter, one for
each bin and vertex, come back.

Cost: each row is written and read once for each ladder, and sorted within its range. A process
holds one range, or the distinct levels of a range whose rows are many to a level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core import kernel, segments
from evalframe.core.rows import columns_read
from evalframe.core.state import LEVEL
from evalframe.core.views import Views
from evalframe.engine.shuffle import in_chunks

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.core.state import Axis
    from evalframe.core.states import Block

OWNER, RANGE = ":owner", ":range"
_VALUE = ":value"

ROWS = 1 << 18
"""Rows of a range, about, and rows that are sorted at a time."""


@dataclass
class Ladder:
    """Blocks that order rows by the same level.

    Attributes:
        level: The level over the user's columns, null where no block gives the row one.
        blocks: The numbers of the blocks.
        columns: The columns that they read.
    """

    level: pl.Expr
    blocks: list[int]
    columns: set[str]


def ladders_of(blocks: Sequence[Block]) -> list[Ladder]:
    """The ladders of flat blocks."""
    found: list[tuple[Axis, Ladder]] = []
    for number, block in enumerate(blocks):
        if block.axis is None:
            continue
        axis, columns = _over_rows(block), columns_read(block.columns.values())
        level = axis.level.meta.undo_aliases()
        for other, ladder in found:
            if other.level.meta.undo_aliases().meta.eq(level):
                same = other.where.meta.eq(axis.where)
                either = ladder.level if same else pl.coalesce(ladder.level, kernel.level_of(axis))
                ladder.level = either
                ladder.blocks.append(number)
                ladder.columns |= columns
                break
        else:
            found.append((axis, Ladder(kernel.level_of(axis), [number], columns)))
    return [ladder for _, ladder in found]


def _over_rows(block: Block) -> Axis:
    """The axis of a block over the user's columns."""
    use = block.uses[0]
    bound = use.metric
    return bound.metric.state(bound.columns, bound.params).axes[use.axis_number]


@dataclass(frozen=True)
class Cuts:
    """Where the levels of some groups are cut into ranges, which are numbered through all groups.

    Attributes:
        levels: All levels at which some group is cut, sorted; a range begins at its cut.
        places: The cuts of the groups in order, as owner times `steps` plus the rank of the level.
        owners: The owner of each range.
    """

    levels: Floats
    places: Ints
    owners: Ints

    @classmethod
    def of(cls, owners: Ints, levels: Floats, weights: Floats, groups: int) -> Cuts:
        """Cuts at about equal weight, from a sample of the levels of each group."""
        order = np.lexsort((levels, owners))
        owners, levels, weights = owners[order], levels[order], weights[order]
        starts = np.searchsorted(owners, np.arange(groups + 1))
        mass = segments.running(weights, starts)
        ranges = np.maximum(np.ceil(segments.totals(weights, starts) / ROWS), 1.0)
        share = segments.before(mass, starts) * np.repeat(
            ranges / np.maximum(segments.totals(weights, starts), 1.0), np.diff(starts)
        )
        # A sample begins a range if it is the first of its share; equal ones begin one range.
        first = segments.boundaries(np.floor(share), starts)
        first = np.setdiff1d(first, starts)
        above = levels[first] > levels[starts[owners[first]]]
        at, cut = owners[first[above]], levels[first[above]]
        known, rank = np.unique(cut, return_inverse=True)
        places = np.unique(at * (len(known) + 1) + rank + 1)
        ranges_of = np.bincount(places // (len(known) + 1), minlength=groups) + 1
        return cls(known, places, np.repeat(np.arange(groups), ranges_of))

    def numbers(self, owners: Ints, levels: Floats) -> Ints:
        """The number of the range of each row."""
        rank = np.searchsorted(self.levels, levels, side="right")
        place = owners * (len(self.levels) + 1) + rank
        return np.searchsorted(self.places, place, side="right") + owners


def sums_by_range(block: Block, rows: pl.LazyFrame) -> pl.LazyFrame:
    """The sums of a block by owner and range, of rows that have both as columns."""
    assert block.axis is not None
    ranged = replace(block, axis=replace(block.axis, level=pl.col(RANGE)))
    return ranged.of_rows(rows.select(OWNER, RANGE, **block.columns), [OWNER])


class Piece(NamedTuple):
    """A range of a group, to be computed by a task.

    Attributes:
        bucket: Where its rows are.
        number: The number of the range.
        sums: For each block of the ladder that has rows in it, by its number, its sums before the
            range and in the whole group.
    """

    bucket: int
    number: int
    sums: Mapping[int, tuple[Mapping[str, float], Mapping[str, float]]]

    def __str__(self) -> str:
        """Its name in messages."""
        return f"range {self.number}"


def pieces(
    ladder: Ladder, blocks: Sequence[Block], sums: Sequence[pl.DataFrame], bucket: int
) -> list[Piece]:
    """The ranges of a ladder that have rows, from the sums of all blocks by owner and range.

    Their rows are in the buckets from `bucket` on.
    """
    found: dict[int, dict[int, tuple[dict[str, float], dict[str, float]]]] = {}
    for number in ladder.blocks:
        block = blocks[number]
        assert block.axis is not None
        names = list(block.sums)
        totals = totals_by_owner(sums[number])
        table = ordered(sums[number], descending=block.axis.descending)
        owners = table[OWNER].to_numpy()
        starts = np.searchsorted(owners, np.arange(len(totals) + 1))
        own = {name: table[name].to_numpy() for name in names}
        views = Views(own, starts, {})
        before = np.column_stack([views[f"{name}:before"] for name in names]).tolist()
        whole = totals.select(*block.all_sums).rows(named=True)
        for place, first, owner in zip(
            table[LEVEL].to_list(), before, owners.tolist(), strict=True
        ):
            mine = dict(zip(names, first, strict=True)), whole[owner]
            found.setdefault(int(place), {})[number] = mine
    return [Piece(bucket + number, number, found[number]) for number in sorted(found)]


def ordered(sums: pl.DataFrame, *, descending: bool) -> pl.DataFrame:
    """The ranges with levels, in the order in which the running sums of the block go."""
    return sums.drop_nulls(LEVEL).sort(OWNER, LEVEL, descending=[False, descending])


def totals_by_owner(sums: pl.DataFrame) -> pl.DataFrame:
    """The sums of whole groups."""
    return sums.drop(LEVEL).group_by(OWNER).sum().sort(OWNER)


def of_range(
    blocks: Sequence[Block], piece: Piece, rows: Iterable[pl.DataFrame]
) -> dict[tuple[int, int], pl.DataFrame]:
    """What a range has of the terms of each block and shape of axes, from its rows."""
    by_block: dict[int, list[tuple[Floats, dict[str, Floats]]]] = {n: [] for n in piece.sums}
    for part in in_chunks(rows, ROWS):
        for number, chunks in by_block.items():
            block = blocks[number]
            canonical = part.lazy().select(**block.columns).collect(engine="in-memory")
            starts = np.array([0, len(canonical)])
            levels, own, _ = kernel.levels_of_rows(canonical, starts, block.terms)
            chunks.append((levels, own))
    found = {}
    with np.errstate(invalid="ignore"):  # infinite losses
        for number, (before, whole) in piece.sums.items():
            block = blocks[number]
            levels, own = _merged(by_block.pop(number), block)
            totals, earlier = (
                {n: np.array([v]) for n, v in each.items()} for each in (whole, before)
            )
            starts = np.array([0, len(levels)])
            views = Views(own, starts, totals, levels, earlier)
            for shape, uses in enumerate(kernel.by_shape(block.terms)):
                seen, values = kernel.thinned(views, uses[0][1])
                if looks_across(uses[0][1]):
                    found[number, shape] = _rows_of(seen, values)
                else:
                    found[number, shape] = pl.DataFrame(kernel.found(seen, uses))
    return found


def _merged(
    chunks: Sequence[tuple[Floats, dict[str, Floats]]], block: Block
) -> tuple[Floats, dict[str, Floats]]:
    """The levels of several chunks in order, with their sums."""
    assert block.axis is not None
    if len(chunks) == 1:
        return chunks[0]
    levels = np.concatenate([each for each, _ in chunks])
    own = {name: np.concatenate([sums[name] for _, sums in chunks]) for name in block.sums}
    # A stable sort merges what is in order already.
    order = np.argsort(-levels if block.axis.descending else levels, kind="stable")
    starts = np.array([0, len(levels)])
    levels, own, _ = kernel.collapse(levels[order], {n: v[order] for n, v in own.items()}, starts)
    return levels, own


def looks_across(axis: Axis) -> bool:
    """True if a step before the terms looks at levels that may lie in several ranges."""
    return axis.regroup is not None or axis.hull is not None


def _rows_of(views: Views, values: Floats | None) -> pl.DataFrame:
    """Thinned views as a table: own sums if values were made equal, else running sums."""
    suffix = "" if values is None else ":own"
    columns = {name: views[name + suffix] for name in views.sums}
    if values is not None:
        columns[_VALUE] = values
    return pl.DataFrame({LEVEL: views[LEVEL], **columns})


def totals_of(
    block: Block, sums: pl.DataFrame, parts: Mapping[tuple[int, int], pl.DataFrame]
) -> pl.DataFrame:
    """Totals and terms of a block by owner, from its parts by shape and range."""
    assert block.axis is not None
    totals = totals_by_owner(sums)
    table = ordered(sums, descending=block.axis.descending)
    numbers, owners = table[LEVEL].cast(pl.Int64).to_list(), table[OWNER].to_numpy()
    groups = np.arange(len(totals) + 1)
    named = {name: totals[name].to_numpy() for name in block.all_sums}
    terms: dict[str, Floats] = {}
    with np.errstate(invalid="ignore"):  # infinite losses
        for shape, uses in enumerate(kernel.by_shape(block.terms)):
            frames = [parts[shape, number] for number in numbers]
            if not frames:
                none = np.zeros(0)
                views = Views(dict.fromkeys(block.sums, none), 0 * groups, named, none)
                terms |= kernel.terms(views, uses)
                continue
            stacked = pl.concat(frames)
            starts = np.searchsorted(np.repeat(owners, list(map(len, frames))), groups)
            columns = {name: stacked[name].to_numpy() for name in stacked.columns}
            if looks_across(uses[0][1]):
                columns = kernel.found(_across(columns, starts, named, uses[0][1]), uses)
                starts = groups
            terms |= kernel.joined(columns, uses, starts)
    return totals.select(OWNER).with_columns(**named, **terms)


def _across(
    columns: dict[str, Floats], starts: Ints, totals: Mapping[str, Floats], axis: Axis
) -> Views:
    """The views of an axis from the rows that came back of its ranges."""
    levels = columns.pop(LEVEL)
    if axis.regroup is None:
        views = Views.of_running(columns, starts, totals, levels)
    else:
        values = columns.pop(_VALUE)
        views, _ = Views(columns, starts, totals, levels).regrouped(values)
    return views if axis.hull is None else views.hull(*axis.hull)
