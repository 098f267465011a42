"""The p-value and the direction of a test as the original computes them. Not to be used.

It compares names of tests and words of directions as they are written, by lists that differ from
function to function: `t_test` and `sign_test` have effects and no p-values, `ttest_ind` and
`mann-whitney` p-values and no effects, and `greater` is an alternative, but not a positive
direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench.legacy.tails import (
    GREATER,
    LESS,
    TWO_SIDED,
    binomial_p_value,
    f_p_value,
    normal_p_value,
    t_p_value,
)
from evalframe.replication.effects.kinds import among
from evalframe.replication.effects.types import ORIGINAL_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

_WITH_P_VALUES = {
    **dict.fromkeys(("t-test", "ttest", "ttest_ind", "ttest_rel", "ttest_1samp"), "t"),
    **dict.fromkeys(("f-test", "f_test", "anova"), "f"),
    **dict.fromkeys(("correlation", "pearson", "spearman"), "correlation"),
    **dict.fromkeys(("mannwhitneyu", "mann-whitney", "wilcoxon"), "rank"),
    **dict.fromkeys(("binomial", "binomtest"), "binomial"),
}

_SHARE_OF_PAIRS = 0.1
"""A statistic above this share of the pairs is z for the original, and else U."""


def kind_of_effect(test_type: pl.Expr) -> pl.Expr:
    """The kind of a test that the original derives effects of.

    >>> tests = pl.DataFrame({"test_type": ["t_test", "T-Test", "ttest_ind", "binomtest"]})
    >>> tests.select(kind_of_effect(pl.col("test_type"))).to_series().to_list()
    ['t', None, None, 'binomial']
    """
    return among(test_type.cast(pl.String), ORIGINAL_KINDS | {"binomtest": "binomial"})


def side_of(expected: pl.Expr) -> pl.Expr:
    """The side of the alternative by the words for it: two-sided for all others, and for none.

    >>> words = pl.DataFrame({"expected": ["positive", "<", "Positive", "pos", None]})
    >>> words.select(side_of(pl.col("expected"))).to_series().to_list()
    [1, -1, 0, 0, 0]
    """
    return (
        pl.when(expected.is_in(["positive", "greater", ">"]))
        .then(GREATER)
        .when(expected.is_in(["negative", "less", "<"]))
        .then(LESS)
        .otherwise(TWO_SIDED)
    )


def p_value(test_type: pl.Expr, numbers: Sequence[pl.Expr], alternative: pl.Expr) -> pl.Expr:
    """`p_value_of`, of the numbers that the function of that name in this package takes."""
    stat, n1, n2, _, _, k, n, p0 = numbers
    of_trials = kind_of_effect(test_type).is_in(["correlation", "binomial"])
    size = pl.when(of_trials).then(pl.coalesce(n, n1)).otherwise(n1)
    return p_value_of(test_type, [stat, size, n2, k, p0], side_of(alternative))


def p_value_of(test_type: pl.Expr, numbers: Sequence[pl.Expr], side: pl.Expr) -> pl.Expr:
    """The p-value: F takes the sizes for its degrees of freedom, U is z where it is large.

    The statistic of a binomial test says nothing, and counts must be whole.

    Args:
        test_type: Name of the test.
        numbers: The statistic, the sizes of the groups, the hits and their chance.
        side: Of the alternative.
    """
    stat, n1, n2, k, p0 = numbers
    kind = among(test_type.cast(pl.String), _WITH_P_VALUES)

    def of(wanted: str, value: pl.Expr) -> pl.Expr:
        return pl.when(kind == wanted).then(value)

    degrees = pl.when(n2.is_null()).then(n1 - 1.0).otherwise(n1 + n2 - 2.0)
    above = pl.when(n2.is_null()).then(1.0).otherwise(n1)
    below = pl.when(n2.is_null()).then(n1 - 2.0).otherwise(n2)
    pairs = n1 * n2
    variance = pairs * (n1 + n2 + 1.0) / 12.0
    of_u = pl.when(variance > 0).then((stat - pairs / 2.0) / variance.sqrt())
    is_z = (stat.abs() > _SHARE_OF_PAIRS * pairs) | pairs.is_null()
    r = pl.when((stat.abs() < 1) & (n1 > 2)).then(stat)
    t_of_r = r * ((n1 - 2.0) / (1.0 - r**2)).sqrt()
    whole_r = pl.when((stat.abs() == 1) & n1.is_not_null()).then(0.0)
    return pl.coalesce(
        t_p_value(of("t", stat), degrees, side, "reference"),
        f_p_value(of("f", stat.clip(0.0)), above, below, "reference"),
        of("correlation", whole_r),
        t_p_value(of("correlation", t_of_r), n1 - 2.0, side, "reference"),
        normal_p_value(of("rank", pl.when(is_z).then(stat).otherwise(of_u)), side, "reference"),
        binomial_p_value(of("binomial", k), n1, p0, side),
    )


def direction_of(
    test_type: pl.Expr, stat: pl.Expr, cells: Sequence[pl.Expr], expected: pl.Expr
) -> pl.Expr:
    """The direction: t and r of 0 go down, and so does all that is expected and not positive.

    >>> tests = pl.DataFrame({"stat": [2.0, 0.0, None], "expected": ["-", "+", "greater"]})
    >>> made = direction_of(pl.lit("t-test"), pl.col("stat"), [], pl.col("expected"))
    >>> tests.select(made).to_series().to_list()
    [1, -1, -1]
    """
    kind = kind_of_effect(test_type)
    expects = (
        pl.when(expected.str.to_lowercase().is_in(["positive", "pos", "+"]))
        .then(1)
        .when(expected != "")
        .then(-1)
        .otherwise(0)
    )
    signed = pl.when(stat > 0).then(1).when(stat.is_not_null()).then(-1)
    # Where nothing is expected, a statistic without a sign goes up.
    unsigned = pl.when(stat < 0).then(-1).when(stat.is_not_null() & (expects == 0)).then(1)
    found = (
        pl.when(kind.is_in(["t", "correlation"]))
        .then(signed)
        .when(kind.is_in(["f", "chi_square"]))
        .then(unsigned)
    )
    of_table = pl.when(kind == "chi_square").then(_of_table(cells)) if cells else None
    return pl.coalesce(*([] if of_table is None else [of_table]), found, expects).cast(pl.Int8)


def _of_table(cells: Sequence[pl.Expr]) -> pl.Expr:
    """The sign of the difference of shares; that of an empty group is 0."""
    a, b, c, d = cells
    first, second = (
        pl.when(hits + misses > 0).then(hits / (hits + misses)).otherwise(0.0 * (hits + misses))
        for hits, misses in ((a, b), (c, d))
    )
    return (first - second).sign()
