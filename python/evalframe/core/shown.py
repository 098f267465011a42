"""A lazy table that shows itself as a table, in a notebook or a console, never as a plan."""

from __future__ import annotations

import html
from collections.abc import Callable

import polars as pl

ROWS = 50
"""Rows that are shown at most."""


class _Shown(pl.LazyFrame):
    """A LazyFrame that shows its first rows; Polars computes only these where it can.

    Methods such as `filter` keep the class, since Polars makes their results by `_from_pyldf`.
    """

    # The first rows of a longer table, kept so that the next display computes nothing.
    _head: pl.DataFrame | None = None

    def __repr__(self) -> str:
        try:
            return self._drawn(repr, "\n{}")
        except Exception as error:  # which is to be read where the table would be
            return _refusal(error)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        try:
            return self._drawn(pl.DataFrame._repr_html_, "<small>{}</small>")
        except Exception as error:
            return f"<pre>{html.escape(_refusal(error))}</pre>"

    def _drawn(self, draw: Callable[[pl.DataFrame], str], note: str) -> str:
        """The first rows, drawn by a function, and beneath them a note if there are more."""
        head = self._head
        if head is None:
            head = self.head(ROWS + 1).collect()
            if len(head) > ROWS:
                self._head = head
            else:  # all of the table: from now on this is what is collected, too
                self._ldf = head.lazy()._ldf
        is_part = len(head) > ROWS
        with pl.Config(tbl_rows=ROWS, tbl_hide_dataframe_shape=is_part):
            table = draw(head.head(ROWS))
        told = note.format(f"The first {ROWS} rows; .collect() gives all.")
        return table + told if is_part else table


def _refusal(error: Exception) -> str:
    return f"no table to show: {type(error).__name__}: {error}"


def shown(frame: pl.LazyFrame) -> pl.LazyFrame:
    """The same table, which shows itself.

    Nothing is computed before it is shown. A table of at most 50 rows is then kept, for whatever
    is asked of it next.

    >>> shown(pl.LazyFrame({"a": [1, 2]})).filter(pl.col("a") > 1)
    shape: (1, 1)
    ┌─────┐
    │ a   │
    │ --- │
    │ i64 │
    ╞═════╡
    │ 2   │
    └─────┘
    """
    table = frame.clone()
    table.__class__ = _Shown
    return table
