"""Rows: what callers hand over as columns."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.typing import IntoExpr


def as_expr(column: IntoExpr) -> pl.Expr:
    """A column name or an expression as an expression; else ParameterError."""
    if isinstance(column, str):
        return pl.col(column)
    if isinstance(column, pl.Expr):
        return column
    raise ParameterError(
        f"expected a column name or a Polars expression, got {column!r}; a constant is pl.lit(...)"
    )


def columns_read(exprs: Iterable[pl.Expr]) -> set[str]:
    """The names of all columns that expressions read."""
    return {name for expr in exprs for name in expr.meta.root_names()}


def is_row_level(expr: pl.Expr) -> bool:
    """True if each value follows from its row alone."""
    meta = expr.meta
    if meta.is_column() or meta.is_literal():
        return True
    try:
        return meta.is_row_separable() and all(is_row_level(part) for part in meta.pop())
    except pl.exceptions.PolarsError:  # a function of the user's own: not to be known
        return True


def all_hold(*conditions: pl.Expr) -> pl.Expr:
    """True where every condition is, false elsewhere, also where one is null."""
    # Operators only: `all_horizontal` and `fill_null` keep Polars from adding up groups as it
    # reads.
    return functools.reduce(operator.and_, conditions).eq_missing(pl.lit(value=True))


def spread_literals(columns: Mapping[str, pl.Expr]) -> dict[str, pl.Expr]:
    """The columns, with constants repeated in every row."""
    anchor = next((expr for expr in columns.values() if expr.meta.root_names()), None)
    if anchor is None:
        raise ParameterError(f"none of {', '.join(columns)} names a column; at least one must")
    return {
        name: expr
        if expr.meta.root_names()
        else pl.when(anchor.is_null()).then(expr).otherwise(expr)
        for name, expr in columns.items()
    }
