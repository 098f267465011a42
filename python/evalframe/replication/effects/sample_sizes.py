"""How many agents stand behind a test: the weight of its agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.rules import check_rules
from evalframe.replication.effects.kinds import form_of, kind_of_test
from evalframe.replication.effects.numbers import number
from evalframe.replication.effects.types import MEANS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr
    from evalframe.replication.effects.kinds import Says


def n_eff(
    test_type: IntoExpr = "test_type",
    n1: IntoExpr = "n1_agent",
    n2: IntoExpr | None = "n2_agent",
    n: IntoExpr | None = "n_agent",
    *,
    cells: Sequence[IntoExpr] = (),
    n_total: IntoExpr | None = None,
    stored: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """The effective sample size of a test: the number of agents that it is about.

    | test | size |
    |---|---|
    | t, z, coefficient, Wald, F | `n`, or `n1`, with `n2` added where it is above 0 |
    | correlation, binomial | `n`, documented also `n1` |
    | chi-square | the sum of the cells |
    | Mann-Whitney | `n1` + `n2` |

    A size that is not there is `n_total` by the documented rules. A test whose size is not known
    at all counts as one agent, so that it stays in a weighted mean. Sizes of human samples are
    never used.

    Args:
        test_type: Name of the test, see `kind_of_test`.
        n1: Size of the first group.
        n2: Size of the second group; None for no such column.
        n: Number of agents of a test without groups; None for no such column.
        cells: Cells of the table of a chi-square test, of any number.
        n_total: Size of the whole sample; not by the original's rules.
        stored: A size that is known already, and goes before all others if it is above 0.
        rules: `reference`: a stored size is rounded down, and sizes of t and F need not be above 0.
            The documented rules do not add `n2` where the name of a test says that there are pairs.

    Returns:
        Float64, named `n_eff`, never null. Documented always above 0.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import n_eff
        >>> tests = pl.DataFrame({"test_type": ["t-test", "anova"], "n1": [30, None], "n2": 40})
        >>> tests.select(n_eff("test_type", "n1", "n2", None)).to_series().to_list()
        [70.0, 1.0]
    """
    check_rules(rules)
    first, second, alone, total, known = (
        number(column, rules) for column in (n1, n2, n, n_total, stored)
    )
    table = number(None, rules)
    if cells:
        table = pl.sum_horizontal([number(cell, rules) for cell in cells], ignore_nulls=False)
    if rules == "documented":
        form = form_of(test_type)
        second = pl.when(~form.is_in(["paired", "one"]).fill_null(value=False)).then(second)
    sizes = Sizes(first, second, alone, table, total, known)
    return n_eff_of_kind(kind_of_test(test_type, rules), sizes, rules).alias("n_eff")


def n_of_f(
    told: pl.Expr, groups: pl.Expr, df1: pl.Expr, df2: pl.Expr, says: Says
) -> tuple[pl.Expr, pl.Expr]:
    """How many an F test is about, and whether that rests on its degrees of freedom alone.

    df1 + df2 + 1 holds for one factor. Further factors take degrees of freedom of their own, so
    that for a test that is named as one of several the number is not known unless it is told.

    Args:
        told: The number, where a table has it.
        groups: Both groups together, which are all where df1 is 1.
        df1: Degrees of freedom of the numerator.
        df2: Of the denominator.
        says: Whether the name of a test says a form.
    """
    known = pl.coalesce(told, pl.when(df1 == 1).then(groups))
    of_degrees = pl.when(~says("factorial")).then(df1 + df2 + 1.0)
    guessed = known.is_null() & of_degrees.is_not_null() & ~says("one_way")
    return pl.coalesce(known, of_degrees), guessed


class Sizes(NamedTuple):
    """Sizes of which n_eff is made, as numbers; see `n_eff`."""

    n1: pl.Expr
    n2: pl.Expr
    n: pl.Expr
    table: pl.Expr
    n_total: pl.Expr
    stored: pl.Expr


def n_eff_of_kind(kind: pl.Expr, sizes: Sizes, rules: Rules) -> pl.Expr:
    """`n_eff` where the kind of test is known."""
    first, second, alone, table, total, known = sizes
    known = pl.when(known > 0).then(known)
    if rules == "reference":
        some = pl.coalesce(pl.when(alone != 0).then(alone), first)
        alone, table = _positive(alone), _positive(table)
        total, known = number(None, rules), known.floor()
    else:
        first, second, alone, table = map(_positive, (first, second, alone, table))
        some, total = pl.coalesce(alone, first), _positive(total)
        alone = some
    groups = pl.when(second > 0).then(some + second).otherwise(some)
    size: pl.Expr = (
        pl.when(kind.is_in(MEANS))
        .then(groups)
        .when(kind.is_in(["correlation", "binomial"]))
        .then(alone)
        .when(kind == "chi_square")
        .then(table)
        .when(kind == "rank")
        .then(_positive(first + second))
    )
    if rules == "documented":  # a test of another type has a size, too
        size = pl.when(kind.is_null()).then(groups).otherwise(size)
    return pl.coalesce(known, size, total, 1.0)


def _positive(size: pl.Expr) -> pl.Expr:
    return pl.when(size > 0).then(size)
