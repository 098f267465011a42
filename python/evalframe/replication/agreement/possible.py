"""What scores, posteriors and weights can be; what is impossible counts as missing.

Only by `rules="documented"`: the original computes with whatever it is given.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

ROUNDING = 1e-9
"""How far rounding may have moved a share out of [0, 1]."""

SLACK = 1e-6
"""How far the sum of a posterior may be from 1."""


def possible_share(share: pl.Expr, least: float = 0.0) -> pl.Expr:
    """The share if it lies between `least` and 1, else null; what rounding moved out is moved back.

    >>> shares = pl.lit(pl.Series([0.5, 1.0 + 1e-12, 1.5, -0.5, float("inf"), float("nan")]))
    >>> pl.select(possible_share(shares)).to_series().to_list()
    [0.5, 1.0, None, None, None, None]
    """
    inside = share.is_between(least - ROUNDING, 1.0 + ROUNDING)
    return pl.when(inside).then(share.clip(least, 1.0))


def are_posterior(ways: Sequence[pl.Expr]) -> pl.Expr:
    """Whether these are the parts of a posterior: each in [0, 1], and 1 together.

    >>> pl.select(are_posterior([pl.lit(0.5), pl.lit(0.25), pl.lit(0.25)])).item()
    True
    """
    inside = [way.is_between(-ROUNDING, 1.0 + ROUNDING) for way in ways]
    return pl.all_horizontal(*inside, (reduce(add, ways) - 1.0).abs() <= SLACK)


def has_possible_weights(columns: Collection[str]) -> pl.Expr:
    """Whether no weight that a row has is infinite, nor that of a test or finding negative.

    A weight that is null or NaN is not given, and an `n_eff` not above 0 counts as 1.
    """
    finite = [
        pl.col(name).is_infinite().not_().fill_null(value=True)
        for name in ("n_eff", "test_weight", "finding_weight")
        if name in columns
    ]
    not_negative = [
        (pl.col(name) >= 0.0).fill_null(value=True)
        for name in ("test_weight", "finding_weight")
        if name in columns
    ]
    return pl.all_horizontal(pl.lit(value=True), *finite, *not_negative)
