"""Bayes factors of correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.replication.bayes_factors.factors import CAUCHY_SCALE, R

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def bayes_factor_r(
    r: IntoExpr,
    n: IntoExpr,
    *,
    scale: float = CAUCHY_SCALE,
    rules: Rules = "documented",
) -> pl.Expr:
    """Bayes factor of a correlation against none, by the JZS prior of its t.

    The integral is that of one sample of n with n - 1 degrees of freedom, as the original has it.
    A correlation of 1 or -1 has an infinite Bayes factor.

    Args:
        r: The correlation, from -1 to 1.
        n: Number of pairs, 3 or more.
        scale: Of the Cauchy prior.
        rules: `documented`, or `reference` for the original's numbers: 1e6 where t² passes 100 and
            where r is 1 or -1, and 1 for two pairs.

    Returns:
        Float64, named `bayes_factor_r`; infinite where it passes 1.8e308. Null where a
        role is missing (null or NaN) or impossible; `with_bayes_factors` raises there instead.

    Raises:
        ParameterError: Unknown rules, or a scale that is none.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import bayes_factor_r
        >>> tests = pl.DataFrame({"r": [0.0, 0.53], "n": [30, 122]})
        >>> tests.select(bayes_factor_r("r", "n").round(3)).to_series().to_list()
        [0.194, 27450414.733]
    """
    return R.factor([r, n], rules, scale).plain("bayes_factor_r")


def log_bayes_factor_r(
    r: IntoExpr,
    n: IntoExpr,
    *,
    scale: float = CAUCHY_SCALE,
    rules: Rules = "documented",
) -> pl.Expr:
    """Natural logarithm of `bayes_factor_r`, finite also where that overflows.

    Args:
        r: The correlation, from -1 to 1.
        n: Number of pairs, 3 or more.
        scale: Of the Cauchy prior.
        rules: `documented`, or `reference` for the original's numbers: 1e6 where t² passes 100 and
            where r is 1 or -1, and 1 for two pairs.

    Returns:
        Float64, named `log_bayes_factor_r`, null as `bayes_factor_r` is.

    Raises:
        ParameterError: Unknown rules, or a scale that is none.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import log_bayes_factor_r
        >>> tests = pl.DataFrame({"r": [0.0, 0.9], "n": [30, 1000]})
        >>> tests.select(log_bayes_factor_r("r", "n").round(3)).to_series().to_list()
        [-1.638, 824.376]
    """
    return R.factor([r, n], rules, scale).log("log_bayes_factor_r")
