"""Fisher's z of correlations and of PAS, which is a correlation moved to [0, 1].

With r = 2 PAS - 1, z is half the log odds of PAS: pooling z is pooling log odds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.replication.agreement.rules import EPSILON

if TYPE_CHECKING:
    from evalframe.core.rules import Rules

_FLAT = 1e-10
"""Correlations nearer to 0 than this have z = 0 in the original."""


def fisher_z(r: pl.Expr) -> pl.Expr:
    """Fisher's z, infinite where r is -1 or 1 or beyond.

    >>> pl.select(fisher_z(pl.lit(pl.Series([0.0, 0.5, -1.0]))).round(6)).to_series().to_list()
    [0.0, 0.549306, -inf]
    """
    # By two log1p, since Polars' arctanh is off by 1e-12 near the ends.
    bounded = r.clip(-1.0, 1.0)
    z = 0.5 * (bounded.log1p() - (-bounded).log1p())
    return pl.when(r.abs() < _FLAT).then(0.0).otherwise(z)


def clamped_fisher_z(r: pl.Expr) -> pl.Expr:
    """Fisher's z of r kept within 1 - 1e-6 of 0, so that it is at most 7.2543."""
    return fisher_z(r.clip(-1.0 + EPSILON, 1.0 - EPSILON))


def z_of_pas(pas: pl.Expr, rules: Rules = "documented") -> pl.Expr:
    """Half the log odds of PAS, kept within [5e-7, 1 - 5e-7].

    By the original's rules from 2 PAS - 1, which rounds in the last digits of a small PAS; there
    NaN has become the largest z of all.

    >>> pl.select(z_of_pas(pl.lit(pl.Series([0.5, 0.9, 1.0]))).round(6)).to_series().to_list()
    [0.0, 1.098612, 7.254329]
    """
    if rules == "reference":
        return clamped_fisher_z((2.0 * pas - 1.0).fill_nan(1.0))
    # From the nearer end, so that PAS and 1 - PAS have the same z but for the sign.
    below = pas <= 0.5
    tail = pl.when(below).then(pas).otherwise(1.0 - pas).clip(EPSILON / 2, 0.5)
    z = 0.5 * (tail.log() - (-tail).log1p())
    return pl.when(below).then(z).otherwise(-z)


def pas_of_z(z: pl.Expr) -> pl.Expr:
    """The PAS with this z: (tanh z + 1) / 2.

    >>> pl.select(pas_of_z(z_of_pas(pl.lit(0.25)))).to_series().round(12).to_list()
    [0.25]
    """
    return 1.0 / (1.0 + (-2.0 * z).exp())
