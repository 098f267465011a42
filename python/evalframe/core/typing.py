"""Types of the public surface."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import polars as pl

IntoExpr: TypeAlias = str | pl.Expr
"""A column name or an expression."""

By: TypeAlias = IntoExpr | Sequence[IntoExpr] | None
"""Group keys."""

Frame: TypeAlias = pl.DataFrame | pl.LazyFrame


@runtime_checkable
class ArrowTable(Protocol):
    """A table that exports the Arrow C stream: of pandas, pyarrow, DuckDB, another Polars, ..."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream."""


Source: TypeAlias = Frame | str | Path
"""A frame, or the path of its file."""


class DaskFrame(Protocol):
    """A Dask DataFrame."""

    def to_delayed(self) -> Any:
        """Its partitions."""


class RayDataset(Protocol):
    """A Ray Dataset."""

    def to_arrow_refs(self) -> Any:
        """Its blocks."""


Sharded: TypeAlias = Sequence[Source] | DaskFrame | RayDataset
"""What an engine reads, besides the paths of files."""

if TYPE_CHECKING:
    Role: TypeAlias = Any
else:
    Role = IntoExpr
"""What a metric is computed from: callers pass a column name or an expression, the body of a
metric receives an expression. A type checker sees `Any`, since it cannot see both sides."""

Direction: TypeAlias = Literal["minimize", "maximize", "none"]
