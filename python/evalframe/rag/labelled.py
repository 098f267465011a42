"""Labelled responses, with all that rates read of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import columns_read
from evalframe.core.rules import check_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Dropped: TypeAlias = Literal["excluded", "wrong"]

DROPPED = ":dropped"
"""Whether a response came without a label."""


class _Kind(NamedTuple):
    """What a column holds: a test of its type, in words, and what to do if it is another."""

    holds: Callable[[pl.DataType], bool]
    words: str
    remedy: str


def _is_label(dtype: pl.DataType) -> bool:
    match dtype:
        case pl.List(inner=inner):
            return inner == pl.Null or (isinstance(inner, pl.DataType) and inner.is_integer())
    return dtype == pl.Null


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)


def _is_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.String | pl.Categorical | pl.Enum | pl.Null)


_NUMBER = _Kind(_is_number, "a number", "cast it")
_TYPES = {
    "label": _Kind(_is_label, "lists of integers", "make it with evalframe.rag.label"),
    "factlabel": _NUMBER,
    "noise_rate": _NUMBER,
    "evaluation": _Kind(_is_text, "text", "cast it"),
}
"""What the columns hold that rates read."""

_READ = {"factlabel": pl.Int8(), "noise_rate": pl.Float64(), "evaluation": pl.String()}
"""Columns that a table may lack; what needs them is then null."""


def narrowed(rows: pl.LazyFrame, needed: Sequence[pl.Expr]) -> pl.LazyFrame:
    """The columns that rates and these expressions read, in memory: labels are made once."""
    roots = columns_read(needed)
    names = dict.fromkeys(["label", *_READ, DROPPED, *sorted(roots)])
    return rows.select(*names).collect().lazy()


def with_outcomes(
    responses: pl.LazyFrame, dropped: Dropped, needed: list[pl.Expr], asker: str = "rates"
) -> pl.LazyFrame:
    """The responses with all that rates read, null where the table lacks it.

    Raises:
        MissingColumnsError: No label, or nothing to group by.
        ParameterError: A column has another type, or `dropped` is unknown.
    """
    check_choice("dropped", dropped, Dropped)
    schema = responses.collect_schema()
    roots = columns_read(needed)
    if missing := {"label", *roots} - {*schema}:
        raise MissingColumnsError.of(asker, missing, schema.names())
    for name, kind in _TYPES.items():
        if name in schema and not kind.holds(schema[name]):
            raise ParameterError(
                f"{asker}: {name} must be {kind.words}, but is {schema[name]}; {kind.remedy}"
            )
    label = pl.col("label").cast(pl.List(pl.Int64))
    absent = [pl.lit(None, dtype=_READ[name]).alias(name) for name in _READ if name not in schema]
    rows = responses.with_columns(label, label.is_null().alias(DROPPED), *absent)
    if dropped == "excluded":
        return rows
    failure = pl.concat_list(pl.lit(0, dtype=pl.Int64))
    unflagged = pl.when(DROPPED).then(pl.col("factlabel").fill_null(0)).otherwise("factlabel")
    return rows.with_columns(pl.col("label").fill_null(failure), unflagged.alias("factlabel"))
