"""Frames at the public boundary: what callers hand over as a table, and what they get back.

Polars in, Polars out, eager or lazy as it came. Paths, and tables of other libraries that export
the Arrow C stream (pandas, pyarrow, DuckDB), become Polars frames here; the result is eager.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar, cast, overload

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.shown import shown
from evalframe.core.typing import ArrowTable, Sharded

P = ParamSpec("P")
Result = TypeVar("Result")
Foreign: TypeAlias = ArrowTable | str | Path


class LikeInput(Protocol[P]):
    """A function whose result is lazy only if its first argument is."""

    @overload
    def __call__(self, frame: pl.LazyFrame, /, *args: P.args, **kwargs: P.kwargs) -> pl.LazyFrame:
        pass

    @overload
    def __call__(
        self, frame: pl.DataFrame | Foreign | Sharded, /, *args: P.args, **kwargs: P.kwargs
    ) -> pl.DataFrame:
        pass


def like_input(function: Callable[Concatenate[Any, P], pl.LazyFrame]) -> LikeInput[P]:
    """Let a lazy function take any tables, and collect its result unless the first one is lazy.

    A lazy result shows itself as a table.

    >>> @like_input
    ... def first(frame: Frame):
    ...     return frame.lazy().head(1)
    >>> first(pl.DataFrame({"a": [1, 2]}).to_arrow()).height
    1
    >>> isinstance(first(pl.LazyFrame({"a": [1, 2]})), pl.LazyFrame)
    True
    """
    name = next(iter(inspect.signature(function).parameters))
    taken = _arguments(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        is_sharded = any(kwargs.get(each) is not None for each in {"engine", "state"} - {name})
        if is_sharded:  # files that workers or a store open
            return function(*args, **kwargs).collect()
        given, named = taken(args, kwargs)
        result = function(*given, **named)
        frame = args[0] if args else kwargs.get(name)
        return shown(result) if isinstance(frame, pl.LazyFrame) else result.collect()

    return cast("LikeInput[P]", call)


def any_frame(function: Callable[P, Result]) -> Callable[P, Result]:
    """Let a function take any tables for parameters annotated as `Frame`, or as `Source`.

    The path of a `Frame` is scanned here. The path of a `Source` is handed over as it is, since the
    function reads its file.
    """
    taken = _arguments(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        given, named = taken(args, kwargs)
        return cast("Callable[..., Result]", function)(*given, **named)

    return call


def _arguments(function: Callable[..., Any]) -> Callable[[Any, Any], tuple[list[Any], Any]]:
    """What makes Polars frames of the arguments of a function that are tables."""
    parameters = inspect.signature(function).parameters.values()
    kinds = {each.name: _takes(str(each.annotation)) for each in parameters}
    places = [kinds[each.name] for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    rest = next((kinds[each.name] for each in parameters if each.kind is each.VAR_POSITIONAL), ())

    def taken(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
        by_place = itertools.chain(places, itertools.repeat(rest))
        given = [_taken(value, kind) for value, kind in zip(args, by_place, strict=False)]
        return given, {name: _taken(value, kinds.get(name, ())) for name, value in kwargs.items()}

    return taken


def _takes(annotation: str) -> tuple[Any, ...]:
    """Types of what becomes a frame."""
    kinds = annotation.replace("pl.DataFrame", "").replace("pl.LazyFrame", "")
    if "Source" in kinds:
        return (ArrowTable,)
    return (ArrowTable, str, Path) if "Frame" in kinds else ()


def _taken(value: Any, kinds: tuple[Any, ...]) -> Any:
    if isinstance(value, pl.DataFrame | pl.LazyFrame) or not isinstance(value, kinds):
        return value
    if isinstance(value, str | Path):
        from evalframe.core.scan import scan

        return scan(value)
    return of_arrow(value)


def of_arrow(table: ArrowTable) -> pl.DataFrame:
    """A table of another library, without copies where Arrow allows.

    Unnamed row labels of pandas are no column.
    """
    import pyarrow as pa

    try:
        frame = pl.from_arrow(table)
    except (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise ParameterError(
            f"this {type(table).__module__}.{type(table).__name__} cannot be read as a table "
            f"({reason}); convert its columns, or hand over a Polars DataFrame"
        ) from error
    if isinstance(frame, pl.Series) and isinstance(frame.dtype, pl.Struct):
        frame = frame.struct.unnest()
    if isinstance(frame, pl.Series):
        raise ParameterError(
            f"expected a table, got {type(table).__module__}.{type(table).__name__}, a single "
            "column; make it a table with one column"
        )
    return frame.select(pl.exclude(r"^__index_level_\d+__$"))
