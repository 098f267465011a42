"""Effective sample sizes of tests: the weight of their agreement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.replication.effects.kinds import Says, form_of, kind_of_test
from evalframe.replication.effects.types import MEANS
from evalframe.replication.numbers import NO_NUMBER, finite


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
        >>> import polars as pl
        >>> from evalframe.replication import n_eff
        >>> tests = pl.DataFrame({"test_type": ["t-test", "anova"], "n1": [30, None], "n2": 40})
        >>> tests.select(n_eff("test_type", "n1", "n2", None)).to_series().to_list()
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
