"""Directions of effects, and whether two sides agree in them. Not a primary result."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.compat.humanstudy_bench.legacy import original_tests
from evalframe.compat.humanstudy_bench.legacy.p_values import side_of
from evalframe.core.rows import as_expr
from evalframe.core.rules import check_rules
from evalframe.replication.effects import directions as effect_directions
from evalframe.replication.effects.directions import agrees
from evalframe.replication.effects.kinds import kind_of_test
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def direction(
    test_type: IntoExpr = "test_type",
    stat: IntoExpr = "stat",
    *,
    expected: IntoExpr | None = None,
    cells: Sequence[IntoExpr] = (),
    n1: IntoExpr | None = None,
    n2: IntoExpr | None = None,
    k: IntoExpr | None = None,
    n: IntoExpr | None = None,
    p0: IntoExpr | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """The direction of an effect: 1 up, -1 down, 0 neither.

    That of t and r is their sign; of a table of two groups and two outcomes, of the difference of
    the shares of the first outcome; of U, whether the first group is ahead; of a binomial test,
    whether the share is above `p0`. F and chi-square have none, unless they are negative, as the
    original's agents report what goes against expectation.

    Args:
        test_type: Name of the test, see `kind_of_test`.
        stat: The statistic.
        expected: What was expected of effects without a direction of their own, as words: see
            `p_value`. Give it for a side of which it is known to hold.
        cells: Cells `a`, `b`, `c`, `d` of the table of a chi-square test; none for no columns.
        n1: Size of the first group, for U.
        n2: Size of the second group, for U.
        k: Number of hits of a binomial test; by default, and where it is null, `stat`.
        n: Number of trials of a binomial test.
        p0: Probability of a hit without an effect; documented 0.5 by default, and where it is null.
        rules: `reference`: t and r of 0 go down; where a statistic is missing, and for U and
            binomial tests, the expected direction is taken, which is up for `positive`, `pos` and
            `+`, 0 for none (but up for F and chi-square), and down for all other words.

    Returns:
        Int8, named `direction`. Documented null where nothing tells the direction.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import direction
        >>> tests = pl.DataFrame({"test_type": ["t-test", "f-test"], "stat": [-2.0, 9.0]})
        >>> tests.select(direction()).to_series().to_list()
        [-1, None]
    """
    check_rules(rules)
    words = pl.lit(None) if expected is None else as_expr(expected)
    table = [number(cell, rules) for cell in cells]
    if rules == "reference":
        value, words = number(stat, rules), words.cast(pl.String)
        found = original_tests.direction_of(as_expr(test_type), value, table, words)
        return found.alias("direction")
    numbers = Numbers._make(number(column, rules) for column in (stat, n1, n2, k, n, p0))
    kind = kind_of_test(test_type)
    return direction_of_kind(kind, numbers, table, side_of(words)).alias("direction")


class Numbers(NamedTuple):
    """What a direction is made of, as numbers; see `direction`."""

    stat: pl.Expr
    n1: pl.Expr
    n2: pl.Expr
    k: pl.Expr
    n: pl.Expr
    p0: pl.Expr


def direction_of_kind(
    kind: pl.Expr, numbers: Numbers, cells: Sequence[pl.Expr], side: pl.Expr
) -> pl.Expr:
    """`direction` where the kind of test and the side that is expected are known."""
    stat, n1, n2, k, n, p0 = numbers
    sign = effect_directions.direction_of_kind(
        kind, stat, groups=(n1, n2), counts=(k, n, p0), cells=cells
    )
    expected = pl.when(side != 0).then(side)
    told = pl.coalesce(pl.when(stat < 0).then(-1), pl.when(stat.is_not_null()).then(expected))
    magnitude = pl.when(kind.is_in(["f", "chi_square"])).then(told)
    return pl.coalesce(sign, magnitude).cast(pl.Int8)


def direction_match(
    direction_human: IntoExpr = "direction_human",
    direction_agent: IntoExpr = "direction_agent",
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Whether the agent's effect goes where the human one does: both up, or both down.

    Args:
        direction_human: 1, -1 or 0.
        direction_agent: The same of the agent's side; 0 matches nothing.
        rules: `reference`: a direction that is missing matches nothing.

    Returns:
        Boolean, named `direction_match`. Documented null where a direction is null or NaN.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import direction_match
        >>> sides = pl.DataFrame({"direction_human": [1, 0], "direction_agent": [1, 0]})
        >>> sides.select(direction_match()).to_series().to_list()
        [True, False]
    """
    check_rules(rules)
    human, agent = (number(column, "reference") for column in (direction_human, direction_agent))
    match = agrees(human, agent)
    if rules == "reference":
        match = match.fill_null(value=False)
    return match.alias("direction_match")
