"""Directions of effects: from statistics, and agreement of two sides."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.replication.effects.types import SIGNED

_EVEN = 0.5


def agrees(expected: pl.Expr, actual: pl.Expr) -> pl.Expr:
    """True if two directions are the same and not 0; null if one is null.

    >>> sides = pl.DataFrame({"human": [1.0, 0.0, None], "agent": [1.0, 0.0, 0.0]})
    >>> sides.select(agrees(pl.col("human"), pl.col("agent"))).to_series().to_list()
    [True, False, None]
    """
    return (expected == actual) & pl.when(expected.is_not_null()).then(actual != 0)


def direction_of_kind(
    kind: pl.Expr,
    stat: pl.Expr,
    *,
    groups: tuple[pl.Expr, pl.Expr],
    counts: tuple[pl.Expr, pl.Expr, pl.Expr],
    cells: Sequence[pl.Expr] = (),
) -> pl.Expr:
    """The sign of an effect, null for tests of magnitudes, such as F and chi-square.

    >>> row = {"kind": ["t", "rank", "f"], "stat": [-2.0, 9.0, 4.0]}
    >>> n, none = pl.lit(4.0), pl.lit(None, pl.Float64)
    >>> found = direction_of_kind(
    ...     pl.col("kind"), pl.col("stat"), groups=(n, n), counts=(none, none, none)
    ... )
    >>> pl.DataFrame(row).select(found).to_series().to_list()
    [-1.0, 1.0, None]
    """
    pairs = groups[0] * groups[1]
    hits, trials, chance = counts
    share = pl.coalesce(hits, stat) / pl.when(trials > 0).then(trials)
    return (
        pl.when(kind.is_in([*SIGNED]))
        .then(stat.sign())
        .when(kind == "rank")
        .then(pl.when((stat >= 0) & (stat <= pairs)).then((2.0 * stat - pairs).sign()))
        .when(kind == "binomial")
        .then((share - chance.fill_null(_EVEN)).sign())
        .when(kind == "chi_square")
        .then(_of_table(cells))
    )


def _of_table(cells: Sequence[pl.Expr]) -> pl.Expr:
    """The sign of the difference of the shares of the first outcome."""
    if len(cells) != 4:
        return pl.lit(None, pl.Float64)
    a, b, c, d = cells
    known = pl.all_horizontal(cell >= 0 for cell in cells)
    return pl.when(known & (a + b > 0) & (c + d > 0)).then((a * d - b * c).sign())
