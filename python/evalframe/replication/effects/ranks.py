"""The rank-biserial correlation of a Mann-Whitney test, and its standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rules import check_rules
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def rank_biserial(
    u: IntoExpr = "stat",
    n1: IntoExpr = "n1",
    n2: IntoExpr = "n2",
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """The rank-biserial correlation: 2U / (n1 n2) - 1, with U of the first group.

    U counts the pairs in which the first group is ahead, as that of `scipy.stats.mannwhitneyu`, so
    that the correlation is 1 where the first group is always ahead, and -1 where it never is.

    Args:
        u: The statistic of the first group.
        n1: Size of the first group.
        n2: Size of the second group.
        rules: `reference`: the opposite sign, 1 - 2U / (n1 n2), and 0 where a size is 0 or less.
            (The original's derivation of fields has the sign of the documented rules.)

    Returns:
        Float64, named `rank_biserial`; documented in [-1, 1]. Null where an input is null or NaN;
        documented also where a size is not above 0, or U is not from 0 to n1 n2.

    Raises:
        ParameterError: Unknown rules.

    References:
        Wendt (1972), Cureton (1956); HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import rank_biserial
        >>> tests = pl.DataFrame({"stat": [25.0, 12.5, 0.0], "n1": [5, 5, 5], "n2": [5, 5, 5]})
        >>> tests.select(rank_biserial()).to_series().to_list()
        [1.0, 0.0, -1.0]
    """
    check_rules(rules)
    value, first, second = (number(column, rules) for column in (u, n1, n2))
    return r_of_u(value, first, second, rules).alias("rank_biserial")


def rank_biserial_std_error(
    r: IntoExpr = "rank_biserial",
    n1: IntoExpr = "n1",
    n2: IntoExpr = "n2",
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """The standard error of the rank-biserial correlation, as documented with the original.

    sqrt(1/n1 + 1/n2 + r² / (2 (n1 + n2))): the form of Cohen's d, which is on a wider scale, so
    that it is cautious: without an effect the true one is sqrt((n1 + n2 + 1) / (3 n1 n2)), about
    0.58 of it.

    Args:
        r: Rank-biserial correlation.
        n1: Size of the first group.
        n2: Size of the second group.
        rules: `reference`: sqrt((1 - r²) / (n1 + n2 - 1)), which is 0 at 1 and -1, and infinite
            where n1 + n2 is 1 or less.

    Returns:
        Float64, named `rank_biserial_std_error`. Null where an input is null or NaN, or r is
        outside [-1, 1]; documented also where a size is not above 0 or infinite.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import rank_biserial_std_error
        >>> tests = pl.DataFrame({"rank_biserial": [0.0], "n1": [8], "n2": [8]})
        >>> tests.select(rank_biserial_std_error()).item()
        0.5
    """
    check_rules(rules)
    value, first, second = (number(column, rules) for column in (r, n1, n2))
    return rank_error(value, first, second, rules).alias("rank_biserial_std_error")


def r_of_u(u: pl.Expr, n1: pl.Expr, n2: pl.Expr, rules: Rules) -> pl.Expr:
    """The rank-biserial correlation of numbers."""
    pairs = n1 * n2
    if rules == "reference":
        empty = (n1 <= 0) | (n2 <= 0)
        known = u.is_not_null() & pairs.is_not_null()
        return pl.when(empty & known).then(0.0).otherwise(1.0 - 2.0 * u / pairs).fill_nan(None)
    known = (n1 > 0) & (n2 > 0) & (u >= 0) & (u <= pairs)
    return pl.when(known).then(2.0 * u / pairs - 1.0)


def rank_error(r: pl.Expr, n1: pl.Expr, n2: pl.Expr, rules: Rules) -> pl.Expr:
    """The standard error of the rank-biserial correlation of numbers."""
    total = n1 + n2
    if rules == "reference":
        error = ((1.0 - r**2) / (total - 1.0)).sqrt().fill_nan(None)
        return pl.when(total <= 1).then(pl.lit(float("inf"))).otherwise(error)
    known = (n1 > 0) & (n2 > 0) & (r.abs() <= 1)
    return pl.when(known).then((1.0 / n1 + 1.0 / n2 + r**2 / (2.0 * total)).sqrt())
