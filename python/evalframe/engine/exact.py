"""Exact results where levels are nearly unique, and a state would be as large as the data.

Rows are *shuffled by group*: each worker splits what it reads into buckets of whole groups, and
each bucket is evaluated where it lies by the code of a single process. Of groups too large for one
process, the rows are split by *ranges of their levels* instead; see `ranges`. Three passes: a
sample of the levels, the split, the buckets and ranges. The driver sees samples, sums and results.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.nested import estimates, estimates_of
from evalframe.core.per import AnyBound, Forest, Per
from evalframe.core.progress import tell
from evalframe.core.rows import columns_read
from evalframe.core.states import Block, States, share
from evalframe.core.tables import Keys, matched, side_by_side
from evalframe.engine import ranges, shuffle
from evalframe.engine.protocol import Counted, Engine, Task, modules_of, run, tree
from evalframe.engine.ranges import OWNER, RANGE, Cuts, Ladder, Piece
from evalframe.engine.shuffle import Numbered
from evalframe.engine.states import check_read

if TYPE_CHECKING:
    from evalframe.engine.shards import Shard, Shards

BUCKET = 1 << 19
"""Rows of a bucket of groups, about; a process needs some 500 bytes for each."""

LARGE, WHOLE = 1 << 20, 1 << 24
"""Rows from which on a group goes by ranges; and is refused, if metrics over units forbid that."""

_BATCH, _PIECE = 1 << 18, 1 << 9
"""Rows that a worker reads and splits at a time, at least: so many for each bucket, since a piece
of a few rows takes longer to write than its rows."""

_STEP = 1 << 10
"""One row in so many is in the sample."""

_FEW = 4
"""Sampled rows to a level from which on rows are added up by level rather than sorted."""

_WEIGHT = ":weight"


@dataclass(frozen=True)
class Job:
    """What is computed; a worker works out once what follows from it."""

    metrics: Sequence[AnyBound]
    keys: Keys

    def __reduce__(self) -> tuple[Any, ...]:
        return Job, (self.metrics, self.keys)

    @cached_property
    def forest(self) -> Forest:
        """The metrics, as leaves and nodes."""
        return Forest.of(self.metrics)

    @cached_property
    def blocks(self) -> list[Block]:
        """The sums that they share."""
        return share(self.forest)

    @cached_property
    def ladders(self) -> list[Ladder]:
        """The levels that flat metrics order rows by."""
        return ranges.ladders_of(self.blocks)

    @cached_property
    def columns(self) -> list[str]:
        """The columns that it reads."""
        forest = self.forest
        exprs = [expr for leaf, _ in forest.leaves for expr in leaf.columns.values()]
        return sorted(columns_read([*exprs, *forest.units.values(), *self.keys.exprs]))

    def of_rows(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """The long result of rows, in this process."""
        return estimates(States.of(rows, self.metrics, self.keys))


class Large(NamedTuple):
    """Groups too large for one process.

    Attributes:
        groups: Their keys under internal names, sorted, each with its number as `OWNER`.
        ladders: The levels that their rows are ordered by.
        cuts: Where each ladder is cut; None if its levels are few.
    """

    groups: pl.DataFrame
    ladders: Sequence[Ladder]
    cuts: Sequence[Cuts | None]

    @property
    def ranged(self) -> list[tuple[Ladder, Cuts]]:
        """The ladders that are cut."""
        pairs = zip(self.ladders, self.cuts, strict=True)
        return [(ladder, cuts) for ladder, cuts in pairs if cuts is not None]

    def of_block(self, number: int) -> Cuts | None:
        """The cuts of the levels of a block."""
        found = (cuts for ladder, cuts in self.ranged if number in ladder.blocks)
        return next(found, None)


class Routes(NamedTuple):
    """Where rows go.

    Attributes:
        job: What is computed.
        buckets: The number of buckets of whole groups.
        large: Groups whose rows go to ranges.
    """

    job: Job
    buckets: int
    large: Large | None

    @property
    def firsts(self) -> list[int]:
        """The first bucket of the ranges of each ladder that is cut; at the end, of all."""
        sizes = [] if self.large is None else [len(cuts.owners) for _, cuts in self.large.ranged]
        return [*itertools.accumulate([self.buckets, *sizes])]

    def told(self) -> str:
        """The routes in words."""
        words = f"rows are shuffled by group into {_counted(self.buckets, 'bucket')}"
        if self.large is None:
            return words
        groups = _counted(len(self.large.groups), "large group")
        cut = _counted(self.firsts[-1] - self.buckets, "range")
        return f"{words}, those of {groups} by {cut} of levels"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def shuffled(
    engine: Engine,
    shards: Shards,
    metrics: Sequence[AnyBound],
    keys: Keys,
) -> pl.DataFrame:
    """The long result of metrics of shards, as `core.nested.estimates` has it of rows.

    `EngineError` if workers share no folder, `ParameterError` if a group is too large for one
    process and a metric over units cannot be cut into ranges.
    """
    job = Job(metrics, keys)
    items = shards.batches(engine.check())
    modules = modules_of(metrics)
    with shuffle.folder_of(engine) as folder:
        look = Task.of("sample", partial(_sample, job), modules)
        sample: pl.DataFrame = pl.concat(run(engine, look, items))
        if sample.is_empty():
            return job.of_rows(pl.LazyFrame(schema=shards.schema))
        routes = routes_of(job, sample)
        tell(routes.told())
        split = Task.of("split", partial(_split, routes, folder), modules)
        sums = run(engine, split, [Numbered(*each) for each in enumerate(items)])
        where = (folder, len(items), routes.firsts[-1])
        finish = Task.of("finish", partial(_finish, job, *where), modules)
        longs = run(engine, finish, range(routes.buckets))
        if routes.large is not None:
            add = Task.of("add", partial(_added, job), modules)
            of_range = Task.of("range", partial(_range, job, *where), modules)
            added = tree(engine, add, sums, arity=64)
            longs.append(_of_large(engine, routes, added, of_range, shards.schema))
    check_read(shards)
    filled: list[pl.DataFrame] = [long for long in longs if long is not None]
    return pl.concat(filled)


def _batches(job: Job, shard: Shard, size: int) -> Iterator[pl.DataFrame]:
    """The rows of a shard, so many at a time, about."""
    rows = shard.scan().select(job.columns)
    return shuffle.in_chunks(rows.collect_batches(chunk_size=size, engine="streaming"), size)


def _sample(job: Job, shard: Shard) -> Counted:
    """One row in so many: its keys, its level on each ladder, and how many rows it stands for."""
    ladders = job.ladders
    levels = {f":level{number}": ladder.level for number, ladder in enumerate(ladders)}
    columns = [*job.keys.select(), *(level.alias(name) for name, level in levels.items())]
    # The first row is another in each shard, or small shards that are sorted would all give their
    # highest level.
    start = zlib.crc32(str(shard).encode())
    parts = []
    for rows in _batches(job, shard, _BATCH):
        taken = rows[start % min(len(rows), _STEP) :: _STEP] if len(rows) else rows
        weight = pl.lit(len(rows) / max(len(taken), 1)).alias(_WEIGHT)
        parts.append(taken.select(*columns, weight))
    empty = pl.LazyFrame(schema=shard.scan().collect_schema()).select(*columns).collect()
    sample = pl.concat([empty.with_columns(pl.lit(0.0).alias(_WEIGHT)), *parts])
    return Counted(sample, size=shard.size)


def routes_of(job: Job, sample: pl.DataFrame) -> Routes:
    """The routes, from a sample of rows."""
    inner = job.keys.inner
    weight = pl.col(_WEIGHT).sum()
    sizes = sample.group_by(inner).agg(weight) if inner else sample.select(weight)
    nested = next((metric.name for metric in job.metrics if isinstance(metric, Per)), None)
    most = LARGE if nested is None else WHOLE
    groups = sizes.filter(pl.col(_WEIGHT) >= most)
    rows = sizes.filter(pl.col(_WEIGHT) < most).select(_WEIGHT).sum().item()
    buckets = max(1, round(rows / BUCKET))
    if groups.is_empty():
        return Routes(job, buckets, None)
    groups = groups.sort(inner or _WEIGHT).with_row_index(OWNER).drop(_WEIGHT)
    groups = groups.with_columns(pl.col(OWNER).cast(pl.Int64))
    if nested is not None:
        named = groups.select(inner).rename(job.keys.restore()).head(1).to_dicts()
        where = f"such as {named[0]}" if inner else "that of all rows"
        raise ParameterError(
            f"metric {nested!r} is over units, whose rows are not cut into ranges, and a group has "
            f"more than {most:,} rows, {where}. Round the levels, so that a state is small, or "
            "evaluate that metric in one process"
        )
    sample = owned(sample, groups, inner).drop_nulls(OWNER)
    ladders = job.ladders
    cuts = [_cuts(sample, f":level{number}", len(groups)) for number in range(len(ladders))]
    return Routes(job, buckets, Large(groups, ladders, cuts))


def _cuts(sample: pl.DataFrame, level: str, groups: int) -> Cuts | None:
    """Where a level is cut; None if its levels are few."""
    rows = sample.drop_nulls(level)
    if rows.select(OWNER, level).n_unique() * _FEW <= len(rows):
        return None
    owners, levels, weights = (rows[name].to_numpy() for name in (OWNER, level, _WEIGHT))
    return Cuts.of(owners, levels, weights, groups)


def owned(rows: pl.DataFrame, groups: pl.DataFrame, inner: list[str]) -> pl.DataFrame:
    """Rows with the number of their large group, null if theirs is none."""
    if not inner:
        return rows.with_columns(pl.lit(0, pl.Int64).alias(OWNER))
    return matched(rows, groups, inner, "left")


def _split(routes: Routes, folder: Path, item: Numbered) -> Counted:
    """Write the rows of a shard by buckets and ranges; the sums of large groups by block."""
    number, shard = item
    inner, blocks = routes.job.keys.inner, routes.job.blocks
    sums: list[list[pl.DataFrame]] = []

    def batches() -> Iterator[list[pl.DataFrame]]:
        for rows in _batches(routes.job, shard, max(_BATCH, _PIECE * routes.firsts[-1])):
            keyed, parts = rows.with_columns(routes.job.keys.select()), list[pl.DataFrame]()
            if routes.large is not None:
                owners = owned(keyed, routes.large.groups, inner)[OWNER]
                known = owners.is_not_null()
                large = rows.with_columns(owners).filter(known)
                parts, tables = _by_range(routes.large, blocks, large)
                sums.append(tables)
                rows, keyed = rows.filter(~known), keyed.filter(~known)
            numbers = shuffle.buckets_of(keyed, inner, routes.buckets)
            yield shuffle.split(rows, numbers, routes.buckets) + parts

    shuffle.write_buckets(folder / f"{number}", batches())
    return Counted(_added(routes.job, sums), size=shard.size)


def _by_range(
    large: Large, blocks: Sequence[Block], rows: pl.DataFrame
) -> tuple[list[pl.DataFrame], list[pl.DataFrame]]:
    """Rows of large groups by the ranges of all ladders, and their sums by block."""
    parts: list[pl.DataFrame] = []
    flat = [rows.lazy().select(OWNER, **block.columns) for block in blocks]
    tables = [block.of_rows(each, [OWNER]) for block, each in zip(blocks, flat, strict=True)]
    owners = rows[OWNER].to_numpy()
    for ladder, cuts in large.ranged:
        levels = rows.select(ladder.level.alias(RANGE)).to_series()
        numbers, known = cuts.numbers(owners, levels.to_numpy()), levels.is_not_null()
        ranged = rows.with_columns(pl.when(known).then(pl.Series(RANGE, numbers)).alias(RANGE))
        for number in ladder.blocks:
            tables[number] = ranges.sums_by_range(blocks[number], ranged.lazy())
        inside = rows.select(sorted(ladder.columns)).filter(known)
        parts += shuffle.split(inside, numbers[known.to_numpy()], len(cuts.owners))
    return parts, [table.collect() for table in tables]  # one by one, which takes less memory


def _added(job: Job, parts: Sequence[Sequence[pl.DataFrame]]) -> list[pl.DataFrame]:
    """The sums of large groups by block, added up."""
    filled = [each for each in parts if each]
    tables = zip(job.blocks, zip(*filled, strict=True), strict=True) if filled else ()
    return [block.added_up(pl.concat(some).lazy(), [OWNER]).collect() for block, some in tables]


def _finish(job: Job, folder: Path, files: int, buckets: int, bucket: int) -> pl.DataFrame | None:
    """The long result of the groups of a bucket."""
    rows = [*shuffle.read_bucket(_files(folder, files), bucket, buckets)]
    return job.of_rows(pl.concat(rows).lazy()) if rows else None


def _range(
    job: Job, folder: Path, files: int, buckets: int, piece: Piece
) -> dict[tuple[int, int], pl.DataFrame]:
    """What a range has of the terms of each block and shape."""
    rows = shuffle.read_bucket(_files(folder, files), piece.bucket, buckets)
    return ranges.of_range(job.blocks, piece, rows)


def _files(folder: Path, count: int) -> list[Path]:
    return [folder / f"{number}" for number in range(count)]


def _of_large(
    engine: Engine,
    routes: Routes,
    sums: Sequence[pl.DataFrame],
    of_range: Task,
    schema: pl.Schema,
) -> pl.DataFrame:
    """The long result of large groups, from their sums by block and the rows of their ranges."""
    assert routes.large is not None
    job, blocks = routes.job, routes.job.blocks
    items = [
        piece
        for first, (ladder, _) in zip(routes.firsts, routes.large.ranged, strict=False)
        for piece in ranges.pieces(ladder, blocks, sums, first)
    ]
    parts: dict[int, dict[tuple[int, int], pl.DataFrame]] = {}
    for piece, found in zip(items, run(engine, of_range, items), strict=True):
        for (number, shape), part in found.items():
            parts.setdefault(number, {})[shape, piece.number] = part
    keys = routes.large.groups.select(job.keys.inner)
    totals = []
    for number, block in enumerate(blocks):
        if routes.large.of_block(number) is None:
            table = block.totals_of_levels(sums[number], [OWNER])
        else:
            table = ranges.totals_of(block, sums[number], parts.get(number, {}))
        totals.append(keys.hstack(table.drop(OWNER)) if keys.width else table.drop(OWNER))
    states = States.of(pl.LazyFrame(schema=schema), job.metrics, job.keys)
    units = [block.units for block in blocks]
    return estimates_of(states, side_by_side(units, totals, job.keys.inner))
