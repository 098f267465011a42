"""Kinds of Bayes factors, and which columns each is made from."""

from __future__ import annotations

import math
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
    SCORE,
    VARIANCE_RATIO,
    WALD,
    WELCH,
    F,
    Kind,
    R,
    T,
    U,
)
from evalframe.replication.effects.kinds import in_groups
from evalframe.replication.effects.sample_sizes import n_of_f

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalframe.core.typing import IntoExpr
    from evalframe.replication.effects.kinds import Says

KINDS: dict[str, Kind] = {
    "t": T,
    "welch": WELCH,
    "z": SCORE,
    "coefficient": SCORE,
    "wald": WALD,
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
    *("independent", "p_value", "direction", "estimate", "std_error"),
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


def arguments(
    columns: Mapping[str, IntoExpr], agrees: pl.Expr, says: Says
) -> dict[str, list[pl.Expr]]:
    """What the Bayes factor of each kind takes, the statistic first.

    Args:
        columns: By role; a role without a column is missing everywhere.
        agrees: Whether the direction is the expected one.
        says: Whether the name of a test says a form.
    """
    stat = number(columns.get("stat"))
    n1, n2, df1, df2, df, p0 = (
        known(columns.get(name)) for name in ("n1", "n2", "df1", "df2", "df", "p0")
    )
    everybody = _first_of(columns, "n_total", "n")
    observed = counted = _first_of(columns, "n", "n_total", "n1")
    # Pairs have no second group; independent samples without one are incomplete, not pairs.
    apart = in_groups(says, _independent(columns))
    second = pl.when(apart.fill_null(value=True)).then(n2)
    first = pl.when(~apart.fill_null(value=False) | n2.is_not_null()).then(n1)
    unsaid = n1.is_null() & n2.is_null() & apart.fill_null(value=True)
    half = pl.when(unsaid).then(everybody / 2.0)
    groups = [pl.coalesce(first, half), pl.coalesce(second, half)]
    all_groups = pl.coalesce(everybody, n1 + second, n1)
    association = stat
    if columns.keys() >= {*CELLS}:
        cells = [columns[name] for name in CELLS]
        known_cells = [known(cell) for cell in cells]
        counted = pl.coalesce(observed, pl.sum_horizontal(known_cells, ignore_nulls=False))
        association = pl.coalesce(stat, yates_chi_square(*cells))
    p = _first_of(columns, "p_value", "stat", read=number)
    freedom = _first_of(columns, "df1", "df").fill_null(1.0)
    estimate, error = (known(columns.get(name)) for name in ("estimate", "std_error"))
    score = pl.coalesce(stat, pl.when(error > 0).then(estimate / error))
    endless = pl.lit(math.inf)
    return {
        "t": [stat, first, second, NOTHING],
        "welch": [stat, n1, n2, df],
        "z": [stat, *groups, endless],
        "coefficient": [score, *groups, df.fill_null(math.inf)],
        "wald": [stat, freedom, all_groups],
        "f": [stat, df1, df2, n_from(columns, says)[0]],
        "correlation": [stat, observed],
        "chi_square": [association, freedom, counted],
        "rank": [stat, n1, n2],
        "binomial": [_first_of(columns, "k", "stat", read=number), observed, p0.fill_null(0.5)],
        "variance_ratio": [stat, df1, df2],
        "p_value": [p],
        "directional_p_value": [p, agrees],
    }


def n_from(columns: Mapping[str, IntoExpr], says: Says) -> tuple[pl.Expr, pl.Expr]:
    """How many an F test is about, and whether that is guessed from its degrees of freedom."""
    n1, n2, df1, df2 = (known(columns.get(name)) for name in ("n1", "n2", "df1", "df2"))
    second = pl.when(in_groups(says, _independent(columns)).fill_null(value=True)).then(n2)
    return n_of_f(_first_of(columns, "n_total", "n"), n1 + second, df1, df2, says)


def _independent(columns: Mapping[str, IntoExpr]) -> pl.Expr:
    if "independent" not in columns:
        return pl.lit(None, pl.Boolean)
    return as_expr(columns["independent"]).cast(pl.Boolean)


def _first_of(
    columns: Mapping[str, IntoExpr],
    *roles: str,
    read: Callable[[IntoExpr | None], pl.Expr] = known,
) -> pl.Expr:
    """The first of several columns that a row has."""
    there = [read(columns[role]) for role in roles if role in columns]
    return pl.coalesce(there) if there else NOTHING
