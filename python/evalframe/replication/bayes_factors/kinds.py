"""Kinds of Bayes factors, and which columns each is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.replication.bayes_factors.columns import NOTHING, known, number
from evalframe.replication.bayes_factors.contingency import yates_chi_square
from evalframe.replication.bayes_factors.domains import CELLS
from evalframe.replication.bayes_factors.factors import (
    BINOMIAL,
    BOUND,
    CHI2,
    DIRECTIONAL_BOUND,
    VARIANCE_RATIO,
    F,
    Kind,
    R,
    T,
    U,
)
from evalframe.replication.effects.kinds import FURTHER_NAMES as FURTHER_NAMES
from evalframe.replication.effects.kinds import kind_of as kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalframe.core.typing import IntoExpr

KINDS: dict[str, Kind] = {
    "t": T,
    "f": F,
    "correlation": R,
    "chi_square": CHI2,
    "rank": U,
    "binomial": BINOMIAL,
    "variance_ratio": VARIANCE_RATIO,
    "p_value": BOUND,
    "directional_p_value": DIRECTIONAL_BOUND,
}
"""Kinds of Bayes factors, by the names that `kind_of` gives."""

ROLES = (
    *("stat", "n1", "n2", "df1", "df2", "df", "n_total", "k", "n", "p0", *CELLS),
    *("independent", "p_value", "direction"),
)
"""Columns that a Bayes factor may be made from."""

SOURCES = {
    "n": ("n", "n_total", "n1", "a", "b", "c", "d"),
    "n_total": ("n_total", "n", "df1", "df2"),
    "n1": ("n1", "n2", "independent"),
    "n2": ("n2", "independent"),
    "df1": ("df1", "df"),
    "k": ("k", "stat"),
    "p_value": ("p_value", "stat"),
}
"""Columns that stand in for others, in this order."""


def arguments(columns: Mapping[str, IntoExpr], agrees: pl.Expr) -> dict[str, list[pl.Expr]]:
    """What the Bayes factor of each kind takes, the statistic first.

    Args:
        columns: By role; a role without a column is missing everywhere.
        agrees: Whether the direction is the expected one.
    """
    stat = number(columns.get("stat"))
    n1, n2, df1, df2, p0, n, n_total = (
        known(columns.get(name)) for name in ("n1", "n2", "df1", "df2", "p0", "n", "n_total")
    )
    observed = counted = _first_of(columns, "n", "n_total", "n1")
    first, second, association = n1, n2, stat
    if "independent" in columns:
        # Pairs have no second group; independent samples without one are incomplete, not pairs.
        independent = as_expr(columns["independent"]).cast(pl.Boolean)
        second = pl.when(independent.fill_null(value=True)).then(n2)
        first = pl.when(~independent.fill_null(value=False) | n2.is_not_null()).then(n1)
    if columns.keys() >= {*CELLS}:
        cells = [columns[name] for name in CELLS]
        known_cells = [known(cell) for cell in cells]
        counted = pl.coalesce(observed, pl.sum_horizontal(known_cells, ignore_nulls=False))
        association = pl.coalesce(stat, yates_chi_square(*cells))
    p = _first_of(columns, "p_value", "stat", read=number)
    return {
        "t": [stat, first, second],
        "f": [stat, df1, df2, pl.coalesce(n_total, n, df1 + df2 + 1.0)],
        "correlation": [stat, observed],
        "chi_square": [association, _first_of(columns, "df1", "df").fill_null(1.0), counted],
        "rank": [stat, n1, n2],
        "binomial": [_first_of(columns, "k", "stat", read=number), observed, p0.fill_null(0.5)],
        "variance_ratio": [stat, df1, df2],
        "p_value": [p],
        "directional_p_value": [p, agrees],
    }


def _first_of(
    columns: Mapping[str, IntoExpr],
    *roles: str,
    read: Callable[[IntoExpr | None], pl.Expr] = known,
) -> pl.Expr:
    """The first of several columns that a row has."""
    there = [read(columns[role]) for role in roles if role in columns]
    return pl.coalesce(there) if there else NOTHING
