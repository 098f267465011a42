"""Bayes factors as the original program computes them: its caps, its overflows, its 1.0 on failure.

| input | documented | reference |
|---|---|---|
| t² > 100 (of r and U, too) | integrated | 1e6 |
| F > 100 | integrated | 1e6 |
| r | exact, by a stretched beta prior | JZS t of one sample, n - 1 degrees of freedom |
| r of -1 or 1 | infinite, but for few pairs | 1e6 |
| chi-square or F that overflows | logarithm stays finite | 1.0 |
| binomial coefficient that overflows | exact | 0.0 |
| p below 1e-300 | exact | 1e6 |
| tail of a variance ratio below 1e-16 | exact | cancels to 0, 1e6 |
| NaN | null | NaN |
| impossible or missing sizes | null | 1.0 |

A null statistic is null by both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from evalframe.replication.bayes_factors import documented
from evalframe.replication.bayes_factors.columns import over_numbers
from evalframe.replication.bayes_factors.likelihoods import (
    log_beta_binomial_factor,
    log_choose,
)

if TYPE_CHECKING:
    from evalframe.core.segments import Floats

CAUCHY_SCALE = 0.707
"""Scale of the Cauchy prior of t, r and U: three digits, not half the root of 2."""

F_SCALE = 0.5
"""Scale of the prior of F."""

_CAP = 1e6
_FAILED = 1.0
_AGAINST = 0.1
_OVERFLOW = 709.782712893384
_INDIFFERENT = math.exp(-1.0)
_SMALLEST_P = 1e-300
_LARGEST_STATISTIC = 100.0


def t(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, df: pl.Expr) -> pl.Expr:
    """JZS t, capped where t² passes 100; its degrees of freedom are always those of sizes."""
    size, df = documented.sizes(n1.fill_nan(None), n2.fill_nan(None))
    known = t.fill_nan(None)
    capped = known * known > _LARGEST_STATISTIC
    integral = documented.jzs_of_t(known, size, df, CAUCHY_SCALE).log(
        ~capped & (df > 0) & (size > 0)
    )
    value = pl.when(capped & size.is_finite()).then(_CAP).otherwise(integral.exp())
    return or_failed(t, value)


def r(r: pl.Expr, n: pl.Expr) -> pl.Expr:
    """JZS correlation, as a t of one sample of n: capped at 1, and 1 for two."""
    alone = pl.lit(None, pl.Float64)
    value = t(t_of_r(r, n), n, alone, alone)
    capped = pl.when(r.fill_nan(None).abs() >= 1).then(_CAP)
    return or_failed(r, capped.when(n.fill_nan(None) > 2).then(value.fill_nan(None)))


def f(f: pl.Expr, df1: pl.Expr, df2: pl.Expr, n: pl.Expr) -> pl.Expr:
    """JZS regression, capped where F passes 100."""
    f_known = f.fill_nan(None)
    signal = (df1 * f_known / df2).fill_nan(None)
    capped = f_known > _LARGEST_STATISTIC
    usable = ~capped & (signal > -1) & (n >= 1)
    log = documented.jzs_of_f(f_known, df1, df2, n, F_SCALE).log(usable)
    approximate = (n * signal.log1p() - df1 * n.log()) / 2.0
    exact = pl.when(log < _OVERFLOW).then(log.exp()).when(log.is_not_null())
    value = exact.then(exp_or_failed(approximate))
    return or_failed(f, pl.when(capped).then(_CAP).otherwise(value))


def u(u: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    """JZS t of the normal score of U, which is 0 without variance."""
    return or_failed(u, t(score_of_u(u, n1, n2), n1, n2, pl.lit(None, pl.Float64)))


def t_of_r(r: pl.Expr, n: pl.Expr) -> pl.Expr:
    """The t of a correlation."""
    return r * ((n - 2.0) / ((1.0 - r) * (1.0 + r))).sqrt()


def score_of_u(u: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    """The normal score of U, 0 without variance."""
    constant = (n1 * n2 * (n1 + n2 + 1.0) == 0) & u.is_not_nan()
    return pl.when(constant).then(0.0).otherwise(documented.z_of_u(u, n1, n2))


def chi2(chi2: pl.Expr, df: pl.Expr, n: pl.Expr) -> pl.Expr:
    """BIC approximation, 1 where it overflows."""
    return or_failed(chi2, pl.when(n > 0).then(exp_or_failed((chi2 - df * n.log()) / 2.0)))


def binomial(k: pl.Expr, n: pl.Expr, p0: pl.Expr) -> pl.Expr:
    """A uniform share against p0, 0 where the binomial coefficient overflows."""
    k, n, p0 = _whole(k), _whole(n), p0.fill_nan(None)
    possible = pl.when((n > 0) & (k >= 0) & (k <= n) & (p0 > 0) & (p0 < 1)).then(k)
    log = over_numbers(log_beta_binomial_factor, [possible, n, p0])
    too_large = over_numbers(log_choose, [possible, n]) > _OVERFLOW
    value = pl.when(too_large).then(0.0).otherwise(exp_or_failed(log)).fill_null(_FAILED)
    return pl.when(k.is_not_null()).then(value)


def bound(p: pl.Expr) -> pl.Expr:
    """Vovk-Sellke, capped below 1e-300."""
    largest = pl.when(p.fill_nan(None) >= _INDIFFERENT).then(1.0).when(p < _SMALLEST_P).then(_CAP)
    return pl.when(p.is_not_null()).then(largest.otherwise(-1.0 / (math.e * p * p.log())))


def directional_bound(p: pl.Expr, agrees: pl.Expr) -> pl.Expr:
    """Half of it, of which the cap is not halved, and 0.1 for the wrong direction."""
    whole = bound(p)
    half = pl.when(p < _SMALLEST_P).then(whole).otherwise(whole / 2.0)
    against = pl.when(p.is_not_null()).then(_AGAINST)
    return pl.when(agrees != 0).then(half).when(agrees == 0).then(against)


def variance_ratio(f: pl.Expr, df1: pl.Expr, df2: pl.Expr) -> pl.Expr:
    """Vovk-Sellke of a p-value whose upper tail is one minus the lower."""
    p = over_numbers(_cancelling_p, [f, df1, df2])
    sized = df1.is_not_null() & df2.is_not_null()
    return or_failed(f, pl.when(sized).then(bound(p.fill_null(math.nan))))


def _cancelling_p(f: Floats, df1: Floats, df2: Floats) -> Floats:
    import numpy as np
    from scipy.special import betainc

    below = np.where(f > 0, betainc(df1 / 2.0, df2 / 2.0, 1.0 / (1.0 + df2 / (df1 * f))), 0.0)
    return 2.0 * np.minimum(1.0 - below, below)


def exp_or_failed(log: pl.Expr) -> pl.Expr:
    """The exponential; where it overflows the original fails."""
    return pl.when(log > _OVERFLOW).then(_FAILED).otherwise(log.exp())


def or_failed(statistic: pl.Expr, value: pl.Expr) -> pl.Expr:
    """The value, 1 where there is none, and NaN or null where the statistic is."""
    found = pl.when(statistic.is_nan()).then(math.nan).otherwise(value.fill_null(_FAILED))
    return pl.when(statistic.is_not_null()).then(found)


def _whole(count: pl.Expr) -> pl.Expr:
    """A count cut to a whole number; NaN and infinity fail."""
    finite = pl.when(count.is_not_null()).then(
        pl.when(count.is_finite()).then(count).otherwise(-1.0)
    )
    return finite.sign() * finite.abs().floor()
