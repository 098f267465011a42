"""Tail probabilities as elementwise expressions, accurate down to the smallest floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import polars as pl

from evalframe.replication.numbers import over_numbers

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


GREATER, LESS, TWO_SIDED = 1, -1, 0
"""Sides of the alternative, in a column."""


def normal_p_value(z: pl.Expr, side: pl.Expr) -> pl.Expr:
    """The p-value of a standard normal statistic.

    >>> z = pl.DataFrame({"z": [0.0, 30.0]})
    >>> p = normal_p_value(pl.col("z"), pl.lit(TWO_SIDED))
    >>> [f"{value:.6g}" for value in z.select(p).to_series()]
    ['1', '9.81343e-198']
    """
    return over_numbers(_normal, [z, side.cast(pl.Float64)])


def t_p_value(t: pl.Expr, df: pl.Expr, side: pl.Expr) -> pl.Expr:
    """The p-value of t with `df` degrees of freedom, null if these are not above 0."""
    return over_numbers(_t, [t, df, side.cast(pl.Float64)])


def f_p_value(f: pl.Expr, df1: pl.Expr, df2: pl.Expr) -> pl.Expr:
    """The upper tail of F, null if F is negative or a number of degrees is not above 0."""
    return over_numbers(_f, [f, df1, df2])


def chi2_p_value(chi2: pl.Expr, df: pl.Expr) -> pl.Expr:
    """The upper tail of chi-square, null if it is negative or `df` is not above 0."""
    return over_numbers(_chi2, [chi2, df.cast(pl.Float64)])


def _normal(z: Floats, side: Floats) -> Floats:
    from scipy.special import ndtr

    return _sided(ndtr, z, side)


def _t(t: Floats, df: Floats, side: Floats) -> Floats:
    import numpy as np
    from scipy.special import stdtr

    degrees = np.where(df > 0, df, np.nan)
    return _sided(lambda x: stdtr(degrees, x), t, side)


def _sided(cdf: Callable[[Floats], Floats], x: Floats, side: Floats) -> Floats:
    """The p-value of a statistic whose distribution is symmetric about 0."""
    import numpy as np

    outward = np.where(side == TWO_SIDED, np.abs(x), side * x)
    return np.where(side == TWO_SIDED, 2.0, 1.0) * cdf(-outward)


def _f(f: Floats, df1: Floats, df2: Floats) -> Floats:
    import numpy as np
    from scipy.special import fdtrc

    return np.where((f >= 0) & (df1 > 0) & (df2 > 0), fdtrc(df1, df2, f), np.nan)


def _chi2(chi2: Floats, df: Floats) -> Floats:
    import numpy as np
    from scipy.special import chdtrc

    return np.where((chi2 >= 0) & (df > 0), chdtrc(df, chi2), np.nan)


_SLACK = math.log1p(1e-7)
"""Tolerance, in logarithms, within which two counts are equally likely."""


def binomial_p_value(k: pl.Expr, n: pl.Expr, p0: pl.Expr, side: pl.Expr) -> pl.Expr:
    """The exact p-value of k hits in n trials with probability `p0`.

    Two-sided, it is the probability of all counts that are no more likely than k. Null unless k and
    n are whole numbers, k from 0 to n and n at least 1, and p0 is in [0, 1].

    >>> counts = pl.DataFrame({"k": [7.0, 2.0], "n": [7.0, 4.0]})
    >>> p = binomial_p_value(pl.col("k"), pl.col("n"), pl.lit(0.5), pl.lit(TWO_SIDED))
    >>> counts.select(p).to_series().to_list()
    [0.015625, 1.0]
    """
    return over_numbers(_binomial, [k, n, p0, side.cast(pl.Float64)])


def _binomial(k: Floats, n: Floats, p0: Floats, side: Floats) -> Floats:
    import numpy as np

    are_whole = (k == np.floor(k)) & (n == np.floor(n))
    known = are_whole & (n >= 1) & (k >= 0) & (k <= n) & (p0 >= 0) & (p0 <= 1)
    # From below: many hits are few misses.
    turned = np.where(side == TWO_SIDED, k > p0 * n, side == GREATER)
    few, hit, miss = (
        np.where(turned, n - k, k),
        np.where(turned, 1.0 - p0, p0),
        np.where(turned, p0, 1.0 - p0),
    )
    p = _at_most(few, n, miss)
    rows = np.flatnonzero(known & (side == TWO_SIDED))
    p[rows] += _at_least(
        _as_unlikely(few[rows], n[rows], hit[rows], miss[rows]), n[rows], hit[rows]
    )
    p[rows] = np.where(k[rows] == p0[rows] * n[rows], 1.0, np.minimum(p[rows], 1.0))
    return np.where(known, p, np.nan)


def _as_unlikely(few: Floats, n: Floats, hit: Floats, miss: Floats) -> Floats:
    """The first count above the mean that is no more likely than one below it; else n + 1."""
    import numpy as np

    # By bisection: above the mean probabilities fall.
    bound = _log_probability(few, n, hit, miss) + _SLACK
    low, high = np.ceil(hit * n), n + 1.0
    for _ in range(int(np.log2(n.max(initial=1.0) + 2.0)) + 2):
        middle = np.floor((low + high) / 2.0)
        inside = np.minimum(middle, n)
        likelier = (_log_probability(inside, n, hit, miss) > bound) & (middle <= n)
        open_ = low < high
        low = np.where(open_ & likelier, middle + 1.0, low)
        high = np.where(open_ & ~likelier, middle, high)
    return high


def _log_probability(k: Floats, n: Floats, hit: Floats, miss: Floats) -> Floats:
    import numpy as np
    from scipy.special import betaln, xlogy

    ways = -betaln(k + 1.0, n - k + 1.0) - np.log1p(n)
    return ways + xlogy(k, hit) + xlogy(n - k, miss)  # type: ignore[no-any-return]


def _at_most(k: Floats, n: Floats, miss: Floats) -> Floats:
    import numpy as np
    from scipy.special import betainc

    inner = betainc(np.maximum(n - k, 1.0), k + 1.0, miss)
    return np.where(k >= n, 1.0, inner)


def _at_least(k: Floats, n: Floats, hit: Floats) -> Floats:
    import numpy as np
    from scipy.special import betainc

    inner = betainc(np.maximum(k, 1.0), np.maximum(n - k + 1.0, 1.0), hit)
    return np.where(k > n, 0.0, np.where(k <= 0, 1.0, inner))
