"""States of shards, made by workers and added up: the sums of one process, from many.

A task makes the state of a batch of shards, so that their rows add up into one grid; it travels in
its packed form. Few states are added up here, many by workers first, in a tree.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import RunWarning
from evalframe.core.state_files import packed, unpacked
from evalframe.core.state_tables import block_tables, merged, state_table
from evalframe.core.states import CLUSTER, States
from evalframe.core.tables import Keys
from evalframe.engine.protocol import Counted, Engine, Task, modules_of, run, tree

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.engine.shards import Shard, Shards
    from evalframe.engine.store import StateStore

MANY = 32
"""States that are added up by workers first."""


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
    """The state table of all rows, computed on an engine.

    Raises:
        TaskError: A shard cannot be read.
        InputError: A file was changed meanwhile.
    """
    shards.check_home(engine)
    make = partial(_state, metrics=metrics, keys=keys, cluster=cluster)
    task = Task.of("state", make, modules_of(metrics))
    parts = run(engine, task, shards.batches(engine.check()))
    if len(parts) >= MANY:
        parts = [tree(engine, Task.of("merge", _sum), parts)]
    total = merged(unpacked(part) for part in parts)
    check_read(shards)
    return total


def check_read(shards: Shards) -> None:
    """Raise InputError if a file was changed while it was read; warn of files that appeared."""
    shards.check_unchanged()
    if appeared := shards.appeared():
        few = ", ".join(appeared[:3]) + ", ..." * (len(appeared) > 3)
        warnings.warn(
            f"not read, since they appeared after the run had begun: {few} "
            f"({len(appeared):,} files)",
            RunWarning,
            stacklevel=3,
        )


def _state(
    shard: Shard, metrics: Sequence[AnyBound], keys: Keys, cluster: pl.Expr | None
) -> Counted:
    """The packed state of a shard."""
    states = States.of(shard.scan(), metrics, keys, cluster)
    return Counted(packed(state_table(states).collect()), size=shard.size)


def _sum(parts: Sequence[bytes]) -> bytes:
    """The packed sum of packed states."""
    return packed(merged(unpacked(part) for part in parts))
