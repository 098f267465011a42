"""Bayes factors of correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.replication.bayes_factors.factors import STRETCHED_BETA, R

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def bayes_factor_r(
    r: IntoExpr,
    n: IntoExpr,
    *,
    kappa: float = STRETCHED_BETA.usual,
    rules: Rules = "documented",
) -> pl.Expr:
    """Exact Bayes factor of a correlation against none, with a stretched beta prior.

    That of Jeffreys, as Ly, Verhagen and Wagenmakers have it: means and variances have his priors,
    and (rho + 1)/2 a beta distribution of 1/kappa and 1/kappa, which for a kappa of 1 makes all
    correlations equally likely. It is not the JZS factor of regression (Wetzels and Wagenmakers,
    2012), nor that of a t. The sign of r does not matter. A correlation of 1 or -1 has an infinite
    Bayes factor of 2 + 2/kappa pairs or more, and a finite one of fewer.

    Args:
        r: The correlation, from -1 to 1. That of ranks (Spearman) counts as that of numbers.
        n: Number of pairs, 3 or more.
        kappa: Width of the prior, from 0.001 to 100; 1/3 expects small correlations.
        rules: `documented`, or `reference` for the original's numbers: the JZS factor of its t, as
            of one sample of n with n - 1 degrees of freedom; 1e6 where t² passes 100 and where r is
            1 or -1, and 1 for two pairs.

    Returns:
        Float64, named `bayes_factor_r`; infinite where it passes 1.8e308. Null where a
        role is missing (null or NaN) or impossible; `with_bayes_factors` raises there instead.

    Raises:
        ParameterError: Unknown rules, or `kappa` lies outside [0.001, 100].

    References:
        Ly, Verhagen and Wagenmakers (2016), Harold Jeffreys's default Bayes factor hypothesis
        tests; the values are those of pingouin's `bayesfactor_pearson(method="ly")`.
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import bayes_factor_r
        >>> tests = pl.DataFrame({"r": [0.0, 0.3, 0.53], "n": [30, 20, 122]})
        >>> tests.select(bayes_factor_r("r", "n").round(3)).to_series().to_list()
        [0.227, 0.6, 32202455.676]
    """
    return R.factor([r, n], rules, kappa, "kappa").plain("bayes_factor_r")


def log_bayes_factor_r(
    r: IntoExpr,
    n: IntoExpr,
    *,
    kappa: float = STRETCHED_BETA.usual,
    rules: Rules = "documented",
) -> pl.Expr:
    """Natural logarithm of `bayes_factor_r`, accurate to 1e-12 also where that overflows.

    Args:
        r: As of `bayes_factor_r`, like the rest.
        n: Number of pairs, 3 or more.
        kappa: Width of the prior.
        rules: `documented` or `reference`.

    Returns:
        Float64, named `log_bayes_factor_r`, null as `bayes_factor_r` is.

    Raises:
        ParameterError: Unknown rules, or `kappa` lies outside [0.001, 100].

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import log_bayes_factor_r
        >>> tests = pl.DataFrame({"r": [0.0, 0.9], "n": [30, 1000]})
        >>> tests.select(log_bayes_factor_r("r", "n").round(3)).to_series().to_list()
        [-1.483, 823.819]
    """
    return R.factor([r, n], rules, kappa, "kappa").log("log_bayes_factor_r")
