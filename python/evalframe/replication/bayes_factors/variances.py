"""Bayes factors of F: of effects, and of ratios of variances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.replication.bayes_factors.factors import EFFECTS, VARIANCE_RATIO, F

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def bayes_factor_f(
    f: IntoExpr,
    df1: IntoExpr,
    df2: IntoExpr,
    n: IntoExpr,
    *,
    scale: float = EFFECTS.usual,
    rules: Rules = "documented",
) -> pl.Expr:
    """Bayes factor of effects against none from an F-test, by the JZS prior of regression.

    Args:
        f: The statistic, 0 or more.
        df1: Number of effects: degrees of freedom of the numerator, above 0, whole or not.
        df2: Degrees of freedom of the denominator, above 0.
        n: Number of observations, above df1 + 1; df1 + df2 + 1 unless told otherwise.
        scale: Of the prior of the effects.
        rules: `documented`, or `reference` for the original's numbers: 1e6 where F passes 100.

    Returns:
        Float64, named `bayes_factor_f`; infinite where it passes 1.8e308. Null where a
        role is missing (null or NaN) or impossible; `with_bayes_factors` raises there instead.

    Raises:
        ParameterError: Unknown rules, or a scale that is none.

    References:
        Rouder and Morey (2012), Default Bayes factors for model selection in regression.
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import bayes_factor_f
        >>> tests = pl.DataFrame({"f": [4.0, 12.8], "df1": [1, 1], "df2": [78, 78], "n": [80, 80]})
        >>> tests.select(bayes_factor_f("f", "df1", "df2", "n").round(3)).to_series().to_list()
        [1.053, 44.514]
    """
    return F.factor([f, df1, df2, n], rules, scale).plain("bayes_factor_f")


def log_bayes_factor_f(
    f: IntoExpr,
    df1: IntoExpr,
    df2: IntoExpr,
    n: IntoExpr,
    *,
    scale: float = EFFECTS.usual,
    rules: Rules = "documented",
) -> pl.Expr:
    """Natural logarithm of `bayes_factor_f`, finite also where that overflows.

    Args:
        f: The statistic, 0 or more.
        df1: Number of effects: degrees of freedom of the numerator, above 0, whole or not.
        df2: Degrees of freedom of the denominator, above 0.
        n: Number of observations, above df1 + 1; df1 + df2 + 1 unless told otherwise.
        scale: Of the prior of the effects.
        rules: `documented`, or `reference` for the original's numbers: 1e6 where F passes 100.

    Returns:
        Float64, named `log_bayes_factor_f`, null as `bayes_factor_f` is.

    Raises:
        ParameterError: Unknown rules, or a scale that is none.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import log_bayes_factor_f
        >>> tests = pl.DataFrame({"f": [12.8, 9e3], "df1": 1, "df2": [78, 778], "n": [80, 780]})
        >>> tests.select(log_bayes_factor_f("f", "df1", "df2", "n").round(3)).to_series().to_list()
        [3.796, 979.174]
    """
    return F.factor([f, df1, df2, n], rules, scale).log("log_bayes_factor_f")


def bayes_factor_variance_ratio(
    f: IntoExpr,
    df1: IntoExpr,
    df2: IntoExpr,
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Bound on the Bayes factor of unequal variances: Vovk-Sellke of the two-sided p-value of F.

    The tails are those of logarithms, so that p-values below the smallest number count, too.

    Args:
        f: The ratio of variances, 0 or more.
        df1: Degrees of freedom of the numerator, above 0.
        df2: Degrees of freedom of the denominator, above 0.
        rules: `documented`, or `reference` for the original's numbers: its p-value cancels to 0
            for large F, which gives 1e6.

    Returns:
        Float64, named `bayes_factor_variance_ratio`; infinite where it passes 1.8e308. Null where a
        role is missing (null or NaN) or impossible; `with_bayes_factors` raises there instead.

    Raises:
        ParameterError: Unknown rules.

    References:
        Sellke, Bayarri and Berger (2001), Calibration of p values for testing precise null
        hypotheses.
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import bayes_factor_variance_ratio
        >>> tests = pl.DataFrame({"f": [0.2, 1.1], "df1": [10, 62], "df2": [15, 46]})
        >>> bounds = tests.select(bayes_factor_variance_ratio("f", "df1", "df2"))
        >>> bounds.to_series().round(3).to_list()
        [6.111, 1.0]
    """
    return VARIANCE_RATIO.factor([f, df1, df2], rules).plain("bayes_factor_variance_ratio")


def log_bayes_factor_variance_ratio(
    f: IntoExpr,
    df1: IntoExpr,
    df2: IntoExpr,
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Natural logarithm of `bayes_factor_variance_ratio`, finite also where that overflows.

    Args:
        f: The ratio of variances, 0 or more.
        df1: Degrees of freedom of the numerator, above 0.
        df2: Degrees of freedom of the denominator, above 0.
        rules: `documented`, or `reference` for the original's numbers: its p-value cancels to 0
            for large F, which gives 1e6.

    Returns:
        Float64, named `log_bayes_factor_variance_ratio`, null as `bayes_factor_variance_ratio` is.

    Raises:
        ParameterError: Unknown rules.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import log_bayes_factor_variance_ratio
        >>> tests = pl.DataFrame({"f": [0.2, 500.0], "df1": [10, 400], "df2": [15, 400]})
        >>> bounds = tests.select(log_bayes_factor_variance_ratio("f", "df1", "df2"))
        >>> bounds.to_series().round(3).to_list()
        [1.81, 961.803]
    """
    return VARIANCE_RATIO.factor([f, df1, df2], rules).log("log_bayes_factor_variance_ratio")
