"""Logarithms of Bayes factors, and the conditions under which they are possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.replication.numbers import number, over_numbers

Conditions: TypeAlias = Sequence["Condition"]


CELLS = ("a", "b", "c", "d")
"""Roles of a table of two by two."""

_GROUPS = "n1 and n2 are 1 or more, and 3 or more together"
_SHARE = "stat is a correlation from -1 to 1"
_PAIRS = "stat is a U from 0 to n1 times n2"
_WALD = "stat is Wald's chi-square, not negative"
_KNOWN_SIZE = "n_total is known, as it does not follow from df1 and df2 with several factors"
_OWN_DEGREES = "df is known, as Welch's does not follow from n1 and n2"
_REMEDIES = {
    _SHARE: "give r itself, not t or z",
    _PAIRS: "give U, not z",
    _WALD: "write 'z' for an estimate over its standard error, or 'coefficient'",
    _KNOWN_SIZE: "give n_total, the number of observations",
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
        _degrees(df),
    ]


def of_welch(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, df: pl.Expr) -> Conditions:
    """Of Welch's t: two groups, and degrees of freedom, which do not follow from their sizes."""
    return [
        Condition(_OWN_DEGREES, df.is_not_null(), ("df",)),
        Condition("n1 and n2 are 1 or more", _some_groups(n1, n2), ("n1", "n2")),
        _degrees(df),
    ]


def of_score(z: pl.Expr, n1: pl.Expr, n2: pl.Expr, df: pl.Expr) -> Conditions:
    """Of a score with a known standard error: any sizes."""
    some = _count(n1, 1) & (n2.is_null() | _count(n2, 1))
    return [Condition("n1 and n2 are 1 or more", some, ("n1", "n2")), _degrees(df)]


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
        Condition(_KNOWN_SIZE, ~unsized, ("n_total", "df1", "df2")),
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


def _degrees(df: pl.Expr) -> Condition:
    return Condition("df is above 0", (df > 0).fill_null(value=True), ("df",))


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


_NORMAL = 1e24
"""Degrees of freedom that stand for infinitely many: t² is far below them."""


class Jzs(NamedTuple):
    """Arguments of a JZS integral, see `kernels.log_jzs`."""

    reach: pl.Expr
    explained: pl.Expr
    unexplained: pl.Expr
    p: pl.Expr
    b: pl.Expr

    def log(self, where: pl.Expr) -> pl.Expr:
        """The logarithm of the Bayes factor if `where` is true, else null."""
        from evalframe.replication.bayes_factors.kernels import log_jzs

        reach = pl.when(where).then(self.reach)
        return over_numbers(log_jzs, [reach, *self[1:]])


def t(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, df: pl.Expr, scale: float) -> pl.Expr:
    """JZS t: one sample or pairs if n2 is null, else two groups."""
    size, usual = sizes(n1, n2)
    degrees = pl.coalesce(df.clip(upper_bound=_NORMAL), usual)
    return jzs_of_t(t, size, degrees, scale).log(_hold(of_t(t, n1, n2, df)))


def r(r: pl.Expr, n: pl.Expr, kappa: float) -> pl.Expr:
    """Exact correlation, by a stretched beta prior."""
    from evalframe.replication.bayes_factors.kernels import log_exact_r

    possible = pl.when(_hold(of_r(r, n))).then(r)
    return over_numbers(partial(log_exact_r, kappa=float(kappa)), [possible, n])


def f(f: pl.Expr, df1: pl.Expr, df2: pl.Expr, n: pl.Expr, scale: float) -> pl.Expr:
    """JZS regression of df1 effects."""
    return jzs_of_f(f, df1, df2, n, scale).log(_hold(of_f(f, df1, df2, n)))


def u(u: pl.Expr, n1: pl.Expr, n2: pl.Expr, scale: float) -> pl.Expr:
    """JZS t of the normal score of U."""
    size, df = sizes(n1, n2)
    return jzs_of_t(z_of_u(u, n1, n2), size, df, scale).log(_hold(of_u(u, n1, n2)))


def chi2(chi2: pl.Expr, df: pl.Expr, n: pl.Expr) -> pl.Expr:
    """BIC approximation."""
    return pl.when(_hold(of_chi2(chi2, df, n))).then((chi2 - df * n.log()) / 2.0)


def binomial(k: pl.Expr, n: pl.Expr, p0: pl.Expr) -> pl.Expr:
    """A uniform share against p0."""
    from evalframe.replication.bayes_factors.kernels import log_beta_binomial_factor

    possible = pl.when(_hold(of_binomial(k, n, p0))).then(k)
    return over_numbers(log_beta_binomial_factor, [possible, n, p0])


def bound(p: pl.Expr) -> pl.Expr:
    """Vovk-Sellke."""
    return pl.when(_hold(of_p(p))).then(_bound_of_log(p.log()))


def directional_bound(p: pl.Expr, agrees: pl.Expr) -> pl.Expr:
    """Half of it, and 0.1 for the wrong direction."""
    half = bound(p) - math.log(2.0)
    against = pl.when(half.is_not_null()).then(math.log(0.1))
    return pl.when(agrees != 0).then(half).when(agrees == 0).then(against)


def variance_ratio(f: pl.Expr, df1: pl.Expr, df2: pl.Expr) -> pl.Expr:
    """Vovk-Sellke of the two-sided p-value, which can be below the smallest number."""
    from evalframe.replication.bayes_factors.kernels import log_two_sided_f

    possible = pl.when(_hold(of_variance_ratio(f, df1, df2))).then(f)
    return _bound_of_log(over_numbers(log_two_sided_f, [possible, df1, df2]))


def sizes(n1: pl.Expr, n2: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The effective size and the degrees of freedom of a t; n2 is null for one sample."""
    paired = n2.is_null()
    size = pl.when(paired).then(n1).otherwise(n1 * n2 / (n1 + n2))
    return size, pl.when(paired).then(n1 - 1.0).otherwise(n1 + n2 - 2.0)


def z_of_u(u: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    """The normal score of U, without corrections."""
    return (u - n1 * n2 / 2.0) / (n1 * n2 * (n1 + n2 + 1.0) / 12.0).sqrt()


def jzs_of_t(t: pl.Expr, size: pl.Expr, df: pl.Expr, scale: float) -> Jzs:
    """The integral of a t of an effective sample size."""
    signal = t * t / df
    return _jzs(signal, size * scale**2, pl.lit(1.0), (df + 1.0) / 2.0)


def jzs_of_f(f: pl.Expr, df1: pl.Expr, df2: pl.Expr, n: pl.Expr, scale: float) -> Jzs:
    """The integral of an F."""
    return _jzs(df1 * f / df2, n * scale**2, df1, (n - 1.0) / 2.0)


def _jzs(signal: pl.Expr, reach: pl.Expr, p: pl.Expr, b: pl.Expr) -> Jzs:
    """The integral of a signal: the explained over the unexplained variance."""
    return Jzs(reach, 1.0 / (1.0 + 1.0 / signal), 1.0 / (1.0 + signal), p, b)


def _bound_of_log(log_p: pl.Expr) -> pl.Expr:
    surprise = -log_p
    bounded = pl.when(surprise > 1.0).then(surprise - 1.0 - surprise.log()).otherwise(0.0)
    return pl.when(surprise.is_infinite()).then(surprise).when(surprise.is_not_null()).then(bounded)


def _hold(all_conditions: Conditions) -> pl.Expr:
    return pl.all_horizontal([condition.holds for condition in all_conditions])


def yates_chi_square(
    a: IntoExpr = "a", b: IntoExpr = "b", c: IntoExpr = "c", d: IntoExpr = "d"
) -> pl.Expr:
    """Chi-square of the table [[a, b], [c, d]] with Yates' correction.

    Args:
        a: Cells as in `log_odds_ratio`, 0 or more.
        b: As `a`.
        c: As `a`.
        d: As `a`.

    Returns:
        Float64, named `yates_chi_square`; 0 if a row or column is empty, null if a count is
        missing or negative.

    References:
        Yates (1934), Contingency tables involving small numbers and the χ² test.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.yates_chi_square(*map(pl.lit, (10, 20, 20, 10)))).item()
        5.4
    """
    a, b, c, d = (number(count) for count in (a, b, c, d))
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    total = a + b + c + d
    gap = ((a * d - b * c).abs() - total / 2.0).clip(0.0)
    statistic = pl.when(margins > 0).then(total * gap.pow(2) / margins).otherwise(0.0)
    possible = pl.all_horizontal(count >= 0 for count in (a, b, c, d))
    return pl.when(possible).then(statistic).alias("yates_chi_square")
