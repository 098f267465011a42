"""What a call is over: a table of this process, or shards for an engine. Both become states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.nested import estimates
from evalframe.core.states import States, stacked
from evalframe.engine.choice import estimates_on
from evalframe.engine.opening import AnyEngine, opened
from evalframe.engine.shards import Shards, joined, shards_of
from evalframe.engine.states import collected
from evalframe.engine.store import AnyStore, store_of

if TYPE_CHECKING:
    from evalframe.core.states import Plan
    from evalframe.core.tables import Keys
    from evalframe.resample.methods import Method

Rows: TypeAlias = pl.LazyFrame | Shards


def rows_of(frame: Any, engine: AnyEngine | None, state: AnyStore | None = None) -> Rows:
    """The rows of a frame, or of shards for an engine or a store."""
    return tables.lazy(frame) if engine is None and state is None else shards_of(frame)


def states_of_rows(
    rows: Sequence[Rows],
    exprs: Sequence[pl.Expr],
    keys: Keys,
    cluster: pl.Expr | None,
    engine: AnyEngine | None,
    state: AnyStore | None = None,
) -> States[pl.DataFrame]:
    """The states of the rows of one or several tables, whose columns are checked first."""
    bounds = tables.declared(exprs, "its shards do not add up")
    apart = [] if cluster is None else [cluster]
    frames = [each if isinstance(each, pl.LazyFrame) else each.outline for each in rows]
    for frame in frames:
        tables.check_columns(frame, exprs, *keys.exprs, *apart)
    if engine is None and state is None:
        return stacked([States.of(frame, bounds, keys, *apart) for frame in frames]).collected()
    tables.check_row_level(*keys.exprs, *apart)
    shards = joined([each for each in rows if isinstance(each, Shards)])
    store = None if state is None else store_of(state)
    with nullcontext() if engine is None else opened(engine) as ready:
        return collected(ready, shards, bounds, keys, cluster, store=store)


def estimated(
    rows: Rows,
    exprs: Sequence[pl.Expr],
    keys: Keys,
    plan: Plan,
    engine: AnyEngine | None,
    state: AnyStore | None = None,
) -> pl.DataFrame:
    """The long result of metrics of shards without uncertainty."""
    if engine is None or state is not None:
        return estimates(states_of_rows([rows], exprs, keys, None, engine, state))
    assert isinstance(rows, Shards)
    bounds = tables.declared(exprs, "its shards do not add up")
    tables.check_columns(rows.outline, exprs, *keys.exprs)
    tables.check_row_level(*keys.exprs)
    with opened(engine) as ready:
        rows.check_home(ready)
        return estimates_on(ready, rows, bounds, keys, plan)


def resampled(
    rows: Sequence[Rows],
    exprs: Sequence[pl.Expr],
    keys: Keys,
    cluster: pl.Expr,
    method: Method,
    finish: Callable[..., pl.DataFrame],
    engine: AnyEngine | None,
    state: AnyStore | None = None,
    *,
    summed: bool = True,
) -> pl.DataFrame:
    """What `finish` makes of the states of rows, perhaps where they lie; see `resampled_on`."""
    if engine is None or state is not None:
        return finish(method, states_of_rows(rows, exprs, keys, cluster, engine, state))
    from evalframe.engine.resampling import resampled_on

    bounds = tables.declared(exprs, "its shards do not add up")
    shards = joined([each for each in rows if isinstance(each, Shards)])
    tables.check_columns(shards.outline, exprs, *keys.exprs, cluster)
    tables.check_row_level(*keys.exprs, cluster)
    with opened(engine) as ready:
        shards.check_home(ready)
        return resampled_on(ready, shards, bounds, keys, cluster, method, finish, summed=summed)
