"""What columns may hold: kinds of types, in words and as families of types of Polars."""

from __future__ import annotations

from itertools import chain
from typing import Literal, TypeAlias

import polars as pl

Kind: TypeAlias = Literal[
    "number",
    "integer",
    "string",
    "boolean",
    "key",
    "value",
    "integers",
    "numbers",
    "texts",
    "values",
    "groups",
    "any",
]
"""What a column may hold.

A key is an integer or a string; a value a number, string or boolean; integers, numbers, texts and
values are lists, groups are lists of lists of texts.
"""

# What a kind is in words, the families of types it takes, and what to cast others to.
_KINDS: dict[Kind, tuple[str, tuple[str, ...], str]] = {
    "number": ("a number", ("integer", "fraction"), "Float64"),
    "integer": ("an integer", ("integer",), "Int64"),
    "string": ("a string", ("string",), "String"),
    "boolean": ("a boolean", ("boolean",), "Boolean"),
    "key": ("an integer or a string", ("integer", "string"), "Int64"),
    "value": ("a single value", ("integer", "fraction", "string", "boolean"), "String"),
    "integers": ("a list of integers", ("integers", "list(null)"), "List(pl.Int64)"),
    "numbers": ("a list of numbers", ("integers", "numbers", "list(null)"), "List(pl.Float64)"),
    "values": (
        "a list of values",
        ("integers", "numbers", "list(string)", "list(boolean)", "list(null)"),
        "List(pl.String)",
    ),
    "texts": ("a list of texts", ("list(string)", "list(null)"), "List(pl.String)"),
    "groups": (
        "a list of lists of texts",
        ("list(list(string))", "list(list(null))", "list(null)"),
        "List(pl.List(pl.String))",
    ),
    "any": ("anything", (), ""),
}


def _family(dtype: pl.DataType) -> str:
    if dtype.is_numeric():
        return "integer" if dtype.is_integer() else "fraction"
    if isinstance(dtype, pl.List) and dtype.inner.is_numeric():
        return "integers" if dtype.inner.is_integer() else "numbers"
    text = isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
    return "string" if text else str(dtype).lower()


def misfit(
    name: str, kind: Kind | tuple[Kind, ...], meaning: str, dtype: pl.DataType
) -> str | None:
    """Why a column of this type does not hold what it should, and what to do; or None."""
    kinds = (kind,) if isinstance(kind, str) else kind
    words, families, casts = zip(*(_KINDS[kind] for kind in kinds), strict=True)
    if dtype == pl.Object:
        return f"column {name!r} holds Python objects; make numbers or texts of them"
    if "any" in kinds or _family(dtype) in ("null", *chain.from_iterable(families)):
        return None
    of = f" ({meaning})" if meaning else ""
    remedy = f"frame.with_columns(pl.col({name!r}).cast(pl.{casts[0]}))"
    fault = f"column {name!r}{of} is {dtype}, not {' or '.join(words)}"
    return f"{fault}. Cast it: {remedy}."


def unlike(pair: tuple[str, str], schema: pl.Schema) -> str | None:
    """Why two columns cannot be compared, or None."""
    left, right = (_family(schema[name]).replace("fraction", "integer") for name in pair)
    if left == right or "null" in (left, right):
        return None
    a, b = pair
    fault = f"columns {a!r} and {b!r} are compared, but are {schema[a]} and {schema[b]}"
    return f"{fault}. Cast one: frame.with_columns(pl.col({a!r}).cast(pl.{schema[b]}))."
