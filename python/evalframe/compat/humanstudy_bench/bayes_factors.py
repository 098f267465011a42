"""Bayes factors as HumanStudy-Bench computes them: caps, overflows, 1.0 on failure.

| input | `evalframe.replication` | here |
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

A null statistic is null in both. The older `bic_bayes_factor_*` approximate by BIC, with the same
caps; no evaluator of the program uses them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench.effects import KIND_NAMES
from evalframe.core.frames import like_input
from evalframe.core.typing import Frame, IntoExpr
from evalframe.replication.bayes_factors import formulas
from evalframe.replication.bayes_factors.table import Table
from evalframe.replication.effects.types import SIDES
from evalframe.replication.numbers import NO_NUMBER, number, over_numbers, raw_number

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
_LARGEST_T = 10.0
_CLIP = 1e-10


@like_input
def with_bayes_factors(
    tests: Frame, side: str | Sequence[str] | None = SIDES, *, test_type: IntoExpr = "test_type"
) -> pl.LazyFrame:
    """`replication.with_bayes_factors` with the Bayes factors of this module; checks no row."""
    table = Table.of(tests, side, test_type, KIND_NAMES)

    def factor(kind: str, roles: Sequence[str]) -> pl.Expr:
        return KINDS[kind](*roles)

    return table.with_factors(factor, "bayes_factor", "log_bayes_factor", pl.Expr.log)


def bayes_factor_t(
    t: IntoExpr, n1: IntoExpr, n2: IntoExpr | None = None, *, df: IntoExpr | None = None
) -> pl.Expr:
    """JZS t, capped if t² is above 100; `df` is ignored."""
    return _t(*map(raw_number, (t, n1, n2))).alias("bayes_factor_t")


def _t(t: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    size, df = formulas.sizes(n1.fill_nan(None), n2.fill_nan(None))
    known = t.fill_nan(None)
    capped = known * known > _LARGEST_STATISTIC
    integral = formulas.jzs_of_t(known, size, df, CAUCHY_SCALE).log(~capped & (df > 0) & (size > 0))
    value = pl.when(capped & size.is_finite()).then(_CAP).otherwise(integral.exp())
    return or_failed(t, value)


def bayes_factor_r(r: IntoExpr, n: IntoExpr) -> pl.Expr:
    """JZS correlation, as a t of one sample of n: capped at |r| = 1, and 1 for two pairs."""
    r, n = raw_number(r), raw_number(n)
    value = _t(t_of_r(r, n), n, NO_NUMBER)
    capped = pl.when(r.fill_nan(None).abs() >= 1).then(_CAP)
    factor = or_failed(r, capped.when(n.fill_nan(None) > 2).then(value.fill_nan(None)))
    return factor.alias("bayes_factor_r")


def bayes_factor_f(f: IntoExpr, df1: IntoExpr, df2: IntoExpr, n: IntoExpr) -> pl.Expr:
    """JZS regression, capped if F is above 100."""
    f, df1, df2, n = map(raw_number, (f, df1, df2, n))
    f_known = f.fill_nan(None)
    signal = (df1 * f_known / df2).fill_nan(None)
    capped = f_known > _LARGEST_STATISTIC
    usable = ~capped & (signal > -1) & (n >= 1)
    log = formulas.jzs_of_f(f_known, df1, df2, n, F_SCALE).log(usable)
    approximate = (n * signal.log1p() - df1 * n.log()) / 2.0
    exact = pl.when(log < _OVERFLOW).then(log.exp()).when(log.is_not_null())
    value = exact.then(exp_or_failed(approximate))
    factor = or_failed(f, pl.when(capped).then(_CAP).otherwise(value))
    return factor.alias("bayes_factor_f")


def bayes_factor_u(u: IntoExpr, n1: IntoExpr, n2: IntoExpr) -> pl.Expr:
    """JZS t of the normal score of U, which is 0 without variance."""
    u, n1, n2 = map(raw_number, (u, n1, n2))
    return or_failed(u, _t(score_of_u(u, n1, n2), n1, n2)).alias("bayes_factor_u")


def t_of_r(r: pl.Expr, n: pl.Expr) -> pl.Expr:
    """The t of a correlation."""
    return r * ((n - 2.0) / ((1.0 - r) * (1.0 + r))).sqrt()


def score_of_u(u: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    """The normal score of U, 0 without variance."""
    constant = (n1 * n2 * (n1 + n2 + 1.0) == 0) & u.is_not_nan()
    return pl.when(constant).then(0.0).otherwise(formulas.z_of_u(u, n1, n2))


def bayes_factor_chi2(chi2: IntoExpr, df: IntoExpr, n: IntoExpr) -> pl.Expr:
    """BIC approximation, 1 if it overflows."""
    chi2, df, n = map(raw_number, (chi2, df, n))
    value = pl.when(n > 0).then(exp_or_failed((chi2 - df * n.log()) / 2.0))
    return or_failed(chi2, value).alias("bayes_factor_chi2")


def bayes_factor_binomial(k: IntoExpr, n: IntoExpr, p0: IntoExpr) -> pl.Expr:
    """A uniform share against p0, of counts cut to whole numbers; 0 if log of choices overflows."""
    from evalframe.replication.bayes_factors.kernels import log_beta_binomial_factor, log_choose

    k, n, p0 = _whole(raw_number(k)), _whole(raw_number(n)), raw_number(p0).fill_nan(None)
    possible = pl.when((n > 0) & (k >= 0) & (k <= n) & (p0 > 0) & (p0 < 1)).then(k)
    log = over_numbers(log_beta_binomial_factor, [possible, n, p0])
    too_large = over_numbers(log_choose, [possible, n]) > _OVERFLOW
    value = pl.when(too_large).then(0.0).otherwise(exp_or_failed(log)).fill_null(_FAILED)
    return pl.when(k.is_not_null()).then(value).alias("bayes_factor_binomial")


def bayes_factor_bound(p: IntoExpr) -> pl.Expr:
    """Vovk-Sellke bound, capped below 1e-300."""
    p = raw_number(p)
    largest = pl.when(p.fill_nan(None) >= _INDIFFERENT).then(1.0).when(p < _SMALLEST_P).then(_CAP)
    value = largest.otherwise(-1.0 / (math.e * p * p.log()))
    return pl.when(p.is_not_null()).then(value).alias("bayes_factor_bound")


def bayes_factor_directional_bound(p: IntoExpr, agrees: IntoExpr) -> pl.Expr:
    """Half of the bound, but the cap is not halved, and 0.1 for the wrong direction."""
    p, agrees = raw_number(p), raw_number(agrees)
    bound = bayes_factor_bound(p)
    half = pl.when(p < _SMALLEST_P).then(bound).otherwise(bound / 2.0)
    against = pl.when(p.is_not_null()).then(_AGAINST)
    factor = pl.when(agrees != 0).then(half).when(agrees == 0).then(against)
    return factor.alias("bayes_factor_directional_bound")


def bayes_factor_variance_ratio(f: IntoExpr, df1: IntoExpr, df2: IntoExpr) -> pl.Expr:
    """Vovk-Sellke bound of a p-value whose upper tail is one minus the lower."""
    f, df1, df2 = map(raw_number, (f, df1, df2))
    p = over_numbers(_cancelling_p, [f, df1, df2])
    sized = df1.is_not_null() & df2.is_not_null()
    value = pl.when(sized).then(bayes_factor_bound(p.fill_null(math.nan)))
    return or_failed(f, value).alias("bayes_factor_variance_ratio")


def _of_t(t: IntoExpr, n1: IntoExpr, n2: IntoExpr, df: IntoExpr) -> pl.Expr:
    return bayes_factor_t(t, n1, n2)


KINDS: dict[str, Callable[..., pl.Expr]] = {
    "t": _of_t,
    "f": bayes_factor_f,
    "correlation": bayes_factor_r,
    "chi_square": bayes_factor_chi2,
    "rank": bayes_factor_u,
    "binomial": bayes_factor_binomial,
    "variance_ratio": bayes_factor_variance_ratio,
    "p_value": bayes_factor_bound,
    "directional_p_value": bayes_factor_directional_bound,
}
"""Bayes factors by kind of test, of the arguments of the kinds of `replication`."""


def _cancelling_p(f: Floats, df1: Floats, df2: Floats) -> Floats:
    import numpy as np
    from scipy.special import betainc

    below = np.where(f > 0, betainc(df1 / 2.0, df2 / 2.0, 1.0 / (1.0 + df2 / (df1 * f))), 0.0)
    return 2.0 * np.minimum(1.0 - below, below)


def exp_or_failed(log: pl.Expr) -> pl.Expr:
    """The exponential; where it overflows the original fails."""
    return pl.when(log > _OVERFLOW).then(_FAILED).otherwise(log.exp())


def or_failed(statistic: pl.Expr, value: pl.Expr) -> pl.Expr:
    """The value, 1 if it is null; NaN or null if the statistic is."""
    result = pl.when(statistic.is_nan()).then(math.nan).otherwise(value.fill_null(_FAILED))
    return pl.when(statistic.is_not_null()).then(result)


def _whole(count: pl.Expr) -> pl.Expr:
    """A count cut to a whole number; NaN and infinity fail."""
    finite = pl.when(count.is_not_null()).then(
        pl.when(count.is_finite()).then(count).otherwise(-1.0)
    )
    return finite.sign() * finite.abs().floor()


def bic_bayes_factor_t(t: IntoExpr, n1: IntoExpr, n2: IntoExpr | None = None) -> pl.Expr:
    """exp((t² - ln N)/2), N as of `bayes_factor_t`; 1e6 where |t| passes 10."""
    return _bic_of_t(raw_number(t), number(n1), number(n2)).alias("bic_bayes_factor_t")


def bic_bayes_factor_u(u: IntoExpr, n1: IntoExpr, n2: IntoExpr) -> pl.Expr:
    """That of t, of the normal score of U."""
    z = score_of_u(raw_number(u), number(n1), number(n2))
    return _bic_of_t(z, number(n1), number(n2)).alias("bic_bayes_factor_u")


def bic_bayes_factor_r(r: IntoExpr, n: IntoExpr) -> pl.Expr:
    """exp((-n ln(1 - r²) - ln n)/2); 1e6 if |r| is 1."""
    squared, size = number(r) ** 2, number(n)
    log = pl.when(size > 0).then(-(size * (-squared).log1p() + size.log()) / 2.0)
    value = pl.when(squared >= 1).then(_CAP).otherwise(exp_or_failed(log))
    return or_failed(raw_number(r), value).alias("bic_bayes_factor_r")


def bic_bayes_factor_binomial(k: IntoExpr, n: IntoExpr, p0: IntoExpr) -> pl.Expr:
    """Exp of half the difference of the BICs of the share p0 and of the share found."""
    hits, size, share = number(k), number(n), number(p0)

    def log_likelihood(share: pl.Expr) -> pl.Expr:
        return hits * share.log() + (size - hits) * (1.0 - share).log()

    observed = (hits / size).clip(_CLIP, 1.0 - _CLIP)
    gain = 2.0 * (log_likelihood(observed) - log_likelihood(share))
    possible = (size > 0) & (hits >= 0) & (hits <= size) & (share > 0) & (share < 1)
    log = pl.when(possible).then((gain - size.log()) / 2.0)
    value = or_failed(raw_number(k), exp_or_failed(log))
    return value.alias("bic_bayes_factor_binomial")


def bic_bayes_factor_variance_ratio(f: IntoExpr, df1: IntoExpr, df2: IntoExpr) -> pl.Expr:
    """exp(df1 ln²F/2), at most 1e6, and 1 if it overflows; below 1 with 1/F and df2."""
    ratio = pl.when(number(f) > 0).then(number(f))
    df = pl.when(ratio >= 1).then(number(df1)).otherwise(number(df2))
    value = exp_or_failed(df * ratio.log() ** 2 / 2.0).clip(upper_bound=_CAP)
    return or_failed(raw_number(f), value).alias("bic_bayes_factor_variance_ratio")


def _bic_of_t(t: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    size, _ = formulas.sizes(n1, n2)
    finite = t.fill_nan(None)
    log = pl.when(size.is_finite() & (size > 0)).then((finite * finite - size.log()) / 2.0)
    value = pl.when(finite.abs() > _LARGEST_T).then(_CAP).otherwise(log.exp())
    return or_failed(t, value)
