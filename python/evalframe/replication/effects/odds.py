"""The log odds ratio of a table of two groups and two outcomes, and its standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rules import check_rules
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr


def log_odds_ratio(
    a: IntoExpr = "a",
    b: IntoExpr = "b",
    c: IntoExpr = "c",
    d: IntoExpr = "d",
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """The logarithm of ad / (bc): above 0 where the first group has the first outcome more often.

    Where any of the four is 0, all are raised by 0.5 (Haldane and Anscombe).

    Args:
        a: Number in the first group with the first outcome.
        b: Number in the first group with the second outcome.
        c: Number in the second group with the first outcome.
        d: Number in the second group with the second outcome.
        rules: `reference`: groups without a member count, by the correction alone.

    Returns:
        Float64, named `log_odds_ratio`. Null where a cell is null, NaN or negative, where the
        original stops; documented also where one is infinite or a group is empty.

    Raises:
        ParameterError: Unknown rules.

    References:
        Haldane (1956), Anscombe (1956); HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import log_odds_ratio
        >>> tables = pl.DataFrame({"a": [5, 3], "b": [5, 0], "c": [2, 0], "d": [2, 3]})
        >>> tables.select(log_odds_ratio().round(4)).to_series().to_list()
        [0.0, 3.8918]
    """
    check_rules(rules)
    cells = [number(cell, rules) for cell in (a, b, c, d)]
    return log_ratio(cells, rules).alias("log_odds_ratio")


def log_odds_ratio_std_error(
    a: IntoExpr = "a",
    b: IntoExpr = "b",
    c: IntoExpr = "c",
    d: IntoExpr = "d",
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """The standard error of the log odds ratio: sqrt(1/a + 1/b + 1/c + 1/d), cells corrected alike.

    Args:
        a: Number in the first group with the first outcome.
        b: Number in the first group with the second outcome.
        c: Number in the second group with the first outcome.
        d: Number in the second group with the second outcome.
        rules: As for `log_odds_ratio`.

    Returns:
        Float64, named `log_odds_ratio_std_error`. Null where `log_odds_ratio` is.

    Raises:
        ParameterError: Unknown rules.

    References:
        Woolf (1955); HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.effects import log_odds_ratio_std_error
        >>> table = pl.DataFrame({"a": [4], "b": [4], "c": [4], "d": [4]})
        >>> table.select(log_odds_ratio_std_error()).item()
        1.0
    """
    check_rules(rules)
    cells = [number(cell, rules) for cell in (a, b, c, d)]
    return log_ratio_error(cells, rules).alias("log_odds_ratio_std_error")


def log_ratio(cells: Sequence[pl.Expr], rules: Rules) -> pl.Expr:
    """The log odds ratio of four numbers."""
    a, b, c, d = _corrected(cells)
    return pl.when(_is_table(cells, rules)).then(a.log() - b.log() - c.log() + d.log())


def log_ratio_error(cells: Sequence[pl.Expr], rules: Rules) -> pl.Expr:
    """The standard error of the log odds ratio of four numbers."""
    variance = pl.sum_horizontal([1.0 / cell for cell in _corrected(cells)])
    return pl.when(_is_table(cells, rules)).then(variance.sqrt())


def _corrected(cells: Sequence[pl.Expr]) -> list[pl.Expr]:
    shift = pl.when(pl.min_horizontal(cells) == 0).then(0.5).otherwise(0.0)
    return [cell + shift for cell in cells]


def _is_table(cells: Sequence[pl.Expr], rules: Rules) -> pl.Expr:
    known = pl.all_horizontal(cell >= 0 for cell in cells)
    if rules == "reference":
        return known
    a, b, c, d = cells
    return known & (a + b > 0) & (c + d > 0)
