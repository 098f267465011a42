"""Functions that Polars lacks, as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.choices import check_level

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


_LARGE = 64.0

DECIMALS = 12
"""Decimals of scores that ranks use; others depend on the order of summation."""


def harmonic_increase(start: pl.Expr, stop: pl.Expr) -> pl.Expr:
    """H(stop) - H(start), where H(k) = 1 + 1/2 + ... + 1/k, continued to real k.

    Accurate to a few units in the last place also where both are large and near each other.

    >>> frame = pl.DataFrame({"a": [0.0, 1.0, 1e9], "b": [3.0, 2.0, 1e9 + 1]})
    >>> frame.select(harmonic_increase(pl.col("a"), pl.col("b"))).to_series().to_list()
    [1.833333333333333, 0.5, 9.99999999e-10]
    """

    def increase(columns: Sequence[pl.Series]) -> pl.Series:
        return pl.Series(_increase(columns[0].to_numpy(), columns[1].to_numpy()))

    return pl.map_batches([start, stop], increase, return_dtype=pl.Float64, is_elementwise=True)


def wilson(share: pl.Expr, n: pl.Expr, level: float) -> tuple[pl.Expr, pl.Expr]:
    """The score interval of a share of n; null where there is no share.

    >>> lower, upper = wilson(pl.col("k") / 10, pl.lit(10), 0.95)
    >>> ends = [lower.round(4).alias("lower"), upper.round(4).alias("upper")]
    >>> pl.DataFrame({"k": [0, 5]}).select(ends).rows()
    [(0.0, 0.2775), (0.2366, 0.7634)]

    Raises:
        ParameterError: `level` does not lie between 0 and 1.
    """
    from statistics import NormalDist

    check_level(level)
    z = NormalDist().inv_cdf(0.5 + level / 2.0)
    centre = share + z * z / (2.0 * n)
    spread = z * (share * (1.0 - share) / n + (z / (2.0 * n)) ** 2).sqrt()
    scale = 1.0 + z * z / n
    # At a share of 0 or 1 the bound is 0 or 1, but for rounding.
    lower = pl.when(share > 0.0).then(((centre - spread) / scale).clip(0.0))
    upper = pl.when(share < 1.0).then(((centre + spread) / scale).clip(None, 1.0))
    return lower.otherwise(0.0 * share), upper.otherwise(1.0 + 0.0 * share)


def settled(score: pl.Expr) -> pl.Expr:
    """Scores by which entries are ranked.

    >>> pl.select(settled(pl.lit(0.1) + pl.lit(0.2)) == settled(pl.lit(0.3))).item()
    True
    """
    return score.round(DECIMALS)


def ranks(score: pl.Expr, within: Sequence[str]) -> pl.Expr:
    """Ranks within groups of these keys, the best is 1; tied entries share the better one.

    >>> table = pl.DataFrame({"score": [0.5, 0.9, 0.5, None]})
    >>> table.select(ranks(pl.col("score"), [])).to_series().to_list()
    [2, 1, 2, None]
    """
    rank = settled(score).rank("min", descending=True).cast(pl.Int64)
    return rank.over(within) if within else rank


def _increase(start: Floats, stop: Floats) -> Floats:
    import numpy as np

    # H(k) = log(k + 1/2) + gamma + tail(k + 1/2), and the logarithms' difference is a log1p.
    near, far = start + 0.5, stop + 0.5
    result = np.log1p((stop - start) / near)
    result += _tail(far) - _tail(near)
    small = np.flatnonzero((start < _LARGE) & (stop > start))
    if len(small):
        from scipy.special import digamma

        result[small] = digamma(stop[small] + 1.0) - digamma(start[small] + 1.0)
    return result


def _tail(x: Floats) -> Floats:
    inverse = 1.0 / (x * x)
    return inverse * (1 / 24 - inverse * (7 / 960 - inverse * (31 / 8064)))
