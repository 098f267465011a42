"""Outcomes of labelled responses as row-level expressions, and the columns that they read.

A label has a 1 or 0 for each group of the answer, or is [-1] for a rejection. A label made by hand
with a -1 among others is a rejection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import polars as pl

from evalframe.core.choices import Dropped, check_choice
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import columns_read

DROPPED = ":dropped"
"""Column that is True for responses without a label."""

_NOT_ADDRESSED = "not addressed"  # a judge's words about a rejection
_IDENTIFIED = ("has identified", "Yes")  # and about a response that finds the errors


def good(label: pl.Expr) -> pl.Expr:
    """True if some group is in the response and none is missing."""
    return _holds(label, 1) & ~_holds(label, 0)


def rejected(label: pl.Expr) -> pl.Expr:
    """True if the response is a rejection."""
    return _holds(label, -1)


def correct(label: pl.Expr) -> pl.Expr:
    """True if every group of the answer is in the response."""
    return good(label) & ~rejected(label)


def wrong(label: pl.Expr) -> pl.Expr:
    """True if the response is neither correct nor a rejection."""
    return ~good(label) & ~rejected(label)


def partial(label: pl.Expr) -> pl.Expr:
    """True if some groups are in a wrong response."""
    return _holds(label, 1) & _holds(label, 0) & ~rejected(label)


def counted(label: pl.Expr, noise_rate: pl.Expr, tolerance: float) -> pl.Expr:
    """True if RGB counts it: good, or a rejection if all documents are noise."""
    first = _ints(label).list.first().fill_null(0)
    return ((noise_rate - 1).abs() <= tolerance) & (first == -1) | good(label)


def detected(factlabel: pl.Expr) -> pl.Expr:
    """True if the response says that the documents are wrong."""
    return factlabel == 1


def not_missed(label: pl.Expr) -> pl.Expr:
    """True if no group is missing, as in rejections and empty labels."""
    return ~_holds(label, 0)


def judge_rejected(evaluation: pl.Expr) -> pl.Expr:
    """True if the judge calls the response a rejection."""
    return evaluation.cast(pl.String).str.contains(_NOT_ADDRESSED, literal=True)


def judge_detected(evaluation: pl.Expr) -> pl.Expr:
    """True if the judge says that the response finds the documents wrong."""
    text = evaluation.cast(pl.String)
    return pl.any_horizontal(text.str.contains(words, literal=True) for words in _IDENTIFIED)


def _holds(label: pl.Expr, value: int) -> pl.Expr:
    return _ints(label).list.contains(value)


def _ints(label: pl.Expr) -> pl.Expr:
    # Labels can be lists of any integer type, or of nulls if all are empty.
    return label.cast(pl.List(pl.Int64))


class _Kind(NamedTuple):
    """Requirement on the type of a column: a test, a description, and a remedy."""

    fits: Callable[[pl.DataType], bool]
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
"""Types of the columns that rates read."""

_READ = {"factlabel": pl.Int8(), "noise_rate": pl.Float64(), "evaluation": pl.String()}
"""Optional columns; counts and rates that need a missing one are null."""


def narrowed(rows: pl.LazyFrame, exprs: Sequence[pl.Expr]) -> pl.LazyFrame:
    """The columns that rates and these expressions read, in memory: labels are computed once."""
    roots = columns_read(exprs)
    names = dict.fromkeys(["label", *_READ, DROPPED, *sorted(roots)])
    return rows.select(*names).collect().lazy()


def with_outcomes(
    responses: pl.LazyFrame, dropped: Dropped, exprs: list[pl.Expr], asker: str = "rates"
) -> pl.LazyFrame:
    """The responses with all columns that rates read, null if the table lacks them."""
    check_choice("dropped", dropped, Dropped)
    schema = responses.collect_schema()
    roots = columns_read(exprs)
    if missing := {"label", *roots} - {*schema}:
        raise MissingColumnsError.of(asker, missing, schema.names())
    for name, kind in _TYPES.items():
        if name in schema and not kind.fits(schema[name]):
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
