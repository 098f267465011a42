"""Conditions on statistics, sizes and degrees of freedom: for expressions, tables, contracts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import polars as pl

Conditions: TypeAlias = Sequence["Condition"]


CELLS = ("a", "b", "c", "d")
"""Roles of a table of two by two."""

_GROUPS = "n1 and n2 are 1 or more, and 3 or more together"
_SHARE = "stat is a correlation from -1 to 1"
_PAIRS = "stat is a U from 0 to n1 times n2"
_WALD = "stat is Wald's chi-square, not negative"
_TOLD = "n_total is known, as it does not follow from df1 and df2 with several factors"
_OWN_DEGREES = "df is known, as Welch's does not follow from n1 and n2"
_REMEDIES = {
    _SHARE: "give r itself, not t or z",
    _PAIRS: "give U, not z",
    _WALD: "write 'z' for an estimate over its standard error, or 'coefficient'",
    _TOLD: "give n_total, the number of observations",
    _OWN_DEGREES: "give df, or write 'ttest_ind' if the variances were pooled",
}


class Condition(NamedTuple):
    """One condition on a test: its text, a Boolean (null if a role is missing), and its roles."""

    text: str
    holds: pl.Expr
    roles: tuple[str, ...]

    @property
    def remedy(self) -> str:
        """Advice for a test that breaks it."""
        return _REMEDIES.get(self.text, "correct it, or set the statistic to null if it is unknown")


def of_t(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, df: pl.Expr) -> Conditions:
    """Of t: pairs and one sample of 2 or more, two groups of 3 or more; any size if df is given."""
    alone, has_df = n2.is_null(), df.is_not_null()
    one = _count(n1, 2) | (has_df & _count(n1, 1))
    two = _groups(n1, n2) | (has_df & _some_groups(n1, n2))
    return [
        Condition("n1 is 2 or more without n2", one | ~alone, ("n1", "n2")),
        Condition(_GROUPS, two | alone, ("n1", "n2")),
        Condition("df is above 0", (df > 0).fill_null(value=True), ("df",)),
    ]


def of_welch(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, df: pl.Expr) -> Conditions:
    """Of Welch's t: two groups, and degrees of freedom, which do not follow from their sizes."""
    return [
        Condition(_OWN_DEGREES, df.is_not_null(), ("df",)),
        Condition("n1 and n2 are 1 or more", _some_groups(n1, n2), ("n1", "n2")),
        Condition("df is above 0", (df > 0).fill_null(value=True), ("df",)),
    ]


def of_score(z: pl.Expr, n1: pl.Expr, n2: pl.Expr, df: pl.Expr) -> Conditions:
    """Of a score with a known standard error: any sizes."""
    some = _count(n1, 1) & (n2.is_null() | _count(n2, 1))
    return [
        Condition("n1 and n2 are 1 or more", some, ("n1", "n2")),
        Condition("df is above 0", (df > 0).fill_null(value=True), ("df",)),
    ]


def of_u(u: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> Conditions:
    """Of U: two groups, and at most all pairs."""
    pairs = (u >= 0) & (u <= n1 * n2)
    return [
        Condition(_GROUPS, _groups(n1, n2), ("n1", "n2")),
        Condition(_PAIRS, pairs, ("stat", "n1", "n2")),
    ]


def of_r(r: pl.Expr, n: pl.Expr) -> Conditions:
    """Of r: from -1 to 1, of 3 or more."""
    share = Condition(_SHARE, r.is_between(-1, 1), ("stat",))
    return [share, Condition("n is 3 or more", _count(n, 3), ("n",))]


def of_f(f: pl.Expr, df1: pl.Expr, df2: pl.Expr, n: pl.Expr) -> Conditions:
    """Of F: not negative, degrees above 0, and more observations than coefficients."""
    enough = n.is_finite() & (n > df1 + 1.0)
    unsized = n.is_null() & df1.is_not_null() & df2.is_not_null()
    return [
        *of_variance_ratio(f, df1, df2),
        Condition(_TOLD, ~unsized, ("n_total", "df1", "df2")),
        Condition("n_total is above df1 + 1", enough, ("n_total", "df1")),
    ]


def of_variance_ratio(f: pl.Expr, df1: pl.Expr, df2: pl.Expr) -> Conditions:
    """Of a ratio of variances: not negative, degrees above 0."""
    return [
        Condition("stat is an F, not negative", f >= 0, ("stat",)),
        Condition("df1 is above 0", _positive(df1), ("df1",)),
        Condition("df2 is above 0", _positive(df2), ("df2",)),
    ]


def of_chi2(chi2: pl.Expr, df: pl.Expr, n: pl.Expr) -> Conditions:
    """Of chi-square: not negative, degrees above 0, of 1 or more."""
    return [
        Condition("stat is a chi-square, not negative", chi2 >= 0, ("stat",)),
        Condition("df1 is above 0", _positive(df), ("df1",)),
        Condition("n is 1 or more", _count(n, 1), ("n",)),
    ]


def of_wald(wald: pl.Expr, df: pl.Expr, n: pl.Expr) -> Conditions:
    """Of Wald's chi-square: those of any chi-square."""
    stated, *others = of_chi2(wald, df, n)
    return [Condition(_WALD, stated.holds, stated.roles), *others]


def of_cells(cells: Sequence[pl.Expr]) -> Conditions:
    """Of the table of a chi-square, with or without the statistic: no cell below 0."""
    counted = pl.all_horizontal((cell >= 0).fill_null(value=True) for cell in cells)
    return [Condition("a, b, c and d are not negative", counted, CELLS)]


def of_binomial(k: pl.Expr, n: pl.Expr, p0: pl.Expr) -> Conditions:
    """Of counts: whole numbers, k not above n, and p0 between 0 and 1."""
    return [
        Condition("k is a whole number from 0 to n", _whole(k) & (k <= n), ("k", "n")),
        Condition("n is a whole number, 0 or more", _whole(n), ("n",)),
        Condition("p0 lies between 0 and 1", (p0 > 0) & (p0 < 1), ("p0",)),
    ]


def of_p(p: pl.Expr) -> Conditions:
    """Of p-values."""
    return [Condition("p_value lies from 0 to 1", p.is_between(0, 1), ("p_value",))]


def of_directional_p(p: pl.Expr, agrees: pl.Expr) -> Conditions:
    """Of p-values with a direction, which can be any."""
    return of_p(p)


def _groups(n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    return _count(n1, 1) & _count(n2, 1) & (n1 + n2 >= 3)


def _some_groups(n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    return _count(n1, 1) & _count(n2, 1)


def _count(value: pl.Expr, least: int) -> pl.Expr:
    return value.is_finite() & (value >= least)


def _positive(value: pl.Expr) -> pl.Expr:
    return value.is_finite() & (value > 0)


def _whole(value: pl.Expr) -> pl.Expr:
    return value.is_finite() & (value >= 0) & (value == value.floor())
