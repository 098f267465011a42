"""The two rule sets, and what a number is by each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr

Rules: TypeAlias = Literal["documented", "reference"]


def check_rules(rules: str) -> None:
    """Raise where there are no such rules.

    Raises:
        ParameterError: It names those that there are.
    """
    if rules not in get_args(Rules):
        raise ParameterError(f"unknown rules {rules!r}; known: {', '.join(get_args(Rules))}")


def number(column: IntoExpr | None, rules: Rules) -> pl.Expr:
    """A role as Float64: NaN is null, and by the documented rules infinity is, too.

    Args:
        column: None stands for a column of nothing but nulls.
        rules: Of the function that asks.
    """
    if column is None:
        return pl.lit(None, dtype=pl.Float64)
    value = as_expr(column).cast(pl.Float64)
    if rules == "reference":
        return value.fill_nan(None)
    return pl.when(value.is_finite()).then(value)
