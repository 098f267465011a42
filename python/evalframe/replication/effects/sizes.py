"""Effect sizes of means, correlations and ranks, and their standard errors.

They are null if an input is missing, infinite or impossible.
"""

from __future__ import annotations

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.replication.numbers import finite


def cohens_d_t(
    t: IntoExpr = "stat",
    n1: IntoExpr = "n1",
    n2: IntoExpr | None = None,
    *,
    independent: IntoExpr | None = None,
) -> pl.Expr:
    """Cohen's d from t: t sqrt(1/n1 + 1/n2) of two groups, t / sqrt(n1) of pairs or one sample.

    The second is d of the differences (d_z), on another scale than d of two groups (Lakens 2013,
    Calculating and reporting effect sizes).

    Args:
        t: The statistic; d has its sign.
        n1: Size of the first group, or number of pairs.
        n2: Size of the second group; null, or None, for a paired or one-sample test.
        independent: Boolean: true for two groups, false to ignore `n2`. By default, and where it
            is null, there are two groups if `n2` is not null.

    Returns:
        Float64, named `cohens_d`. Null if two groups lack `n2`, or a size is not above 0.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.cohens_d_t(*map(pl.lit, (2, 8, 8)))).item()
        1.0
    """
    n1, n2 = finite(n1), finite(n2)
    return d_of_t(finite(t), n1, n2, has_groups(n2, independent)).alias("cohens_d")


def cohens_d_f(
    f: IntoExpr = "stat",
    n1: IntoExpr = "n1",
    n2: IntoExpr | None = None,
    *,
    df1: IntoExpr | None = None,
    direction: IntoExpr | None = None,
    independent: IntoExpr | None = None,
) -> pl.Expr:
    """Cohen's d from F of one contrast: d of the t whose square is F.

    With several degrees of freedom F is about no single difference, so d is null.

    Args:
        f: The statistic. A negative one (an effect against expectation) gives a negative d.
        n1: Size of the first group, or number of subjects that were measured twice.
        n2: Size of the second group; null, or None, for repeated measures.
        df1: Degrees of freedom of the numerator; null, or None, counts as 1.
        direction: Direction of the effect; a negative one makes d negative.
        independent: As in `cohens_d_t`.

    Returns:
        Float64, named `cohens_d`. Null if `cohens_d_t` is null or `df1` is not 1.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> d = ef.replication.cohens_d_f(*map(pl.lit, (4, 8, 8)), direction=pl.lit(-1))
        >>> pl.select(d).item()
        -1.0
    """
    t, n2 = t_of_f(finite(f), finite(df1), finite(direction)), finite(n2)
    return d_of_t(t, finite(n1), n2, has_groups(n2, independent)).alias("cohens_d")


def cohens_d_std_error(
    d: IntoExpr = "cohens_d",
    n1: IntoExpr = "n1",
    n2: IntoExpr | None = None,
    *,
    independent: IntoExpr | None = None,
) -> pl.Expr:
    """Large-sample standard error of Cohen's d.

    sqrt((n1 + n2) / (n1 n2) + d² / (2 (n1 + n2))) of two groups, sqrt(1/n1 + d² / (2 n1)) of pairs
    or one sample (Hedges and Olkin 1985, Statistical methods for meta-analysis).

    Args:
        d: Cohen's d.
        n1: As in `cohens_d_t`.
        n2: As in `cohens_d_t`.
        independent: As in `cohens_d_t`.

    Returns:
        Float64, named `cohens_d_std_error`. Null as `cohens_d_t` is.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.cohens_d_std_error(*map(pl.lit, (0, 8, 8)))).item()
        0.5
    """
    n1, n2 = finite(n1), finite(n2)
    error = d_error(finite(d), n1, n2, has_groups(n2, independent))
    return error.alias("cohens_d_std_error")


def has_groups(n2: pl.Expr, independent: IntoExpr | None) -> pl.Expr:
    """True for a test of two groups, the second of size n2."""
    sized = n2.is_not_null()
    return sized if independent is None else as_expr(independent).cast(pl.Boolean).fill_null(sized)


def t_of_f(f: pl.Expr, df1: pl.Expr, direction: pl.Expr) -> pl.Expr:
    """The t whose square is F."""
    against = (f < 0) | (direction < 0).fill_null(value=False)
    sign = pl.when(against).then(-1.0).otherwise(1.0)
    return pl.when((df1 == 1).fill_null(value=True)).then(sign) * f.abs().sqrt()


def d_of_t(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """Cohen's d of finite numbers; `two` is true for two groups."""
    return pl.when(are_sizes(n1, n2, two)).then(d_of_size(t, n1, n2, two))


def d_error(d: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """Standard error of Cohen's d of finite numbers."""
    return pl.when(are_sizes(n1, n2, two)).then(error_of_size(d, n1, n2, two))


def d_of_size(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """Cohen's d of any sizes; `two` is true for two groups."""
    return t / _effective_size(n1, n2, two).sqrt()


def error_of_size(d: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """Standard error of Cohen's d of any sizes."""
    total = pl.when(two).then(n1 + n2).otherwise(n1)
    return (1.0 / _effective_size(n1, n2, two) + d**2 / (2.0 * total)).sqrt()


def are_sizes(n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """True if the sizes of the groups of a test are above 0."""
    return (n1 > 0) & (~two | (n2 > 0))


def _effective_size(n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    return pl.when(two).then(n1 * n2 / (n1 + n2)).otherwise(n1)


def fisher_z(r: IntoExpr = "r") -> pl.Expr:
    """Fisher's z of a correlation (Fisher 1915): half the logarithm of (1 + r) / (1 - r).

    Args:
        r: Correlation in [-1, 1].

    Returns:
        Float64, named `fisher_z`; infinite at 1 and -1. Null if r is missing or outside [-1, 1].

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.fisher_z(pl.lit(0.5)).round(4)).item()
        0.5493
    """
    r = finite(r)
    return pl.when(r.abs() <= 1).then(atanh(r)).alias("fisher_z")


def fisher_z_std_error(r: IntoExpr = "r", n: IntoExpr = "n") -> pl.Expr:
    """Standard error of Fisher's z (Fisher 1921): 1 / sqrt(n - 3), whatever the correlation.

    Args:
        r: Correlation; it must be inside (-1, 1), but its value does not matter.
        n: Number of pairs.

    Returns:
        Float64, named `fisher_z_std_error`. Null if n is 3 or less, or r is not inside (-1, 1).

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.fisher_z_std_error(pl.lit(0.5), pl.lit(19))).item()
        0.25
    """
    r, n = finite(r), finite(n)
    defined = pl.when((n > 3) & (r.abs() < 1))
    return defined.then((n - 3.0).pow(-0.5)).alias("fisher_z_std_error")


def atanh(r: pl.Expr) -> pl.Expr:
    """Inverse hyperbolic tangent, exact near 0; that of Polars is off by 1e-12 near the ends."""
    return 0.5 * (r.log1p() - (-r).log1p())


def rank_biserial(u: IntoExpr = "stat", n1: IntoExpr = "n1", n2: IntoExpr = "n2") -> pl.Expr:
    """Rank-biserial correlation (Cureton 1956, Wendt 1972): 2U / (n1 n2) - 1.

    U counts the pairs in which the first group is ahead, as `scipy.stats.mannwhitneyu` does. So the
    correlation is 1 if the first group is always ahead, and -1 if it never is.

    Args:
        u: The statistic of the first group.
        n1: Size of the first group.
        n2: Size of the second group.

    Returns:
        Float64 in [-1, 1], named `rank_biserial`. Null if a size is not above 0, or U is not from 0
        to n1 n2.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.rank_biserial(*map(pl.lit, (25, 5, 5)))).item()
        1.0
    """
    u, n1, n2 = finite(u), finite(n1), finite(n2)
    pairs = n1 * n2
    valid = (n1 > 0) & (n2 > 0) & (u >= 0) & (u <= pairs)
    return pl.when(valid).then(2.0 * u / pairs - 1.0).alias("rank_biserial")


def rank_biserial_std_error(
    r: IntoExpr = "rank_biserial", n1: IntoExpr = "n1", n2: IntoExpr = "n2"
) -> pl.Expr:
    """Standard error of the rank-biserial correlation: sqrt(1/n1 + 1/n2 + r² / (2 (n1 + n2))).

    It has the form of Cohen's d, which is on a wider scale, so it is conservative: without an
    effect the exact one is sqrt((n1 + n2 + 1) / (3 n1 n2)), about 0.58 of it. It is that of the
    documentation of HumanStudy-Bench.

    Args:
        r: Rank-biserial correlation.
        n1: Size of the first group.
        n2: Size of the second group.

    Returns:
        Float64, named `rank_biserial_std_error`. Null if |r| is above 1, or a size not above 0.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.rank_biserial_std_error(*map(pl.lit, (0, 8, 8)))).item()
        0.5
    """
    r, n1, n2 = finite(r), finite(n1), finite(n2)
    error = (1.0 / n1 + 1.0 / n2 + r**2 / (2.0 * (n1 + n2))).sqrt()
    valid = (n1 > 0) & (n2 > 0) & (r.abs() <= 1)
    return pl.when(valid).then(error).alias("rank_biserial_std_error")
