"""The common forms, `DISTRIBUTION: [60, 40]` and `[60, 40]`, read without capturing regexes."""

from __future__ import annotations

import polars as pl

from evalframe.survey.parsing.ladder import VECTOR

_MARKER = "DISTRIBUTION: ["
_ANY_MARKER = "(?i-u:distribution)"


def marked_form(rows: pl.DataFrame, *, only: bool = False) -> pl.Series:
    """The vectors of responses whose first bracket stands in `DISTRIBUTION: [60, 40]`.

    Each piece between `, ` must be one finite number and nothing else, so that there is but one
    way to read it; all other responses are null.

    Args:
        rows: Responses, in `text`.
        only: Whether no other bracket may follow.
    """
    first = pl.col("text").str.find("[", literal=True)
    marker = pl.col("text").str.find(_MARKER, literal=True)
    return _vectors(rows, pl.when(marker + (len(_MARKER) - 1) == first).then(first + 1), only=only)


def bare_form(rows: pl.DataFrame, *, only: bool = False) -> pl.Series:
    """The same for `[60, 40]` in responses without a marker in any case."""
    first = pl.col("text").str.find("[", literal=True)
    unmarked = ~pl.col("text").str.contains(_ANY_MARKER)
    return _vectors(rows, pl.when(unmarked).then(first + 1), only=only)


def _vectors(rows: pl.DataFrame, begin: pl.Expr, *, only: bool) -> pl.Series:
    """The numbers from a byte on until the bracket is closed."""
    rest = pl.col("rest")
    after = rows.select(rest=_sliced(pl.col("text"), begin))
    closed = rest.str.find("]", literal=True)
    if only:
        closed = pl.when(~rest.str.contains("[", literal=True)).then(closed)
    # A slice of no known length goes on to the end.
    inside = _sliced(rest, pl.when(closed.is_not_null()).then(0), closed)
    vectors = after.select(vector=inside.str.split(", ").cast(VECTOR, strict=False)).to_series()
    return vectors if _all_finite(vectors) else vectors.set(~_each_finite(vectors), None)


def _sliced(text: pl.Expr, start: pl.Expr, length: pl.Expr | None = None) -> pl.Expr:
    """A part between two bytes, which must be ends of characters; null where one is null."""
    return text.cast(pl.Binary).bin.slice(start, length).cast(pl.String)


def _all_finite(vectors: pl.Series) -> bool:
    numbers = vectors.drop_nulls().explode()
    return bool(numbers.null_count() == 0 and numbers.is_finite().all())


def _each_finite(vectors: pl.Series) -> pl.Series:
    finite = pl.element().is_finite().fill_null(value=False)
    return vectors.list.eval(finite).list.all().fill_null(value=False)
