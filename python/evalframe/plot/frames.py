"""Tables as charts take them: what is needed is there, and only what is drawn goes into a chart.

Columns go into a chart under names of ours, since `a.b` or `a[0]` would be read as a path. Numbers
have five digits, and infinities are null: JSON knows none.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError, did_you_mean
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.plot.theme import PALETTE
from evalframe.reporting.names import cut, joined, labels, visible
from evalframe.reporting.results import checked

POINTS = 5_000
"""Points that a chart draws at most."""

PANELS = 24
"""Panels of a chart at most."""

_DIGITS = 5


def taken(frame: Frame, chart: str, needed: Sequence[str], maker: str) -> pl.DataFrame:
    """The table; an error that says what makes it if it is empty or lacks a column."""
    table = lazy(frame).collect()
    what = f"ef.plot.{chart} draws the result of {maker}"
    if missing := [name for name in needed if name not in table.columns]:
        named = ", ".join(map(repr, missing))
        hints = "".join(did_you_mean(name, table.columns) for name in missing)
        raise MissingColumnsError(
            f"{what}, which has column{'s' * (len(missing) > 1)} {named}; this table has "
            f"{table.columns}.{hints}"
        )
    if table.is_empty():
        raise ParameterError(f"{what}, and this one has no rows: there is nothing to draw")
    return checked(table, f"ef.plot.{chart}", needed)


def only(table: pl.DataFrame, column: str, chart: str) -> str:
    """The one value of a column; an error that says how to choose one of several."""
    values = table[column].unique(maintain_order=True).to_list()
    if len(values) > 1:
        raise ParameterError(
            f"ef.plot.{chart} draws one {column}, and the table has {len(values)}: {values[:5]}; "
            f"choose one: result.filter(pl.col({column!r}) == {values[0]!r})"
        )
    return str(values[0])


def keys_before(table: pl.DataFrame, column: str) -> list[str]:
    """The group keys: the columns before this one."""
    return table.columns[: table.columns.index(column)]


def varying(table: pl.DataFrame, keys: Sequence[str]) -> tuple[list[str], list[str]]:
    """The keys by which rows differ, and lines that say the values of the others."""
    differ = [key for key in keys if table[key].n_unique() > 1]
    same = ", ".join(f"{visible(k)}: {cut(table[k][0])}" for k in keys if k not in differ)
    return differ, [same] if same else []


def panels(table: pl.DataFrame, keys: Sequence[str], chart: str) -> list[tuple[str, pl.DataFrame]]:
    """The rows of each value of the keys, with its name, sorted; all rows if there are no keys.

    Raises:
        ParameterError: There are more than anyone would look at.
    """
    if not keys:
        return [("", table)]
    parts = table.sort(keys, maintain_order=True).partition_by(keys, maintain_order=True)
    if len(parts) > PANELS:
        named = " and ".join(map(repr, keys))
        raise ParameterError(
            f"ef.plot.{chart} would have {len(parts):,} panels, one for each value of {named}; "
            f"filter the table to {PANELS} or fewer"
        )
    names = labels(joined(part.select(keys).row(0) for part in parts))
    return list(zip(names, parts, strict=True))


def check_models(models: Sequence[object], chart: str) -> None:
    """ParameterError if there are more models than colours tell apart."""
    if len(models) > len(PALETTE):
        raise ParameterError(
            f"ef.plot.{chart} tells {len(PALETTE)} models apart, and the table has "
            f"{len(models):,}; filter it to those to compare"
        )


def check_points(number: int, chart: str, points: str, what: str) -> None:
    """ParameterError if there is more to draw than a chart holds."""
    if number > POINTS:
        raise ParameterError(
            f"ef.plot.{chart} would draw {number:,} {points}, more than {POINTS:,}; filter the "
            f"table to fewer {what}"
        )


def limits(*columns: pl.Series, include: Sequence[float] = ()) -> list[float]:
    """Ends of an axis that hold all values, with a margin."""
    known = pl.concat([column.cast(pl.Float64) for column in columns]).drop_nulls()
    values = [*known.to_list(), *include] or [0.0, 1.0]
    least, most = min(values), max(values)
    margin = 0.04 * (most - least) or 0.1 * abs(most) or 0.1
    return [least - margin, most + margin]


def figures(table: pl.DataFrame) -> pl.DataFrame:
    """Floats with five digits, infinities and NaN as null."""
    floats = pl.selectors.float()
    known = pl.when(floats.is_finite()).then(floats.round_sig_figs(_DIGITS))
    return table.with_columns(known.name.keep())


def thinned(line: pl.DataFrame, y: str, most: int) -> pl.DataFrame:
    """A line of at most so many points, which keeps first, last, lowest and highest of each part.

    >>> line = pl.DataFrame({"x": range(100), "y": [float(k % 10) for k in range(100)]})
    >>> few = thinned(line, "y", 40)
    >>> len(few) <= 40, few["y"].min(), few["y"].max(), few["x"].to_list()[-1]
    (True, 0.0, 9.0, 99)
    """
    if len(line) <= most:
        return line
    part = pl.int_range(pl.len()) * max(1, most // 4) // pl.len()
    row = pl.int_range(pl.len())
    kept = (
        line.with_columns(part.alias(":part"), row.alias(":row"))
        .group_by(":part")
        .agg(
            pl.concat_list(
                pl.col(":row").first(),
                pl.col(":row").last(),
                pl.col(":row").get(pl.col(y).arg_min()),
                pl.col(":row").get(pl.col(y).arg_max()),
            ).alias(":row")
        )
        .explode(":row")[":row"]
        .unique()
        .drop_nulls()
        .sort()
    )
    return line[kept]


def left_out(drawn: int, of: int, what: str) -> list[str]:
    """The line of a subtitle that says how much of a table is drawn, if not all is."""
    return [] if drawn >= of else [f"Drawn: {drawn:,} of {of:,} {what}"]
