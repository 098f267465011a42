"""P-values of tests from their statistics. Not a primary result."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
from polars import selectors

from evalframe.compat.humanstudy_bench.legacy import original_tests
from evalframe.compat.humanstudy_bench.legacy.tails import (
    GREATER,
    LESS,
    TWO_SIDED,
    binomial_p_value,
    chi2_p_value,
    f_p_value,
    normal_p_value,
    t_p_value,
)
from evalframe.core.rows import as_expr
from evalframe.core.rules import check_rules
from evalframe.replication.effects.kinds import in_groups, is_form, kind_of_test
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

_UPWARD = ("positive", "greater", ">")
_DOWNWARD = ("negative", "less", "<")

EVEN = 0.5
"""The probability of a hit without an effect, unless a test has its own."""


def side_of(expected_direction: IntoExpr) -> pl.Expr:
    """What a direction in words says: 1 upwards, -1 downwards, 0 neither; null for null.

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
    rules: Rules = "documented",
) -> pl.Expr:
    """The p-value of a test from its statistic.

    | test | p-value |
    |---|---|
    | t | of n1 + n2 - 2 degrees of freedom, or of n1 - 1 where `n2` is null |
    | correlation | of the t of r, with n - 2 degrees of freedom |
    | F | upper tail of `df1` and `df2`; without them, of 1 and n1 + n2 - 2 |
    | chi-square | upper tail of `df1`, 1 where it is null |
    | Mann-Whitney | of U of the first group by its normal limit, without corrections |
    | binomial | exact; two-sided all counts that are no more likely |

    Args:
        test_type: Name of the test, see `kind_of_test`.
        stat: The statistic: by default `stat`, which a table need not have if there is `k`.
        n1: Size of the first group: by default `n1`, which a table need not have if there is `n`.
        n2: Size of the second group; null, or None, for a paired or one-sample test.
        df1: Degrees of freedom, of the numerator for F.
        df2: Degrees of freedom of the denominator of F.
        k: Number of hits of a binomial test; by default, and where it is null, `stat`.
        n: Number of trials or pairs; by default, and where it is null, `n1`.
        p0: Probability of a hit without an effect; documented 0.5 by default, and where it is null.
        independent: Whether a t test has two groups; where it is null, it has if `n2` is not null.
        alternative: `greater`, `positive` or `>`; `less`, `negative` or `<`; two-sided for all
            else. F and chi-square have upper tails only.
        rules: `reference`: names of tests and alternatives as they are written, so that `t_test`
            and `sign_test` have no p-value; F takes the sizes for its degrees of freedom (of one
            group: 1, n - 2), and a negative one has a p-value of 1; a Mann-Whitney statistic is z
            where it is above a tenth of the pairs, and where sizes are not known; chi-square has
            none; r of 1 and -1 gives 0; a binomial test needs `k` and `p0`; upper tails are one
            less the probability below.

    Returns:
        Float64 in [0, 1], named `p_value`. Null where the test is unknown or what it needs is null,
        NaN or impossible.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import p_value
        >>> tests = pl.DataFrame({"test_type": ["t-test"], "stat": [2.0], "n1": [20], "n2": [20]})
        >>> round(tests.select(p_value(n2="n2")).item(), 4)
        0.0527
    """
    check_rules(rules)
    stat, n1 = _or_usual(stat, "stat", k), _or_usual(n1, "n1", n)
    columns = [number(column, rules) for column in (stat, n1, n2, df1, df2, k, n, p0)]
    words = pl.lit(None, pl.String) if alternative is None else as_expr(alternative)
    if rules == "reference":
        made = original_tests.p_value(as_expr(test_type), columns, words.cast(pl.String))
        return made.alias("p_value")
    groups = pl.lit(None, pl.Boolean) if independent is None else as_expr(independent)
    groups = in_groups(partial(is_form, test_type), groups)
    numbers = Numbers._make([*columns, groups])
    side = side_of(words).fill_null(TWO_SIDED)
    return p_value_of_kind(kind_of_test(test_type), numbers, side).alias("p_value")


def _or_usual(column: IntoExpr | None, usual: str, stand_in: IntoExpr | None) -> IntoExpr:
    """The column, or the usual one, which may be absent where another stands in for it."""
    if column is not None:
        return column
    if stand_in is None:
        return usual
    present = selectors.by_name(usual, require_all=False)
    return pl.coalesce(present, pl.lit(None, pl.Float64))


class Numbers(NamedTuple):
    """What a p-value is made of, as numbers; see `p_value`."""

    stat: pl.Expr
    n1: pl.Expr
    n2: pl.Expr
    df1: pl.Expr
    df2: pl.Expr
    k: pl.Expr
    n: pl.Expr
    p0: pl.Expr
    independent: pl.Expr


def p_value_of_kind(kind: pl.Expr, numbers: Numbers, side: pl.Expr) -> pl.Expr:
    """`p_value` where the kind of test and the side of the alternative are known."""
    stat, n1, n2, df1, df2, k, n, p0, independent = numbers
    hits, trials = pl.coalesce(k, stat), pl.coalesce(n, n1)
    grouped = independent.cast(pl.Boolean).fill_null(n2.is_not_null())
    degrees = pl.when(grouped).then(n1 + n2 - 2.0).otherwise(n1 - 1.0)
    above = df1.fill_null(1.0)
    below = pl.coalesce(df2, pl.when(above == 1).then(n1 + n2 - 2.0))
    # Each is null for tests of other kinds.
    return pl.coalesce(
        t_p_value(_for(kind, "t", stat), degrees, side, "documented"),
        f_p_value(_for(kind, "f", stat), above, below, "documented"),
        _of_correlation(_for(kind, "correlation", stat), trials, side),
        chi2_p_value(_for(kind, "chi_square", stat), above, "documented"),
        normal_p_value(_for(kind, "rank", _z_of_ranks(stat, n1, n2)), side, "documented"),
        binomial_p_value(_for(kind, "binomial", hits), trials, p0.fill_null(EVEN), side),
    )


def _for(kind: pl.Expr, wanted: str, value: pl.Expr) -> pl.Expr:
    """The statistics of one kind of tests, so that no kernel works on others."""
    return pl.when(kind == wanted).then(value)


def _of_correlation(r: pl.Expr, n: pl.Expr, side: pl.Expr) -> pl.Expr:
    known = pl.when((r.abs() <= 1) & (n > 2)).then(r)
    t = known * ((n - 2.0) / ((1.0 - known) * (1.0 + known))).sqrt()
    return t_p_value(t, n - 2.0, side, "documented")


def _z_of_ranks(stat: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    pairs = n1 * n2
    z = (stat - pairs / 2.0) / (pairs * (n1 + n2 + 1.0) / 12.0).sqrt()
    return pl.when((n1 > 0) & (n2 > 0) & stat.is_between(0.0, pairs)).then(z)
