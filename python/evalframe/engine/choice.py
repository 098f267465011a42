"""The way to the numbers: states that add up, or rows that are shuffled by group.

A state has a row for each group and level. Where levels are nearly unique that is the table once
more, and the driver would hold it. So we look at the first rows of a few shards, and estimate how
many groups and levels there are and what a state would take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import kernel
from evalframe.core.nested import estimates
from evalframe.core.progress import tell
from evalframe.core.state import LEVEL
from evalframe.engine.exact import Job, shuffled
from evalframe.engine.protocol import Engine, Task, modules_of, run
from evalframe.engine.states import collected

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.core.states import Plan
    from evalframe.core.tables import Keys
    from evalframe.engine.shards import Shard, Shards

LIMIT, SMALL = 256 << 20, 8 << 20
"""Bytes of a state that the driver merges, which needs about three times as much meanwhile; and of
shards whose state is never larger than that, so that nobody need look."""

_SHARDS, _ROWS = 4, 1 << 14
"""Shards and rows of each that are looked at."""


@dataclass(frozen=True)
class Look:
    """What a state would be, about."""

    rows: int
    cells: int
    size: int

    @property
    def plan(self) -> Plan:
        """`levels` if states add up well, else `sorted`."""
        return "levels" if self.size <= LIMIT else "sorted"

    def told(self) -> str:
        """The estimate in words."""
        words = (
            f"a state has about {self.cells:,} groups and levels of {self.rows:,} rows, "
            f"{self.size / 1e6:,.0f} MB"
        )
        nearly = "levels are nearly unique: " if self.cells * 2 > self.rows else ""
        return words if self.plan == "levels" else nearly + words


def estimates_on(
    engine: Engine, shards: Shards, metrics: Sequence[AnyBound], keys: Keys, plan: Plan
) -> pl.DataFrame:
    """The long result of metrics of shards without uncertainty, as `core.nested.estimates`."""
    if plan == "auto" and shards.home is None and sum(_sizes(shards)) <= SMALL:
        plan = "levels"
    elif plan == "auto":
        look = looked(engine, shards, metrics, keys)
        plan = look.plan
        if plan == "sorted":
            tell(look.told())
    if plan == "levels":
        return estimates(collected(engine, shards, metrics, keys))
    return shuffled(engine, shards, metrics, keys)


def looked(engine: Engine, shards: Shards, metrics: Sequence[AnyBound], keys: Keys) -> Look:
    """Estimates from the first rows of a few shards, which workers read."""
    sizes, step = _sizes(shards), -(-len(shards.parts) // _SHARDS)
    parts = shards.parts[::step]
    job = Job(metrics, keys)
    if all(isinstance(part.rows, pl.DataFrame) for part in parts):  # which need not travel
        looks = [_head(job, part) for part in parts]
    else:
        looks = run(engine, Task.of("look", partial(_head, job), modules_of(metrics)), parts)
    seen = sum(count for count, _ in looks)
    rows = round(seen * sum(sizes) / max(sum(sizes[::step]), 1))
    cells = [_cells(heads, rows) for heads in zip(*(heads for _, heads in looks), strict=True)]
    widths = [8 * (2 + len(keys.inner) + len(block.all_sums)) for block in job.blocks]
    whole = sum(count * width for count, width in zip(cells, widths, strict=True))
    return Look(rows, max(cells), whole)


def _sizes(shards: Shards) -> list[int]:
    """Bytes of each shard; 1 of each partition of an engine's frame, which are about alike."""
    return [1 if shards.home is not None else part.size for part in shards.parts]


def _head(job: Job, shard: Shard) -> tuple[int, list[pl.DataFrame]]:
    """The number of rows of a shard; of its first rows keys, units and level, for each block."""
    rows = shard.scan()
    head = rows.head(_ROWS).collect().lazy()
    units = job.forest.unit_columns(head)
    tables = []
    for block in job.blocks:
        level = pl.lit(None) if block.axis is None else kernel.level_of(block.axis)
        own = {name: units[name] for name in block.units}
        named = head.select(*job.keys.select(), **own, **block.columns)
        tables.append(named.select(*job.keys.inner, *block.units, level.alias(LEVEL)))
    return shard.count(), pl.collect_all(tables)


def _cells(heads: Sequence[pl.DataFrame], rows: int) -> int:
    """How many different groups and levels so many rows have, from some of them."""
    head = pl.concat(heads)
    groups = [name for name in head.columns if name != LEVEL]
    pairs = _different(head, head.columns, rows)
    return min(pairs, _different(head, groups, rows) * _different(head, [LEVEL], rows))


def _different(head: pl.DataFrame, names: Sequence[str], rows: int) -> int:
    """How many different values so many rows have, after Chao (1984).

    From those that occur once and twice in a sample; at most as many as there are rows.
    """
    if not names:
        return 1
    counts = head.group_by(names).len()["len"]
    once, twice = (len(counts.filter(counts == times)) for times in (1, 2))
    return min(rows, len(counts) + once * (once - 1) // (2 * (twice + 1)))
