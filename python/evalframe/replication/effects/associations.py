"""Associations: Fisher's z, the log odds ratio, the rank-biserial correlation; standard errors."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.replication.numbers import finite


def fisher_z(r: IntoExpr = "r") -> pl.Expr:
    """Fisher's z of a correlation: half the logarithm of (1 + r) / (1 - r).

    Args:
        r: Correlation in [-1, 1].

    Returns:
        Float64, named `fisher_z`; infinite at 1 and -1. Null if r is missing or outside [-1, 1].

    References:
        Fisher (1915).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import fisher_z
        >>> pl.DataFrame({"r": [0.0, 0.5, 1.0]}).select(fisher_z().round(4)).to_series().to_list()
        [0.0, 0.5493, inf]
    """
    return z_of_r(finite(r)).alias("fisher_z")


def fisher_z_std_error(r: IntoExpr = "r", n: IntoExpr = "n") -> pl.Expr:
    """Standard error of Fisher's z: 1 / sqrt(n - 3), whatever the correlation.

    Args:
        r: Correlation; it must be inside (-1, 1), but its value does not matter.
        n: Number of pairs.

    Returns:
        Float64, named `fisher_z_std_error`. Null if n is missing, infinite, or 3 or less, or r is
        missing or not inside (-1, 1), where z is infinite.

    References:
        Fisher (1921).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import fisher_z_std_error
        >>> tests = pl.DataFrame({"r": [0.5, 0.5], "n": [19, 3]})
        >>> tests.select(fisher_z_std_error()).to_series().to_list()
        [0.25, None]
    """
    return z_error(finite(r), finite(n)).alias("fisher_z_std_error")


def log_odds_ratio(
    a: IntoExpr = "a", b: IntoExpr = "b", c: IntoExpr = "c", d: IntoExpr = "d"
) -> pl.Expr:
    """Logarithm of ad / (bc): above 0 if the first group has the first outcome more often.

    If any of the four is 0, 0.5 is added to all (Haldane and Anscombe).

    Args:
        a: Number in the first group with the first outcome.
        b: Number in the first group with the second outcome.
        c: Number in the second group with the first outcome.
        d: Number in the second group with the second outcome.

    Returns:
        Float64, named `log_odds_ratio`. Null if a cell is missing, infinite or negative, or a
        group is empty.

    References:
        Haldane (1956), Anscombe (1956).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import log_odds_ratio
        >>> tables = pl.DataFrame({"a": [5, 3], "b": [5, 0], "c": [2, 0], "d": [2, 3]})
        >>> tables.select(log_odds_ratio().round(4)).to_series().to_list()
        [0.0, 3.8918]
    """
    return log_odds([finite(cell) for cell in (a, b, c, d)]).alias("log_odds_ratio")


def log_odds_ratio_std_error(
    a: IntoExpr = "a", b: IntoExpr = "b", c: IntoExpr = "c", d: IntoExpr = "d"
) -> pl.Expr:
    """Standard error of the log odds ratio: sqrt(1/a + 1/b + 1/c + 1/d), of the corrected cells.

    Args:
        a: Number in the first group with the first outcome.
        b: Number in the first group with the second outcome.
        c: Number in the second group with the first outcome.
        d: Number in the second group with the second outcome.

    Returns:
        Float64, named `log_odds_ratio_std_error`. Null if `log_odds_ratio` is.

    References:
        Woolf (1955).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import log_odds_ratio_std_error
        >>> table = pl.DataFrame({"a": [4], "b": [4], "c": [4], "d": [4]})
        >>> table.select(log_odds_ratio_std_error()).item()
        1.0
    """
    return log_odds_error([finite(cell) for cell in (a, b, c, d)]).alias("log_odds_ratio_std_error")


def rank_biserial(u: IntoExpr = "stat", n1: IntoExpr = "n1", n2: IntoExpr = "n2") -> pl.Expr:
    """Rank-biserial correlation: 2U / (n1 n2) - 1, with U of the first group.

    U counts the pairs in which the first group is ahead, as `scipy.stats.mannwhitneyu` does. So the
    correlation is 1 if the first group is always ahead, and -1 if it never is.

    Args:
        u: The statistic of the first group.
        n1: Size of the first group.
        n2: Size of the second group.

    Returns:
        Float64 in [-1, 1], named `rank_biserial`. Null if an input is missing or infinite, a size
        is not above 0, or U is not from 0 to n1 n2.

    References:
        Wendt (1972), Cureton (1956).

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import rank_biserial
        >>> tests = pl.DataFrame({"stat": [25.0, 12.5, 0.0], "n1": [5, 5, 5], "n2": [5, 5, 5]})
        >>> tests.select(rank_biserial()).to_series().to_list()
        [1.0, 0.0, -1.0]
    """
    return r_of_u(finite(u), finite(n1), finite(n2)).alias("rank_biserial")


def rank_biserial_std_error(
    r: IntoExpr = "rank_biserial", n1: IntoExpr = "n1", n2: IntoExpr = "n2"
) -> pl.Expr:
    """Standard error of the rank-biserial correlation: sqrt(1/n1 + 1/n2 + r² / (2 (n1 + n2))).

    It has the form of Cohen's d, which is on a wider scale, so it is conservative: without an
    effect the exact one is sqrt((n1 + n2 + 1) / (3 n1 n2)), about 0.58 of it.

    Args:
        r: Rank-biserial correlation.
        n1: Size of the first group.
        n2: Size of the second group.

    Returns:
        Float64, named `rank_biserial_std_error`. Null if an input is missing or infinite, r is
        outside [-1, 1], or a size is not above 0.

    References:
        HumanStudy-Bench (HEAD of February 2026), documentation.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import rank_biserial_std_error
        >>> tests = pl.DataFrame({"rank_biserial": [0.0], "n1": [8], "n2": [8]})
        >>> tests.select(rank_biserial_std_error()).item()
        0.5
    """
    return rank_error(finite(r), finite(n1), finite(n2)).alias("rank_biserial_std_error")


def z_of_r(r: pl.Expr) -> pl.Expr:
    """Fisher's z of a correlation in [-1, 1], else null."""
    return pl.when(r.abs() <= 1).then(atanh(r))


def atanh(r: pl.Expr) -> pl.Expr:
    """Inverse hyperbolic tangent, exact near 0."""
    return 0.5 * (r.log1p() - (-r).log1p())


def z_error(r: pl.Expr, n: pl.Expr) -> pl.Expr:
    """Standard error of Fisher's z."""
    return pl.when((n > 3) & (r.abs() < 1)).then((n - 3.0).pow(-0.5))


def log_odds(cells: Sequence[pl.Expr]) -> pl.Expr:
    """Log odds ratio of four cells whose groups have members."""
    return pl.when(_has_members(cells)).then(log_odds_of_cells(cells))


def log_odds_error(cells: Sequence[pl.Expr]) -> pl.Expr:
    """Standard error of the log odds ratio of four cells whose groups have members."""
    return pl.when(_has_members(cells)).then(log_odds_error_of_cells(cells))


def log_odds_of_cells(cells: Sequence[pl.Expr]) -> pl.Expr:
    """Log odds ratio of four cells that are not negative, also of empty groups."""
    a, b, c, d = corrected(cells)
    return pl.when(_not_negative(cells)).then(a.log() - b.log() - c.log() + d.log())


def log_odds_error_of_cells(cells: Sequence[pl.Expr]) -> pl.Expr:
    """Standard error of the log odds ratio of four cells that are not negative."""
    variance = pl.sum_horizontal([1.0 / cell for cell in corrected(cells)])
    return pl.when(_not_negative(cells)).then(variance.sqrt())


def corrected(cells: Sequence[pl.Expr]) -> list[pl.Expr]:
    """The cells, each with 0.5 added if the smallest is 0."""
    shift = pl.when(pl.min_horizontal(cells) == 0).then(0.5).otherwise(0.0)
    return [cell + shift for cell in cells]


def _not_negative(cells: Sequence[pl.Expr]) -> pl.Expr:
    return pl.all_horizontal(cell >= 0 for cell in cells)


def _has_members(cells: Sequence[pl.Expr]) -> pl.Expr:
    a, b, c, d = cells
    return (a + b > 0) & (c + d > 0)


def r_of_u(u: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    """Rank-biserial correlation of U, sizes and U within their domain."""
    pairs = n1 * n2
    valid = (n1 > 0) & (n2 > 0) & (u >= 0) & (u <= pairs)
    return pl.when(valid).then(2.0 * u / pairs - 1.0)


def rank_error(r: pl.Expr, n1: pl.Expr, n2: pl.Expr) -> pl.Expr:
    """Standard error of the rank-biserial correlation."""
    valid = (n1 > 0) & (n2 > 0) & (r.abs() <= 1)
    return pl.when(valid).then((1.0 / n1 + 1.0 / n2 + r**2 / (2.0 * (n1 + n2))).sqrt())
