"""Frames at the public boundary: eager in, eager out; lazy in, lazy out."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, cast, overload

import polars as pl

from evalframe.core.typing import Frame

P = ParamSpec("P")


class LikeInput(Protocol[P]):
    """A function whose result is eager if its first argument is."""

    @overload
    def __call__(self, frame: pl.DataFrame, /, *args: P.args, **kwargs: P.kwargs) -> pl.DataFrame:
        pass

    @overload
    def __call__(self, frame: pl.LazyFrame, /, *args: P.args, **kwargs: P.kwargs) -> pl.LazyFrame:
        pass


class LikeSource(Protocol[P]):
    """A function whose result is eager if its first argument is a DataFrame, not a file."""

    @overload
    def __call__(self, source: pl.DataFrame, /, *args: P.args, **kwargs: P.kwargs) -> pl.DataFrame:
        pass

    @overload
    def __call__(
        self, source: pl.LazyFrame | str | Path, /, *args: P.args, **kwargs: P.kwargs
    ) -> pl.LazyFrame:
        pass


def like_input(function: Callable[Concatenate[Frame, P], pl.LazyFrame]) -> LikeInput[P]:
    """Collect the result of a lazy function unless its first argument is lazy, or a file.

    >>> @like_input
    ... def first(frame):
    ...     return frame.lazy().head(1)
    >>> first(pl.DataFrame({"a": [1, 2]})).height
    1
    >>> type(first(pl.LazyFrame({"a": [1, 2]}))).__name__
    'LazyFrame'
    """
    name = next(iter(inspect.signature(function).parameters))

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        frame = args[0] if args else kwargs.get(name)
        return result if isinstance(frame, pl.LazyFrame | str | Path) else result.collect()

    return call


def like_source(
    function: Callable[Concatenate[Frame | str | Path, P], pl.LazyFrame],
) -> LikeSource[P]:
    """Collect as `like_input`; the first argument can also be a file, which is read lazily."""
    return cast("LikeSource[P]", like_input(cast("Callable[Concatenate[Frame, P], Any]", function)))
