"""Effects of tests as HumanStudy-Bench computes them (HEAD of February 2026).

| input | `evalframe.replication` | here |
|---|---|---|
| sizes of 0 or less | null | effects 0, standard errors infinite (0 for proportions) |
| d from F | sign of `direction`; null if df1 is not 1 | never negative, for any df1 |
| r outside [-1, 1], n of 3 or less | null | z and its standard error infinite |
| odds of an empty group | null | by the correction of 0.5 alone |
| rank-biserial correlation | 2U / (n1 n2) - 1 | 1 - 2U / (n1 n2) |
| its standard error | that of the documentation | sqrt((1 - r²) / (n1 + n2 - 1)) |
| sizes of groups that are missing | halves of all | unknown |
| stored n_eff of 2.9 | 2.9 | 2 |
| r equivalents | by way of d, or r itself | x / sqrt(x² + 4) but for correlations; 0 for none |
| d of proportions | about `p0` of the test | about 0.5, also outside [0, 1] |
| names of tests | those of `known_test_types` | as each function knows |
| NaN in a column of results | replaced | kept |
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.typing import Frame, IntoExpr
from evalframe.replication.effects import kinds as sound_kinds
from evalframe.replication.effects.by_kind import (
    Sizes,
    clipped_share,
    d_of_kind,
    positive,
    r_of_d,
    size_of_kind,
)
from evalframe.replication.effects.counts import (
    log_odds_error_of_cells,
    log_odds_of_cells,
    share_variance,
)
from evalframe.replication.effects.sizes import (
    are_sizes,
    atanh,
    d_of_size,
    error_of_size,
    has_groups,
)
from evalframe.replication.effects.table import KIND, Statistics, checked_tests, in_stages, kinds
from evalframe.replication.effects.types import SIDES
from evalframe.replication.numbers import NO_NUMBER, finite, number, raw_number

_INFINITY = pl.lit(float("inf"))

EFFECT_KINDS = {
    **dict.fromkeys(("t-test", "t_test"), "t"),
    **dict.fromkeys(("f-test", "f_test", "anova"), "f"),
    **dict.fromkeys(("correlation", "pearson", "spearman"), "correlation"),
    **dict.fromkeys(("chi-square", "chi2", "chi_square"), "chi_square"),
    **dict.fromkeys(("mannwhitneyu", "wilcoxon"), "rank"),
    **dict.fromkeys(("binomial", "sign_test"), "binomial"),
}
"""Kinds by the names of tests that the original converts and weighs, in lower case."""

SOME_KINDS = EFFECT_KINDS | {"mann-whitney": "rank", "binomtest": "binomial"}
"""With the names that only some functions of the original know."""

_UNKNOWN_KINDS = ("welch", "z", "coefficient", "wald")
KIND_NAMES = {
    name: kind for name, kind in sound_kinds.KIND_NAMES.items() if kind not in _UNKNOWN_KINDS
} | {name: kind for each, kind in SOME_KINDS.items() for name in sound_kinds.spelled([each])}
"""Kinds by names, of those kinds that the original has; `wilcoxon` is one of ranks."""


def kind_of_test(test_type: IntoExpr) -> pl.Expr:
    """The kind of a test with an effect size, by its name in any case; null for others."""
    return sound_kinds.among(as_expr(test_type).cast(pl.String).str.to_lowercase(), EFFECT_KINDS)


def cohens_d_t(
    t: IntoExpr = "stat",
    n1: IntoExpr = "n1",
    n2: IntoExpr | None = None,
    *,
    independent: IntoExpr | None = None,
) -> pl.Expr:
    """`replication.cohens_d_t`, but 0 for sizes of 0 or less."""
    first, second = number(n1), number(n2)
    return d_of_t(number(t), first, second, has_groups(second, independent)).alias("cohens_d")


def cohens_d_f(
    f: IntoExpr = "stat",
    n1: IntoExpr = "n1",
    n2: IntoExpr | None = None,
    *,
    df1: IntoExpr | None = None,
    direction: IntoExpr | None = None,
    independent: IntoExpr | None = None,
) -> pl.Expr:
    """`replication.cohens_d_f`, but never negative, for any `df1`, and 0 for sizes of 0 or less."""
    return cohens_d_t(number(f).abs().sqrt(), n1, n2, independent=independent)


def cohens_d_std_error(
    d: IntoExpr = "cohens_d",
    n1: IntoExpr = "n1",
    n2: IntoExpr | None = None,
    *,
    independent: IntoExpr | None = None,
) -> pl.Expr:
    """`replication.cohens_d_std_error`, but infinite if `n1` is 0 or less.

    If `n2` is 0 or less, that of one sample.
    """
    first, second = number(n1), number(n2)
    error = d_error(number(d), first, second, has_groups(second, independent))
    return error.alias("cohens_d_std_error")


def fisher_z(r: IntoExpr = "r") -> pl.Expr:
    """`replication.fisher_z`, but infinite outside [-1, 1], with the sign of r."""
    r = number(r)
    return pl.when(r.abs() < 1).then(atanh(r)).otherwise(r.sign() * _INFINITY).alias("fisher_z")


def fisher_z_std_error(r: IntoExpr = "r", n: IntoExpr = "n") -> pl.Expr:
    """`replication.fisher_z_std_error`, but infinite if n is 3 or less or |r| is 1 or more."""
    r, n = number(r), number(n)
    undefined = (n <= 3) | (r.abs() >= 1).fill_null(value=False)
    error = pl.when(undefined).then(_INFINITY).otherwise((n - 3.0).pow(-0.5))
    return error.alias("fisher_z_std_error")


def log_odds_ratio(
    a: IntoExpr = "a", b: IntoExpr = "b", c: IntoExpr = "c", d: IntoExpr = "d"
) -> pl.Expr:
    """`replication.log_odds_ratio`, also of empty groups."""
    return log_odds_of_cells([number(cell) for cell in (a, b, c, d)]).alias("log_odds_ratio")


def log_odds_ratio_std_error(
    a: IntoExpr = "a", b: IntoExpr = "b", c: IntoExpr = "c", d: IntoExpr = "d"
) -> pl.Expr:
    """`replication.log_odds_ratio_std_error`, also of empty groups."""
    error = log_odds_error_of_cells([number(cell) for cell in (a, b, c, d)])
    return error.alias("log_odds_ratio_std_error")


def rank_biserial(u: IntoExpr = "stat", n1: IntoExpr = "n1", n2: IntoExpr = "n2") -> pl.Expr:
    """`replication.rank_biserial` with the opposite sign, and 0 for sizes of 0 or less.

    `replication_fields` has the sign of `replication.rank_biserial`.
    """
    u, n1, n2 = map(number, (u, n1, n2))
    pairs = n1 * n2
    empty = ((n1 <= 0) | (n2 <= 0)) & u.is_not_null() & pairs.is_not_null()
    r = pl.when(empty).then(0.0).otherwise(1.0 - 2.0 * u / pairs).fill_nan(None)
    return r.alias("rank_biserial")


def rank_biserial_std_error(
    r: IntoExpr = "rank_biserial", n1: IntoExpr = "n1", n2: IntoExpr = "n2"
) -> pl.Expr:
    """sqrt((1 - r²) / (n1 + n2 - 1)): 0 at 1 and -1, infinite if n1 + n2 is 1 or less."""
    total = number(n1) + number(n2)
    error = ((1.0 - number(r) ** 2) / (total - 1.0)).sqrt().fill_nan(None)
    error = pl.when(total <= 1).then(_INFINITY).otherwise(error)
    return error.alias("rank_biserial_std_error")


def proportion(k: IntoExpr = "k", n: IntoExpr = "n") -> pl.Expr:
    """`replication.proportion`, but 0 if n is 0 or less."""
    k, n = number(k), number(n)
    return pl.when(n <= 0).then(0.0 * k).otherwise(k / n).fill_nan(None).alias("proportion")


def proportion_std_error(p: IntoExpr = "proportion", n: IntoExpr = "n") -> pl.Expr:
    """`replication.proportion_std_error`, but 0 if n is 0 or less."""
    p, n = number(p), number(n)
    error = pl.when(n <= 0).then(0.0 * p).otherwise(share_variance(p, n).sqrt())
    return error.fill_nan(None).alias("proportion_std_error")


def proportion_difference(p1: IntoExpr = "p1", p2: IntoExpr = "p2") -> pl.Expr:
    """`replication.proportion_difference`, of any two numbers."""
    return (number(p1) - number(p2)).fill_nan(None).alias("proportion_difference")


def proportion_difference_std_error(
    p1: IntoExpr = "p1", n1: IntoExpr = "n1", p2: IntoExpr = "p2", n2: IntoExpr = "n2"
) -> pl.Expr:
    """`replication.proportion_difference_std_error`, but infinite if a size is 0 or less."""
    p1, n1, p2, n2 = map(number, (p1, n1, p2, n2))
    error = (share_variance(p1, n1) + share_variance(p2, n2)).sqrt()
    error = pl.when((n1 <= 0) | (n2 <= 0)).then(_INFINITY).otherwise(error).fill_nan(None)
    return error.alias("proportion_difference_std_error")


def effect_d(
    test_type: IntoExpr = "test_type",
    effect: IntoExpr = "effect_size",
    *,
    p0: IntoExpr | None = None,
) -> pl.Expr:
    """`replication.effect_d`, with `p0` always 0.5 and proportions clipped to [0, 1].

    Null for test types that the original does not support in this place.
    """
    return d_of_effect(kind_of_test(test_type), finite(effect))


def effect_r(
    test_type: IntoExpr = "test_type",
    effect: IntoExpr = "effect_size",
    *,
    p0: IntoExpr | None = None,
) -> pl.Expr:
    """Tanh of correlations; x / sqrt(x² + 4) for all else, as if every x were d; 0 for none.

    Unknown tests are included. Null only for infinite x that are not of correlations.
    """
    effect = number(effect)
    is_z = kind_of_test(test_type) == "correlation"
    r = pl.when(is_z).then(effect.tanh()).otherwise(r_of_d(effect))
    return pl.when(effect.is_null()).then(0.0).otherwise(r).fill_nan(None).alias("effect_r")


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
    """`replication.n_eff` without `n_total`; a stored size is rounded down.

    Sizes of t and F can be 0 or less, and `n1` does not stand in for a missing `n` of correlations
    and binomial tests.
    """
    table = NO_NUMBER
    if cells:
        table = pl.sum_horizontal([number(cell) for cell in cells], ignore_nulls=False)
    sizes = Sizes(number(n1), number(n2), number(n), table, NO_NUMBER, number(stored))
    return n_eff_of_kind(kind_of_test(test_type), sizes).alias("n_eff")


@like_input
def with_effect_sizes(tests: Frame) -> pl.LazyFrame:
    """`replication.with_effect_sizes` with the effects of this module."""
    check = partial(sound_kinds.check_types, names=KIND_NAMES)
    lazy, back = checked_tests("with_effect_sizes", tests, check)
    columns = lazy.collect_schema().names()
    human, agent = (Statistics(side, columns, number) for side in SIDES)
    stored = number("n_eff" if "n_eff" in columns else None)
    table = pl.sum_horizontal(agent.cells(), ignore_nulls=False)
    sizes = Sizes(agent["n1"], agent["n2"], agent.trials(), table, NO_NUMBER, stored)
    size = {"n_eff": n_eff_of_kind(pl.col(KIND), sizes)}
    stages = [
        kinds(kind_of_test("test_type")) | human.numbers() | agent.numbers(),
        human.samples() | agent.samples(),
        _groups(human) | _groups(agent),
        size | _effect_size(human) | _effect_size(agent),
        _std_error(human) | _std_error(agent),
        {
            f"effect_d_{side}": d_of_effect(pl.col(KIND), finite(f"effect_size_{side}"))
            for side in SIDES
        },
    ]
    return in_stages(lazy, stages, raw_number).rename(back)


def _groups(test: Statistics) -> dict[str, pl.Expr]:
    return test.of_groups(test["n1"], test["n2"], has_groups(test["n2"], test.apart))


def _effect_size(test: Statistics) -> dict[str, pl.Expr]:
    stat = test["stat"]
    sizes = {
        "t": d_of_t(stat, *test.groups),
        "f": d_of_t(stat.abs().sqrt(), *test.groups),
        "correlation": fisher_z(stat),
        "chi_square": log_odds_of_cells(test.cells()),
        "rank": rank_biserial(stat, test["n1"], test["n2"]),
        "binomial": proportion(pl.coalesce(test["k"], stat), test.trials()),
    }
    return test.by_kind("effect_size", sizes)


def _std_error(test: Statistics) -> dict[str, pl.Expr]:
    effect = test.computed("effect_size")
    errors = {
        **dict.fromkeys(("t", "f"), d_error(effect, *test.groups)),
        "correlation": fisher_z_std_error(effect.tanh(), test.pairs()),
        "chi_square": log_odds_error_of_cells(test.cells()),
        "rank": rank_biserial_std_error(effect, test["n1"], test["n2"]),
        "binomial": proportion_std_error(effect, test.trials()),
    }
    return test.by_kind("std_error", errors)


def d_of_t(t: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """Cohen's d, 0 for sizes of 0 or less."""
    sized = are_sizes(n1, n2, two).fill_null(value=True)
    of_nobody = pl.when(t.is_not_null()).then(0.0)
    return pl.when(sized).then(d_of_size(t, n1, n2, two)).otherwise(of_nobody).fill_nan(None)


def d_error(d: pl.Expr, n1: pl.Expr, n2: pl.Expr, two: pl.Expr) -> pl.Expr:
    """Standard error of Cohen's d, of one sample if n2 is 0 or less."""
    error = error_of_size(d, n1, n2, two & (n2 > 0).fill_null(value=True))
    return pl.when(n1 <= 0).then(_INFINITY).otherwise(error).fill_nan(None)


def d_of_effect(kind: pl.Expr, effect: pl.Expr) -> pl.Expr:
    """`effect_d` of a kind of test and a finite number."""
    return d_of_kind(kind, effect, 4.0 * clipped_share(effect) - 2.0)


def n_eff_of_kind(kind: pl.Expr, sizes: Sizes) -> pl.Expr:
    """`n_eff` of a kind of test."""
    first, second, alone, table, _, stored = sizes
    some = pl.coalesce(pl.when(alone != 0).then(alone), first)
    groups = pl.when(second > 0).then(some + second).otherwise(some)
    size = size_of_kind(kind, groups, positive(alone), positive(table), first + second)
    return pl.coalesce(positive(stored).floor(), size, 1.0)
