"""Logarithms of Bayes factors, null if the input is impossible."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.replication.bayes_factors import conditions
from evalframe.replication.bayes_factors.likelihoods import (
    log_beta_binomial_factor,
    log_two_sided_f,
)
from evalframe.replication.bayes_factors.quadrature import log_jzs
from evalframe.replication.bayes_factors.stretched_beta import log_exact_r
from evalframe.replication.numbers import number, over_numbers

if TYPE_CHECKING:
    from evalframe.replication.bayes_factors.conditions import Conditions


_NORMAL = 1e24
"""Degrees of freedom that stand for infinitely many: t² is far below them."""


class Jzs(NamedTuple):
    """Arguments of a JZS integral, see `quadrature.log_jzs`."""

    reach: pl.Expr
    explained: pl.Expr
    unexplained: pl.Expr
    p: pl.Expr
    b: pl.Expr

    def log(self, where: pl.Expr) -> pl.Expr:
        """The logarithm of the Bayes factor if `where` is true, else null."""
        reach = pl.when(where).then(self.reach)
        return over_numbers(log_jzs, [reach, *self[1:]])


def t(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, df: pl.Expr, scale: float) -> pl.Expr:
    """JZS t: one sample or pairs if n2 is null, else two groups."""
    size, usual = sizes(n1, n2)
    degrees = pl.coalesce(df.clip(upper_bound=_NORMAL), usual)
    return jzs_of_t(t, size, degrees, scale).log(_hold(conditions.of_t(t, n1, n2, df)))


def r(r: pl.Expr, n: pl.Expr, kappa: float) -> pl.Expr:
    """Exact correlation, by a stretched beta prior."""
    possible = pl.when(_hold(conditions.of_r(r, n))).then(r)
    return over_numbers(partial(log_exact_r, kappa=float(kappa)), [possible, n])


def f(f: pl.Expr, df1: pl.Expr, df2: pl.Expr, n: pl.Expr, scale: float) -> pl.Expr:
    """JZS regression of df1 effects."""
    return jzs_of_f(f, df1, df2, n, scale).log(_hold(conditions.of_f(f, df1, df2, n)))


def u(u: pl.Expr, n1: pl.Expr, n2: pl.Expr, scale: float) -> pl.Expr:
    """JZS t of the normal score of U."""
    size, df = sizes(n1, n2)
    return jzs_of_t(z_of_u(u, n1, n2), size, df, scale).log(_hold(conditions.of_u(u, n1, n2)))


def chi2(chi2: pl.Expr, df: pl.Expr, n: pl.Expr) -> pl.Expr:
    """BIC approximation."""
    return pl.when(_hold(conditions.of_chi2(chi2, df, n))).then((chi2 - df * n.log()) / 2.0)


def binomial(k: pl.Expr, n: pl.Expr, p0: pl.Expr) -> pl.Expr:
    """A uniform share against p0."""
    possible = pl.when(_hold(conditions.of_binomial(k, n, p0))).then(k)
    return over_numbers(log_beta_binomial_factor, [possible, n, p0])


def bound(p: pl.Expr) -> pl.Expr:
    """Vovk-Sellke."""
    return pl.when(_hold(conditions.of_p(p))).then(_bound_of_log(p.log()))


def directional_bound(p: pl.Expr, agrees: pl.Expr) -> pl.Expr:
    """Half of it, and 0.1 for the wrong direction."""
    half = bound(p) - math.log(2.0)
    against = pl.when(half.is_not_null()).then(math.log(0.1))
    return pl.when(agrees != 0).then(half).when(agrees == 0).then(against)


def variance_ratio(f: pl.Expr, df1: pl.Expr, df2: pl.Expr) -> pl.Expr:
    """Vovk-Sellke of the two-sided p-value, which can be below the smallest number."""
    possible = pl.when(_hold(conditions.of_variance_ratio(f, df1, df2))).then(f)
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
        a: Count of the first row and first column, 0 or more.
        b: First row, second column.
        c: Second row, first column.
        d: Second row, second column.

    Returns:
        Float64, named `yates_chi_square`; 0 if a row or column is empty, null if a count is
        missing or negative.

    References:
        Yates (1934), Contingency tables involving small numbers and the χ² test.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import yates_chi_square
        >>> tables = pl.DataFrame({"a": [10, 0], "b": [20, 0], "c": [20, 3], "d": [10, 4]})
        >>> tables.select(yates_chi_square()).to_series().to_list()
        [5.4, 0.0]
    """
    a, b, c, d = (number(count) for count in (a, b, c, d))
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    total = a + b + c + d
    gap = ((a * d - b * c).abs() - total / 2.0).clip(0.0)
    statistic = pl.when(margins > 0).then(total * gap.pow(2) / margins).otherwise(0.0)
    possible = pl.all_horizontal(count >= 0 for count in (a, b, c, d))
    return pl.when(possible).then(statistic).alias("yates_chi_square")
