"""Files whose text is at fault, and lists that formats without types hold as text."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import InputError, ParameterError
from evalframe.survey.surveys.shapes import numbers_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalframe.jobs.paths import File

_TEXT = (".csv", ".jsonl", ".ndjson")


@contextmanager
def naming_lines(files: Sequence[File]) -> Iterator[None]:
    """Say in which line a file of text is none, where that is why it cannot be read."""
    try:
        yield
    except InputError:
        for file in files:
            if file.path.suffix.lower() in _TEXT and (line := _line_without_text(file)):
                raise InputError(
                    f"{file.name}: line {line:,} is not UTF-8 text; save the file as UTF-8"
                ) from None
        raise


def _line_without_text(file: File) -> int | None:
    """The first line that is not UTF-8, counted from 1."""
    with file.path.open("rb") as lines:
        return next((number for number, line in enumerate(lines, 1) if not _is_text(line)), None)


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def as_numbers(column: str, dtype: pl.DataType) -> pl.Expr:
    """Lists of numbers, also from text such as `[50, 30, 20]` or `[50%, 50%]`, or from arrays.

    What is no number in such a text becomes a null of the list, and other text is null.

    Raises:
        ParameterError: The column holds none of these.

    >>> frame = pl.DataFrame({"actual": ["[0.5, 0.5]", "[1, x]", "half"]})
    >>> frame.select(as_numbers("actual", pl.String()))["actual"].to_list()
    [[0.5, 0.5], [1.0, None], None]
    """
    match dtype:
        case pl.String():
            inside = pl.col(column).str.extract(r"^\s*\[([^\[\]]*)\]\s*$")
            return inside.str.split(",").list.eval(numbers_of(pl.element())).alias(column)
        case pl.List(inner=pl.String()):
            return pl.col(column).list.eval(numbers_of(pl.element()))
        case pl.List(inner=inner) | pl.Array(inner=inner) if inner.is_numeric() or inner == pl.Null:
            return pl.col(column).cast(pl.List(pl.Float64))
        case pl.Null():
            return pl.col(column).cast(pl.List(pl.Float64))
    raise ParameterError(
        f"{column} must be lists of shares (List(Float64)), or their text, but is {dtype}"
    )


def as_labels(column: str, dtype: pl.DataType) -> pl.Expr:
    """Lists of texts, also from their JSON."""
    value = pl.col(column)
    return value.str.json_decode(pl.List(pl.String())) if dtype == pl.String() else value
