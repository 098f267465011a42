"""States by cluster of shards: made once, kept in files, and joined group by group.

A worker computes the sums of its rows by group and cluster, writes them split into buckets by
group, and returns which clusters there are. From those the driver knows all about draws but the
sums. Then either shards add up replicates, see `replicates`, or each bucket, in which groups are
complete, is finished where it lies, with the code of a single process.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.per import AnyBound, Forest
from evalframe.core.state import LEVEL
from evalframe.core.states import CLUSTER, States, share
from evalframe.core.tables import matched
from evalframe.engine.protocol import Engine, Task, modules_of, run
from evalframe.engine.shuffle import (
    Numbered,
    buckets_of,
    read_bucket,
    split_by_group,
    write_buckets,
)
from evalframe.resample.draws import left_out_group, stable_hash
from evalframe.resample.methods import check_known
from evalframe.resample.pools import cluster_columns
from evalframe.resample.strata import text_of

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.core.tables import Keys
    from evalframe.engine.shards import Shard

BUCKETS = 64
"""Buckets of groups: more than an engine has workers, few enough to be large."""

OWN = ":keys"
"""The number of the keys of a row."""

LISTED = 10_000_000
"""Pairs of a group and a cluster that this process lists; of more it has numbers only."""

COUNT, LEFT = ":count", ":left"
"""How many clusters there are, and with which others one is left out."""


@dataclass(frozen=True)
class Asked:
    """What sums are of."""

    metrics: tuple[AnyBound, ...]
    keys: Keys
    cluster: pl.Expr

    def states(self, tables: Sequence[pl.DataFrame]) -> States[pl.DataFrame]:
        """States of these tables, one for each block."""
        forest = Forest.of(self.metrics)
        name = self.cluster.meta.output_name()
        return States(self.keys, name, forest, share(forest), tables)

    def of_rows(self, shard: Shard) -> States[pl.DataFrame]:
        """States of the rows of a shard."""
        return States.of(shard.scan(), self.metrics, self.keys, self.cluster).collected()

    def task(self, name: str, function: Callable[[Any], Any]) -> Task:
        """A task for which workers import the modules of the metrics."""
        return Task.of(name, function, modules_of(self.metrics))


class Stored(NamedTuple):
    """The states of a shard: files for its blocks, or none if there is no folder."""

    shard: Shard
    paths: tuple[Path, ...]

    def __str__(self) -> str:
        """The shard's name."""
        return str(self.shard)

    def states(self, asked: Asked) -> States[pl.DataFrame]:
        """The states, from the files or the rows."""
        if not self.paths:
            return asked.of_rows(self.shard)
        return asked.states([pl.concat(read_bucket([path], 0, 1)) for path in self.paths])


class _Found(NamedTuple):
    """What a worker says of the states of a shard.

    Attributes:
        paths: Their files.
        known: Groups, clusters and units of each block, once for the same units; without units in
            a file, if there is a folder.
        pairs: How many groups and clusters there are.
        cells: For each block how many groups, units and levels there are.
        sums: For each block how many sums differ from 0 and from each other.
        entries: For each block how many rows its table has.
    """

    paths: tuple[Path, ...]
    known: dict[tuple[str, ...], pl.DataFrame | Path]
    pairs: int
    cells: list[int]
    sums: list[int]
    entries: list[int]


def _made(asked: Asked, folder: Path | None, item: Numbered) -> _Found:
    """The states of a shard by group and cluster, on a worker."""
    states = asked.of_rows(item.shard)
    known: dict[tuple[str, ...], pl.DataFrame | Path] = {}
    cells, sums, paths, pairs = [], [], [], 0
    for place, (block, table) in enumerate(zip(states.blocks, states.tables, strict=True)):
        keys = [*asked.keys.inner, *block.units]
        if block.units not in known:
            listed = table.select(*keys, CLUSTER).unique()
            known[block.units] = listed
            if folder is not None and not block.units:
                split = split_by_group(listed, [CLUSTER], BUCKETS)
                known[()] = write_buckets(folder / f"{item.number}-known", [split])
                pairs = len(listed)
        by_level = [*keys, LEVEL] if block.axis is not None else keys
        cells.append(len(table.select(by_level).unique()) if by_level else 1)
        sums.append(len(distinct_sums(table, [*block.all_sums])[0]))
        if folder is not None and len(table):
            path = folder / f"{item.number}-{place}"
            split = split_by_group(table, asked.keys.inner, BUCKETS)
            paths.append(write_buckets(path, [split]))
    entries = [len(table) for table in states.tables]
    return _Found(tuple(paths), known, pairs, cells, sums, entries)


def _counted(
    asked: Asked, paths: Sequence[Path], bucket: int
) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """Of each group the number of clusters, and with which others they are left out.

    The clusters are those of a bucket, in which all rows of a cluster are.
    """
    parts = list(read_bucket(paths, bucket, BUCKETS))
    if not parts:
        return None
    (table,), on = cluster_columns([pl.concat(parts, how="vertical_relaxed").unique()])
    check_known(table[on[-1]])
    left = left_out_group(stable_hash(text_of(table, on)))
    keys = [*asked.keys.inner, *on[:-1]]
    sizes = table.group_by(keys).len(COUNT) if keys else table.select(pl.len().alias(COUNT))
    lists = table.with_columns(pl.Series(LEFT, left)).select(*asked.keys.inner, LEFT)
    return sizes.with_columns(pl.col(COUNT).cast(pl.Int64)), lists.unique()


def distinct_tables(states: States[pl.DataFrame]) -> list[pl.DataFrame]:
    """The tables of blocks of different units; without sums the others are the same."""
    units = (block.units for block in states.blocks)
    return list(dict(zip(units, states.tables, strict=True)).values())


def distinct_sums(
    table: pl.DataFrame, names: Sequence[str]
) -> tuple[list[Floats], dict[str, int | None]]:
    """The sums that differ from 0 and from each other, and which of them each name is."""
    distinct: list[Floats] = []
    place: dict[str, int | None] = {}
    for name in names:
        values = table[name].fill_null(0.0).to_numpy()
        if not values.any():
            place[name] = None
            continue
        same = (n for n, other in enumerate(distinct) if np.array_equal(other, values))
        place[name] = number = next(same, len(distinct))
        if number == len(distinct):
            distinct.append(values)
    return distinct, place


@dataclass(frozen=True)
class Clusters:
    """The states by cluster of all shards, and what is known of them here.

    Attributes:
        asked: What they are of.
        stored: Where they are, of shards that have rows.
        known: Groups, clusters and units as tables of states that have no sums; `OWN` numbers the
            groups. If clusters are too many, `COUNT` of each group, and stratum.
        left: Then which clusters a group has of those that are left out, `OWN` and `LEFT`.
        cells: For each block the most groups, units and levels of a shard.
        sums: For each block the most sums of a shard that differ.
        entries: For each block the rows of all tables.
        folder: For files between tasks; None if workers see none.
    """

    asked: Asked
    stored: list[Stored]
    known: States[pl.DataFrame]
    cells: list[int]
    sums: list[int]
    entries: list[int]
    folder: Path | None
    left: pl.DataFrame | None = None

    @functools.cached_property
    def groups(self) -> pl.DataFrame:
        """The keys of all groups, in the order of `OWN`."""
        return self.known.groups()

    @functools.cached_property
    def members(self) -> pl.DataFrame:
        """The number of clusters of each group: `OWN` and `len`."""
        if self.left is not None:
            return self.known.tables[0].group_by(OWN).agg(pl.col(COUNT).sum().alias("len"))
        every = pl.concat([table.select(OWN, CLUSTER) for table in distinct_tables(self.known)])
        return every.unique().group_by(OWN).len()

    @property
    def bytes(self) -> int:
        """Size of all states."""
        sums = (len(block.all_sums) + 2 for block in self.known.blocks)
        return 8 * sum(n * columns for n, columns in zip(self.entries, sums, strict=True))

    @property
    def buckets(self) -> list[int]:
        """The numbers of the buckets that have groups."""
        numbers = buckets_of(self.groups, self.asked.keys.inner, BUCKETS)
        return [int(number) for number in np.unique(numbers)]

    def bucket(self, numbers: Sequence[int]) -> Bucket:
        """Some buckets."""
        files = zip(*(each.paths for each in self.stored), strict=True)
        return Bucket(tuple(numbers), tuple(files), self.asked, dict(self.known.drawn))


@dataclass(frozen=True)
class Bucket:
    """Complete groups: some buckets of the files of each block, as an item that travels.

    Attributes:
        numbers: The numbers of the buckets.
        files: For each block the files of all shards.
        asked: What the states are of.
        drawn: What is drawn of nested metrics.
    """

    numbers: tuple[int, ...]
    files: tuple[tuple[Path, ...], ...]
    asked: Asked
    drawn: dict[tuple[tuple[str, ...], bool], bool]

    def __str__(self) -> str:
        """The numbers."""
        return f"groups of buckets {', '.join(map(str, self.numbers))} of {BUCKETS}"

    def states(self) -> States[pl.DataFrame]:
        """The sums of all shards."""
        asked, tables = self.asked, []
        states = asked.states([])
        for block, paths in zip(states.blocks, self.files, strict=True):
            parts = [part for n in self.numbers for part in read_bucket(paths, n, BUCKETS)]
            keys = [*asked.keys.inner, CLUSTER, *block.units]
            rows = pl.concat(parts, how="vertical_relaxed")
            tables.append(block.added_up(rows.lazy(), keys).collect())
        return replace(asked.states(tables), drawn=self.drawn)


def clusters_of(
    engine: Engine,
    shards: Sequence[Shard],
    asked: Asked,
    folder: Path | None,
    *,
    listed: bool,
) -> Clusters:
    """Make the states by cluster of all shards."""
    items = [Numbered(number, shard) for number, shard in enumerate(shards)]
    found = run(engine, asked.task("clusters", partial(_made, asked, folder)), items)
    filled = [pair for pair in zip(items, found, strict=True) if any(pair[1].entries)]
    if not filled:
        return Clusters(asked, [], asked.states([]), [], [], [], folder)
    stored = [Stored(item.shard, each.paths) for item, each in filled]
    found = [each for _, each in filled]
    is_flat, pairs = [*found[0].known] == [()], sum(each.pairs for each in found)
    left = None
    kinds: dict[tuple[str, ...], pl.DataFrame]
    if is_flat and not listed and pairs > LISTED:
        paths = [Path(str(each.known[()])) for each in found]
        sizes, left = _numbers(engine, asked, paths)
        kinds = {(): sizes}
    else:
        kinds = {units: _listed([each.known[units] for each in found]) for units in found[0].known}
    keys = asked.keys.inner
    groups = next(iter(kinds.values())).select(keys).unique().sort(keys) if keys else None

    def numbered(table: pl.DataFrame) -> pl.DataFrame:
        if groups is None:
            return table.with_columns(pl.lit(0, dtype=pl.UInt32).alias(OWN))
        return matched(table, groups.with_row_index(OWN), keys, "inner")

    kinds = {units: numbered(table) for units, table in kinds.items()}
    return Clusters(
        asked,
        stored,
        asked.states([kinds[block.units] for block in asked.states([]).blocks]),
        np.max([each.cells for each in found], axis=0).tolist(),
        np.max([each.sums for each in found], axis=0).tolist(),
        np.sum([each.entries for each in found], axis=0).tolist(),
        folder,
        None if left is None else numbered(left),
    )


def _listed(parts: Sequence[pl.DataFrame | Path]) -> pl.DataFrame:
    """Groups, clusters and units of all shards."""
    tables = [part for part in parts if isinstance(part, pl.DataFrame)]
    tables += read_bucket([part for part in parts if isinstance(part, Path)], 0, 1)
    return pl.concat(tables, how="vertical_relaxed").unique()


def _numbers(
    engine: Engine, asked: Asked, paths: Sequence[Path]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What `_counted` says of all clusters."""
    task = asked.task("count", partial(_counted, asked, paths))
    made = [each for each in run(engine, task, range(BUCKETS)) if each is not None]
    sizes, left = (pl.concat(tables, how="vertical_relaxed") for tables in zip(*made, strict=True))
    keys = [name for name in sizes.columns if name != COUNT]
    sizes = sizes.group_by(keys).agg(pl.col(COUNT).sum()) if keys else sizes.sum()
    return sizes, left.unique()
