"""Proportions and their differences, with standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rules import check_rules
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def proportion(k: IntoExpr = "k", n: IntoExpr = "n", *, rules: Rules = "documented") -> pl.Expr:
    """The share of k in n.

    Args:
        k: Number of successes.
        n: Number of trials.
        rules: `reference`: 0 where n is 0 or less.

    Returns:
        Float64, named `proportion`. Null where an input is null or NaN; documented also where n is
        not above 0, or k is not from 0 to n.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import proportion
        >>> pl.DataFrame({"k": [3, 5], "n": [4, 4]}).select(proportion()).to_series().to_list()
        [0.75, None]
    """
    check_rules(rules)
    return share_of(number(k, rules), number(n, rules), rules).alias("proportion")


def proportion_std_error(
    p: IntoExpr = "proportion", n: IntoExpr = "n", *, rules: Rules = "documented"
) -> pl.Expr:
    """The standard error of a proportion, sqrt(p (1 - p) / n): 0 where p is 0 or 1.

    Args:
        p: Proportion.
        n: Number of trials.
        rules: `reference`: 0 where n is 0 or less.

    Returns:
        Float64, named `proportion_std_error`. Null where an input is null or NaN, or p is
        outside [0, 1]; documented also where n is not above 0.

    Raises:
        ParameterError: Unknown rules.

    References:
        Wald (1943); HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import proportion_std_error
        >>> counts = pl.DataFrame({"proportion": [0.5, 1.0], "n": [25, 25]})
        >>> counts.select(proportion_std_error()).to_series().to_list()
        [0.1, 0.0]
    """
    check_rules(rules)
    error = share_error(number(p, rules), number(n, rules), rules)
    return error.alias("proportion_std_error")


def proportion_difference(
    p1: IntoExpr = "p1", p2: IntoExpr = "p2", *, rules: Rules = "documented"
) -> pl.Expr:
    """The difference of two proportions, the first less the second.

    Args:
        p1: Proportion in the first group.
        p2: Proportion in the second group.
        rules: `reference`: the difference of any two numbers.

    Returns:
        Float64, named `proportion_difference`. Null where an input is null or NaN, documented also
        where one is outside [0, 1].

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import proportion_difference
        >>> shares = pl.DataFrame({"p1": [0.75], "p2": [0.5]})
        >>> shares.select(proportion_difference()).item()
        0.25
    """
    check_rules(rules)
    first, second = number(p1, rules), number(p2, rules)
    difference = first - second
    if rules == "documented":
        known = first.is_between(0.0, 1.0) & second.is_between(0.0, 1.0)
        difference = pl.when(known).then(difference)
    return difference.fill_nan(None).alias("proportion_difference")


def proportion_difference_std_error(
    p1: IntoExpr = "p1",
    n1: IntoExpr = "n1",
    p2: IntoExpr = "p2",
    n2: IntoExpr = "n2",
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """The standard error of a difference of proportions of independent groups.

    sqrt(p1 (1 - p1) / n1 + p2 (1 - p2) / n2).

    Args:
        p1: Proportion in the first group.
        n1: Size of the first group.
        p2: Proportion in the second group.
        n2: Size of the second group.
        rules: `reference`: infinite where a size is 0 or less.

    Returns:
        Float64, named `proportion_difference_std_error`. Null where an input is null or NaN,
        or a proportion is outside [0, 1]; documented also where a size is not above 0.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import proportion_difference_std_error
        >>> shares = pl.DataFrame({"p1": [0.5], "n1": [25], "p2": [1.0], "n2": [30]})
        >>> shares.select(proportion_difference_std_error()).item()
        0.1
    """
    check_rules(rules)
    first, size, second, other = (number(column, rules) for column in (p1, n1, p2, n2))
    error = (_variance(first, size) + _variance(second, other)).sqrt()
    if rules == "reference":
        empty = (size <= 0) | (other <= 0)
        error = pl.when(empty).then(pl.lit(float("inf"))).otherwise(error)
    return error.fill_nan(None).alias("proportion_difference_std_error")


def share_of(k: pl.Expr, n: pl.Expr, rules: Rules) -> pl.Expr:
    """The proportion of numbers."""
    if rules == "reference":
        return pl.when(n <= 0).then(0.0 * k).otherwise(k / n).fill_nan(None)
    return pl.when((n > 0) & (k >= 0) & (k <= n)).then(k / n)


def share_error(p: pl.Expr, n: pl.Expr, rules: Rules) -> pl.Expr:
    """The standard error of a proportion of numbers."""
    error = _variance(p, n).sqrt()
    if rules == "reference":
        error = pl.when(n <= 0).then(0.0 * p).otherwise(error)
    return error.fill_nan(None)


def _variance(share: pl.Expr, size: pl.Expr) -> pl.Expr:
    known = (size > 0) & share.is_between(0.0, 1.0)
    return pl.when(known).then(share * (1.0 - share) / size)
