"""Comparison of classes of any type.

Polars refuses to compare some types, with an error about its plan; the errors here are about the
metric. Expressions of the same columns are one object, so metrics of the same classes share sums.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import polars as pl

from evalframe.core.errors import ParameterError


def is_class(label: pl.Expr, positive: str | int | float | bool) -> pl.Expr:
    """True if a label is the class, null without a label."""
    if label.meta.is_column():
        return _is_class_of_column(label.meta.output_name(), positive)
    return _is_class(label, positive)


def is_same(prediction: pl.Expr, label: pl.Expr) -> pl.Expr:
    """True if two classes are equal, null if either is null."""
    if prediction.meta.is_column() and label.meta.is_column():
        return _is_same_of_columns(prediction.meta.output_name(), label.meta.output_name())
    return _row_by_row(_same, prediction, label)


@functools.lru_cache(maxsize=None, typed=True)  # 1 and True are equal, but messages differ
def _is_class_of_column(name: str, positive: str | float) -> pl.Expr:
    return _is_class(pl.col(name), positive)


@functools.cache
def _is_same_of_columns(prediction: str, label: str) -> pl.Expr:
    return _row_by_row(_same, pl.col(prediction), pl.col(label))


def _is_class(label: pl.Expr, positive: str | float) -> pl.Expr:
    def compared(columns: Sequence[pl.Series]) -> pl.Series:
        (column,) = columns
        values = pl.col(column.name)
        if isinstance(positive, str):
            fits, same = _kind(column) in ("text", None), values == positive
        else:  # a text of digits is a number
            fits, same = True, values.cast(pl.Float64) == float(positive)
        try:
            if fits:
                return column.to_frame().select(same).to_series()
        except pl.exceptions.PolarsError:
            pass
        raise ParameterError(_not_among(column, positive))

    return _row_by_row(compared, label)


def _not_among(column: pl.Series, positive: str | float) -> str:
    example = column.drop_nulls().head(1).to_list()
    such = f", such as {example[0]!r}" if example else ""
    write = f", such as positive={example[0]!r}" if example else ""
    return (
        f"the classes in {column.name!r} are {_kind(column)}{such}, and positive={positive!r} is "
        f"none of them; name the positive class{write}"
    )


def _same(columns: Sequence[pl.Series]) -> pl.Series:
    prediction, label = columns
    kinds = {_kind(prediction), _kind(label)} - {None}
    try:
        # Polars calls a Boolean and a text different.
        if len(kinds) < 2:
            return prediction == label
    except pl.exceptions.PolarsError:
        pass
    raise ParameterError(
        f"the classes in {prediction.name!r} are {prediction.dtype}, those in {label.name!r} are "
        f"{label.dtype}, and none can equal another; cast one to the type of the other"
    )


def _kind(column: pl.Series) -> str | None:
    """The kind of the classes in words; None if all are null."""
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return "numbers"
    return None if column.dtype == pl.Null else f"of type {column.dtype}"


def _row_by_row(function: Callable[[Sequence[pl.Series]], pl.Series], *exprs: pl.Expr) -> pl.Expr:
    return pl.map_batches(exprs, function, return_dtype=pl.Boolean, is_elementwise=True)
