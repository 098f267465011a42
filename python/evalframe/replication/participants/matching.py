"""Matching: the types in which keys, conditions and categories of two tables are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ContractError

if TYPE_CHECKING:
    from polars.datatypes import DataTypeClass


_WIDE = (pl.UInt64(), pl.Int128())


def is_text(dtype: pl.DataType | DataTypeClass) -> bool:
    """True for texts, plain or encoded."""
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum)


def shared_type(ours: pl.DataType, theirs: pl.DataType) -> pl.DataType:
    """The type in which values of a design and of responses are compared.

    The design decides: its texts are compared as texts, its numbers as numbers; a boolean is a
    text if the other is a text, else a number.

    >>> shared_type(pl.String(), pl.Int64()), shared_type(pl.Int64(), pl.Float32())
    (String, Float64)
    """
    if ours == theirs:
        return ours
    if ours.is_integer() and theirs.is_integer():
        return pl.Int128() if {ours, theirs} & {*_WIDE} else pl.Int64()
    if ours.is_numeric() or (ours == pl.Boolean() and not is_text(theirs)):
        return pl.Float64()
    return pl.String()


def compared(column: pl.Expr, dtype: pl.DataType, shared: pl.DataType) -> pl.Expr:
    """A column in the type in which it is compared, null if it cannot be cast.

    A whole number has no decimal point as text, so that 1.0 and "1" are the same.

    >>> numbers = pl.Series([1.0, 1.5, -0.0])
    >>> pl.select(compared(pl.lit(numbers), pl.Float64(), pl.String())).to_series().to_list()
    ['1', '1.5', '0']
    """
    if shared == pl.String() and dtype.is_numeric() and not dtype.is_integer():
        integer = column.cast(pl.Int64, strict=False)
        text = pl.when(integer == column).then(integer.cast(pl.String))
        return text.otherwise(column.cast(pl.String))
    if is_text(dtype):
        column = column.cast(pl.String)  # an Enum is no number, whatever it says
    return column if dtype == shared else column.cast(shared, strict=False)


def keys_like(design: pl.Schema, responses: pl.Schema, keys: Sequence[str]) -> list[pl.Expr]:
    """The keys in types in which both tables can be joined; else ContractError."""
    types = {}
    for name in keys:
        ours, theirs = design[name], responses[name]
        if _family(ours) != _family(theirs) and pl.Null() not in (ours, theirs):
            raise ContractError(
                f"{name!r} is {theirs} in the responses, but {ours} in the design. Cast one: "
                f"design.with_columns(pl.col({name!r}).cast(pl.{theirs}))."
            )
        types[name] = shared_type(ours, theirs)
    return [pl.col(name).cast(dtype) for name, dtype in types.items()]


def _family(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return "number"
    return "text" if is_text(dtype) else str(dtype)
