"""Tables for people of results that have several numbers in a row, such as rates or studies."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from evalframe.reporting.names import cell, digits, p_value, visible
from evalframe.reporting.paper import Column, Table
from evalframe.reporting.showing import ROWS

_ENDS = ("lower", "upper")
_HEADS = {"p_adjusted": "adjusted p", "n_eff": "effective n"}
"""Heads that do not follow from the names of columns."""


def plain(
    table: pl.DataFrame, columns: Sequence[str] | None = None, *, ends_of: str | None = None
) -> Table:
    """Columns of a table, each number with its interval.

    Args:
        table: Any table; its first 200 rows are shown.
        columns: What is shown, as far as it is there; by default all columns.
        ends_of: The column whose interval is `lower` to `upper`; that of `x` is `x_lower`, too.

    >>> rates = {"model": ["a"], "n": 1200, "rate": 0.5, "rate_lower": 0.47, "rate_upper": 0.53}
    >>> print(plain(pl.DataFrame(rates)))
    model      n                  rate
    -----  -----  --------------------
    a      1,200  0.500 [0.470, 0.530]
    <BLANKLINE>
    Intervals in brackets.
    """
    shown = table.head(ROWS)
    ends = _ends(table.columns, ends_of)
    taken = {end for pair in ends.values() for end in pair}
    names = [name for name in columns or table.columns if name in table.columns]
    cells = [_column(shown, name, ends.get(name)) for name in names if name not in taken]
    notes = []
    if any("[" in value for column in cells if column.is_number for value in column.cells):
        notes.append("Intervals in brackets.")
    if len(shown) < len(table):
        notes.append(f"The first {len(shown):,} of {len(table):,} rows.")
    return Table(cells, notes)


def _ends(columns: Collection[str], ends_of: str | None) -> dict[str, tuple[str, str]]:
    """The columns of the interval of each column that has one."""
    pairs = {name: (f"{name}_{_ENDS[0]}", f"{name}_{_ENDS[1]}") for name in columns}
    if ends_of is not None:
        pairs[ends_of] = _ENDS
    return {name: pair for name, pair in pairs.items() if {*pair} <= {*columns}}


def _column(table: pl.DataFrame, name: str, ends: tuple[str, str] | None) -> Column:
    """A column of texts, counts, p-values or numbers."""
    values, dtype = table[name], table.schema[name]
    head = _HEADS.get(name) or visible(name.removeprefix("n_").replace("_", " "))
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
    """Numbers with as many digits as their intervals, or their spread, need."""
    value = table[name].cast(pl.Float64)
    none = pl.Series([None] * len(table), dtype=pl.Float64)
    lower, upper = (none, none) if ends is None else (table[end] for end in ends)
    finite = value.filter(value.is_finite())
    spread = float(finite.max() - finite.min()) if len(finite) else 0.0  # type: ignore[operator, arg-type]
    decimals = digits(((upper - lower) / 2).to_list(), spread)
    return [cell(*each, decimals) for each in zip(value, lower, upper, strict=True)]
