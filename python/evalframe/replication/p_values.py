"""P-values of tests from their statistics."""

from __future__ import annotations

from functools import partial

import polars as pl
from polars import selectors

from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.replication.effects.kinds import in_groups, is_form, kind_of_test
from evalframe.replication.numbers import finite
from evalframe.replication.tails import (
    GREATER,
    LESS,
    TWO_SIDED,
    binomial_p_value,
    chi2_p_value,
    f_p_value,
    normal_p_value,
    t_p_value,
)

_UPWARD = ("positive", "greater", ">")
_DOWNWARD = ("negative", "less", "<")

EVEN = 0.5
"""Probability of a hit without an effect, by default."""


def side_of(expected_direction: IntoExpr) -> pl.Expr:
    """The side of an alternative in words: 1 upwards, -1 downwards, 0 neither; null for null.

    >>> words = pl.DataFrame({"expected_direction": ["positive", "<", "any", None]})
    >>> words.select(side_of("expected_direction")).to_series().to_list()
    [1, -1, 0, None]
    """
    words = as_expr(expected_direction).cast(pl.String).str.to_lowercase()
    return (
        pl.when(words.is_in(_UPWARD))
        .then(GREATER)
        .when(words.is_in(_DOWNWARD))
        .then(LESS)
        .when(words.is_not_null())
        .then(TWO_SIDED)
        .cast(pl.Int8)
    )


def p_value(
    test_type: IntoExpr = "test_type",
    stat: IntoExpr | None = None,
    n1: IntoExpr | None = None,
    n2: IntoExpr | None = None,
    *,
    df1: IntoExpr | None = None,
    df2: IntoExpr | None = None,
    k: IntoExpr | None = None,
    n: IntoExpr | None = None,
    p0: IntoExpr | None = None,
    independent: IntoExpr | None = None,
    alternative: IntoExpr | None = None,
) -> pl.Expr:
    """P-value of a test from its statistic.

    It depends on the sizes of the samples as much as on agreement: report PAS and ECS instead.

    | test | p-value |
    |---|---|
    | t | of n1 + n2 - 2 degrees of freedom, or of n1 - 1 if `n2` is null |
    | correlation | of the t of r, with n - 2 degrees of freedom |
    | F | upper tail of `df1` and `df2`; without them, of 1 and n1 + n2 - 2 |
    | chi-square | upper tail of `df1`, 1 if it is null |
    | Mann-Whitney | of U of the first group by its normal limit, without corrections |
    | binomial | exact; two-sided all counts that are no more likely |

    Args:
        test_type: Name of the test, see `known_test_types`.
        stat: The statistic: by default `stat`, which can be absent if there is `k`.
        n1: Size of the first group: by default `n1`, which can be absent if there is `n`.
        n2: Size of the second group; null, or None, for a paired or one-sample test.
        df1: Degrees of freedom, for F those of the numerator.
        df2: Degrees of freedom of the denominator of F.
        k: Number of hits of a binomial test; by default, and if null, `stat`.
        n: Number of trials or pairs; by default, and if null, `n1`.
        p0: Probability of a hit without an effect; 0.5 by default and if null.
        independent: True for a t test of two groups; if null, there are two if `n2` is not null.
        alternative: `greater`, `positive` or `>`; `less`, `negative` or `<`; two-sided for all
            else. F and chi-square have upper tails only.

    Returns:
        Float64 in [0, 1], named `p_value`, accurate down to 1e-308. Null if the test is unknown, or
        an input is missing, infinite or impossible.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import p_value
        >>> tests = pl.DataFrame({"test_type": ["t-test"], "stat": [2.0], "n1": [20], "n2": [20]})
        >>> round(tests.select(p_value(n2="n2")).item(), 4)
        0.0527
    """
    stat, n1 = or_usual(stat, "stat", k), or_usual(n1, "n1", n)
    words = pl.lit(None, pl.String) if alternative is None else as_expr(alternative)
    groups = pl.lit(None, pl.Boolean) if independent is None else as_expr(independent)
    groups = in_groups(partial(is_form, test_type), groups)
    grouped = in_groups(partial(is_form, test_type), groups).cast(pl.Boolean)
    kind, side = kind_of_test(test_type), side_of(words).fill_null(TWO_SIDED)
    stat, n1, n2, df1, df2, k, n, p0 = map(finite, (stat, n1, n2, df1, df2, k, n, p0))
    hits, trials = pl.coalesce(k, stat), pl.coalesce(n, n1)
    grouped = grouped.fill_null(n2.is_not_null())
    degrees = pl.when(grouped).then(n1 + n2 - 2.0).otherwise(n1 - 1.0)
    above = df1.fill_null(1.0)
    below = pl.coalesce(df2, pl.when(above == 1).then(n1 + n2 - 2.0))
    # Each is null for tests of other kinds.
    return pl.coalesce(
        t_p_value(_for(kind, "t", stat), degrees, side),
        f_p_value(_for(kind, "f", stat), above, below),
        _of_correlation(_for(kind, "correlation", stat), trials, side),
        chi2_p_value(_for(kind, "chi_square", stat), above),
        normal_p_value(_for(kind, "rank", _z_of_ranks(stat, n1, n2)), side),
        binomial_p_value(_for(kind, "binomial", hits), trials, p0.fill_null(EVEN), side),
    ).alias("p_value")


def or_usual(column: IntoExpr | None, usual: str, stand_in: IntoExpr | None) -> IntoExpr:
    """The column, or the usual one, which can be absent if another stands in for it."""
    if column is not None:
        return column
    if stand_in is None:
        return usual
    present = selectors.by_name(usual, require_all=False)
    return pl.coalesce(present, pl.lit(None, pl.Float64))


def _for(kind: pl.Expr, name: str, value: pl.Expr) -> pl.Expr:
    """The value for one kind of tests; kernels skip the others."""
    return pl.when(kind == name).then(value)


def _of_correlation(r: pl.Expr, n: pl.Expr, side: pl.Expr) -> pl.Expr:
    known = pl.when((r.abs() <= 1) & (n > 2)).then(r)
    t = known * ((n - 2.0) / ((1.0 - known) * (1.0 + known))).sqrt()
    return t_p_value(t, n - 2.0, side)


def _z_of_ranks(stat: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    pairs = n1 * n2
    z = (stat - pairs / 2.0) / (pairs * (n1 + n2 + 1.0) / 12.0).sqrt()
    return pl.when((n1 > 0) & (n2 > 0) & stat.is_between(0.0, pairs)).then(z)
