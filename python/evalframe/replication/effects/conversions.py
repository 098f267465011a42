"""Effects of all kinds of tests on one scale: Cohen's d, or a correlation."""

from __future__ import annotations

import math

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.replication.effects.kinds import kind_of_test
from evalframe.replication.effects.types import MEANS
from evalframe.replication.numbers import finite

_EPSILON = 1e-6
_ON_D = [kind for kind in MEANS if kind != "coefficient"]
_LARGEST_R = 1.0 - _EPSILON
_LOG_ODDS_TO_D = math.sqrt(3.0) / math.pi


def effect_d(
    test_type: IntoExpr = "test_type",
    effect: IntoExpr = "effect_size",
    *,
    p0: IntoExpr | None = None,
) -> pl.Expr:
    """Effect of a test as an equivalent of Cohen's d.

    | test | effect | equivalent |
    |---|---|---|
    | t, Welch, z, F, Wald | d | d |
    | correlation | Fisher's z | 2r / sqrt(1 - r²) with r = tanh z |
    | chi-square | log odds ratio | times sqrt(3) / pi |
    | Mann-Whitney | rank-biserial r | 2r / sqrt(1 - r²) |
    | binomial | proportion p | 2 (p - p0) / sqrt(p0 (1 - p0)), which is 4p - 2 about 0.5 |

    Proportions are clipped to [1e-6, 1 - 1e-6]. A coefficient has no equivalent by itself; by its
    z it has one in `with_effect_sizes`.

    Args:
        test_type: Name of the test, see `known_test_types`.
        effect: Effect in the unit of the test.
        p0: Proportion without an effect, for binomial tests; 0.5 by default and if null.

    Returns:
        Float64, named `effect_d`. Null if the test is unknown, the effect is missing or infinite,
        |r| is 1 - 1e-6 or more, a proportion is outside [0, 1], or `p0` is not inside.

    References:
        Borenstein et al. (2009), Introduction to meta-analysis, chapter 7.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import effect_d
        >>> tests = pl.DataFrame({"test_type": ["anova", "binomial"], "effect_size": [0.3, 0.75]})
        >>> tests.select(effect_d()).to_series().to_list()
        [0.3, 1.0]
    """
    return d_of_effect(kind_of_test(test_type), finite(effect), finite(p0))


def d_of_effect(kind: pl.Expr, effect: pl.Expr, p0: pl.Expr) -> pl.Expr:
    """`effect_d` of a kind of test and a finite number."""
    share = pl.when(effect.is_between(0.0, 1.0)).then(clipped_share(effect))
    p0 = p0.fill_null(0.5)
    about_p0 = 2.0 * (share - p0) / (p0 * (1.0 - p0)).sqrt()
    return d_of_kind(kind, effect, pl.when((p0 > 0.0) & (p0 < 1.0)).then(about_p0))


def clipped_share(share: pl.Expr) -> pl.Expr:
    """A proportion away from 0 and 1."""
    return share.clip(_EPSILON, 1.0 - _EPSILON)


def d_of_kind(kind: pl.Expr, effect: pl.Expr, of_share: pl.Expr) -> pl.Expr:
    """`effect_d`, if `of_share` is that of a binomial test."""
    near = effect.tanh().abs() < _LARGEST_R
    of_rank = 2.0 * effect / ((1.0 - effect) * (1.0 + effect)).sqrt()
    return (
        pl.when(kind.is_in(_ON_D))
        .then(effect)
        .when(kind == "correlation")
        .then(pl.when(near).then(2.0 * effect.sinh()))
        .when(kind == "chi_square")
        .then(effect * _LOG_ODDS_TO_D)
        .when(kind == "rank")
        .then(pl.when(effect.abs() < _LARGEST_R).then(of_rank))
        .when(kind == "binomial")
        .then(of_share)
        .alias("effect_d")
    )


def effect_r(
    test_type: IntoExpr = "test_type",
    effect: IntoExpr = "effect_size",
    *,
    p0: IntoExpr | None = None,
) -> pl.Expr:
    """Effect of a test as an equivalent of a correlation.

    tanh z for correlations, the rank-biserial correlation itself for Mann-Whitney tests, and
    d / sqrt(d² + 4) with the equivalent `effect_d` for all others, as of groups of one size.

    Args:
        test_type: Name of the test, see `known_test_types`.
        effect: Effect in the unit of the test.
        p0: As in `effect_d`.

    Returns:
        Float64 in [-1, 1], named `effect_r`. Null if the test is unknown, or the effect is missing,
        infinite or impossible.

    References:
        Borenstein et al. (2009), Introduction to meta-analysis, chapter 7.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import effect_r
        >>> tests = pl.DataFrame({"test_type": ["t-test", "U test"], "effect_size": [1.5, 0.6]})
        >>> tests.select(effect_r()).to_series().to_list()
        [0.6, 0.6]
    """
    kind, value = kind_of_test(test_type), finite(effect)
    return (
        pl.when(kind == "correlation")
        .then(value.tanh())
        .when(kind == "rank")
        .then(pl.when(value.abs() <= 1).then(value))
        .otherwise(r_of_d(d_of_effect(kind, value, finite(p0))))
        .alias("effect_r")
    )


def r_of_d(d: pl.Expr) -> pl.Expr:
    """Correlation that d is equivalent to, for groups of one size."""
    return d / (d * d + 4.0).sqrt()
