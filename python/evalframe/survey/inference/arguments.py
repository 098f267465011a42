"""Checks of arguments that the functions of this package share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.typing import IntoExpr


def check_columns(caller: str, rows: pl.LazyFrame, exprs: Iterable[pl.Expr]) -> None:
    """Raise MissingColumnsError if the table lacks a column that an expression reads."""
    columns = rows.collect_schema().names()
    if missing := columns_read(exprs) - {*columns}:
        raise MissingColumnsError.of(caller, missing, columns)


def shared_keys(on: IntoExpr | Sequence[IntoExpr]) -> list[pl.Expr]:
    """Return the columns that identify what was answered, at least one."""
    keys = [as_expr(key) for key in ([on] if isinstance(on, str | pl.Expr) else on)]
    if not keys:
        raise ParameterError("on is empty; name what was answered, such as question_id")
    return keys


def check_draws(n: int, seed: int, level: float | None = None) -> None:
    """Raise ParameterError if a number of draws, a seed or a level is outside its domain."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ParameterError(f"n must be a whole number of draws, 1 or more, got {n!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed must be a whole number, 0 or more, got {seed!r}")
    if level is not None and not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, got {level!r}; usual is 0.95")
