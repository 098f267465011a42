"""PAS as a number: what is possible, and its Fisher z.

PAS is a correlation moved to [0, 1]. With r = 2 PAS - 1, Fisher's z is half the log odds of PAS, so
pooling z is pooling log odds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import polars as pl

CHANCE = 0.5
"""PAS of a finding without a test and of a study without a finding under `missing="chance"`."""

EPSILON = 1e-6
"""Smallest distance of a clamped correlation from -1 and 1."""

ROUNDING = 1e-9
"""Rounding that may move a share out of [0, 1]."""

SLACK = 1e-6
"""Largest distance of the sum of a posterior from 1."""

_FLAT = 1e-10
"""Correlations closer to 0 than this have z = 0."""


def possible_share(share: pl.Expr, least: float = 0.0) -> pl.Expr:
    """Return the share clipped to `least` and 1, null if it is outside by more than rounding."""
    inside = share.is_between(least - ROUNDING, 1.0 + ROUNDING)
    return pl.when(inside).then(share.clip(least, 1.0))


def are_posterior(ways: Sequence[pl.Expr]) -> pl.Expr:
    """Return True if all values are in [0, 1] and their sum is 1."""
    inside = [way.is_between(-ROUNDING, 1.0 + ROUNDING) for way in ways]
    return pl.all_horizontal(*inside, (reduce(add, ways) - 1.0).abs() <= SLACK)


def fisher_z(r: pl.Expr) -> pl.Expr:
    """Fisher's z of a correlation, infinite at -1 and 1 and beyond."""
    # Two log1p: the arctanh of Polars is off by 1e-12 near the ends.
    bounded = r.clip(-1.0, 1.0)
    z = 0.5 * (bounded.log1p() - (-bounded).log1p())
    return pl.when(r.abs() < _FLAT).then(0.0).otherwise(z)


def clamped_fisher_z(r: pl.Expr) -> pl.Expr:
    """Fisher's z of a correlation clamped to 1e-6 from its ends, at most 7.2543."""
    return fisher_z(r.clip(-1.0 + EPSILON, 1.0 - EPSILON))


def z_of_pas(pas: pl.Expr) -> pl.Expr:
    """Half the log odds of PAS, which is clamped to [5e-7, 1 - 5e-7]."""
    # Computed from the nearer end: PAS and 1 - PAS have the same z except for the sign.
    below = pas <= 0.5
    tail = pl.when(below).then(pas).otherwise(1.0 - pas).clip(EPSILON / 2, 0.5)
    z = 0.5 * (tail.log() - (-tail).log1p())
    return pl.when(below).then(z).otherwise(-z)


def pas_of_z(z: pl.Expr) -> pl.Expr:
    """PAS with this z: (tanh z + 1) / 2."""
    return 1.0 / (1.0 + (-2.0 * z).exp())
