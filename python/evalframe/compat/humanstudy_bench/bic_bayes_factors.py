"""The original's older Bayes factors, by BIC: not to be reported as primary.

No evaluator of the original uses them, and they have its caps: 1e6 for large statistics, and 1
where it fails. A null or NaN statistic stays what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.replication.bayes_factors import formulas, original
from evalframe.replication.numbers import number, raw_number

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr

_CAP = 1e6
_LARGEST_T = 10.0
_CLIP = 1e-10


def bic_bayes_factor_t(t: IntoExpr, n1: IntoExpr, n2: IntoExpr | None = None) -> pl.Expr:
    """exp((t² - ln N)/2), N as of `bayes_factor_t`; 1e6 where |t| passes 10.

    Args:
        t: The statistic.
        n1: Size of the first group, or of the one sample.
        n2: Size of the second group, null for one sample.

    Returns:
        Float64, named `bic_bayes_factor_t`.

    >>> tests = pl.DataFrame({"t": [2.0], "n1": [20], "n2": [20]})
    >>> round(tests.select(bic_bayes_factor_t("t", "n1", "n2")).item(), 4)
    2.3366
    """
    return _of_t(raw_number(t), number(n1), number(n2)).alias("bic_bayes_factor_t")


def bic_bayes_factor_u(u: IntoExpr, n1: IntoExpr, n2: IntoExpr) -> pl.Expr:
    """That of t, of the normal score of U.

    Args:
        u: The statistic.
        n1: Size of the first group.
        n2: Size of the second group.

    Returns:
        Float64, named `bic_bayes_factor_u`.
    """
    z = original.score_of_u(raw_number(u), number(n1), number(n2))
    return _of_t(z, number(n1), number(n2)).alias("bic_bayes_factor_u")


def bic_bayes_factor_r(r: IntoExpr, n: IntoExpr) -> pl.Expr:
    """exp((-n ln(1 - r²) - ln n)/2); 1e6 where |r| is 1.

    Args:
        r: The correlation.
        n: Number of pairs.

    Returns:
        Float64, named `bic_bayes_factor_r`.
    """
    squared, size = number(r) ** 2, number(n)
    log = pl.when(size > 0).then(-(size * (-squared).log1p() + size.log()) / 2.0)
    value = pl.when(squared >= 1).then(_CAP).otherwise(original.exp_or_failed(log))
    return original.or_failed(raw_number(r), value).alias("bic_bayes_factor_r")


def bic_bayes_factor_binomial(k: IntoExpr, n: IntoExpr, p0: IntoExpr) -> pl.Expr:
    """Exp of half the difference of the BICs of the share p0 and of the share found.

    Args:
        k: Number of successes.
        n: Number of trials; for none it is 1.
        p0: The share under the null hypothesis; it is 1 where that is not inside (0, 1).

    Returns:
        Float64, named `bic_bayes_factor_binomial`.
    """
    hits, size, share = number(k), number(n), number(p0)

    def log_likelihood(share: pl.Expr) -> pl.Expr:
        return hits * share.log() + (size - hits) * (1.0 - share).log()

    found = (hits / size).clip(_CLIP, 1.0 - _CLIP)
    gain = 2.0 * (log_likelihood(found) - log_likelihood(share))
    possible = (size > 0) & (hits >= 0) & (hits <= size) & (share > 0) & (share < 1)
    log = pl.when(possible).then((gain - size.log()) / 2.0)
    value = original.or_failed(raw_number(k), original.exp_or_failed(log))
    return value.alias("bic_bayes_factor_binomial")


def bic_bayes_factor_variance_ratio(f: IntoExpr, df1: IntoExpr, df2: IntoExpr) -> pl.Expr:
    """exp(df1 ln²F/2), at most 1e6, and 1 where it overflows; below 1 with 1/F and df2.

    Args:
        f: The ratio of variances.
        df1: Degrees of freedom of the numerator.
        df2: Degrees of freedom of the denominator.

    Returns:
        Float64, named `bic_bayes_factor_variance_ratio`.
    """
    ratio = pl.when(number(f) > 0).then(number(f))
    df = pl.when(ratio >= 1).then(number(df1)).otherwise(number(df2))
    value = original.exp_or_failed(df * ratio.log() ** 2 / 2.0).clip(upper_bound=_CAP)
    return original.or_failed(raw_number(f), value).alias("bic_bayes_factor_variance_ratio")


def _of_t(t: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    size, _ = formulas.sizes(n1, n2)
    finite = t.fill_nan(None)
    log = pl.when(size.is_finite() & (size > 0)).then((finite * finite - size.log()) / 2.0)
    value = pl.when(finite.abs() > _LARGEST_T).then(_CAP).otherwise(log.exp())
    return original.or_failed(t, value)
