"""Sums of replicates of Poisson draws: what a worker does with the rows of a shard.

The weight of a cluster in a replicate is a hash of both, so any worker knows it. A shard adds up
its rows times the weights: sums of cells (group, units, level) by replicates, however many clusters
there are and wherever their rows lie. Such sums add up, and those of one replicate are the states
of one more group, which the code for plain groups finishes.

A shard of E entries (cell, cluster) and C clusters takes C x B hashes, of some 40 ns, and E x B
products for each sum that differs from the others, of some 0.7 ns; cells x B numbers of each such
sum go on.
"""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.state import LEVEL
from evalframe.core.states import CLUSTER, Block
from evalframe.core.tables import matched
from evalframe.engine.clusters import distinct_sums
from evalframe.resample import draws
from evalframe.resample.contraction import GROUP, check_finite
from evalframe.resample.draws import GROUPS
from evalframe.resample.intervals import INTERVALS
from evalframe.resample.nested import Contractions, contract
from evalframe.resample.pools import cluster_columns
from evalframe.resample.strata import text_of

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.core.states import States
    from evalframe.engine.clusters import Asked, Stored
    from evalframe.resample.methods import Bootstrap

    Drawn = Mapping[tuple[tuple[str, ...], bool], bool]

_WEIGHTS = 1 << 21
"""Weights held at a time."""

_NEW, _PLACE = ":new", ":place"


class Columns(NamedTuple):
    """What rows are weighted by: once, without some clusters, and all draws, in this order."""

    method: Bootstrap
    left_out: int

    @classmethod
    def of(cls, method: Bootstrap) -> Columns:
        """Those that the interval needs."""
        needs = INTERVALS[method.interval].needs
        # A callback of this process does not travel.
        return cls(replace(method, progress=None), GROUPS if needs == "groups" else 0)

    @property
    def total(self) -> int:
        """Their number."""
        return 1 + self.left_out + self.method.n

    def weights(self, hashes: draws.Hashes, first: int, stop: int) -> Floats:
        """The weights of some columns, clusters by columns."""
        result = np.ones((len(hashes), stop - first))
        before = 1 + self.left_out
        left = np.arange(max(first, 1), min(stop, before))
        if len(left):
            group = draws.left_out_group(hashes)
            result[:, left - first] = group[:, None] != left - 1
        if stop > before:
            begin = max(first, before)
            drawn = draws.poisson_by_cluster(self.method, hashes, begin - before, stop - before)
            result[:, begin - first :] = drawn
        return result


@dataclass
class Sums:
    """Sums of one block by cells and columns of weights.

    Attributes:
        cells: Group, units and level of each cell.
        place: For each sum the number of its array; None if it is 0 everywhere.
        arrays: Cells by columns, each different from the others.
    """

    cells: pl.DataFrame
    place: dict[str, int | None]
    arrays: list[Any]


@dataclass(frozen=True)
class Pass:
    """What workers need to know of one pass.

    Attributes:
        asked: What the states are of.
        whole: Keys of groups that have all their clusters, with the number `GROUP` of the group.
        part: Keys and clusters of the others, if there are any.
        first: The first column of the pass.
        stop: The end of its columns.
        folder: For results; None if they travel themselves.
    """

    asked: Asked
    whole: pl.DataFrame
    part: pl.DataFrame | None
    columns: Columns
    first: int
    stop: int
    folder: Path | None

    def kept(self, sums: list[Sums]) -> Path | bytes:
        """The sums as a task returns them."""
        content = pickle.dumps(sums, protocol=5)
        if self.folder is None:
            return content
        path = self.folder / secrets.token_hex(8)
        path.write_bytes(content)
        return path


def _loaded(kept: Path | bytes) -> list[Sums]:
    content = kept if isinstance(kept, bytes) else kept.read_bytes()
    sums: list[Sums] = pickle.loads(content)
    return sums


def summed(of: Pass, stored: Stored) -> Path | bytes:
    """The sums of a shard, on a worker."""
    states = stored.states(of.asked)
    tables, on = cluster_columns(states.tables)
    ids = pl.concat([table.select(on) for table in tables]).unique()
    hashes = draws.stable_hash(text_of(ids, on))
    ids = ids.with_row_index(_PLACE)
    keys = of.asked.keys.inner
    made = []
    for block, table in zip(states.blocks, tables, strict=True):
        check_finite(table, [*block.all_sums])
        whole = (
            matched(table, of.whole, keys, "inner") if keys else table.join(of.whole, how="cross")
        )
        rows = whole
        if of.part is not None:
            part = table.join(of.part, on=[*keys, *on], nulls_equal=True)
            rows = pl.concat([whole, part.select(whole.columns)])
        rows = rows.join(ids, on=on)
        made.append(_products(of, block, rows, hashes))
    return of.kept(made)


def _products(of: Pass, block: Block, rows: pl.DataFrame, hashes: draws.Hashes) -> Sums:
    """The rows of a block times the weights of their clusters, added up by cell."""
    from scipy import sparse

    cell = [GROUP, *block.units, *([LEVEL] if block.axis is not None else [])]
    cells = rows.select(cell).unique()
    numbered = cells.with_row_index(_NEW)
    number = rows.select(cell).join(numbered, on=cell, nulls_equal=True, maintain_order="left")
    distinct, place = distinct_sums(rows, [*block.all_sums])
    # One sparse matrix of all sums, one below the other: cells x sums by clusters.
    entry = number[_NEW].to_numpy().astype(np.int64)
    owner = np.tile(rows[_PLACE].to_numpy().astype(np.int64), len(distinct))
    row = np.concatenate([entry + n * len(cells) for n in range(len(distinct))] or [entry[:0]])
    values = np.concatenate(distinct or [np.zeros(0)])
    shape = (len(cells) * len(distinct), len(hashes))
    matrix = sparse.csc_array((values, (row, owner)), shape=shape)
    result = np.zeros((shape[0], of.stop - of.first))
    step = max(1, _WEIGHTS // (of.stop - of.first))
    for begin in range(0, len(hashes), step):
        weights = of.columns.weights(hashes[begin : begin + step], of.first, of.stop)
        result += matrix[:, begin : begin + step] @ weights
    arrays = np.split(result, len(distinct)) if distinct else []
    return Sums(cells, place, [narrow(each) for each in arrays])


def narrow(values: Floats) -> Any:
    """The same numbers in fewer bytes, if they are whole and not negative."""
    least, most = values.min(initial=0.0), values.max(initial=0.0)
    if least < 0.0 or most >= 2.0**32 or (values != np.rint(values)).any():
        return values
    kind = np.uint16 if most < 2.0**16 else np.uint32
    return values.astype(kind)


def joined(of: Pass, parts: Sequence[Path | bytes]) -> Path | bytes:
    """The sum of some sums, on a worker."""
    return of.kept([added_up(blocks) for blocks in zip(*map(_loaded, parts), strict=True)])


def added_up(parts: Sequence[Sums]) -> Sums:
    """The sum of one block of several shards."""
    cells = pl.concat([part.cells for part in parts], how="vertical_relaxed").unique()
    numbered = cells.with_row_index(_NEW)
    numbers = []
    for part in parts:
        wanted = part.cells.cast(cells.schema)
        found = wanted.join(
            numbered, on=cells.columns, how="left", nulls_equal=True, maintain_order="left"
        )
        numbers.append(found[_NEW].to_numpy())
    # Sums that share an array in all parts share one here.
    kinds = {name: tuple(part.place[name] for part in parts) for name in parts[0].place}
    arrays: dict[tuple[int | None, ...], Floats] = {}
    for kind in kinds.values():
        if kind in arrays or all(place is None for place in kind):
            continue
        total = None
        for part, place, number in zip(parts, kind, numbers, strict=True):
            if place is not None:
                if total is None:
                    total = np.zeros((len(cells), part.arrays[place].shape[1]))
                total[number] += part.arrays[place]
        assert total is not None
        arrays[kind] = total
    order = {kind: number for number, kind in enumerate(arrays)}
    return Sums(
        cells,
        {name: order.get(kind) for name, kind in kinds.items()},
        [narrow(each) for each in arrays.values()],
    )


class Finished(NamedTuple):
    """Metrics of some columns.

    Attributes:
        values: Metrics by columns by groups; NaN where undefined, or no row was drawn.
        units: Numbers of units that a draw computes anew, likewise.
        points: Metrics by groups of the first column of all.
        counts: Numbers of rows and units in it.
    """

    values: Floats
    units: Floats | None
    points: Floats | None
    counts: dict[str, Ints] | None


def finished(of: Pass, drawn: Drawn, groups: int, item: tuple[Path | bytes, int, int]) -> Finished:
    """Metrics of some columns of a pass, on a worker."""
    kept, first, stop = item
    sums = _loaded(kept)
    points = counts = None
    if of.first + first == 0:
        once = contract(_states(of.asked, drawn, sums, groups, 0, 1), groups, 1)
        points, counts = once.points(), once.counts()
    count = stop - first
    each = contract(_states(of.asked, drawn, sums, groups, first, stop), groups * count, 1)
    values = each.values(np.ones((1, 1)))[:, 0].reshape(-1, count, groups)
    units = None
    if isinstance(each, Contractions):
        units = each.recomputed_units().reshape(-1, count, groups)
    return Finished(values, units, points, counts)


def _states(
    asked: Asked, drawn: Drawn, sums: Sequence[Sums], groups: int, first: int, stop: int
) -> States[pl.DataFrame]:
    """States in which each column of each group is a group, of one cluster."""
    tables = []
    count = stop - first
    for block in sums:
        size = len(block.cells)
        cells = block.cells[np.tile(np.arange(size), count)]
        offset = pl.Series(np.repeat(np.arange(count, dtype=np.int64) * groups, size))
        nothing = np.zeros(size * count)
        columns = {
            name: nothing if n is None else block.arrays[n][:, first:stop].T.ravel().astype(float)
            for name, n in block.place.items()
        }
        tables.append(
            cells.with_columns(
                (pl.col(GROUP).cast(pl.Int64) + offset).cast(pl.UInt32),
                pl.lit(0, dtype=pl.Int64).alias(CLUSTER),
                *(pl.Series(name, values) for name, values in columns.items()),
            )
        )
    return replace(asked.states(tables), drawn=drawn)
