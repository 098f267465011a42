"""Checks: what responses must be for a statistic to be made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.replication.participants.design import COUNTED, KIND
from evalframe.replication.participants.matching import is_text

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLUMNS = (
    Column("value", ("number", "boolean", "string"), required=False, meaning="the measure"),
    Column(
        "value_2", ("number", "boolean", "string"), required=False, meaning="the second measure"
    ),
    Column("condition", "value", required=False),
)

_MOST = 2.0**53
"""Up to this a float is exact for whole numbers."""


def check_types(schema: pl.Schema) -> None:
    """Raise where a column cannot be what it is read as.

    Raises:
        ContractError: A measure or a condition is a date, a list or the like.
    """
    Contract("responses", _COLUMNS).check_schema(schema)


def check_weights(responses: pl.LazyFrame, weight: pl.Expr, keys: Sequence[str]) -> None:
    """Raise where a weight does not say how often a participant counts.

    Args:
        responses: The responses.
        weight: Their weight; null and NaN are none.
        keys: Columns that name the test, for the message.

    Raises:
        ContractError: A weight is no number, negative, infinite, or not whole.
    """
    name = weight.meta.output_name()
    read = responses.select(**{key: pl.col(key) for key in keys} | {name: weight})
    column = Column(name, ("number", "boolean"), meaning="the weight")
    Contract("responses", (column,)).check_schema(read.collect_schema())
    number = pl.col(name).cast(pl.Float64).fill_nan(None)
    whole = number.is_between(0, _MOST) & (number == number.floor())
    remedy = f"let {name!r} say how often the participant counts, or null for not at all"
    _check(read, Rule(f"{name} is a whole number of 0 or more", whole, (*keys, name), remedy))


def check_numbers(
    responses: pl.LazyFrame, name: str, keys: Sequence[pl.Expr], tests: pl.LazyFrame
) -> None:
    """Raise where a test on numbers has texts that are none.

    Args:
        responses: The responses.
        name: Which measure.
        keys: The keys of tests in types that can be joined.
        tests: These keys and `:kind`.

    Raises:
        ContractError: With the first of these responses.
    """
    text = pl.col(name).cast(pl.String)
    names = [key.meta.output_name() for key in keys]
    # Rows of the same number as the caller's.
    placed = responses.select(*keys, text).join(
        tests, on=names, how="left", nulls_equal=True, maintain_order="left"
    )
    number = pl.col(KIND).is_in(COUNTED) | text.cast(pl.Float64, strict=False).is_not_null()
    remedy = (
        f"write numbers in {name!r}, and null for no answer; texts are for the categories of "
        "chi-square and binomial tests"
    )
    holds = number | text.is_null()
    _check(placed, Rule(f"{name} is a number in tests on numbers", holds, (*names, name), remedy))


def text_measures(schema: pl.Schema) -> list[str]:
    """Which measures are texts."""
    return [name for name in ("value", "value_2") if name in schema and is_text(schema[name])]


def _check(table: pl.LazyFrame, rule: Rule) -> None:
    if table.select(rule.broken.any()).collect().item():
        validate(table, Contract("responses", (), (rule,)))
