"""Bayes factors of test statistics as expressions: each and its logarithm."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec

from evalframe.core.typing import IntoExpr
from evalframe.replication.bayes_factors.kinds import (
    BINOMIAL,
    BOUND,
    CAUCHY,
    CHI2,
    DIRECTIONAL_BOUND,
    EFFECTS,
    STRETCHED_BETA,
    VARIANCE_RATIO,
    F,
    R,
    T,
    U,
)

if TYPE_CHECKING:
    import polars as pl


P = ParamSpec("P")

_RETURNS = """    Returns:
        Float64, named as the function. Null if a role is missing (null or NaN) or impossible;
        `with_bayes_factors` raises then. The Bayes factor overflows to infinity above 1.8e308, its
        logarithm does not.

"""


def _exponential(log_factor: Callable[P, pl.Expr]) -> Callable[P, pl.Expr]:
    """The Bayes factor, from the function of its logarithm, with a docstring for both."""
    name = log_factor.__name__.removeprefix("log_")

    @functools.wraps(log_factor)
    def factor(*args: P.args, **kwargs: P.kwargs) -> pl.Expr:
        return log_factor(*args, **kwargs).exp().alias(name)

    text = log_factor.__doc__ or ""
    if "Returns:" not in text:
        text = re.sub(
            "    (References|Examples):", lambda match: _RETURNS + match[0], text, count=1
        )
    log_factor.__doc__ = text
    factor.__doc__ = text.replace("Natural logarithm of the Bayes factor", "Bayes factor")
    factor.__name__ = factor.__qualname__ = name
    return factor


def log_bayes_factor_t(
    t: IntoExpr,
    n1: IntoExpr,
    n2: IntoExpr | None = None,
    *,
    df: IntoExpr | None = None,
    scale: float = CAUCHY.usual,
) -> pl.Expr:
    """Natural logarithm of the Bayes factor of an effect against none from t, by the JZS prior.

    The sign of t does not matter. An infinite t has an infinite Bayes factor.

    Args:
        t: The statistic.
        n1: Size of the first group, of the one sample, or number of pairs: 2 or more if alone.
        n2: Size of the second group, null for one sample and for pairs; together 3 or more.
        df: Degrees of freedom if they do not follow from sizes: those of Welch's t, or infinity
            for a z. Null, or None: those of the sizes.
        scale: Scale of the Cauchy prior of the standardised effect, above 0 and up to 1e100.

    Returns:
        Float64, named as the function. Null if t or n1 is missing (null or NaN) or a size is
        impossible; `with_bayes_factors` raises then. The Bayes factor overflows to infinity above
        1.8e308. Its logarithm is accurate to 1e-8 and finite up to a t of 1e154.

    References:
        Rouder, Speckman, Sun, Morey and Iverson (2009), Bayesian t tests for accepting and
        rejecting the null hypothesis.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"t": [2.0, 5.0], "n1": [20, 103], "n2": [20, None]})
        >>> tests.select(ef.bayes_factor_t("t", "n1", "n2").round(3)).to_series().to_list()
        [1.454, 5999.919]
        >>> pl.select(ef.log_bayes_factor_t(pl.lit(1000), pl.lit(1_000_000)).round(3)).item()
        346565.955
    """
    return T.log_factor([t, n1, n2, df], scale).alias("log_bayes_factor_t")


bayes_factor_t = _exponential(log_bayes_factor_t)


def log_bayes_factor_u(
    u: IntoExpr, n1: IntoExpr, n2: IntoExpr, *, scale: float = CAUCHY.usual
) -> pl.Expr:
    """Natural logarithm of the Bayes factor of a difference against none from Mann-Whitney's U.

    That of a t: the normal score of U, without correction for ties or continuity. U of either group
    gives the same value.

    Args:
        u: The statistic, from 0 to `n1 n2`.
        n1: Size of the first group, 1 or more.
        n2: Size of the second group, 1 or more; together 3 or more.
        scale: As in `log_bayes_factor_t`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"u": [120, 280], "n1": 20, "n2": 20})
        >>> tests.select(ef.bayes_factor_u("u", "n1", "n2").round(3)).to_series().to_list()
        [1.877, 1.877]
    """
    return U.log_factor([u, n1, n2], scale).alias("log_bayes_factor_u")


bayes_factor_u = _exponential(log_bayes_factor_u)


def log_bayes_factor_r(r: IntoExpr, n: IntoExpr, *, kappa: float = STRETCHED_BETA.usual) -> pl.Expr:
    """Natural logarithm of the Bayes factor of a correlation against none.

    The exact one of Jeffreys, by a stretched beta prior: means and variances have his priors, and
    (rho + 1)/2 has a beta distribution of 1/kappa and 1/kappa; with a kappa of 1 all correlations
    are equally likely. It is not the JZS factor of regression (Wetzels and Wagenmakers, 2012), nor
    that of a t. The sign of r does not matter. A correlation of 1 or -1 has an infinite Bayes
    factor for 2 + 2/kappa pairs or more, and a finite one for fewer. The logarithm is accurate to
    1e-12.

    Args:
        r: The correlation, from -1 to 1, of numbers or of ranks (Spearman).
        n: Number of pairs, 3 or more.
        kappa: Width of the prior, from 0.001 to 100; 1/3 expects small correlations.

    References:
        Ly, Verhagen and Wagenmakers (2016), Harold Jeffreys's default Bayes factor hypothesis
        tests; the values are those of pingouin's `bayesfactor_pearson(method="ly")`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"r": [0.0, 0.3, 0.53], "n": [30, 20, 122]})
        >>> tests.select(ef.bayes_factor_r("r", "n").round(3)).to_series().to_list()
        [0.227, 0.6, 32202455.676]
    """
    return R.log_factor([r, n], kappa, "kappa").alias("log_bayes_factor_r")


bayes_factor_r = _exponential(log_bayes_factor_r)


def log_bayes_factor_f(
    f: IntoExpr, df1: IntoExpr, df2: IntoExpr, n: IntoExpr, *, scale: float = EFFECTS.usual
) -> pl.Expr:
    """Natural logarithm of the Bayes factor of effects against none from F, by the JZS prior.

    The prior is that of regression.

    Args:
        f: The statistic, 0 or more.
        df1: Number of effects: degrees of freedom of the numerator, above 0, whole or not.
        df2: Degrees of freedom of the denominator, above 0.
        n: Number of observations, above df1 + 1.
        scale: Scale of the prior of the effects, above 0 and up to 1e100.

    References:
        Rouder and Morey (2012), Default Bayes factors for model selection in regression.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"f": [4.0, 12.8], "df1": 1, "df2": 78, "n": 80})
        >>> tests.select(ef.bayes_factor_f("f", "df1", "df2", "n").round(3)).to_series().to_list()
        [1.053, 44.514]
    """
    return F.log_factor([f, df1, df2, n], scale).alias("log_bayes_factor_f")


bayes_factor_f = _exponential(log_bayes_factor_f)


def log_bayes_factor_variance_ratio(f: IntoExpr, df1: IntoExpr, df2: IntoExpr) -> pl.Expr:
    """Natural logarithm of the Bayes factor of unequal variances: its Vovk-Sellke bound.

    As `log_bayes_factor_bound`, of the two-sided p-value of F, whose logarithm is computed, so that
    p-values below the smallest number are included.

    Args:
        f: The ratio of variances, 0 or more.
        df1: Degrees of freedom of the numerator, above 0.
        df2: Degrees of freedom of the denominator, above 0.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"f": [0.2, 1.1], "df1": [10, 62], "df2": [15, 46]})
        >>> bound = ef.bayes_factor_variance_ratio("f", "df1", "df2")
        >>> tests.select(bound.round(3)).to_series().to_list()
        [6.111, 1.0]
    """
    return VARIANCE_RATIO.log_factor([f, df1, df2]).alias("log_bayes_factor_variance_ratio")


bayes_factor_variance_ratio = _exponential(log_bayes_factor_variance_ratio)


def log_bayes_factor_chi2(chi2: IntoExpr, df: IntoExpr, n: IntoExpr) -> pl.Expr:
    """Natural logarithm of the Bayes factor of an association from chi-square.

    Its approximation by the BIC: the logarithm is (χ² - df ln n)/2.

    Args:
        chi2: The statistic, 0 or more.
        df: Degrees of freedom, above 0.
        n: Number of observations, 1 or more.

    References:
        Wagenmakers (2007), A practical solution to the pervasive problems of p values.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"chi2": [0.0, 7.88077], "df": [1, 2], "n": [100, 27]})
        >>> tests.select(ef.bayes_factor_chi2("chi2", "df", "n").round(3)).to_series().to_list()
        [0.1, 1.905]
    """
    return CHI2.log_factor([chi2, df, n]).alias("log_bayes_factor_chi2")


bayes_factor_chi2 = _exponential(log_bayes_factor_chi2)


def log_bayes_factor_binomial(k: IntoExpr, n: IntoExpr, p0: IntoExpr) -> pl.Expr:
    """Natural logarithm of the Bayes factor of any share, all equally likely, against the share p0.

    Args:
        k: Number of successes, whole, from 0 to n.
        n: Number of trials, whole, 0 or more.
        p0: The share under the null hypothesis, above 0 and below 1.

    References:
        Jeffreys (1961), Theory of probability: the uniform prior of a chance.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"k": [7, 5], "n": [7, 10], "p0": 0.5})
        >>> tests.select(ef.bayes_factor_binomial("k", "n", "p0").round(3)).to_series().to_list()
        [16.0, 0.369]
    """
    return BINOMIAL.log_factor([k, n, p0]).alias("log_bayes_factor_binomial")


bayes_factor_binomial = _exponential(log_bayes_factor_binomial)


def log_bayes_factor_bound(p: IntoExpr) -> pl.Expr:
    """Natural logarithm of the Bayes factor that a p-value allows at most: 1/(-e p ln p).

    The Vovk-Sellke maximum p-ratio: 1 from 1/e on, infinite for a p-value of 0.

    Args:
        p: Two-sided p-value, from 0 to 1.

    References:
        Sellke, Bayarri and Berger (2001), Calibration of p values for testing precise null
        hypotheses.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"p": [0.5, 0.05, 0.01]})
        >>> tests.select(ef.bayes_factor_bound("p").round(3)).to_series().to_list()
        [1.0, 2.456, 7.988]
    """
    return BOUND.log_factor([p]).alias("log_bayes_factor_bound")


bayes_factor_bound = _exponential(log_bayes_factor_bound)


def log_bayes_factor_directional_bound(p: IntoExpr, agrees: IntoExpr) -> pl.Expr:
    """Natural logarithm of the Bayes factor that a p-value and a direction allow at most.

    Half of `bayes_factor_bound` for an effect in the expected direction, and 0.1 for another.

    Args:
        p: Two-sided p-value, from 0 to 1.
        agrees: True for the expected direction: Boolean, or 1 and 0.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"p": [0.5, 0.01, 0.01], "agrees": [True, True, False]})
        >>> bound = ef.replication.bayes_factor_directional_bound("p", "agrees")
        >>> tests.select(bound.round(3)).to_series().to_list()
        [0.5, 3.994, 0.1]
    """
    return DIRECTIONAL_BOUND.log_factor([p, agrees]).alias("log_bayes_factor_directional_bound")


bayes_factor_directional_bound = _exponential(log_bayes_factor_directional_bound)
