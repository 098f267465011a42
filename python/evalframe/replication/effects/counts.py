"""Effect sizes of counts, and their standard errors: log odds ratios and proportions.

They are null if an input is missing, infinite or impossible.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.replication.numbers import finite


def log_odds_ratio(
    a: IntoExpr = "a", b: IntoExpr = "b", c: IntoExpr = "c", d: IntoExpr = "d"
) -> pl.Expr:
    """Logarithm of ad / (bc): above 0 if the first group has the first outcome more often.

    If any of the four is 0, 0.5 is added to all (Haldane 1956, Anscombe 1956).

    Args:
        a: Number in the first group with the first outcome.
        b: Number in the first group with the second outcome.
        c: Number in the second group with the first outcome.
        d: Number in the second group with the second outcome.

    Returns:
        Float64, named `log_odds_ratio`. Null if a cell is negative, or a group is empty.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.log_odds_ratio(*map(pl.lit, (3, 0, 0, 3))).round(4)).item()
        3.8918
    """
    return log_odds([finite(cell) for cell in (a, b, c, d)]).alias("log_odds_ratio")


def log_odds_ratio_std_error(
    a: IntoExpr = "a", b: IntoExpr = "b", c: IntoExpr = "c", d: IntoExpr = "d"
) -> pl.Expr:
    """Woolf's (1955) standard error of the log odds ratio: sqrt(1/a + 1/b + 1/c + 1/d).

    The cells are those with the correction of `log_odds_ratio`.

    Args:
        a: As in `log_odds_ratio`.
        b: As in `log_odds_ratio`.
        c: As in `log_odds_ratio`.
        d: As in `log_odds_ratio`.

    Returns:
        Float64, named `log_odds_ratio_std_error`. Null if `log_odds_ratio` is.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.log_odds_ratio_std_error(*map(pl.lit, (4, 4, 4, 4)))).item()
        1.0
    """
    return log_odds_error([finite(cell) for cell in (a, b, c, d)]).alias("log_odds_ratio_std_error")


def log_odds(cells: Sequence[pl.Expr]) -> pl.Expr:
    """Log odds ratio of four finite cells."""
    return _of_groups(cells, log_odds_of_cells(cells))


def log_odds_error(cells: Sequence[pl.Expr]) -> pl.Expr:
    """Standard error of the log odds ratio of four finite cells."""
    return _of_groups(cells, log_odds_error_of_cells(cells))


def log_odds_of_cells(cells: Sequence[pl.Expr]) -> pl.Expr:
    """Log odds ratio of four cells that are not negative, also of empty groups."""
    a, b, c, d = _corrected(cells)
    return pl.when(_not_negative(cells)).then(a.log() - b.log() - c.log() + d.log())


def log_odds_error_of_cells(cells: Sequence[pl.Expr]) -> pl.Expr:
    """Standard error of the log odds ratio of four cells that are not negative."""
    variance = pl.sum_horizontal([1.0 / cell for cell in _corrected(cells)])
    return pl.when(_not_negative(cells)).then(variance.sqrt())


def _corrected(cells: Sequence[pl.Expr]) -> list[pl.Expr]:
    shift = pl.when(pl.min_horizontal(cells) == 0).then(0.5).otherwise(0.0)
    return [cell + shift for cell in cells]


def _not_negative(cells: Sequence[pl.Expr]) -> pl.Expr:
    return pl.all_horizontal(cell >= 0 for cell in cells)


def _of_groups(cells: Sequence[pl.Expr], value: pl.Expr) -> pl.Expr:
    """The value, null if a group is empty."""
    a, b, c, d = cells
    return pl.when((a + b > 0) & (c + d > 0)).then(value)


def proportion(k: IntoExpr = "k", n: IntoExpr = "n") -> pl.Expr:
    """Share of k in n.

    Args:
        k: Number of successes.
        n: Number of trials.

    Returns:
        Float64, named `proportion`. Null if n is not above 0, or k is not from 0 to n.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"k": [3], "n": [4]}).select(ef.replication.proportion()).item()
        0.75
    """
    k, n = finite(k), finite(n)
    return pl.when((n > 0) & (k >= 0) & (k <= n)).then(k / n).alias("proportion")


def proportion_std_error(p: IntoExpr = "proportion", n: IntoExpr = "n") -> pl.Expr:
    """Wald's (1943) standard error of a proportion, sqrt(p (1 - p) / n): 0 if p is 0 or 1.

    Args:
        p: Proportion.
        n: Number of trials.

    Returns:
        Float64, named `proportion_std_error`. Null if p is outside [0, 1], or n is not above 0.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.proportion_std_error(pl.lit(0.5), pl.lit(25))).item()
        0.1
    """
    return share_variance(finite(p), finite(n)).sqrt().alias("proportion_std_error")


def proportion_difference(p1: IntoExpr = "p1", p2: IntoExpr = "p2") -> pl.Expr:
    """Difference of two proportions, the first less the second.

    Args:
        p1: Proportion in the first group.
        p2: Proportion in the second group.

    Returns:
        Float64, named `proportion_difference`. Null if an input is missing or outside [0, 1].

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.proportion_difference(pl.lit(0.75), pl.lit(0.5))).item()
        0.25
    """
    p1, p2 = finite(p1), finite(p2)
    valid = p1.is_between(0.0, 1.0) & p2.is_between(0.0, 1.0)
    return pl.when(valid).then(p1 - p2).alias("proportion_difference")


def proportion_difference_std_error(
    p1: IntoExpr = "p1", n1: IntoExpr = "n1", p2: IntoExpr = "p2", n2: IntoExpr = "n2"
) -> pl.Expr:
    """Standard error of p1 - p2 of independent groups: sqrt(p1 (1-p1) / n1 + p2 (1-p2) / n2).

    Args:
        p1: Proportion in the first group.
        n1: Size of the first group.
        p2: Proportion in the second group.
        n2: Size of the second group.

    Returns:
        Float64, named `proportion_difference_std_error`. Null if that of a proportion is.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> shares = pl.DataFrame({"p1": [0.5], "n1": [25], "p2": [1.0], "n2": [30]})
        >>> shares.select(ef.replication.proportion_difference_std_error()).item()
        0.1
    """
    variance = share_variance(finite(p1), finite(n1)) + share_variance(finite(p2), finite(n2))
    return variance.sqrt().alias("proportion_difference_std_error")


def share_variance(p: pl.Expr, n: pl.Expr) -> pl.Expr:
    """Variance of a proportion, null if it or n is impossible."""
    return pl.when((n > 0) & p.is_between(0.0, 1.0)).then(p * (1.0 - p) / n)
