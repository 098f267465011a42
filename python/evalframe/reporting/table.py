"""Tables for people of results that have several numbers in a row, such as rates or studies."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import polars as pl

from evalframe.core.choices import check_level
from evalframe.core.errors import MissingColumnsError
from evalframe.reporting.names import cell, digits, p_value, visible
from evalframe.reporting.paper import Column, Table, as_markdown, as_text

ROWS = 200
"""Rows of a table at most."""

LINES = 60
"""Rows of a table in a terminal at most; Markdown has all."""

_ENDS = ("lower", "upper")
_HEADS = {"p_adjusted": "adjusted p", "n_eff": "effective n"}
"""Heads that do not follow from the names of columns."""

_MISSING = ("n_missing", "n_missing_left", "n_missing_right")
_MAIN = ("delta", "estimate", "decision", "p_adjusted")
"""Columns that stay where lines are short: a gate is asked for its decision."""

_ESTIMATES = ("estimate_left", "estimate", "delta")
_DETAILS = (*_MISSING, "n_clusters", "drop_rate", "std_error")
"""Columns that say nothing when all zero."""


def plain(
    table: pl.DataFrame,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    *,
    keys: Sequence[str] = (),
    ends_of: str | None = None,
    level: float | None = None,
    rows: int | None = ROWS,
) -> Table:
    """Columns of a table, each number with its interval; numbers without any value are left out.

    Args:
        table: Any table.
        columns: What is shown, as far as it is there, perhaps with heads; by default all columns.
        keys: What tells rows apart; it stands first, as it is.
        ends_of: The column whose interval is `lower` to `upper`; that of `x` is `x_lower`, too.
        level: The confidence level of the intervals.
        rows: How many of the first rows are shown at most; all if None.

    >>> rates = {"model": ["a"], "n": 1200, "rate": 0.5, "rate_lower": 0.47, "rate_upper": 0.53}
    >>> print(plain(pl.DataFrame(rates)))
    model      n                  rate
    -----  -----  --------------------
    a      1,200  0.500 [0.470, 0.530]
    <BLANKLINE>
    Intervals in brackets.
    """
    if level is not None:
        check_level(level)
    shown = table if rows is None else table.head(rows)
    heads = columns if isinstance(columns, Mapping) else {}
    ends = _ends([name for name in table.columns if name not in keys], ends_of)
    taken = {end for pair in ends.values() for end in pair} | {*keys} | _empty(table, ends_of)
    names = [name for name in columns or table.columns if name in table.columns]
    cells = [_key(shown, name) for name in keys]
    known = [name for name in names if name not in taken]
    if not (known or keys):  # no number has any value
        known = names
    cells += [_column(shown, name, ends.get(name), heads.get(name)) for name in known]
    notes = []
    if any("[" in value for column in cells if column.is_number for value in column.cells):
        of_level = "Intervals" if level is None else f"{100 * level:g}% intervals"
        notes.append(f"{of_level} in brackets.")
    if len(shown) < len(table):
        notes.append(f"The first {len(shown):,} of {len(table):,} rows.")
    return Table(cells, notes if len(table) else ["No rows."])


def written(
    table: pl.DataFrame,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    *,
    keys: Sequence[str] = (),
    ends_of: str | None = None,
    level: float | None = None,
    rows: int | None = LINES,
    markdown: bool = False,
    width: int | None = None,
    notes: Sequence[str] = (),
) -> str:
    """The same as text, or as Markdown with all rows, with notes beneath it, each on a line.

    Columns are left out from the right, and named, until lines have at most `width` characters.
    Keys and the first column stay.
    """
    if missing := {*keys} - {*table.columns}:
        raise MissingColumnsError.of("the table", missing, table.columns)
    rows = None if markdown else rows
    shown = plain(table, columns, keys=keys, ends_of=ends_of, level=level, rows=rows)
    hidden: list[str] = []
    while (
        width is not None
        and len(shown.columns) > len(keys) + 1
        and len(as_text(shown.columns)[1]) > width
    ):
        *others, last = shown.columns
        shown, hidden = replace(shown, columns=others), [last.title, *hidden]
    told = [f"Not shown at {width} characters: {', '.join(hidden)}."] if hidden else []
    lines = (as_markdown if markdown else as_text)(shown.columns)
    captions = [*shown.notes, *told, *notes]
    return "\n".join([*lines, "", *captions] if captions else lines)


def long_table(
    result: pl.DataFrame,
    *,
    level: float | None = None,
    rows: int | None = LINES,
    markdown: bool = False,
    width: int | None = None,
    notes: Sequence[str] = (),
) -> str:
    """A result of `evaluate`, `compare` or `rank` as `written`, a row for each metric.

    >>> estimates = {"estimate": [0.75, 0.0123], "lower": [0.5, 0.01], "upper": [1.0, 0.015]}
    >>> print(long_table(pl.DataFrame({"metric": ["coverage", "aurc"], **estimates}), level=0.95))
    metric                   estimate
    --------  -----------------------
    coverage        0.75 [0.50, 1.00]
    aurc      0.0123 [0.0100, 0.0150]
    <BLANKLINE>
    95% intervals in brackets.
    """
    columns = result.columns
    places = [place for place, name in enumerate(columns) if name in _ESTIMATES]
    keys = columns[: places[0]] if places else []
    main = [name for name in _MAIN if name in columns]
    return written(
        result.select(*keys, *main, pl.exclude(*keys, *main)),
        keys=keys,
        ends_of=main[0] if main else None,
        level=level,
        rows=rows,
        markdown=markdown,
        width=width,
        notes=notes,
    )


def _ends(columns: Collection[str], ends_of: str | None) -> dict[str, tuple[str, str]]:
    """The columns of the interval of each column that has one."""
    pairs = {name: (f"{name}_{_ENDS[0]}", f"{name}_{_ENDS[1]}") for name in columns}
    if ends_of is not None:
        pairs[ends_of] = _ENDS
    return {name: pair for name, pair in pairs.items() if {*pair} <= {*columns}}


def _empty(table: pl.DataFrame, ends_of: str | None) -> set[str]:
    """Numbers without any value, and details that are zero throughout."""
    if table.is_empty():
        return set()
    return {
        each.name
        for each in table
        if each.name != ends_of
        and (each.dtype.is_numeric() or each.dtype == pl.Null)
        and (each.null_count() == len(each) or (each.name in _DETAILS and not (each != 0).any()))
    }


def _key(table: pl.DataFrame, name: str) -> Column:
    """A column of what tells rows apart: numbers as they are."""
    values, is_number = table[name], table.schema[name].is_numeric()
    numbers = [None if value is None else float(value) for value in values] if is_number else []
    texts = ["—" if value is None else visible(value) for value in values]
    return Column(visible(name), texts, is_number=is_number, values=numbers)


def _column(
    table: pl.DataFrame, name: str, ends: tuple[str, str] | None, head: str | None
) -> Column:
    """A column of texts, counts, p-values or numbers."""
    values, dtype = table[name], table.schema[name]
    head = head or _HEADS.get(name) or visible(name.removeprefix("n_").replace("_", " "))
    if dtype == pl.Boolean:
        return Column(head, [{True: "yes", False: "no"}.get(value, "—") for value in values])
    if not dtype.is_numeric():
        return Column(head, ["—" if value is None else visible(value) for value in values])
    numbers = [None if value is None else float(value) for value in values]
    if dtype.is_integer():
        texts = ["—" if value is None else f"{value:,}" for value in values]
    elif name.startswith("p_"):
        texts = [*map(p_value, numbers)]
    else:
        texts = _floats(table, name, ends)
    return Column(head, texts, is_number=True, values=numbers)


def _floats(table: pl.DataFrame, name: str, ends: tuple[str, str] | None) -> list[str]:
    """Numbers with as many digits as their intervals, or their spread, need; of each metric."""
    value, none = table[name].cast(pl.Float64), pl.Series([None] * len(table), dtype=pl.Float64)
    lower, upper = (none, none) if ends is None else (table[end] for end in ends)
    metrics = table["metric"] if "metric" in table.columns else pl.Series([""] * len(table))
    half = (upper - lower) / 2
    decimals = {
        metric: _decimals(value.filter(metrics == metric), half.filter(metrics == metric))
        for metric in metrics.unique()
    }
    rows = zip(value, lower, upper, [decimals[each] for each in metrics], strict=True)
    return [cell(*row) for row in rows]


def _decimals(values: pl.Series, half_widths: pl.Series) -> int:
    """As many as intervals need; without any no more than the numbers have."""
    known = [abs(each) for each in values if each is not None and math.isfinite(each)]
    spread = max(known, default=0.0) - min(known, default=0.0) or max(known, default=0.0)
    decimals = digits(half_widths.to_list(), spread)
    if half_widths.count():
        return decimals
    ends = [f"{each:.6f}".rstrip("0").partition(".")[2] for each in known]
    return min(decimals, max([1, *map(len, ends)]))
