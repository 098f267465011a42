"""Fisher's z of a correlation, and its standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rules import check_rules
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

_INFINITY = float("inf")


def fisher_z(r: IntoExpr = "r", *, rules: Rules = "documented") -> pl.Expr:
    """Fisher's z of a correlation: half the logarithm of (1 + r) / (1 - r).

    Args:
        r: Correlation in [-1, 1].
        rules: `reference`: also what lies outside [-1, 1] is infinite, with its sign.

    Returns:
        Float64, named `fisher_z`; infinite at 1 and -1. Null where r is null or NaN, documented
        also where it is outside [-1, 1].

    Raises:
        ParameterError: Unknown rules.

    References:
        Fisher (1915); HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import fisher_z
        >>> pl.DataFrame({"r": [0.0, 0.5, 1.0]}).select(fisher_z().round(4)).to_series().to_list()
        [0.0, 0.5493, inf]
    """
    check_rules(rules)
    return z_of_r(number(r, rules), rules).alias("fisher_z")


def fisher_z_std_error(
    r: IntoExpr = "r", n: IntoExpr = "n", *, rules: Rules = "documented"
) -> pl.Expr:
    """The standard error of Fisher's z: 1 / sqrt(n - 3), whatever the correlation.

    Args:
        r: Correlation; it must be one, but does not matter.
        n: Number of pairs.
        rules: `reference`: infinite where n is 3 or less or r is not inside (-1, 1); a null or NaN
            r does not matter.

    Returns:
        Float64, named `fisher_z_std_error`. Null where n is null or NaN; documented also where
        n is 3 or less or infinite, or r is null, NaN, or not inside (-1, 1), where z is infinite.

    Raises:
        ParameterError: Unknown rules.

    References:
        Fisher (1921); HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import fisher_z_std_error
        >>> tests = pl.DataFrame({"r": [0.5, 0.5], "n": [19, 3]})
        >>> tests.select(fisher_z_std_error()).to_series().to_list()
        [0.25, None]
    """
    check_rules(rules)
    error = z_error(number(r, rules), number(n, rules), rules)
    return error.alias("fisher_z_std_error")


def z_of_r(r: pl.Expr, rules: Rules) -> pl.Expr:
    """Fisher's z of a number."""
    z = 0.5 * (r.log1p() - (-r).log1p())
    if rules == "reference":
        return pl.when(r.abs() < 1).then(z).otherwise(r.sign() * _INFINITY)
    return pl.when(r.abs() <= 1).then(z)


def z_error(r: pl.Expr, n: pl.Expr, rules: Rules) -> pl.Expr:
    """The standard error of Fisher's z of numbers."""
    error = (n - 3.0).pow(-0.5)
    if rules == "reference":
        unknown = (n <= 3) | (r.abs() >= 1).fill_null(value=False)
        return pl.when(unknown).then(pl.lit(_INFINITY)).otherwise(error)
    return pl.when((n > 3) & (r.abs() < 1)).then(error)
