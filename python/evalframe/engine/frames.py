"""States as frames of an engine: what its partitions make of their rows, in types that all have.

A state table says by the type of `:block` what it is a state of. In the frame of an engine that
type does not last, so that `:block` is a number there, and the header goes to `ef.finish` itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core import tables
from evalframe.core.asked import AnyMetric, as_exprs, check_names, states_of
from evalframe.core.frames import of_arrow
from evalframe.core.per import Forest
from evalframe.core.rows import as_expr
from evalframe.core.state_checks import BLOCK
from evalframe.core.state_tables import header_of, state_table
from evalframe.core.states import States, share
from evalframe.core.typing import By, IntoExpr

if TYPE_CHECKING:
    import pyarrow as pa


def header(
    metrics: AnyMetric | Sequence[AnyMetric],
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    cluster: IntoExpr | None = None,
) -> str:
    """What `ef.finish` must know of a state that was a frame of an engine.

    Args:
        metrics: As for the `partial` of the engine, as are all other arguments.
        by: Group keys.
        weight: How often each row counts.
        cluster: What sums are kept separate for.

    Returns:
        JSON, for `ef.finish(..., header=...)`.

    Raises:
        ParameterError: A metric declares no state, or an argument lies outside its domain.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0], "confidence": [0.9, 0.2]})
        >>> state = ef.partial(items, ef.aurc())
        >>> foreign = state.with_columns(pl.col(":block").to_physical().cast(pl.Int32))
        >>> ef.finish(foreign, header=ef.engine.header(ef.aurc()))["estimate"].item()
        0.125
    """
    keys = tables.Keys.of(by)
    name = None if cluster is None else as_expr(cluster).meta.output_name()
    check_names(keys, name)
    bounds = tables.declared(as_exprs(metrics, weight), "its shards do not add up")
    tables.check_units(bounds, keys)
    forest = Forest.of(bounds)
    empty: list[pl.LazyFrame] = []
    return header_of(States(keys, name, forest, share(forest), empty))


@dataclass(frozen=True)
class Partial:
    """Makes the state of a partition; it travels to the workers of an engine.

    Attributes:
        arguments: Those of `ef.partial`.
        rows: Columns of the engine's frame.
        state: Columns of the state, in types that engines have.
    """

    arguments: dict[str, Any]
    rows: pl.Schema
    state: pa.Schema

    @classmethod
    def of(cls, rows: pl.Schema, **arguments: Any) -> Partial:
        """For an engine's frame with these columns, which are checked."""
        empty = state_table(states_of(pl.LazyFrame(schema=rows), **arguments))
        return cls(arguments, rows, _portable(empty.collect()).schema)

    def __call__(self, table: Any) -> pa.Table:
        """The state of a partition: an Arrow table, or a frame that exports one."""
        frame = of_arrow(table).cast(self.rows)
        state = state_table(states_of(frame.select(self.rows.names()), **self.arguments))
        return _portable(state.collect()).cast(self.state)


def _portable(state: pl.DataFrame) -> pa.Table:
    """A state in plain types: text as `string`, which Spark reads, categories as text."""
    import pyarrow as pa

    number = pl.col(BLOCK).to_physical().cast(pl.Int32)
    text = pl.selectors.by_dtype(pl.Categorical, pl.Enum) - pl.selectors.by_name(BLOCK)
    plain = state.with_columns(number, text.cast(pl.String))
    table: pa.Table = plain.to_arrow(compat_level=pl.CompatLevel.oldest())
    types = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    kinds = [(field.name, types.get(field.type, field.type)) for field in table.schema]
    return table.cast(pa.schema(kinds))
