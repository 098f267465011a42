"""Ray Datasets: their blocks as shards, and states as a Ray Dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.frames import of_arrow
from evalframe.core.typing import By, IntoExpr
from evalframe.engine.frames import Partial
from evalframe.engine.shards import Shard, Shards, as_shard

if TYPE_CHECKING:
    from evalframe.core.asked import AnyMetric

__all__ = ["partial"]


def partial(
    dataset: Any,
    metrics: AnyMetric | Sequence[AnyMetric],
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    cluster: IntoExpr | None = None,
) -> Any:
    """The additive state of each block, as a Ray Dataset.

    Its rows add up by keys, cluster, `:block` and `:level`:
    `ef.finish(pa.concat_tables(ray.get(state.to_arrow_refs())), header=...)` adds them up.

    Args:
        dataset: A Ray Dataset.
        metrics: As for `ef.partial`, as are all other arguments.
        by: Group keys.
        weight: How often each row counts.
        cluster: Keep separate sums for each cluster, so that `ef.finish` can resample.

    Returns:
        A Ray Dataset of a few rows per group and level; see `ef.engine.header`.

    Raises:
        ParameterError: A metric declares no state, or an argument lies outside its domain.
        MissingColumnsError: The dataset lacks a column that a metric, key or cluster uses.

    Examples:
        Not run by the tests, since it starts Ray:

        >>> import pyarrow as pa, ray, evalframe as ef  # doctest: +SKIP
        >>> columns = {"loss": [0.0, 1.0, 1.0], "confidence": [0.9, 0.2, 0.5]}
        >>> dataset = ray.data.from_arrow(pa.table(columns))  # doctest: +SKIP
        >>> state = ef.engine.ray.partial(dataset, ef.aurc())  # doctest: +SKIP
        >>> total = pa.concat_tables(ray.get(state.to_arrow_refs()))  # doctest: +SKIP
        >>> result = ef.finish(total, header=ef.engine.header(ef.aurc()))  # doctest: +SKIP
        >>> result["estimate"].round(4).item()  # doctest: +SKIP
        0.2778
    """
    maker = Partial.of(_schema(dataset), metrics=metrics, by=by, weight=weight, cluster=cluster)
    return dataset.map_batches(maker, batch_format="pyarrow", batch_size=None)


@dataclass(frozen=True)
class Block:
    """A block in Ray's store, read where it is used.

    Attributes:
        reference: Its reference.
        schema: Its columns and those of the other blocks.
        exprs: Further columns.
    """

    reference: Any
    schema: pl.Schema
    exprs: tuple[pl.Expr, ...] = ()

    def with_columns(self, *exprs: pl.Expr) -> Block:
        """The same rows with further columns."""
        return replace(self, exprs=(*self.exprs, *exprs))

    def lazy(self) -> pl.LazyFrame:
        """The rows."""
        import ray

        rows = as_shard(ray.get(self.reference), "", self.schema).scan()
        return rows.with_columns(*self.exprs)


def shards(dataset: Any) -> Shards:
    """The blocks of a Ray Dataset as shards."""
    schema = _schema(dataset)
    blocks = [Block(reference, schema) for reference in dataset.to_arrow_refs()]
    parts = [Shard(f"block {number}", each, 0) for number, each in enumerate(blocks)]
    return Shards(parts, schema, home="ray")


def _schema(dataset: Any) -> pl.Schema:
    return of_arrow(dataset.schema().base_schema.empty_table()).schema
