"""Proportions and their differences, with standard errors."""

from __future__ import annotations

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.replication.numbers import finite


def proportion(k: IntoExpr = "k", n: IntoExpr = "n") -> pl.Expr:
    """Share of k in n.

    Args:
        k: Number of successes.
        n: Number of trials.

    Returns:
        Float64, named `proportion`. Null if an input is missing or infinite, n is not above 0, or
        k is not from 0 to n.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import proportion
        >>> pl.DataFrame({"k": [3, 5], "n": [4, 4]}).select(proportion()).to_series().to_list()
        [0.75, None]
    """
    return share_of(finite(k), finite(n)).alias("proportion")


def proportion_std_error(p: IntoExpr = "proportion", n: IntoExpr = "n") -> pl.Expr:
    """Standard error of a proportion, sqrt(p (1 - p) / n): 0 if p is 0 or 1.

    Args:
        p: Proportion.
        n: Number of trials.

    Returns:
        Float64, named `proportion_std_error`. Null if an input is missing or infinite, p is outside
        [0, 1], or n is not above 0.

    References:
        Wald (1943).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import proportion_std_error
        >>> counts = pl.DataFrame({"proportion": [0.5, 1.0], "n": [25, 25]})
        >>> counts.select(proportion_std_error()).to_series().to_list()
        [0.1, 0.0]
    """
    return share_error(finite(p), finite(n)).alias("proportion_std_error")


def proportion_difference(p1: IntoExpr = "p1", p2: IntoExpr = "p2") -> pl.Expr:
    """Difference of two proportions, the first less the second.

    Args:
        p1: Proportion in the first group.
        p2: Proportion in the second group.

    Returns:
        Float64, named `proportion_difference`. Null if an input is missing or outside [0, 1].

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import proportion_difference
        >>> shares = pl.DataFrame({"p1": [0.75], "p2": [0.5]})
        >>> shares.select(proportion_difference()).item()
        0.25
    """
    first, second = finite(p1), finite(p2)
    valid = first.is_between(0.0, 1.0) & second.is_between(0.0, 1.0)
    return pl.when(valid).then(first - second).alias("proportion_difference")


def proportion_difference_std_error(
    p1: IntoExpr = "p1", n1: IntoExpr = "n1", p2: IntoExpr = "p2", n2: IntoExpr = "n2"
) -> pl.Expr:
    """Standard error of a difference of proportions of independent groups.

    sqrt(p1 (1 - p1) / n1 + p2 (1 - p2) / n2).

    Args:
        p1: Proportion in the first group.
        n1: Size of the first group.
        p2: Proportion in the second group.
        n2: Size of the second group.

    Returns:
        Float64, named `proportion_difference_std_error`. Null if an input is missing or infinite, a
        proportion is outside [0, 1], or a size is not above 0.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import proportion_difference_std_error
        >>> shares = pl.DataFrame({"p1": [0.5], "n1": [25], "p2": [1.0], "n2": [30]})
        >>> shares.select(proportion_difference_std_error()).item()
        0.1
    """
    variance = share_variance(finite(p1), finite(n1)) + share_variance(finite(p2), finite(n2))
    return variance.sqrt().alias("proportion_difference_std_error")


def share_of(k: pl.Expr, n: pl.Expr) -> pl.Expr:
    """Share of k in n, null if impossible."""
    return pl.when((n > 0) & (k >= 0) & (k <= n)).then(k / n)


def share_error(p: pl.Expr, n: pl.Expr) -> pl.Expr:
    """Standard error of a proportion."""
    return share_variance(p, n).sqrt()


def share_variance(p: pl.Expr, n: pl.Expr) -> pl.Expr:
    """Variance of a proportion, null if it or n is impossible."""
    return pl.when((n > 0) & p.is_between(0.0, 1.0)).then(p * (1.0 - p) / n)
