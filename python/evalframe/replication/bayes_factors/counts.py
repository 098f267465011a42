"""Bayes factors of counts: of chi-square, and of a binomial share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.replication.bayes_factors.factors import BINOMIAL, CHI2

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def bayes_factor_chi2(
    chi2: IntoExpr,
    df: IntoExpr,
    n: IntoExpr,
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Bayes factor of an association against none from a chi-square, by its BIC: (χ² - df ln n)/2.

    Args:
        chi2: The statistic, 0 or more.
        df: Degrees of freedom, above 0.
        n: Number of observations, 1 or more.
        rules: `documented`, or `reference` for the original's numbers: 1 where it overflows.

    Returns:
        Float64, named `bayes_factor_chi2`; infinite where it passes 1.8e308. Null where a
        role is missing (null or NaN) or impossible; `with_bayes_factors` raises there instead.

    Raises:
        ParameterError: Unknown rules.

    References:
        Wagenmakers (2007), A practical solution to the pervasive problems of p values.
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import bayes_factor_chi2
        >>> tests = pl.DataFrame({"chi2": [0.0, 7.88077], "df": [1, 2], "n": [100, 27]})
        >>> tests.select(bayes_factor_chi2("chi2", "df", "n").round(3)).to_series().to_list()
        [0.1, 1.905]
    """
    return CHI2.factor([chi2, df, n], rules).plain("bayes_factor_chi2")


def log_bayes_factor_chi2(
    chi2: IntoExpr,
    df: IntoExpr,
    n: IntoExpr,
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Natural logarithm of `bayes_factor_chi2`, finite also where that overflows.

    Args:
        chi2: The statistic, 0 or more.
        df: Degrees of freedom, above 0.
        n: Number of observations, 1 or more.
        rules: `documented`, or `reference` for the original's numbers: 1 where it overflows.

    Returns:
        Float64, named `log_bayes_factor_chi2`, null as `bayes_factor_chi2` is.

    Raises:
        ParameterError: Unknown rules.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import log_bayes_factor_chi2
        >>> tests = pl.DataFrame({"chi2": [7.88077, 2000.0], "df": [2, 1], "n": [27, 2500]})
        >>> tests.select(log_bayes_factor_chi2("chi2", "df", "n").round(3)).to_series().to_list()
        [0.645, 996.088]
    """
    return CHI2.factor([chi2, df, n], rules).log("log_bayes_factor_chi2")


def bayes_factor_binomial(
    k: IntoExpr,
    n: IntoExpr,
    p0: IntoExpr,
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Bayes factor of any share, all equally likely, against the share p0, from k of n.

    Args:
        k: Number of successes, whole, from 0 to n.
        n: Number of trials, whole, 0 or more.
        p0: The share under the null hypothesis, above 0 and below 1.
        rules: `documented`, or `reference` for the original's numbers: counts are cut to whole
            ones, impossible input gives 1, a binomial coefficient that overflows 0.

    Returns:
        Float64, named `bayes_factor_binomial`; infinite where it passes 1.8e308. Null where a
        role is missing (null or NaN) or impossible; `with_bayes_factors` raises there instead.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import bayes_factor_binomial
        >>> tests = pl.DataFrame({"k": [7, 5], "n": [7, 10], "p0": [0.5, 0.5]})
        >>> tests.select(bayes_factor_binomial("k", "n", "p0").round(3)).to_series().to_list()
        [16.0, 0.369]
    """
    return BINOMIAL.factor([k, n, p0], rules).plain("bayes_factor_binomial")


def log_bayes_factor_binomial(
    k: IntoExpr,
    n: IntoExpr,
    p0: IntoExpr,
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Natural logarithm of `bayes_factor_binomial`, finite also where that overflows.

    Args:
        k: Number of successes, whole, from 0 to n.
        n: Number of trials, whole, 0 or more.
        p0: The share under the null hypothesis, above 0 and below 1.
        rules: `documented`, or `reference` for the original's numbers: counts are cut to whole
            ones, impossible input gives 1, a binomial coefficient that overflows 0.

    Returns:
        Float64, named `log_bayes_factor_binomial`, null as `bayes_factor_binomial` is.

    Raises:
        ParameterError: Unknown rules.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import log_bayes_factor_binomial
        >>> tests = pl.DataFrame({"k": [7, 2000], "n": [7, 2000], "p0": [0.5, 0.5]})
        >>> tests.select(log_bayes_factor_binomial("k", "n", "p0").round(3)).to_series().to_list()
        [2.773, 1378.693]
    """
    return BINOMIAL.factor([k, n, p0], rules).log("log_bayes_factor_binomial")
