"""Effects of all kinds of tests on one scale: Cohen's d, or a correlation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rules import check_rules
from evalframe.replication.effects.kinds import kind_of_test
from evalframe.replication.effects.numbers import number
from evalframe.replication.effects.types import MEANS

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

_EPSILON = 1e-6
_ON_D = [kind for kind in MEANS if kind != "coefficient"]
_LARGEST_R = 1.0 - _EPSILON
_LOG_ODDS_TO_D = math.sqrt(3.0) / math.pi


def effect_d(
    test_type: IntoExpr = "test_type",
    effect: IntoExpr = "effect_size",
    *,
    p0: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """The effect of a test as an equivalent of Cohen's d.

    | test | effect | equivalent |
    |---|---|---|
    | t, Welch, z, F, Wald | d | d |
    | correlation | Fisher's z | 2r / sqrt(1 - r²) with r = tanh z |
    | chi-square | log odds ratio | times sqrt(3) / pi |
    | Mann-Whitney | rank-biserial r | 2r / sqrt(1 - r²) |
    | binomial | proportion p | 2 (p - p0) / sqrt(p0 (1 - p0)), which is 4p - 2 about 0.5 |

    Proportions are clipped to [1e-6, 1 - 1e-6]. A coefficient has none by itself; by its z it has
    one in `with_effect_sizes`.

    Args:
        test_type: Name of the test, see `known_test_types`.
        effect: Effect in the unit of the test.
        p0: The proportion without an effect, of binomial tests: 0.5 by default, and where it is
            null.
        rules: `reference`: names that the original does not know in this place are unknown,
            proportions outside [0, 1] are clipped, and `p0` is always 0.5.

    Returns:
        Float64, named `effect_d`. Null where the test is unknown, the effect is null, NaN or
        infinite, or |r| is 1 - 1e-6 or more; documented also for a proportion outside [0, 1], and
        a `p0` that is not inside.

    Raises:
        ParameterError: Unknown rules.

    References:
        Borenstein et al. (2009), Introduction to meta-analysis, chapter 7; HumanStudy-Bench (HEAD
        of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import effect_d
        >>> tests = pl.DataFrame({"test_type": ["anova", "binomial"], "effect_size": [0.3, 0.75]})
        >>> tests.select(effect_d()).to_series().to_list()
        [0.3, 1.0]
    """
    check_rules(rules)
    value, even = number(effect, "documented"), number(p0, "documented")
    return d_of_kind(kind_of_test(test_type, rules), value, even, rules)


def d_of_kind(kind: pl.Expr, value: pl.Expr, p0: pl.Expr, rules: Rules) -> pl.Expr:
    """`effect_d` of a finite number, where the kind of test is known."""
    near = value.tanh().abs() < _LARGEST_R
    share = value.clip(_EPSILON, 1.0 - _EPSILON)
    about_p0 = 4.0 * share - 2.0
    if rules == "documented":
        share = pl.when(value.is_between(0.0, 1.0)).then(share)
        p0 = p0.fill_null(0.5)
        distance = 2.0 * (share - p0) / (p0 * (1.0 - p0)).sqrt()
        about_p0 = pl.when((p0 > 0.0) & (p0 < 1.0)).then(distance)
    return (
        pl.when(kind.is_in(_ON_D))
        .then(value)
        .when(kind == "correlation")
        .then(pl.when(near).then(2.0 * value.sinh()))
        .when(kind == "chi_square")
        .then(value * _LOG_ODDS_TO_D)
        .when(kind == "rank")
        .then(
            pl.when(value.abs() < _LARGEST_R).then(
                2.0 * value / ((1.0 - value) * (1.0 + value)).sqrt()
            )
        )
        .when(kind == "binomial")
        .then(about_p0)
        .alias("effect_d")
    )


def effect_r(
    test_type: IntoExpr = "test_type",
    effect: IntoExpr = "effect_size",
    *,
    p0: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """The effect of a test as an equivalent of a correlation.

    tanh z for correlations, the rank-biserial correlation itself for Mann-Whitney tests, and
    d / sqrt(d² + 4) with the equivalent `effect_d` for all others, as of groups of one size.

    Args:
        test_type: Name of the test, see `known_test_types`.
        effect: Effect in the unit of the test.
        p0: As of `effect_d`.
        rules: `reference`: all but correlations by x / sqrt(x² + 4), as if every x were d, also of
            tests that are not known; 0 where there is no effect.

    Returns:
        Float64 in [-1, 1], named `effect_r`. Documented null where the test is unknown, the effect
        is null, NaN or infinite, or no possible one; by the original's rules where it is infinite,
        but for correlations.

    Raises:
        ParameterError: Unknown rules.

    References:
        Borenstein et al. (2009), Introduction to meta-analysis, chapter 7; HumanStudy-Bench (HEAD
        of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import effect_r
        >>> tests = pl.DataFrame({"test_type": ["t-test", "U test"], "effect_size": [1.5, 0.6]})
        >>> tests.select(effect_r()).to_series().to_list()
        [0.6, 0.6]
    """
    check_rules(rules)
    value, even = number(effect, rules), number(p0, rules)
    return r_of_kind(kind_of_test(test_type, rules), value, even, rules).alias("effect_r")


def r_of_kind(kind: pl.Expr, value: pl.Expr, p0: pl.Expr, rules: Rules) -> pl.Expr:
    """`effect_r` of a number, where the kind of test is known."""
    correlated = kind == "correlation"
    if rules == "reference":
        r = pl.when(correlated).then(value.tanh()).otherwise(_r_of_d(value))
        return pl.when(value.is_null()).then(0.0).otherwise(r).fill_nan(None)
    return (
        pl.when(correlated)
        .then(value.tanh())
        .when(kind == "rank")
        .then(pl.when(value.abs() <= 1).then(value))
        .otherwise(_r_of_d(d_of_kind(kind, value, p0, rules)))
    )


def _r_of_d(d: pl.Expr) -> pl.Expr:
    return d / (d * d + 4.0).sqrt()
