"""Bayes factors of t and of Mann-Whitney's U."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.replication.bayes_factors.factors import CAUCHY, T, U

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def bayes_factor_t(
    t: IntoExpr,
    n1: IntoExpr,
    n2: IntoExpr | None = None,
    *,
    df: IntoExpr | None = None,
    scale: float = CAUCHY.usual,
    rules: Rules = "documented",
) -> pl.Expr:
    """Bayes factor of an effect against none from a t-test, by the JZS prior.

    The sign of t does not matter. An infinite t has an infinite Bayes factor.

    Args:
        t: The statistic.
        n1: Size of the first group, or of the one sample, or number of pairs: 2 or more if alone.
        n2: Size of the second group, null for one sample and for pairs; together 3 or more.
        df: Degrees of freedom where they do not follow from sizes: those of Welch's t, or infinite
            ones for a z. Null, or None: those of sizes. Not by the original's rules.
        scale: Of the Cauchy prior of the standardised effect.
        rules: `documented`, or `reference` for the original's numbers, of which the module
            `original` has a table: 1e6 where t² passes 100, and 1 where sizes are impossible.

    Returns:
        Float64, named `bayes_factor_t`; infinite where it passes 1.8e308, while
        `log_bayes_factor_t` stays finite as long as t² is, up to a t of 1e154. Null where t or n1
        is missing (null or NaN) and where sizes are impossible; `with_bayes_factors` raises there
        instead.

    Raises:
        ParameterError: Unknown rules, or a scale that is none.

    References:
        Rouder, Speckman, Sun, Morey and Iverson (2009), Bayesian t tests for accepting and
        rejecting the null hypothesis. HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import bayes_factor_t
        >>> tests = pl.DataFrame({"t": [2.0, 5.0], "n1": [20, 103], "n2": [20, None]})
        >>> tests.select(bayes_factor_t("t", "n1", "n2").round(3)).to_series().to_list()
        [1.454, 5999.919]
    """
    return T.factor([t, n1, n2, df], rules, scale).plain("bayes_factor_t")


def log_bayes_factor_t(
    t: IntoExpr,
    n1: IntoExpr,
    n2: IntoExpr | None = None,
    *,
    df: IntoExpr | None = None,
    scale: float = CAUCHY.usual,
    rules: Rules = "documented",
) -> pl.Expr:
    """Natural logarithm of `bayes_factor_t`, accurate to 1e-8 also where that overflows.

    Args:
        t: As of `bayes_factor_t`, like the rest.
        n1: Size of the first group, of the one sample, or number of pairs.
        n2: Size of the second group, null for one sample and for pairs.
        df: Degrees of freedom where they do not follow from sizes.
        scale: Of the Cauchy prior of the standardised effect.
        rules: `documented` or `reference`.

    Returns:
        Float64, named `log_bayes_factor_t`, null as `bayes_factor_t` is.

    Raises:
        ParameterError: Unknown rules, or a scale that is none.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import log_bayes_factor_t
        >>> tests = pl.DataFrame({"t": [0.0, 1000.0], "n1": [20, 1_000_000]})
        >>> tests.select(log_bayes_factor_t("t", "n1").round(3)).to_series().to_list()
        [-1.459, 346565.955]
    """
    return T.factor([t, n1, n2, df], rules, scale).log("log_bayes_factor_t")


def bayes_factor_u(
    u: IntoExpr,
    n1: IntoExpr,
    n2: IntoExpr,
    *,
    scale: float = CAUCHY.usual,
    rules: Rules = "documented",
) -> pl.Expr:
    """Bayes factor of a difference against none from Mann-Whitney's U, as a t of its normal score.

    The score has no correction for ties or continuity. U of either group will do.

    Args:
        u: The statistic, from 0 to `n1 n2`.
        n1: Size of the first group, 1 or more.
        n2: Size of the second group, 1 or more; together 3 or more.
        scale: Of the Cauchy prior of the standardised effect.
        rules: `documented`, or `reference` for the original's numbers, capped as those of t.

    Returns:
        Float64, named `bayes_factor_u`; infinite where it passes 1.8e308. Null where a role is
        missing (null or NaN) or impossible; `with_bayes_factors` raises there instead.

    Raises:
        ParameterError: Unknown rules, or a scale that is none.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import bayes_factor_u
        >>> tests = pl.DataFrame({"u": [120, 280], "n1": [20, 20], "n2": [20, 20]})
        >>> tests.select(bayes_factor_u("u", "n1", "n2").round(3)).to_series().to_list()
        [1.877, 1.877]
    """
    return U.factor([u, n1, n2], rules, scale).plain("bayes_factor_u")


def log_bayes_factor_u(
    u: IntoExpr,
    n1: IntoExpr,
    n2: IntoExpr,
    *,
    scale: float = CAUCHY.usual,
    rules: Rules = "documented",
) -> pl.Expr:
    """Natural logarithm of `bayes_factor_u`, finite also where that overflows.

    Args:
        u: As of `bayes_factor_u`, like the rest.
        n1: Size of the first group.
        n2: Size of the second group.
        scale: Of the Cauchy prior of the standardised effect.
        rules: `documented` or `reference`.

    Returns:
        Float64, named `log_bayes_factor_u`, null as `bayes_factor_u` is.

    Raises:
        ParameterError: Unknown rules, or a scale that is none.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import log_bayes_factor_u
        >>> tests = pl.DataFrame({"u": [120, 0], "n1": [20, 2000], "n2": [20, 2000]})
        >>> tests.select(log_bayes_factor_u("u", "n1", "n2").round(3)).to_series().to_list()
        [0.63, 1113.888]
    """
    return U.factor([u, n1, n2], rules, scale).log("log_bayes_factor_u")
