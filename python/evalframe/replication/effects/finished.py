"""Which rows have what would be made of them, so that the type of their test need not be known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.replication.effects.types import SIDES

if TYPE_CHECKING:
    from collections.abc import Collection

STATISTICS = ("stat", "k", "p_value", "a", "estimate")
"""Columns of a side, any of which a Bayes factor can be made from."""

_EFFECTS_FROM = ("stat", "k", "a", "estimate", "effect_size")
EVIDENCE = ("log_bayes_factor", "bayes_factor", "pi", "pi_plus")
"""Columns of a side, any of which is evidence already."""

_EFFECTS = ("effect_d",)


def needs_type(schema: pl.Schema) -> pl.Expr:
    """Whether a row has statistics but no Bayes factor or effect of them, or nothing finished.

    >>> row = {"stat_human": 2.0, "stat_agent": 1.0, "pas": 0.5, "effect_d_human": 0.3}
    >>> tests = pl.DataFrame({**row, "effect_d_agent": [0.2, None]})
    >>> tests.select(needs_type(tests.schema)).to_series().to_list()
    [False, True]
    """
    evidence = _lacks(schema, EVIDENCE, STATISTICS) & ~_is_there(schema, ["pas"])
    return evidence | needs_type_for_effects(schema)


def needs_type_for_effects(schema: pl.Schema) -> pl.Expr:
    """Whether a row has what an effect is made from but no effect, or nothing finished."""
    names = [f"{name}_{side}" for name in (*EVIDENCE, *_EFFECTS) for side in SIDES]
    return _lacks(schema, _EFFECTS, _EFFECTS_FROM) | ~_is_there(schema, ["pas", *names])


def _lacks(schema: pl.Schema, finished: Collection[str], made_from: Collection[str]) -> pl.Expr:
    return pl.any_horizontal(
        _is_there(schema, [f"{name}_{side}" for name in made_from])
        & ~_is_there(schema, [f"{name}_{side}" for name in finished])
        for side in SIDES
    )


def _is_there(schema: pl.Schema, names: Collection[str]) -> pl.Expr:
    """Whether a row has a value in one of these columns, of which a table may lack some."""
    values = [
        pl.col(name).is_not_null() & (pl.col(name).is_not_nan() if dtype.is_float() else True)
        for name, dtype in schema.items()
        if name in names
    ]
    return pl.any_horizontal(pl.lit(value=False), *values).fill_null(value=False)
