"""Bounds on Bayes factors from p-values alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.replication.bayes_factors.factors import BOUND, DIRECTIONAL_BOUND

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def bayes_factor_bound(
    p: IntoExpr,
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Largest Bayes factor that a p-value allows for: 1/(-e p ln p), and 1 from 1/e on.

    It is the Vovk-Sellke maximum p-ratio. A p-value of 0 has an infinite one.

    Args:
        p: Two-sided p-value, from 0 to 1.
        rules: `documented`, or `reference` for the original's numbers: 1e6 below 1e-300.

    Returns:
        Float64, named `bayes_factor_bound`; infinite where it passes 1.8e308. Null where a
        role is missing (null or NaN) or impossible; `with_bayes_factors` raises there instead.

    Raises:
        ParameterError: Unknown rules.

    References:
        Sellke, Bayarri and Berger (2001), Calibration of p values for testing precise null
        hypotheses.
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import bayes_factor_bound
        >>> tests = pl.DataFrame({"p": [0.5, 0.05, 0.01]})
        >>> tests.select(bayes_factor_bound("p").round(3)).to_series().to_list()
        [1.0, 2.456, 7.988]
    """
    return BOUND.factor([p], rules).plain("bayes_factor_bound")


def log_bayes_factor_bound(
    p: IntoExpr,
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Natural logarithm of `bayes_factor_bound`, finite also where that overflows.

    Args:
        p: Two-sided p-value, from 0 to 1.
        rules: `documented`, or `reference` for the original's numbers: 1e6 below 1e-300.

    Returns:
        Float64, named `log_bayes_factor_bound`, null as `bayes_factor_bound` is.

    Raises:
        ParameterError: Unknown rules.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import log_bayes_factor_bound
        >>> tests = pl.DataFrame({"p": [0.5, 0.05, 1e-307]})
        >>> tests.select(log_bayes_factor_bound("p").round(3)).to_series().to_list()
        [0.0, 0.899, 699.333]
    """
    return BOUND.factor([p], rules).log("log_bayes_factor_bound")


def bayes_factor_directional_bound(
    p: IntoExpr,
    agrees: IntoExpr,
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Half of `bayes_factor_bound` for an effect in the expected direction, and 0.1 for another.

    Args:
        p: Two-sided p-value, from 0 to 1.
        agrees: Whether the direction is the expected one: Boolean, or 1 and 0.
        rules: `documented`, or `reference` for the original's numbers: 1e6 below 1e-300.

    Returns:
        Float64, named `bayes_factor_directional_bound`; infinite where it passes 1.8e308. Null
        where a role is missing (null or NaN) or impossible; `with_bayes_factors` raises there
        instead.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import bayes_factor_directional_bound
        >>> tests = pl.DataFrame({"p": [0.5, 0.01, 0.01], "agrees": [True, True, False]})
        >>> bounds = tests.select(bayes_factor_directional_bound("p", "agrees"))
        >>> bounds.to_series().round(3).to_list()
        [0.5, 3.994, 0.1]
    """
    return DIRECTIONAL_BOUND.factor([p, agrees], rules).plain("bayes_factor_directional_bound")


def log_bayes_factor_directional_bound(
    p: IntoExpr,
    agrees: IntoExpr,
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Natural logarithm of `bayes_factor_directional_bound`, finite also where that overflows.

    Args:
        p: Two-sided p-value, from 0 to 1.
        agrees: Whether the direction is the expected one: Boolean, or 1 and 0.
        rules: `documented`, or `reference` for the original's numbers: 1e6 below 1e-300.

    Returns:
        Float64, named `log_bayes_factor_directional_bound`, null as the bound is.

    Raises:
        ParameterError: Unknown rules.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.bayes_factors import log_bayes_factor_directional_bound
        >>> tests = pl.DataFrame({"p": [0.5, 0.01, 0.01], "agrees": [True, True, False]})
        >>> bounds = tests.select(log_bayes_factor_directional_bound("p", "agrees"))
        >>> bounds.to_series().round(3).to_list()
        [-0.693, 1.385, -2.303]
    """
    return DIRECTIONAL_BOUND.factor([p, agrees], rules).log("log_bayes_factor_directional_bound")
