"""Intervals, standard errors and p-values from replicates, and the registry of interval methods."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints
    from evalframe.resample.methods import Bootstrap, Interval, Method


MOST_BIAS = 0.5
"""The most, in standard errors, that an expanded BCa interval is moved for bias.

BCa supposes that the bias is small beside the spread. Replicates of a calibration error lie far
above the estimate, which itself lies above the truth: moved by all of it, an interval would have
almost no width.
"""


class Spread(NamedTuple):
    """Uncertainty of many estimates, one entry each; NaN if undefined."""

    std_error: Floats
    lower: Floats
    upper: Floats
    drop_rate: Floats


@dataclass(frozen=True)
class Sample:
    """Replicates of many estimates, and what else intervals are made of.

    Attributes:
        points: The estimates.
        drawn: Replicates by estimates; NaN is a dropped replicate.
        left_out: Estimates without each cluster, or each group of them, likewise; for BCa.
        clusters: Number of clusters of each estimate; for expanded intervals.
        strata: Number of strata that they are drawn within; by default one.
    """

    points: Floats
    drawn: Floats
    left_out: Floats | None = None
    clusters: Ints | None = None
    strata: Ints | None = None

    @functools.cached_property
    def count(self) -> Ints:
        """Number of replicates that are not dropped."""
        count: Ints = (~np.isnan(self.drawn)).sum(axis=0)
        return count

    @functools.cached_property
    def mean(self) -> Floats:
        """Mean of the replicates, NaN if there are none."""
        with np.errstate(invalid="ignore"):
            mean: Floats = np.nansum(self.drawn, axis=0) / self.count
        return mean

    @functools.cached_property
    def std_error(self) -> Floats:
        """Standard deviation of the replicates, NaN below two."""
        with np.errstate(invalid="ignore"):
            away = np.where(np.isnan(self.drawn), 0.0, self.drawn - self.mean)
            variance: Floats = (away**2).sum(axis=0) / np.where(
                self.count > 1, self.count - 1, np.nan
            )
        return np.sqrt(variance)

    @functools.cached_property
    def below(self) -> Ints:
        """Number of replicates of at most 0, and one more."""
        below: Ints = (self.drawn <= 0).sum(axis=0) + 1
        return below

    @functools.cached_property
    def above(self) -> Ints:
        """Number of replicates of at least 0, and one more."""
        above: Ints = (self.drawn >= 0).sum(axis=0) + 1
        return above

    def quantiles(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Two quantiles of the replicates of each estimate."""
        ordered = np.sort(self.drawn, axis=0)
        return _quantile(ordered, self.count, lower), _quantile(ordered, self.count, upper)


@dataclass(frozen=True)
class IntervalMethod:
    """From replicates to intervals and p-values.

    Attributes:
        ends: Lower and upper end at a nominal level.
        p_value: Two-sided p-value that an estimate is 0: the level at which the interval begins to
            contain 0, as far as the replicates resolve it.
        needs: Estimates without `each` cluster or without `groups` of clusters, or `none`.
        for_differences: Name of the method for differences, if another one.
        is_cut: True if the ends are no quantiles of replicates, and so are cut off at the range
            that the metric declares.
    """

    name: Interval
    ends: Callable[[Sample, float], tuple[Floats, Floats]]
    p_value: Callable[[Sample], Floats]
    needs: Literal["none", "groups", "each"] = "none"
    for_differences: Interval | None = None
    is_cut: bool = False


class Shape(NamedTuple):
    """Tails of intervals compared with those of their level, one entry for each estimate.

    Attributes:
        bias: How far the estimate lies from the median of its replicates, as a normal quantile.
        acceleration: How fast the standard error changes with the estimate.
        clusters: Number of clusters if Student's t replaces the normal distribution, or None.
        strata: Number of their strata.
    """

    bias: Floats
    acceleration: Floats
    clusters: Ints | None
    strata: Ints | int = 1

    @classmethod
    def expanded(cls, sample: Sample) -> Shape:
        """Percentiles, wider for few clusters."""
        assert sample.clusters is not None
        nothing = np.zeros(len(sample.points))
        return cls(nothing, nothing, sample.clusters, 1 if sample.strata is None else sample.strata)

    @classmethod
    def bca(cls, sample: Sample) -> Shape:
        """Corrected for bias and acceleration."""
        assert sample.left_out is not None
        return cls(_bias(sample), _acceleration(sample.left_out), None)

    @classmethod
    def expanded_bca(cls, sample: Sample) -> Shape:
        """Both, with a bounded bias."""
        bias, acceleration, *_ = cls.bca(sample)
        bias = np.clip(bias, -MOST_BIAS, MOST_BIAS)
        return cls.expanded(sample)._replace(bias=bias, acceleration=acceleration)

    def ends(self, tail: float) -> Floats:
        """The quantiles that leave out this much on each side: lower and upper."""
        from scipy.special import ndtr

        shifted = self.bias + np.outer([-1.0, 1.0], self.deviation(tail))
        with np.errstate(invalid="ignore", divide="ignore"):
            adjusted = ndtr(self.bias + shifted / (1.0 - self.acceleration * shifted))
        return np.nan_to_num(np.asarray(adjusted, dtype=np.float64), nan=0.5)

    def tails(self, quantile: Floats) -> tuple[Floats, Floats]:
        """The parts left out by an interval whose lower, or upper, end is this quantile."""
        from scipy.special import ndtr, ndtri, stdtr

        with np.errstate(invalid="ignore", divide="ignore"):
            away = ndtri(quantile) - self.bias
            slowed = 1.0 + self.acceleration * away
            shifted = np.where(slowed > 0.0, away / slowed, np.copysign(np.inf, away))
            z = shifted - self.bias
            if self.clusters is None:
                return ndtr(z), ndtr(-z)
            freedom, stretch = self.student()
            return stdtr(freedom, z / stretch), stdtr(freedom, -z / stretch)

    def deviation(self, tail: float) -> Floats:
        """Distance of the end in standard deviations."""
        from scipy.special import ndtri, stdtrit

        if self.clusters is None:
            return np.full(len(self.bias), -ndtri(tail))
        freedom, stretch = self.student()
        deviation: Floats = -stretch * stdtrit(freedom, tail)
        return deviation

    def student(self) -> tuple[Floats, Floats]:
        """Degrees of freedom, and by what the spread of replicates is too small."""
        assert self.clusters is not None
        # Replicates vary by (m - 1) / m too little in strata of m clusters, which loses one degree
        # of freedom each.
        freedom = np.maximum(self.clusters - 1.0 * self.strata, 1.0)
        return freedom, np.sqrt((freedom + self.strata) / freedom)

    def rarest(self) -> Floats:
        """The chance of one replicate of one cluster only, in strata of equal size."""
        assert self.clusters is not None
        strata = np.maximum(self.strata, 1)  # 0 where no cluster varies
        return np.power(strata / np.maximum(self.clusters, strata), self.clusters)


def _percentile_ends(sample: Sample, level: float) -> tuple[Floats, Floats]:
    tail = np.full(len(sample.points), (1.0 - level) / 2.0)
    return sample.quantiles(tail, 1.0 - tail)


def _basic_ends(sample: Sample, level: float) -> tuple[Floats, Floats]:
    lower, upper = _percentile_ends(sample, level)
    with np.errstate(invalid="ignore"):
        return 2 * sample.points - upper, 2 * sample.points - lower


def _normal_ends(sample: Sample, level: float) -> tuple[Floats, Floats]:
    from scipy.special import ndtri

    half = ndtri(0.5 + level / 2.0) * sample.std_error
    return sample.points - half, sample.points + half


def _percentile_p_value(sample: Sample) -> Floats:
    p: Floats = 2 * np.minimum(sample.below, sample.above) / (sample.count + 1)
    return p


def _basic_p_value(sample: Sample) -> Floats:
    # The interval is that of percentiles, reflected at the estimate.
    return _percentile_p_value(Sample(sample.points, 2 * sample.points - sample.drawn))


def _normal_p_value(sample: Sample) -> Floats:
    from scipy.special import ndtr

    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(sample.points == 0.0, 0.0, np.abs(sample.points) / sample.std_error)
    p: Floats = 2 * ndtr(-z)
    return p


def _shaped_ends(shape: Shape, sample: Sample, level: float) -> tuple[Floats, Floats]:
    """Percentiles at other quantiles than those of the level."""
    lower, upper = shape.ends((1.0 - level) / 2.0)
    return sample.quantiles(lower, upper)


def _shaped_p_value(shape: Shape, sample: Sample, least: Floats | float = 0.0) -> Floats:
    # If all replicates lie on one side, the share of the other side stays below 1.
    count = sample.count
    most = (count + 0.5) / (count + 1)
    below, above = (
        np.clip(side / (count + 1), least, most) for side in (sample.below, sample.above)
    )
    lower, _ = shape.tails(below)
    _, upper = shape.tails(1.0 - above)
    p: Floats = np.nan_to_num(2 * np.minimum(lower, upper), nan=1.0)
    return p


def _bca_ends(sample: Sample, level: float) -> tuple[Floats, Floats]:
    return _shaped_ends(Shape.bca(sample), sample, level)


def _bca_p_value(sample: Sample) -> Floats:
    return _shaped_p_value(Shape.bca(sample), sample)


def _expanded_ends(sample: Sample, level: float) -> tuple[Floats, Floats]:
    shape = Shape.expanded(sample)
    lower, upper = _shaped_ends(shape, sample, level)
    # Means of three clusters lie between the smallest and the largest of them in every replicate,
    # but outside in a quarter of all worlds.
    tail = (1.0 - level) / 2.0
    beyond = shape.ends(tail)[0] < np.maximum(1.0 / (sample.count + 1), shape.rarest())
    half = np.where(beyond, shape.deviation(tail) * sample.std_error, np.nan)
    return np.fmin(lower, sample.points - half), np.fmax(upper, sample.points + half)


def _expanded_p_value(sample: Sample) -> Floats:
    shape = Shape.expanded(sample)
    return _shaped_p_value(shape, sample, np.minimum(shape.rarest(), 0.5))


def _expanded_bca_ends(sample: Sample, level: float) -> tuple[Floats, Floats]:
    # Where a few clusters weigh most, the skew that is left without each of them is noise: then
    # corrected ends alone lie too near on one side.
    corrected = _shaped_ends(Shape.expanded_bca(sample), sample, level)
    plain = _expanded_ends(sample, level)
    return np.fmin(corrected[0], plain[0]), np.fmax(corrected[1], plain[1])


def _expanded_bca_p_value(sample: Sample) -> Floats:
    corrected = _shaped_p_value(Shape.expanded_bca(sample), sample)
    return np.fmax(corrected, _expanded_p_value(sample))


INTERVALS: dict[Interval, IntervalMethod] = {
    method.name: method
    for method in (
        IntervalMethod("percentile", _percentile_ends, _percentile_p_value),
        IntervalMethod("basic", _basic_ends, _basic_p_value, is_cut=True),
        IntervalMethod("normal", _normal_ends, _normal_p_value, is_cut=True),
        IntervalMethod("bca", _bca_ends, _bca_p_value, "each"),
        IntervalMethod("expanded", _expanded_ends, _expanded_p_value, is_cut=True),
        # Differences of equal systems are symmetric: what BCa would correct in them is noise.
        IntervalMethod(
            "expanded_bca",
            _expanded_bca_ends,
            _expanded_bca_p_value,
            "groups",
            for_differences="expanded",
            is_cut=True,
        ),
    )
}
"""All interval methods; `Interval` in `methods` lists their names for type checkers."""


def bootstrap_spread(method: Bootstrap, sample: Sample) -> Spread:
    """Standard errors and intervals, NaN with fewer than two valid replicates."""
    lower, upper = INTERVALS[method.interval].ends(sample, method.level)
    blank = np.where(sample.count < 2, np.nan, 0.0)
    drop_rate = 1.0 - sample.count / len(sample.drawn)
    return Spread(sample.std_error + blank, lower + blank, upper + blank, drop_rate)


def p_values(interval: Interval, sample: Sample) -> Floats:
    """Two-sided p-values that estimates are 0, by inverting the interval; NaN if undefined."""
    # One more replicate is counted on both sides, so that no p-value is 0.
    p = INTERVALS[interval].p_value(sample)
    least = 2 / (sample.count + 1)
    undefined = (sample.count < 2) | np.isnan(sample.points)
    return np.where(undefined, np.nan, np.clip(p, least, 1.0))


def without_lone(spread: Spread, clusters: Ints) -> Spread:
    """Set standard error and limits to NaN for estimates with a single cluster."""
    blank = np.where(clusters < 2, np.nan, 0.0)
    error, lower, upper, drop_rate = spread
    return Spread(error + blank, lower + blank, upper + blank, drop_rate)


def within_range(
    method: Method, spread: Spread, points: Floats, least: Floats, most: Floats
) -> Spread:
    """Cut off intervals, unless they end at replicates, at the smallest and largest values."""
    from evalframe.resample.methods import Bootstrap

    if isinstance(method, Bootstrap) and not INTERVALS[method.interval].is_cut:
        return spread
    # A limit that the estimate itself exceeds is ignored: it was declared for other values.
    least = np.where(points < least, -np.inf, least)
    most = np.where(points > most, np.inf, most)
    lower, upper = (np.clip(end, least, most) for end in (spread.lower, spread.upper))
    return spread._replace(lower=lower, upper=upper)


def permutation_p_values(permuted: Floats, points: Floats) -> Floats:
    """Share of permutations (NaN is dropped) at least as far from 0 as the difference."""
    count = (~np.isnan(permuted)).sum(axis=0)
    # Permutations that give the same difference may differ from it by rounding.
    as_far = np.abs(permuted) >= np.abs(points) * (1.0 - 1e-12)
    p = (as_far.sum(axis=0) + 1) / (count + 1)
    return np.where((count < 2) | np.isnan(points), np.nan, p)


def _quantile(ordered: Floats, count: Ints, p: Floats) -> Floats:
    """Linear interpolation (type 7) in sorted columns whose NaNs stand last."""
    position = np.maximum(count - 1, 0) * p
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    column = np.arange(ordered.shape[1])
    low, high = ordered[below, column], ordered[above, column]
    part = position - below
    # The same two-sided interpolation as numpy's, so that intervals agree to the last digit.
    with np.errstate(invalid="ignore"):
        up, down = low + (high - low) * part, high - (high - low) * (1 - part)
    # Infinities, as thresholds are in infinite confidences, have no difference to take a part of.
    return np.where((part == 0) | (low == high), low, np.where(part < 0.5, up, down))


def _bias(sample: Sample) -> Floats:
    from scipy.special import ndtri

    points, replicates = sample.points, sample.drawn
    # Ties with the estimate count half, which matters where few values are possible.
    # Equal up to rounding, which depends on the order of rows.
    with np.errstate(invalid="ignore"):
        away = replicates - points
        near = np.isfinite(away) & (np.abs(away) <= 1e-12 * np.abs(points))
        equal = near | (replicates == points)  # infinities have no difference
        below = ((away < 0) & ~equal).sum(axis=0) + 0.5 * equal.sum(axis=0)
        bias: Floats = ndtri(below / sample.count)
    return bias


def _acceleration(left_out: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        valid = (~np.isnan(left_out)).sum(axis=0)
        centred = np.nansum(left_out, axis=0) / valid - left_out
        centred = np.where(np.isfinite(centred), centred, 0.0)
        squares = (centred**2).sum(axis=0)
        acceleration: Floats = np.nan_to_num((centred**3).sum(axis=0) / (6.0 * squares**1.5))
    return acceleration
