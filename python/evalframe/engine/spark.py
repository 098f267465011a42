"""Spark DataFrames: states as a Spark DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial as fixed
from typing import TYPE_CHECKING, Any

from evalframe.core.frames import of_arrow
from evalframe.core.typing import By, IntoExpr
from evalframe.engine.frames import Partial

if TYPE_CHECKING:
    import pyarrow as pa

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
    """The additive state of each partition, as a Spark DataFrame.

    Its rows add up by keys, cluster, `:block` and `:level`. `ef.finish(state.toArrow(),
    header=...)` adds them up; if they are many, add them up in Spark first, by `groupBy`, where
    names that begin with a colon stand in backticks: ``sum("`:mass`")``. Set
    `spark.executorEnv.POLARS_MAX_THREADS` to the cores of a task.

    Args:
        frame: A Spark DataFrame.
        metrics: As for `ef.partial`, as are all other arguments.
        by: Group keys.
        weight: How often each row counts.
        cluster: Keep separate sums for each cluster, so that `ef.finish` can resample.

    Returns:
        A Spark DataFrame of a few rows per group and level; see `ef.engine.header`.

    Raises:
        ParameterError: A metric declares no state, or an argument lies outside its domain.
        MissingColumnsError: The frame lacks a column that a metric, key or cluster uses.
    """
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    rows = to_arrow_schema(frame.schema)
    schema = of_arrow(rows.empty_table()).schema
    maker = Partial.of(schema, metrics=metrics, by=by, weight=weight, cluster=cluster)
    return frame.mapInArrow(fixed(_state, maker=maker, rows=rows), from_arrow_schema(maker.state))


def _state(
    batches: Iterator[pa.RecordBatch], maker: Partial, rows: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The state of a partition: of all its batches, since one of each would be as long as they."""
    import pyarrow as pa

    yield from maker(pa.Table.from_batches(batches, rows)).to_batches()
