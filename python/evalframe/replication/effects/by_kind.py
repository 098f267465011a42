"""Quantities by the kind of a test: equivalents on one scale, directions, effective sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.replication.effects.kinds import Says, form_of, kind_of_test
from evalframe.replication.effects.types import MEANS, SIGNED
from evalframe.replication.numbers import NO_NUMBER, finite

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
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"test_type": ["anova", "binomial"], "effect_size": [0.3, 0.75]})
        >>> tests.select(ef.replication.effect_d()).to_series().to_list()
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
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"test_type": ["t-test", "U test"], "effect_size": [1.5, 0.6]})
        >>> tests.select(ef.replication.effect_r()).to_series().to_list()
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


def agrees(expected: pl.Expr, actual: pl.Expr) -> pl.Expr:
    """True if two directions are the same and not 0; null if one is null."""
    return (expected == actual) & pl.when(expected.is_not_null()).then(actual != 0)


def direction_of_kind(
    kind: pl.Expr,
    stat: pl.Expr,
    *,
    groups: tuple[pl.Expr, pl.Expr],
    counts: tuple[pl.Expr, pl.Expr, pl.Expr],
    cells: Sequence[pl.Expr] = (),
) -> pl.Expr:
    """The sign of an effect, null for tests of magnitudes, such as F and chi-square."""
    pairs = groups[0] * groups[1]
    hits, trials, chance = counts
    share = pl.coalesce(hits, stat) / pl.when(trials > 0).then(trials)
    return (
        pl.when(kind.is_in([*SIGNED]))
        .then(stat.sign())
        .when(kind == "rank")
        .then(pl.when((stat >= 0) & (stat <= pairs)).then((2.0 * stat - pairs).sign()))
        .when(kind == "binomial")
        .then((share - chance.fill_null(0.5)).sign())
        .when(kind == "chi_square")
        .then(_of_table(cells))
    )


def _of_table(cells: Sequence[pl.Expr]) -> pl.Expr:
    """The sign of the difference of the shares of the first outcome."""
    if len(cells) != 4:
        return pl.lit(None, pl.Float64)
    a, b, c, d = cells
    known = pl.all_horizontal(cell >= 0 for cell in cells)
    return pl.when(known & (a + b > 0) & (c + d > 0)).then((a * d - b * c).sign())


def n_eff(
    test_type: IntoExpr = "test_type",
    n1: IntoExpr = "n1_agent",
    n2: IntoExpr | None = "n2_agent",
    n: IntoExpr | None = "n_agent",
    *,
    cells: Sequence[IntoExpr] = (),
    n_total: IntoExpr | None = None,
    stored: IntoExpr | None = None,
) -> pl.Expr:
    """Effective sample size of a test: the number of agents that it is about.

    | test | size |
    |---|---|
    | t, z, coefficient, Wald, F | `n`, or `n1`, with `n2` added if it is above 0 |
    | correlation, binomial | `n`, or `n1` |
    | chi-square | the sum of the cells |
    | Mann-Whitney | `n1` + `n2` |

    A missing size is `n_total`. A test whose size is not known at all counts as one agent, so that
    it stays in a weighted mean. Sizes of human samples are never used.

    Args:
        test_type: Name of the test, see `known_test_types`. If it says that there are pairs, `n2`
            is not added.
        n1: Size of the first group.
        n2: Size of the second group; None for no such column.
        n: Number of agents of a test without groups; None for no such column.
        cells: Cells of the table of a chi-square test, of any number.
        n_total: Size of the complete sample.
        stored: A size that goes before all others if it is above 0.

    Returns:
        Float64 above 0, named `n_eff`, never null.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"test_type": ["t-test", "anova"], "n1": [30, None], "n2": 40})
        >>> tests.select(ef.replication.n_eff("test_type", "n1", "n2", None)).to_series().to_list()
        [70.0, 1.0]
    """
    paired = form_of(test_type).is_in(["paired", "one"]).fill_null(value=False)
    table = NO_NUMBER
    if cells:
        table = pl.sum_horizontal([finite(cell) for cell in cells], ignore_nulls=False)
    first, alone, total, known = (finite(column) for column in (n1, n, n_total, stored))
    second = pl.when(~paired).then(finite(n2))
    sizes = Sizes(first, second, alone, table, total, known)
    return n_eff_of_kind(kind_of_test(test_type), sizes).alias("n_eff")


def n_of_f(
    stated: pl.Expr, groups: pl.Expr, df1: pl.Expr, df2: pl.Expr, says: Says
) -> tuple[pl.Expr, pl.Expr]:
    """The number of observations of an F test; and true if it rests on degrees of freedom alone."""
    # df1 + df2 + 1 holds for one factor. Further factors have degrees of freedom of their own, so
    # the number is unknown for a test that is named as one of several. Both groups together are
    # all observations if df1 is 1.
    known = pl.coalesce(stated, pl.when(df1 == 1).then(groups))
    of_degrees = pl.when(~says("factorial")).then(df1 + df2 + 1.0)
    guessed = known.is_null() & of_degrees.is_not_null() & ~says("one_way")
    return pl.coalesce(known, of_degrees), guessed


class Sizes(NamedTuple):
    """Sizes of a test, as numbers; `table` is the sum of its cells."""

    n1: pl.Expr
    n2: pl.Expr
    n: pl.Expr
    table: pl.Expr
    n_total: pl.Expr
    stored: pl.Expr


def n_eff_of_kind(kind: pl.Expr, sizes: Sizes) -> pl.Expr:
    """`n_eff` of a kind of test."""
    first, second, alone, table, total, stored = map(positive, sizes)
    some = pl.coalesce(alone, first)
    groups = pl.when(second > 0).then(some + second).otherwise(some)
    size = size_of_kind(kind, groups, some, table, first + second)
    size = pl.when(kind.is_null()).then(groups).otherwise(size)
    return pl.coalesce(stored, size, total, 1.0)


def size_of_kind(
    kind: pl.Expr, groups: pl.Expr, alone: pl.Expr, table: pl.Expr, both: pl.Expr
) -> pl.Expr:
    """The size that counts for a kind of test."""
    return (
        pl.when(kind.is_in(MEANS))
        .then(groups)
        .when(kind.is_in(["correlation", "binomial"]))
        .then(alone)
        .when(kind == "chi_square")
        .then(table)
        .when(kind == "rank")
        .then(positive(both))
    )


def positive(size: pl.Expr) -> pl.Expr:
    """A size above 0, else null."""
    return pl.when(size > 0).then(size)
