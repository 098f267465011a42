"""Standardised differences of means: Cohen's d from t and F, and its standard error."""

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

    The second is d of the differences (d_z), on another scale than d of two groups.

    Args:
        t: The statistic; d has its sign.
        n1: Size of the first group, or number of pairs.
        n2: Size of the second group; null, or None, for a paired or one-sample test.
        independent: Boolean: true for two groups, false to ignore `n2`. By default, and where it
            is null, there are two groups if `n2` is not null.

    Returns:
        Float64, named `cohens_d`. Null if an input is missing or infinite, two groups lack `n2`,
        or a size is not above 0.

    References:
        Lakens (2013), Calculating and reporting effect sizes.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import cohens_d_t
        >>> tests = pl.DataFrame({"stat": [2.0, 2.0], "n1": [8, 16], "n2": [8, None]})
        >>> tests.select(cohens_d_t("stat", "n1", "n2")).to_series().to_list()
        [1.0, 0.5]
    """
    first, second = finite(n1), finite(n2)
    two = has_groups(second, independent)
    return d_of_t(finite(t), first, second, two).alias("cohens_d")


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

    F has no sign, so d is positive unless `direction` is negative. With several degrees of freedom
    F is about no single difference, so d is null if `df1` is not 1.

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
        >>> import polars as pl
        >>> from evalframe.replication import cohens_d_f
        >>> tests = pl.DataFrame({"f": [4.0, 4.0, 4.0], "df1": [1, 1, 2], "direction": [1, -1, 1]})
        >>> of_groups = cohens_d_f("f", pl.lit(8), pl.lit(8), df1="df1", direction="direction")
        >>> tests.select(of_groups).to_series().to_list()
        [1.0, -1.0, None]
    """
    first, second = finite(n1), finite(n2)
    t = t_of_f(finite(f), finite(df1), finite(direction))
    return d_of_t(t, first, second, has_groups(second, independent)).alias("cohens_d")


def cohens_d_std_error(
    d: IntoExpr = "cohens_d",
    n1: IntoExpr = "n1",
    n2: IntoExpr | None = None,
    *,
    independent: IntoExpr | None = None,
) -> pl.Expr:
    """Large-sample standard error of Cohen's d.

    sqrt((n1 + n2) / (n1 n2) + d² / (2 (n1 + n2))) of two groups, sqrt(1/n1 + d² / (2 n1)) of pairs
    or one sample.

    Args:
        d: Cohen's d.
        n1: Size of the first group, or number of pairs.
        n2: Size of the second group; null, or None, for a paired or one-sample test.
        independent: As in `cohens_d_t`.

    Returns:
        Float64, named `cohens_d_std_error`. Null if an input is missing or infinite, two groups
        lack `n2`, or a size is not above 0.

    References:
        Hedges and Olkin (1985), Statistical methods for meta-analysis.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import cohens_d_std_error
        >>> tests = pl.DataFrame({"cohens_d": [0.0, 0.0], "n1": [8, 4], "n2": [8, None]})
        >>> tests.select(cohens_d_std_error(n2="n2")).to_series().to_list()
        [0.5, 0.5]
    """
    first, second = finite(n1), finite(n2)
    error = d_error(finite(d), first, second, has_groups(second, independent))
    return error.alias("cohens_d_std_error")


def has_groups(n2: pl.Expr, independent: IntoExpr | None) -> pl.Expr:
    """True for a test of two groups, of which the second has the size n2."""
    sized = n2.is_not_null()
    return sized if independent is None else as_expr(independent).cast(pl.Boolean).fill_null(sized)


def t_of_f(f: pl.Expr, df1: pl.Expr, direction: pl.Expr) -> pl.Expr:
    """The t whose square is F."""
    against = (f < 0) | (direction < 0).fill_null(value=False)
    sign = pl.when(against).then(-1.0).otherwise(1.0)
    return pl.when((df1 == 1).fill_null(value=True)).then(sign) * f.abs().sqrt()


def d_of_t(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """Cohen's d; `two` is true for two groups."""
    return pl.when(are_sizes(n1, n2, two)).then(d_of_size(t, n1, n2, two))


def d_error(d: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """Standard error of Cohen's d."""
    return pl.when(are_sizes(n1, n2, two)).then(error_of_size(d, n1, n2, two))


def d_of_size(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """Cohen's d of any sizes."""
    return t / _effective_size(n1, n2, two).sqrt()


def error_of_size(d: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """Standard error of Cohen's d of any sizes."""
    total = pl.when(two).then(n1 + n2).otherwise(n1)
    return (1.0 / _effective_size(n1, n2, two) + d**2 / (2.0 * total)).sqrt()


def are_sizes(n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """True if the sizes of the groups of a test are above 0."""
    return (n1 > 0) & (~two | (n2 > 0))


def _effective_size(n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """The size of one sample with the same standard error."""
    return pl.when(two).then(n1 * n2 / (n1 + n2)).otherwise(n1)
