"""Statistics of tests as text, in the form in which papers report them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.replication.effects.kinds import in_groups, is_form, kind_of_test

if TYPE_CHECKING:
    from collections.abc import Collection

_SYMBOLS = {
    "t": "t",
    "welch": "t",
    "z": "z",
    "wald": "chi2",
    "f": "F",
    "correlation": "r",
    "chi_square": "chi2",
    "rank": "U",
    "binomial": "k",
}
_KIND, _FIRST, _SECOND, _STAT = ":kind", ":first", ":second", ":stat"
_DECIMALS = 4
_EXACT = 2**53


def with_report(tests: pl.LazyFrame, side: str, present: Collection[str]) -> pl.LazyFrame:
    """The tests with the statistic of a side in `report_human` or `report_agent`.

    As `t(38) = 2.5`, `F(2, 57) = 3.1`, `U = 130` or `k = 15`, degrees of freedom where they are
    known. Null without a statistic, or for an unknown type.

    Args:
        tests: With `test_type`.
        side: `human` or `agent`.
        present: The columns that the table was given with.
    """

    def number(*names: str) -> pl.Expr:
        known = [f"{name}_{side}" for name in names if f"{name}_{side}" in present]
        values = [pl.col(name).cast(pl.Float64).fill_nan(None) for name in known]
        return pl.coalesce(*values, pl.lit(None, pl.Float64))

    kind, n1, n2 = pl.col(_KIND), number("n1"), number("n2")
    apart = pl.lit(None, pl.Boolean)
    if f"independent_{side}" in present:
        apart = pl.col(f"independent_{side}")
    n2 = pl.when(in_groups(partial(is_form, "test_type"), apart).fill_null(value=True)).then(n2)
    first = (
        pl.when(kind == "t")
        .then(pl.coalesce(n1 + n2 - 2.0, n1 - 1.0))
        .when(kind == "correlation")
        .then(number("n", "n1", "n_total") - 2.0)
        .when(kind == "welch")
        .then(number("df"))
        .when(kind.is_in(["f", "chi_square", "wald"]))
        .then(number("df1"))
    )
    second = pl.when(kind == "f").then(number("df2"))
    stat = pl.when(kind == "binomial").then(number("k", "stat")).otherwise(number("stat"))
    # One stage after the other: as one expression it would hold the first ones many times over.
    return (
        tests.with_columns(kind_of_test("test_type").alias(_KIND))
        .with_columns(first.alias(_FIRST), second.alias(_SECOND), stat.alias(_STAT))
        .with_columns(_shortest(name) for name in (_FIRST, _SECOND, _STAT))
        .with_columns(pl.concat_list(_FIRST, _SECOND).list.drop_nulls().list.join(", "))
        .with_columns(
            pl.format(
                "{}{} = {}",
                kind.replace_strict(_SYMBOLS, default=None, return_dtype=pl.String),
                pl.when(pl.col(_FIRST) != "").then(pl.format("({})", _FIRST)).otherwise(pl.lit("")),
                _STAT,
            ).alias(f"report_{side}")
        )
        .drop(_KIND, _FIRST, _SECOND, _STAT)
    )


def _shortest(name: str) -> pl.Expr:
    """A number to four decimals as text, a whole one without a point."""
    rounded = pl.col(name).round(_DECIMALS)
    whole = (rounded == rounded.floor()) & (rounded.abs() < _EXACT)
    as_whole = pl.when(whole).then(rounded).cast(pl.Int64, strict=False).cast(pl.String)
    return pl.coalesce(as_whole, rounded.cast(pl.String))
