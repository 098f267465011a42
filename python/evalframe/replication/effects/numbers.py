"""What a number is by each rule set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.contract import Column, Contract
from evalframe.core.rows import as_expr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


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


def check_numbers(schema: pl.Schema, names: Iterable[str]) -> None:
    """Raise where a column of tests holds no numbers; a table need not have all of them.

    Raises:
        ContractError: It names the column and its type.

    >>> check_numbers(pl.Schema({"stat_human": pl.String()}), ["stat_human", "n1_human"])
    Traceback (most recent call last):
    evalframe.core.errors.ContractError: tests: column 'stat_human' is String, not a number or a
    boolean. Cast it: frame.with_columns(pl.col('stat_human').cast(pl.Float64)).
    """
    columns = (Column(name, ("number", "boolean"), required=False, nullable=True) for name in names)
    Contract("tests", tuple(columns)).check_schema(schema)
