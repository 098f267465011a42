"""Which quantiles of the replicates an interval ends at, and which level ends at a quantile."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.methods import Bootstrap

MOST_BIAS = 0.5
"""The most, in standard errors, that an expanded BCa interval is moved for bias.

A larger one is no longer small beside the spread, as BCa supposes: replicates of a calibration
error lie far above the estimate, which itself lies above the truth, and moving the interval by all
of it would leave next to nothing of it.
"""


class Shape(NamedTuple):
    """How the tails of intervals differ from those of their level, one entry for each estimate.

    Attributes:
        bias: How far the estimate lies from the median of its replicates, as a normal quantile.
        acceleration: How fast the standard error changes with the estimate.
        clusters: How many there are, where Student's t takes the place of the normal distribution.
    """

    bias: Floats
    acceleration: Floats
    clusters: Ints | None

    def ends(self, tail: float) -> Floats:
        """The quantiles that leave out this much on each side: lower and upper."""
        from scipy.special import ndtr

        shifted = self.bias + np.outer([-1.0, 1.0], self._deviation(tail))
        with np.errstate(invalid="ignore", divide="ignore"):
            adjusted = ndtr(self.bias + shifted / (1.0 - self.acceleration * shifted))
        return np.nan_to_num(np.asarray(adjusted, dtype=np.float64), nan=0.5)

    def tails(self, quantile: Floats) -> tuple[Floats, Floats]:
        """What an interval leaves out that has its lower, or its upper, end at a quantile."""
        from scipy.special import ndtr, ndtri, stdtr

        with np.errstate(invalid="ignore", divide="ignore"):
            away = ndtri(quantile) - self.bias
            slowed = 1.0 + self.acceleration * away
            shifted = np.where(slowed > 0.0, away / slowed, np.copysign(np.inf, away))
            z = shifted - self.bias
            if self.clusters is None:
                return ndtr(z), ndtr(-z)
            freedom, stretch = self._student()
            return stdtr(freedom, z / stretch), stdtr(freedom, -z / stretch)

    def _deviation(self, tail: float) -> Floats:
        """How many standard deviations the end lies away."""
        from scipy.special import ndtri, stdtrit

        if self.clusters is None:
            return np.full(len(self.bias), -ndtri(tail))
        freedom, stretch = self._student()
        deviation: Floats = -stretch * stdtrit(freedom, tail)
        return deviation

    def _student(self) -> tuple[Floats, Floats]:
        assert self.clusters is not None
        freedom = np.maximum(self.clusters - 1.0, 1.0)
        return freedom, np.sqrt((freedom + 1.0) / freedom)


def shape_of(
    method: Bootstrap,
    points: Floats,
    replicates: Floats,
    jackknife: Floats | None,
    clusters: Ints | None,
) -> Shape:
    """The shape of a method's intervals.

    Args:
        method: The bootstrap.
        points: The estimates.
        replicates: Replicates by estimates; NaN is a dropped replicate.
        jackknife: Clusters left out, or groups of them, by estimates; for BCa.
        clusters: How many each estimate has; for expanded intervals.
    """
    assert clusters is not None or not method.is_expanded
    bias = acceleration = np.zeros(len(points))
    if method.leaves_out:
        assert jackknife is not None
        bias, acceleration = _bias(points, replicates), _acceleration(jackknife)
        if method.is_expanded:
            bias = np.clip(bias, -MOST_BIAS, MOST_BIAS)
    return Shape(bias, acceleration, clusters if method.is_expanded else None)


def _bias(points: Floats, replicates: Floats) -> Floats:
    from scipy.special import ndtri

    # Ties with the estimate count half, which matters where few values are possible.
    # Equal up to rounding, which depends on the order of rows.
    with np.errstate(invalid="ignore"):
        away = replicates - points
        near = np.isfinite(away) & (np.abs(away) <= 1e-12 * np.abs(points))
        equal = near | (replicates == points)  # infinities have no difference
        below = ((away < 0) & ~equal).sum(axis=0) + 0.5 * equal.sum(axis=0)
        bias: Floats = ndtri(below / (~np.isnan(replicates)).sum(axis=0))
    return bias


def _acceleration(jackknife: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        valid = (~np.isnan(jackknife)).sum(axis=0)
        centred = np.nansum(jackknife, axis=0) / valid - jackknife
        centred = np.where(np.isfinite(centred), centred, 0.0)
        squares = (centred**2).sum(axis=0)
        acceleration: Floats = np.nan_to_num((centred**3).sum(axis=0) / (6.0 * squares**1.5))
    return acceleration
