"""When an effect goes where it is expected to go."""

from __future__ import annotations

import polars as pl


def agrees(expected: pl.Expr, found: pl.Expr) -> pl.Expr:
    """Whether two directions are the same and not 0; null where one is null.

    >>> sides = pl.DataFrame({"human": [1.0, 0.0, None], "agent": [1.0, 0.0, 0.0]})
    >>> sides.select(agrees(pl.col("human"), pl.col("agent"))).to_series().to_list()
    [True, False, None]
    """
    return (expected == found) & pl.when(expected.is_not_null()).then(found != 0)
