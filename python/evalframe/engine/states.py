"""States of shards, made by workers and added up: the sums of one process, from many.

A task makes the state of a batch of shards, so that their rows add up into one grid; it travels in
its packed form. Few states are added up here, many by workers first, in a tree: large ones of those
lie in files, so that this process never holds all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evalframe.core.errors import RunWarning, warn
from evalframe.core.state_files import packed, unpacked
from evalframe.core.state_tables import block_tables, merged, state_table
from evalframe.core.states import CLUSTER, States
from evalframe.core.tables import Keys
from evalframe.engine.protocol import Counted, Engine, Task, modules_of, run, tree
from evalframe.engine.shuffle import appearing, folder_of

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.engine.shards import Shard, Shards
    from evalframe.engine.store import StateStore

Packed: TypeAlias = bytes | Path
"""A packed state, or the file that it is in."""

MANY = 32
"""States that are added up by workers first."""

_LARGE = 1 << 20
"""Bytes of a state from which on it goes to a file, if workers share a folder."""


def collected(
    engine: Engine | None,
    shards: Shards,
    metrics: Sequence[AnyBound],
    keys: Keys,
    cluster: pl.Expr | None = None,
    store: StateStore | None = None,
) -> States[pl.DataFrame]:
    """The states of all rows, as `States.of(...).collected()` has them.

    They are computed on an engine, or found in a store, which needs none.
    """
    outline = States.of(pl.LazyFrame(schema=shards.schema), metrics, keys, cluster)
    # Names of sums begin with a colon in a state table, so that these names collide with none.
    public = {name: name.removeprefix(":") for name in keys.inner}
    inner = Keys(tuple(public.values()), keys.exprs)
    if cluster is not None:
        public[CLUSTER] = CLUSTER.removeprefix(":")
        cluster = cluster.alias(public[CLUSTER])
    if store is not None:
        total = store.state(shards, metrics, inner, cluster, engine)
    else:
        assert engine is not None
        total = state_on(engine, shards, metrics, inner, cluster)
    return outline.with_tables(block_tables(total, outline.blocks, public))


def state_on(
    engine: Engine,
    shards: Shards,
    metrics: Sequence[AnyBound],
    keys: Keys,
    cluster: pl.Expr | None = None,
) -> pl.DataFrame:
    """The state table of all rows, computed on an engine."""
    shards.check_home(engine)
    batches = shards.batches(engine.check())
    in_files = len(batches) >= MANY and engine.scratch is not None
    with folder_of(engine) if in_files else nullcontext() as folder:
        make = partial(_state, metrics=metrics, keys=keys, cluster=cluster, folder=folder)
        parts: list[Packed] = run(engine, Task.of("state", make, modules_of(metrics)), batches)
        if len(parts) >= MANY:
            parts = [tree(engine, Task.of("merge", partial(_sum, folder=folder)), parts)]
        total = merged(map(unpacked, parts))
    check_read(shards)
    return total


def check_read(shards: Shards) -> None:
    """Raise InputError if a file was changed while it was read; warn of files that appeared."""
    shards.check_unchanged()
    if appeared := shards.appeared():
        few = ", ".join(appeared[:3]) + ", ..." * (len(appeared) > 3)
        warn(
            f"not read, since they appeared after the run had begun: {few} "
            f"({len(appeared):,} files)",
            RunWarning,
        )


def _state(
    shard: Shard,
    metrics: Sequence[AnyBound],
    keys: Keys,
    cluster: pl.Expr | None,
    folder: Path | None,
) -> Counted:
    """The packed state of a shard."""
    states = States.of(shard.scan(), metrics, keys, cluster)
    return Counted(_put(packed(state_table(states).collect()), folder), size=shard.size)


def _sum(parts: Sequence[Packed], folder: Path | None) -> Packed:
    """The packed sum of packed states."""
    return _put(packed(merged(map(unpacked, parts))), folder)


def _put(state: bytes, folder: Path | None) -> Packed:
    """The state itself if it is small; else its file, of one name for one content."""
    if folder is None or len(state) < _LARGE:
        return state
    path = folder / f"{hashlib.blake2b(state, digest_size=16).hexdigest()}.state"
    with appearing(path) as file:
        file.write(state)
    return path
