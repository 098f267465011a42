"""Metrics of a table by groups, with their uncertainty, in one call or by states of shards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import polars as pl

from evalframe.core.asked import AnyMetric, as_exprs, states_of
from evalframe.core.choices import check_choice
from evalframe.core.errors import ParameterError
from evalframe.core.frames import Foreign, any_frame, like_input
from evalframe.core.rows import as_expr
from evalframe.core.shown import shown
from evalframe.core.typing import By, Frame, IntoExpr

if TYPE_CHECKING:
    from evalframe.core.states import Plan, States
    from evalframe.engine.opening import AnyEngine
    from evalframe.engine.rows import Rows
    from evalframe.engine.store import AnyStore
    from evalframe.resample.methods import Method


@like_input
def evaluate(
    frame: Frame,
    metrics: AnyMetric | Sequence[AnyMetric],
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    resample: Method | None = None,
    plan: Plan = "auto",
    engine: AnyEngine | None = None,
    state: AnyStore | None = None,
) -> pl.LazyFrame:
    """Compute metrics of a table, one row per group and metric, with intervals if requested.

    Metrics that share columns share one pass over the rows and one sort. Without `resample`, a
    LazyFrame is computed when the result is collected; with it, rows are reduced to sums per
    cluster at once, and replicates are weighted sums of those.

    Args:
        frame: Records, one row each: a Polars frame, a path, glob or URL of files, or a table of
            pandas, pyarrow, DuckDB or whatever else exports the Arrow C stream. Of a LazyFrame the
            result is lazy.
        metrics: Metrics such as `ef.aurc(...)`, the functions themselves (then over their default
            columns), or any aggregating Polars expressions.
        by: Group keys: column names or expressions.
        weight: How often each row counts, times the weight of a metric.
        resample: `ef.Bootstrap(...)`, `ef.Jackknife(...)` or `ef.Linearized(...)`.
        plan: How curves are computed without `resample`: `sorted` sorts the rows once in memory
            and suits nearly unique levels; `levels` adds up rows of equal level first, which
            streams; `auto` looks at the first rows. The numbers are the same. On an engine
            `sorted` shuffles the rows by group, and those of a large group by ranges of its
            levels, so that no process holds all; `levels` adds up states in this process.
        engine: Where shards are computed: a Dask client, `"ray"`, an executor, or a name such as
            `"processes:4"`; see `ef.engine.on`. The first argument is then files that all workers
            see, a list of files or frames, or a frame of Dask or Ray. The numbers are the same.
        state: A folder, or an `ef.StateStore`, that keeps the sums of each file, so that the next
            run reads new and changed files only. The first argument is then files.

    Returns:
        by..., `metric`, `estimate`, `std_error`, `lower`, `upper` (Float64, null if undefined or
        not requested), `n` (rows used, with abstentions), `n_missing` (rows left out, null for
        expressions without a state), `n_clusters`, `drop_rate` (share of replicates in which the
        metric was undefined); with a metric of units also `n_units`, `n_units_missing`, `drawn`
        and `unit_drop_rate`. Sorted by the keys, then in the order of `metrics`.

    Raises:
        MissingColumnsError: A metric or a key reads a column that the frame lacks.
        ParameterError: An argument lies outside its domain.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"person": [1, 2, 3], "loss": [0.0, 1.0, None], "sure": [3, 2, 1]})
        >>> metrics = [ef.aurc(confidence="sure"), ef.selective_risk()]
        >>> ef.evaluate(items, metrics).select("metric", pl.col("estimate").round(4), "n").rows()
        [('aurc', 0.0833, 3), ('selective_risk', 0.5, 3)]
        >>> resample = ef.Jackknife(cluster="person")
        >>> ef.evaluate(items, metrics, resample=resample)["n_clusters"].to_list()
        [3, 3]
    """
    from evalframe.core import tables
    from evalframe.core.nested import estimates
    from evalframe.core.states import Plan, States

    check_choice("plan", plan, Plan)
    exprs = as_exprs(metrics, weight)
    keys = tables.Keys.of(by)
    bounds, others = tables.split(exprs)
    tables.check_units(bounds, keys)
    if engine is not None or state is not None:
        from evalframe.engine.rows import estimated, resampled, rows_of

        rows = rows_of(frame, engine, state)
        if resample is None:
            long = estimated(rows, exprs, keys, plan, engine, state)
        else:
            from evalframe.resample.independence import check_independent
            from evalframe.resample.uncertainty import spread

            check_independent(bounds, resample)
            if state is not None and resample.cluster is None:
                raise ParameterError(
                    "a state keeps no rows apart; name the column of what is drawn together, such "
                    f"as {type(resample).__name__}(cluster='participant_id')"
                )
            rows, apart = clustered(rows, resample)
            long = resampled([rows], exprs, keys, apart, resample, spread, engine, state)
        return tables.finished(long, keys, [bound.name for bound in bounds]).lazy()
    lazy = tables.lazy(frame)
    order = [expr.meta.output_name() for expr in exprs]
    if resample is None:
        tables.check_columns(lazy, exprs, *keys.exprs)

        def compute() -> pl.DataFrame:
            parts = []
            if bounds:
                parts.append(estimates(States.of(lazy, bounds, keys), plan))
            if others:
                parts.append(tables.stateless(lazy, keys, others))
            return tables.finished(pl.concat(parts, how="diagonal"), keys, order)

        return pl.defer(compute, schema=tables.result_schema(lazy, keys, bounds))
    from evalframe.resample.independence import check_independent
    from evalframe.resample.uncertainty import spread

    check_independent(bounds, resample)
    lazy, cluster = clustered(lazy, resample)
    tables.check_columns(lazy, exprs, *keys.exprs, cluster)
    parts = []
    if bounds:
        parts.append(spread(resample, States.of(lazy, bounds, keys, cluster).collected()))
    if others:
        from evalframe.resample.join import spread_of_rows

        parts.append(spread_of_rows(resample, lazy, keys, cluster, others))
    return tables.finished(pl.concat(parts, how="diagonal"), keys, order).lazy()


@like_input
def partial(
    frame: Frame,
    metrics: AnyMetric | Sequence[AnyMetric],
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    cluster: IntoExpr | None = None,
    engine: AnyEngine | None = None,
    state: AnyStore | None = None,
) -> pl.LazyFrame:
    """Compute the additive state of metrics over one shard, as a plain table.

    Args:
        frame: Records of the shard; of a LazyFrame the result is lazy. With `engine`, many shards,
            whose states are added up.
        metrics: Metrics that declare a state.
        by: Group keys: column names or expressions.
        weight: How often each row counts, times the weight of a metric.
        cluster: Keep separate sums for each cluster, so that `finish` can resample.
        engine: Where shards are computed, and what they are, as for `evaluate`.
        state: A folder that keeps the states of files, as for `evaluate`.

    Returns:
        A table that survives Parquet and adds up with `merge`. The type of its column `:block`
        says what it is a state of.

    Raises:
        ParameterError: A metric declares no state, or an argument lies outside its domain.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> days = [pl.DataFrame({"loss": [k / 2, 1.0], "confidence": [0.9, 0.2]}) for k in (0, 1)]
        >>> merged = ef.merge(*(ef.partial(day, ef.aurc()) for day in days))
        >>> ef.finish(merged)["estimate"].item() == pl.concat(days).select(ef.aurc()).item()
        True
    """
    from evalframe.core.state_tables import state_table

    if state is not None:
        from evalframe.engine.store import store_of

        store = store_of(state)
        return store.partial(frame, metrics, by=by, weight=weight, cluster=cluster, engine=engine)
    if engine is None:
        return state_table(states_of(frame, metrics, by=by, weight=weight, cluster=cluster))
    from evalframe.engine.opening import opened
    from evalframe.engine.shards import shards_of
    from evalframe.engine.states import state_on

    shards = shards_of(frame)
    states = states_of(shards.outline, metrics, by=by, weight=weight, cluster=cluster)
    apart = None if cluster is None else as_expr(cluster)
    state_table(states)  # which says what is wrong with names
    with opened(engine) as ready:
        return state_on(ready, shards, states.metrics, states.keys, apart).lazy()


@overload
def merge(*shards: pl.DataFrame | Foreign) -> pl.DataFrame:
    pass


@overload
def merge(*shards: Frame | Foreign) -> Frame:
    pass


def merge(*shards: Frame | Foreign) -> Frame:
    """Add up states of shards of the same metrics, in any order.

    Shards are read at once, one after the other, so that a few of many are in memory at a time:
    pass lazy results of `partial`, or scans of their files.

    Args:
        *shards: Results of `partial` or `merge`, or their Parquet files read back.

    Returns:
        A state; lazy if a shard is.

    Raises:
        ParameterError: The states are of different metrics, keys or clusters.
        InputError: Two paths, perhaps links, are of one file.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> shard = pl.DataFrame({"prediction": [1, None]})
        >>> state = ef.partial(shard, ef.coverage())
        >>> ef.finish(ef.merge(state, state))["n"].item()
        4
    """
    if len(paths := [str(each) for each in shards if isinstance(each, str | Path)]) > 1:
        from evalframe.core.scan import check_once, find

        check_once(find(paths))
    total = _merged(*shards)
    return shown(total.lazy()) if any(isinstance(each, pl.LazyFrame) for each in shards) else total


@any_frame
def _merged(*shards: Frame | Foreign) -> pl.DataFrame:
    from evalframe.core.state_tables import merged

    return merged(cast("Sequence[Frame]", shards))


@like_input
def retract(
    state: Frame, part: Frame | None = None, *, cluster: Sequence[Any] | None = None
) -> pl.LazyFrame:
    """Take the rows of a part from a state, as if they had never been added.

    Sums are subtracted, and metrics are computed from what is left. Groups and levels without rows
    go. Where subtraction would leave too few digits, that is an error, not a number. It goes by the
    sums of levels: huge values of both signs that cancel within a level are not seen, nor is what
    several retractions round off one after another.

    Args:
        state: Result of `partial` or `merge`.
        part: The state of the rows to take away, made by the same `partial(...)`.
        cluster: In place of a part: the ids of whole clusters, if the state keeps them apart.

    Returns:
        A state; of a LazyFrame it is lazy.

    Raises:
        ParameterError: The part is of other metrics or holds rows that the state does not, a
            cluster is not there, or the sums that are left would have lost their digits: of those
            groups, which are named, the rows must be evaluated anew.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> days = [pl.DataFrame({"loss": [0.5, 0.0]}), pl.DataFrame({"loss": [1.0]})]
        >>> first, second = (ef.partial(day, ef.selective_risk()) for day in days)
        >>> left = ef.retract(ef.merge(first, second), second)
        >>> ef.finish(left).select("estimate", "n").rows()
        [(0.25, 2)]
    """
    from evalframe.core import retraction, tables

    if (part is None) == (cluster is None):
        raise ParameterError(
            "retract takes either the state of a part or the ids of clusters: "
            "retract(state, part), or retract(state, cluster=[...])"
        )
    whole = tables.lazy(state).collect()
    if part is not None:
        return retraction.without(whole, tables.lazy(part).collect()).lazy()
    return retraction.without_clusters(whole, cluster or []).lazy()


@like_input
def finish(
    state: Frame, *, resample: Method | None = None, header: str | None = None
) -> pl.LazyFrame:
    """Compute the result table of a state, as `evaluate` does from the records.

    Args:
        state: Result of `partial` or `merge`.
        resample: As for `evaluate`; its cluster must be that of the state.
        header: Of a state that was a frame of Spark, Dask or Ray; from `ef.engine.header`.

    Returns:
        The columns of `evaluate`; of a LazyFrame the result is lazy.

    Raises:
        ParameterError: The table is no whole state, or has no sums by this cluster. Rows that were
            lost or changed cannot be noticed in a table; files of `evalframe partial` and of a
            `StateStore` have checksums.
        UnknownNameError: A metric of the state is not registered: import its module first.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"prediction": [1, None, 2], "person": [1, 1, 2]})
        >>> state = ef.partial(items, ef.coverage(), cluster="person")
        >>> ef.finish(state, resample=ef.Jackknife(cluster="person"))["n_clusters"].item()
        2
    """
    from evalframe.core import tables
    from evalframe.core.state_tables import read_states, with_header

    if header is not None:
        state = with_header(state, header)
    states = read_states(state)
    if resample is None:
        schema = tables.result_schema(tables.lazy(state), states.keys, states.metrics)
        return pl.defer(lambda: estimates_of(states, None), schema=schema)
    from evalframe.resample.independence import cluster_of

    cluster = cluster_of(resample)
    if resample.within is not None:
        raise ParameterError(
            "a state keeps clusters apart, but not what they are drawn within; evaluate the records"
        )
    if cluster is None:
        raise ParameterError(
            "a state keeps no rows apart; make it with partial(..., cluster=...), and name that "
            f"column, {type(resample).__name__}(cluster=...)"
        )
    name = cluster.meta.output_name()
    if states.cluster is None or name != states.cluster:
        raise ParameterError(
            f"the state keeps cluster {states.cluster!r} apart, the resampling asks for "
            f"{name!r}; make the state with partial(..., cluster={name!r})"
        )
    return estimates_of(states, resample).lazy()


def estimates_of(states: States[pl.DataFrame], resample: Method | None) -> pl.DataFrame:
    """The result table of collected states."""
    import numpy as np

    from evalframe.core import tables
    from evalframe.core.nested import estimates

    with np.errstate(over="ignore", invalid="ignore"):  # a sum beyond all numbers is infinite
        if resample is None:
            long = estimates(states)
        else:
            from evalframe.resample.uncertainty import spread

            long = spread(resample, states)
    return tables.finished(long, states.keys, [metric.name for metric in states.metrics])


_ROW = ":row"
AnyRows = TypeVar("AnyRows", bound="Rows")


def clustered(frame: AnyRows, method: Method) -> tuple[AnyRows, pl.Expr]:
    """Rows and their cluster; by default each row is one."""
    from evalframe.resample.independence import cluster_of

    cluster = cluster_of(method)
    if cluster is None:
        return cast("AnyRows", frame.with_row_index(_ROW)), pl.col(_ROW)
    return frame, cluster
