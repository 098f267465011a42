"""P-values of tests from their statistics."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import polars as pl
from polars import selectors

from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.replication.effects.kinds import in_groups, is_form, kind_of_test
from evalframe.replication.numbers import finite, over_numbers

if TYPE_CHECKING:
    from evalframe.core.segments import Floats

    Sided: TypeAlias = Callable[[Callable[[Floats], Floats], Floats, Floats], Floats]
    """The p-value from a distribution function, a statistic and a side."""


GREATER, LESS, TWO_SIDED = 1, -1, 0
"""Sides of the alternative, in a column."""


def normal_p_value(z: pl.Expr, side: pl.Expr, sided: Sided | None = None) -> pl.Expr:
    """The p-value of a standard normal statistic."""
    kernel = partial(_normal, sided=sided or _sided)
    return over_numbers(kernel, [z, side.cast(pl.Float64)])


def t_p_value(t: pl.Expr, df: pl.Expr, side: pl.Expr, sided: Sided | None = None) -> pl.Expr:
    """The p-value of t with `df` degrees of freedom, null if these are not above 0."""
    kernel = partial(_t, sided=sided or _sided)
    return over_numbers(kernel, [t, df, side.cast(pl.Float64)])


def f_p_value(f: pl.Expr, df1: pl.Expr, df2: pl.Expr) -> pl.Expr:
    """The upper tail of F, null if F is negative or a number of degrees is not above 0."""
    return over_numbers(_f, [f, df1, df2])


def chi2_p_value(chi2: pl.Expr, df: pl.Expr) -> pl.Expr:
    """The upper tail of chi-square, null if it is negative or `df` is not above 0."""
    return over_numbers(_chi2, [chi2, df.cast(pl.Float64)])


def _normal(z: Floats, side: Floats, sided: Sided) -> Floats:
    from scipy.special import ndtr

    return sided(ndtr, z, side)


def _t(t: Floats, df: Floats, side: Floats, sided: Sided) -> Floats:
    import numpy as np
    from scipy.special import stdtr

    degrees = np.where(df > 0, df, np.nan)
    return sided(lambda x: stdtr(degrees, x), t, side)


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


_UPWARD = ("positive", "greater", ">")
_DOWNWARD = ("negative", "less", "<")

EVEN = 0.5
"""Probability of a hit without an effect, by default."""


def side_of(expected_direction: IntoExpr) -> pl.Expr:
    """The side of an alternative in words: 1 upwards, -1 downwards, 0 neither; null for null."""
    words = as_expr(expected_direction).cast(pl.String).str.to_lowercase()
    return (
        pl.when(words.is_in(_UPWARD))
        .then(GREATER)
        .when(words.is_in(_DOWNWARD))
        .then(LESS)
        .when(words.is_not_null())
        .then(TWO_SIDED)
        .cast(pl.Int8)
    )


def p_value(
    test_type: IntoExpr = "test_type",
    stat: IntoExpr | None = None,
    n1: IntoExpr | None = None,
    n2: IntoExpr | None = None,
    *,
    df1: IntoExpr | None = None,
    df2: IntoExpr | None = None,
    k: IntoExpr | None = None,
    n: IntoExpr | None = None,
    p0: IntoExpr | None = None,
    independent: IntoExpr | None = None,
    alternative: IntoExpr | None = None,
) -> pl.Expr:
    """P-value of a test from its statistic.

    It depends on the sizes of the samples as much as on agreement: report PAS and ECS instead.

    | test | p-value |
    |---|---|
    | t | of n1 + n2 - 2 degrees of freedom, or of n1 - 1 if `n2` is null |
    | correlation | of the t of r, with n - 2 degrees of freedom |
    | F | upper tail of `df1` and `df2`; without them, of 1 and n1 + n2 - 2 |
    | chi-square | upper tail of `df1`, 1 if it is null |
    | Mann-Whitney | of U of the first group by its normal limit, without corrections |
    | binomial | exact; two-sided all counts that are no more likely |

    Args:
        test_type: Name of the test, see `known_test_types`.
        stat: The statistic: by default `stat`, which can be absent if there is `k`.
        n1: Size of the first group: by default `n1`, which can be absent if there is `n`.
        n2: Size of the second group; null, or None, for a paired or one-sample test.
        df1: Degrees of freedom, for F those of the numerator.
        df2: Degrees of freedom of the denominator of F.
        k: Number of hits of a binomial test; by default, and if null, `stat`.
        n: Number of trials or pairs; by default, and if null, `n1`.
        p0: Probability of a hit without an effect; 0.5 by default and if null.
        independent: True for a t test of two groups; if null, there are two if `n2` is not null.
        alternative: `greater`, `positive` or `>`; `less`, `negative` or `<`; two-sided for all
            else. F and chi-square have upper tails only.

    Returns:
        Float64 in [0, 1], named `p_value`, accurate down to 1e-308. Null if the test is unknown, or
        an input is missing, infinite or impossible.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import p_value
        >>> tests = pl.DataFrame({"test_type": ["t-test"], "stat": [2.0], "n1": [20], "n2": [20]})
        >>> round(tests.select(p_value(n2="n2")).item(), 4)
        0.0527
    """
    stat, n1 = or_usual(stat, "stat", k), or_usual(n1, "n1", n)
    words = pl.lit(None, pl.String) if alternative is None else as_expr(alternative)
    groups = pl.lit(None, pl.Boolean) if independent is None else as_expr(independent)
    grouped = in_groups(partial(is_form, test_type), groups).cast(pl.Boolean)
    kind, side = kind_of_test(test_type), side_of(words).fill_null(TWO_SIDED)
    stat, n1, n2, df1, df2, k, n, p0 = map(finite, (stat, n1, n2, df1, df2, k, n, p0))
    hits, trials = pl.coalesce(k, stat), pl.coalesce(n, n1)
    grouped = grouped.fill_null(n2.is_not_null())
    degrees = pl.when(grouped).then(n1 + n2 - 2.0).otherwise(n1 - 1.0)
    above = df1.fill_null(1.0)
    below = pl.coalesce(df2, pl.when(above == 1).then(n1 + n2 - 2.0))
    # Each is null for tests of other kinds.
    return pl.coalesce(
        t_p_value(_for(kind, "t", stat), degrees, side),
        f_p_value(_for(kind, "f", stat), above, below),
        _of_correlation(_for(kind, "correlation", stat), trials, side),
        chi2_p_value(_for(kind, "chi_square", stat), above),
        normal_p_value(_for(kind, "rank", _z_of_ranks(stat, n1, n2)), side),
        binomial_p_value(_for(kind, "binomial", hits), trials, p0.fill_null(EVEN), side),
    ).alias("p_value")


def or_usual(column: IntoExpr | None, usual: str, stand_in: IntoExpr | None) -> IntoExpr:
    """The column, or the usual one, which can be absent if another stands in for it."""
    if column is not None:
        return column
    if stand_in is None:
        return usual
    present = selectors.by_name(usual, require_all=False)
    return pl.coalesce(present, pl.lit(None, pl.Float64))


def _for(kind: pl.Expr, name: str, value: pl.Expr) -> pl.Expr:
    """The value for one kind of tests; kernels skip the others."""
    return pl.when(kind == name).then(value)


def _of_correlation(r: pl.Expr, n: pl.Expr, side: pl.Expr) -> pl.Expr:
    known = pl.when((r.abs() <= 1) & (n > 2)).then(r)
    t = known * ((n - 2.0) / ((1.0 - known) * (1.0 + known))).sqrt()
    return t_p_value(t, n - 2.0, side)


def _z_of_ranks(stat: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    pairs = n1 * n2
    z = (stat - pairs / 2.0) / (pairs * (n1 + n2 + 1.0) / 12.0).sqrt()
    return pl.when((n1 > 0) & (n2 > 0) & stat.is_between(0.0, pairs)).then(z)
