"""A wide result table, with a column for each rate, as text or as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evalframe.core.errors import MissingColumnsError
from evalframe.core.typing import Frame
from evalframe.report.table import (
    Column,
    as_markdown,
    as_text,
    check_numbers,
    label,
    numbers,
    show_once,
    with_interval,
)

if TYPE_CHECKING:
    import polars as pl


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
        markdown: A Markdown table instead of aligned text.
        digits: Decimals of fractions; counts have none, and percentages one, whose names end in
            `_pct`.
        level: The confidence level of the intervals, named beneath the table.
        width: Characters per line; columns are left out from the right, and named beneath the
            table, until the lines fit. Keys and the first column stay.
        notes: Sentences to put beneath the table, after its own.

    Returns:
        Lines without a final line end.

    Raises:
        MissingColumnsError: A key or a column to show is not there.
        ParameterError: `digits` below 0, or `level` not between 0 and 1.

    Examples:
        >>> import polars as pl
        >>> rates = pl.DataFrame(
        ...     {
        ...         "model": ["a", "a", "b"],
        ...         "noise_rate": [0.0, 0.8, 0.0],
        ...         "n": [300, 300, 300],
        ...         "accuracy": [0.9, 0.75, 0.85],
        ...         "accuracy_lower": [0.86, 0.7, 0.8],
        ...         "accuracy_upper": [0.93, 0.8, 0.89],
        ...     }
        ... )
        >>> shown = {"n": "n", "accuracy": "accuracy"}
        >>> print(wide_table(rates, ["model", "noise_rate"], shown, digits=2, level=0.95))
        model  noise_rate    n  accuracy [lower, upper]
        -----  ----------  ---  -----------------------
        a             0.0  300        0.90 [0.86, 0.93]
                      0.8  300        0.75 [0.70, 0.80]
        b             0.0  300        0.85 [0.80, 0.89]
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
    draw = as_markdown if markdown else as_text
    lines, hidden = draw(columns), []
    for name in reversed(filled[1:]):
        if width is not None and len(lines[1]) > width:
            hidden.append(columns.pop(name).title)
            lines = draw(columns)
    captions = []
    if level is not None and any(column.title.endswith("]") for column in columns.values()):
        captions.append(f"{100 * level:g}% intervals in brackets.")
    if hidden:
        captions.append(f"Not shown at {width} characters: {', '.join(reversed(hidden))}.")
    if more := len(rows) - len(table):
        captions.append(f"{more:,} more rows are not shown; an output has them.")
    if table.is_empty():
        captions.append("No rows.")
    captions += notes
    return "\n".join([*lines, "", *captions] if captions else lines)


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
