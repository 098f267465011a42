"""A result table as text for a terminal or as Markdown for a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from evalframe.core.choices import check_level
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.typing import Frame
from evalframe.reporting.names import p_value, visible
from evalframe.reporting.paper import Column, as_markdown, as_text

_MISSING = ("n_missing", "n_missing_left", "n_missing_right")
_DETAILS = (*_MISSING, "n_clusters", "drop_rate", "std_error")
"""Columns that say nothing when all zero, and that make room, in this order, in narrow tables."""

_LABELS = ("metric", "left", "right")
_CENTRES = ("estimate", "delta")
_ENDS = " [lower, upper]"
_NULL = "-"
_GAP = "..."
_LARGE = 1e7


def render(
    result: Frame,
    *,
    markdown: bool = False,
    digits: int = 4,
    level: float | None = None,
    width: int | None = None,
    limit: int | None = 60,
    notes: Sequence[str] = (),
) -> str:
    """Write the table of `evaluate` or `compare` for a reader.

    An interval stands beside its estimate, a null is `-`, and a number too small for its digits
    takes the general format. Columns that are null throughout are left out, as are standard error,
    drop rate and counts of clusters and missing rows that are zero throughout. In text a group
    key appears once, in Markdown on every row.

    Args:
        result: A result table: group keys, `metric`, then numbers. Rows keep their order.
        markdown: A Markdown table instead of aligned text.
        digits: Decimals of estimates.
        level: The confidence level of the intervals, named beneath the table.
        width: Characters per line; details are left out, and named beneath the table, until the
            lines fit. Estimates and labels are never cut.
        limit: Rows to show at most, the first and the last; all of them if None.
        notes: Sentences to put beneath the table, after its own.

    Returns:
        Lines without a final line end.

    Raises:
        ParameterError: `digits` below 0, `limit` below 2, or `level` not between 0 and 1.

    Examples:
        >>> rows = {"metric": ["coverage", "aurc"], "estimate": [0.75, None], "n": [1200, 0]}
        >>> ends = {"lower": [0.5, None], "upper": [1.0, None]}
        >>> print(render(pl.DataFrame({"model": ["a", "a"], **rows, **ends}), level=0.95))
        model  metric    estimate [lower, upper]      n
        -----  --------  -----------------------  -----
        a      coverage  0.7500 [0.5000, 1.0000]  1,200
               aurc           -                       0
        <BLANKLINE>
        95% intervals in brackets.
    """
    check_numbers(digits, level)
    if limit is not None and limit < 2:
        raise ParameterError(f"limit is {limit}; choose 2 or more rows, or None for all.")

    table = result.lazy().collect()
    keys = table.columns[: table.columns.index("metric")] if "metric" in table.columns else []
    rows, gap = _ends(table.select(_informative(table, keys)), limit)
    columns = _columns(rows, keys, digits)
    if not markdown:
        show_once([columns[key].cells for key in keys], gap)
    if gap is not None:
        for column in columns.values():
            column.cells.insert(gap, _GAP)

    more = ""
    if gap is not None:
        more = f"{table.height - rows.height:,} of {table.height:,} rows left out."
    return _written(columns, _DETAILS, markdown, width, level, [more, *notes])


def _written(
    columns: dict[str, Column],
    droppable: Iterable[str],
    markdown: bool,
    width: int | None,
    level: float | None,
    notes: Iterable[str],
) -> str:
    """The columns that fit the width, without the first of the droppable ones, and notes."""
    draw = as_markdown if markdown else as_text
    lines = draw(columns.values())
    heads = {name: column.title for name, column in columns.items()}
    for name in droppable:
        if width is not None and len(lines[1]) > width and name in columns:
            del columns[name]
            lines = draw(columns.values())
    captions = []
    if level is not None and any(column.title.endswith(_ENDS) for column in columns.values()):
        captions.append(f"{100 * level:g}% intervals in brackets.")
    if hidden := [head for name, head in heads.items() if name not in columns]:
        captions.append(f"Not shown at {width} characters: {', '.join(hidden)}.")
    if not any(column.cells for column in columns.values()):
        captions.append("No rows.")
    captions += filter(None, notes)
    return "\n".join([*lines, "", *captions] if captions else lines)


def check_numbers(digits: int, level: float | None) -> None:
    """Raise ParameterError for `digits` below 0, or if `level` is none."""
    if digits < 0:
        raise ParameterError(f"digits is {digits}; choose 0 or more.")
    if level is not None:
        check_level(level)


def _informative(table: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """The columns that say something; both ends of an interval, or neither."""
    if table.is_empty():
        return table.columns
    empty = {
        column.name
        for column in table
        if column.null_count() == table.height
        or (column.name in _DETAILS and not (column != 0).any())
    }
    empty -= {*keys, *_LABELS, *_CENTRES}
    if not {"lower", "upper"} <= empty:
        empty -= {"lower", "upper"}
    return [name for name in table.columns if name not in empty]


def _ends(table: pl.DataFrame, limit: int | None) -> tuple[pl.DataFrame, int | None]:
    """The first and last rows, `limit` together, and where the gap is; or all of them, no gap."""
    if limit is None or table.height <= limit:
        return table, None
    first = (limit + 1) // 2
    return pl.concat([table.head(first), table.tail(limit - first)]), first


def _columns(rows: pl.DataFrame, keys: Sequence[str], digits: int) -> dict[str, Column]:
    """Every column written out, the interval inside the column of its estimate."""
    columns = {
        column.name: label(column)
        if column.name in (*keys, *_LABELS) or not column.dtype.is_numeric()
        else numbers(column, digits)
        for column in rows
    }
    centre = next((name for name in reversed(_CENTRES) if name in columns), None)
    if centre and {"lower", "upper"} <= columns.keys():
        ends = columns.pop("lower"), columns.pop("upper")
        columns[centre] = with_interval(columns[centre], *ends)
    return columns


def label(column: pl.Series) -> Column:
    """A column of names, each on one line and without hidden characters."""
    cells = [_NULL if value is None else visible(value) for value in column]
    return Column(column.name, cells)


def numbers(column: pl.Series, digits: int) -> Column:
    """A column of numbers: counts with separators, the rest with so many decimals."""
    write: Callable[[Any], str]
    if column.dtype.is_integer():
        write = "{:,}".format
    elif column.name in ("p_value", "p_adjusted"):
        write = p_value
    else:
        write = partial(_number, digits=digits)
    cells = [_NULL if value is None else write(value) for value in column]
    return Column(column.name, cells, is_number=True)


def _number(value: float, digits: int) -> str:
    if value == 0:
        return f"{0:.{digits}f}"
    if 10**-digits <= abs(value) < _LARGE:
        return f"{value:.{digits}f}"
    if abs(value) < 1:
        return f"{value:.{min(max(digits, 1), 2)}g}"  # short, so that its column stays narrow
    return f"{value:.{max(digits, 1)}g}"


def with_interval(centre: Column, lower: Column, upper: Column) -> Column:
    """`0.1234 [0.1001, 0.1467]`, brackets beneath each other; one `-` where either is null."""
    intervals = [
        "" if low == high == _NULL or value == _NULL else f"[{low}, {high}]"
        for value, low, high in zip(centre.cells, lower.cells, upper.cells, strict=True)
    ]
    values = centre._replace(title="").aligned()[1:]
    brackets = Column("", intervals).aligned()[1:]
    cells = [" ".join(cell) for cell in zip(values, brackets, strict=True)]
    return Column(centre.title + _ENDS, cells, is_number=True)


def show_once(keys: Sequence[list[str]], gap: int | None) -> None:
    """Blank every key that, with those to its left, repeats the row above."""
    rows = list(zip(*keys, strict=True))
    for row in range(1, len(rows)):
        for position, cells in enumerate(keys, start=1):
            if row != gap and rows[row][:position] == rows[row - 1][:position]:
                cells[row] = ""


LINES = 60
"""Rows of a table for a terminal at most; Markdown has all."""


def wide_table(
    result: Frame,
    keys: Sequence[str],
    shown: Mapping[str, str],
    *,
    markdown: bool = False,
    digits: int = 4,
    level: float | None = None,
    width: int | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Write columns of a wide table for a reader, one line for each row.

    A column is followed by its interval where the table has it as `<column>_lower` and
    `<column>_upper`. Columns that are null throughout are left out.

    Args:
        result: The table. Rows keep their order; text has the first `LINES` of them.
        keys: What tells the rows apart; in text a key appears once.
        shown: Columns to show, each with its head.
        markdown: As for `render`, and so are `level` and `notes`.
        digits: Decimals of fractions; counts have none, and percentages one, whose names end in
            `_pct`.
        level: The confidence level of the intervals.
        width: Characters per line; columns are left out from the right, and named beneath the
            table, until the lines fit. Keys and the first column stay.
        notes: Sentences beneath the table.

    Raises:
        ParameterError: `digits` below 0, or `level` not between 0 and 1.

    Examples:
        >>> rates = pl.DataFrame({"model": ["a", "a"], "noise": [0.0, 0.8], "right": [0.9, 0.75]})
        >>> rates = rates.with_columns(right_lower=0.7, right_upper=pl.col("right") + 0.05)
        >>> print(wide_table(rates, ["model", "noise"], {"right": "right"}, digits=2, level=0.95))
        model  noise  right [lower, upper]
        -----  -----  --------------------
        a        0.0     0.90 [0.70, 0.95]
                 0.8     0.75 [0.70, 0.80]
        <BLANKLINE>
        95% intervals in brackets.
    """
    check_numbers(digits, level)
    table = result.lazy().collect()
    if missing := {*keys, *shown} - {*table.columns}:
        raise MissingColumnsError.of("the table", missing, table.columns)
    rows, table = table, table if markdown else table.head(LINES)
    columns = {f":{key}": _key(table[key]) for key in keys}
    if not markdown:
        show_once([column.cells for column in columns.values()], None)
    filled = [name for name in shown if table[name].null_count() < table.height]
    columns |= {name: _figures(table, name, shown[name], digits) for name in filled}
    left_out = len(rows) - len(table)
    more = f"{left_out:,} more rows are not shown; an output has them." if left_out else ""
    return _written(columns, reversed(filled[1:]), markdown, width, level, [more, *notes])


def _key(column: pl.Series) -> Column:
    return label(column)._replace(is_number=column.dtype.is_numeric())


def _figures(table: pl.DataFrame, name: str, head: str, digits: int) -> Column:
    if not table.schema[name].is_numeric():
        return label(table[name].alias(head))
    digits = min(digits, 1) if name.endswith("_pct") else digits
    written = numbers(table[name].alias(head), digits)
    ends = [f"{name}_lower", f"{name}_upper"]
    if not {*ends} <= {*table.columns} or table[ends[0]].null_count() == table.height:
        return written
    return with_interval(written, *(numbers(table[end], digits) for end in ends))
