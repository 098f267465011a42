"""Dask DataFrames: their partitions as shards, and states as a Dask DataFrame."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import partial as fixed
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.frames import of_arrow
from evalframe.core.typing import By, IntoExpr
from evalframe.engine.frames import Partial
from evalframe.engine.shards import Shards, as_shard

if TYPE_CHECKING:
    from evalframe.core.asked import AnyMetric

__all__ = ["partial"]


def partial(
    frame: Any,
    metrics: AnyMetric | Sequence[AnyMetric],
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    cluster: IntoExpr | None = None,
) -> Any:
    """The additive state of each partition, as a Dask DataFrame.

    Its rows add up by keys, cluster, `:block` and `:level`. `ef.finish` adds them up; if they are
    too many for one process, add them up in Dask first, by `groupby(..., dropna=False)`: otherwise
    sums without a level would vanish.

    Args:
        frame: A Dask DataFrame.
        metrics: As for `ef.partial`, as are all other arguments.
        by: Group keys.
        weight: How often each row counts.
        cluster: Keep separate sums for each cluster, so that `ef.finish` can resample.

    Returns:
        A Dask DataFrame of a few rows per group and level; see `ef.engine.header`.

    Raises:
        ParameterError: A metric declares no state, or an argument lies outside its domain.
        MissingColumnsError: The frame lacks a column that a metric, key or cluster uses.

    Examples:
        >>> import pandas as pd, evalframe as ef
        >>> import dask.dataframe as dd
        >>> rows = pd.DataFrame({"loss": [0.0, 1.0, 1.0], "confidence": [0.9, 0.2, 0.5]})
        >>> state = ef.engine.dask.partial(dd.from_pandas(rows, npartitions=2), ef.aurc())
        >>> state = state.compute(scheduler="synchronous")
        >>> result = ef.finish(state, header=ef.engine.header(ef.aurc()))
        >>> result["estimate"].round(4).item()
        0.2778
    """
    maker = Partial.of(_schema(frame), metrics=metrics, by=by, weight=weight, cluster=cluster)
    empty = maker.state.empty_table()
    return frame.map_partitions(fixed(_state, maker=maker), meta=_as_pandas(empty))


def _state(partition: Any, maker: Partial) -> Any:
    return _as_pandas(maker(partition))


def _as_pandas(table: Any) -> Any:
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)


def shards(frame: Any) -> Shards:
    """The partitions of a Dask DataFrame as shards, made where they are read."""
    from dask.delayed import delayed

    schema = _schema(frame)
    shard = delayed(as_shard, pure=False)
    run = secrets.token_hex(4)  # partitions of two runs are not the same
    parts = [
        shard(each, f"partition {number}", schema, dask_key_name=f"partition-{number}-{run}")
        for number, each in enumerate(frame.to_delayed())
    ]
    return Shards(parts, schema, home="dask")


def _schema(frame: Any) -> pl.Schema:
    from dask.dataframe.dispatch import meta_nonempty

    # Columns of objects have no type of their own; here they hold text.
    return of_arrow(meta_nonempty(frame._meta)).schema
