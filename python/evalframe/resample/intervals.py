"""Standard errors and intervals from replicate values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalframe.resample.tails import Shape, shape_of

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Floats, Ints
    from evalframe.resample.methods import Bootstrap, Method


class Spread(NamedTuple):
    """Uncertainty of many estimates, one entry each; NaN where undefined."""

    std_error: Floats
    lower: Floats
    upper: Floats
    drop_rate: Floats


def bootstrap_spread(
    method: Bootstrap,
    points: Floats,
    replicates: Floats,
    jackknife: Floats | None,
    dropped: Bools | None = None,
    *,
    clusters: Ints | None = None,
) -> Spread:
    """Uncertainty from bootstrap replicates.

    Args:
        method: Interval, level and rules.
        points: The estimates.
        replicates: Replicates by estimates; NaN is a dropped replicate.
        jackknife: Estimates without each cluster, or each group of them; for BCa.
        dropped: Which replicates are dropped, where that is not every NaN: a NaN that is kept
            spoils its interval.
        clusters: How many each estimate has; for expanded intervals.
    """
    undefined = np.isnan(replicates)
    count = len(replicates) - (undefined if dropped is None else dropped).sum(axis=0)
    drop_rate = 1.0 - count / len(replicates)
    ordered = np.sort(replicates, axis=0)
    std_error = _std(replicates, count)
    if method.interval == "normal":
        lower, upper = normal_interval(points, std_error, method.level)
    else:
        tail = (1.0 - method.level) / 2.0
        ends = np.full((2, len(points)), [[tail], [1.0 - tail]])
        if method.is_expanded or method.leaves_out:
            ends = shape_of(method, points, replicates, jackknife, clusters).ends(tail)
        lower, upper = (_quantile(ordered, count, end) for end in ends)
        if method.interval == "basic":
            with np.errstate(invalid="ignore"):
                lower, upper = 2 * points - upper, 2 * points - lower
    if dropped is not None:
        spoiled = np.where((undefined & ~dropped).any(axis=0), np.nan, 0.0)
        std_error, lower, upper = std_error + spoiled, lower + spoiled, upper + spoiled
    few = count < 2
    if method.rules == "reference":
        fallback = np.nan_to_num(points, nan=0.0)
        return Spread(
            np.where(few, 0.0, std_error),
            np.where(few, fallback, lower),
            np.where(few, fallback, upper),
            drop_rate,
        )
    blank = np.where(few, np.nan, 0.0)
    return Spread(std_error + blank, lower + blank, upper + blank, drop_rate)


def without_lone(method: Method, spread: Spread, clusters: Ints) -> Spread:
    """No uncertainty where there is a single cluster: nothing varies, so nothing is known."""
    if method.lenient:
        return spread
    blank = np.where(clusters < 2, np.nan, 0.0)
    return spread._replace(
        std_error=spread.std_error + blank,
        lower=spread.lower + blank,
        upper=spread.upper + blank,
    )


def within_range(
    method: Method, spread: Spread, points: Floats, least: Floats, most: Floats
) -> Spread:
    """Intervals cut off where no value can lie.

    Quantiles of replicates lie within the range as replicates do, and are left as they are. An
    end that the estimate itself lies beyond is none: the range was declared for other values.

    Args:
        method: What the intervals were made by.
        spread: The intervals.
        points: The estimates.
        least: The smallest possible value of each.
        most: The largest.
    """
    from evalframe.resample.methods import Bootstrap

    if isinstance(method, Bootstrap) and method.interval not in ("basic", "normal"):
        return spread
    least = np.where(points < least, -np.inf, least)
    most = np.where(points > most, np.inf, most)
    lower, upper = (np.clip(end, least, most) for end in (spread.lower, spread.upper))
    return spread._replace(lower=lower, upper=upper)


def normal_interval(points: Floats, std_error: Floats, level: float) -> tuple[Floats, Floats]:
    """The estimate plus and minus a normal quantile of standard errors."""
    half = normal_quantile(0.5 + level / 2.0) * std_error
    return points - half, points + half


def normal_quantile(p: float) -> float:
    """The standard normal quantile function.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def student_interval(
    points: Floats, std_error: Floats, freedom: Floats | Ints | int, level: float
) -> tuple[Floats, Floats]:
    """The estimate plus and minus a quantile of Student's t of standard errors."""
    from scipy.special import stdtrit

    half = stdtrit(np.maximum(freedom, 1), 0.5 + level / 2.0) * std_error
    return points - half, points + half


def jackknife_spread(points: Floats, left_out: Floats, level: float) -> Spread:
    """Uncertainty from leaving out one cluster at a time.

    Args:
        points: The estimates.
        left_out: Clusters by estimates.
        level: Nominal coverage of the interval by Student's t.
    """
    count = (~np.isnan(left_out)).sum(axis=0)
    std_error = _std(left_out, count) * (count - 1) / np.sqrt(np.maximum(count, 1))
    ends = student_interval(points, std_error, count - 1, level)
    return Spread(std_error, *ends, 1.0 - count / len(left_out))


def linear_spread(points: Floats, influence: Floats, level: float) -> Spread:
    """Uncertainty from the derivatives by each cluster's weight.

    They are taken about their mean, which is 0 unless the metric grows with the number of rows, as
    a count does.

    Args:
        points: The estimates.
        influence: The derivatives, clusters by estimates; NaN where there is none.
        level: Nominal coverage of the interval by Student's t.
    """
    clusters = len(influence)
    factor = clusters / (clusters - 1) if clusters > 1 else np.nan
    about = influence - influence.mean(axis=0)
    std_error = np.sqrt(factor * (about**2).sum(axis=0)) + np.where(np.isnan(points), np.nan, 0.0)
    ends = student_interval(points, std_error, clusters - 1, level)
    return Spread(std_error, *ends, np.zeros(len(points)))


def nudged_influence(points: Floats, up: Floats, down: Floats, nudge: float) -> Floats:
    """Derivatives by each cluster's weight, from metrics computed anew.

    If nudging up and down gives different slopes, the metric jumps there: NaN.

    Args:
        points: The estimates.
        up: Estimates with each cluster's weight nudged up, clusters by estimates.
        down: The same, nudged down.
        nudge: By how much.
    """
    jumps = np.abs(up + down - 2 * points) > 0.1 * np.abs(up - down) + 1e-9 * np.abs(points)
    return np.where(jumps, np.nan, (up - down) / (2 * nudge))


def p_values(
    deltas: Floats,
    points: Floats,
    method: Bootstrap | None = None,
    jackknife: Floats | None = None,
    *,
    clusters: Ints | None = None,
) -> Floats:
    """Two-sided p-values that a difference is 0, by inverting its interval.

    It is the level at which the interval begins to hold 0, but for the resolution of the
    replicates, of which one more is counted on both sides.

    Args:
        deltas: Replicates by differences; NaN is a dropped replicate.
        points: The differences; NaN has no p-value.
        method: Whose interval; percentile, if none.
        jackknife: Differences without each cluster, or each group of them; for BCa.
        clusters: How many each difference has; for expanded intervals.
    """
    count = (~np.isnan(deltas)).sum(axis=0)
    interval = "percentile" if method is None else method.interval
    if interval == "normal":
        p = _normal_p_values(points, _std(deltas, count))
    else:
        # The basic interval is the percentile one, reflected at the estimate.
        away = 2 * points - deltas if interval == "basic" else deltas
        below, above = ((side <= 0).sum(axis=0) + 1 for side in (away, -away))
        p = 2 * np.minimum(below, above) / (count + 1)
        if method is not None and (method.is_expanded or method.leaves_out):
            shape = shape_of(method, points, deltas, jackknife, clusters)
            p = _shaped_p_values(shape, below, above, count)
    least = 2 / (count + 1)
    return np.where((count < 2) | np.isnan(points), np.nan, np.clip(p, least, 1.0))


def _normal_p_values(points: Floats, std_error: Floats) -> Floats:
    from scipy.special import ndtr

    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(points == 0.0, 0.0, np.abs(points) / std_error)
    p: Floats = 2 * ndtr(-z)
    return p


def _shaped_p_values(shape: Shape, below: Ints, above: Ints, count: Ints) -> Floats:
    # Where all replicates lie on one side, the other side's share stays below 1.
    most = (count + 0.5) / (count + 1)
    lower, _ = shape.tails(np.minimum(below / (count + 1), most))
    _, upper = shape.tails(1.0 - np.minimum(above / (count + 1), most))
    p: Floats = np.nan_to_num(2 * np.minimum(lower, upper), nan=1.0)
    return p


def permutation_p_values(permuted: Floats, points: Floats) -> Floats:
    """Two-sided p-values: the share of permutations at least as far from 0 as the difference.

    Args:
        permuted: Permutations by differences; NaN is a dropped one.
        points: The differences.
    """
    count = (~np.isnan(permuted)).sum(axis=0)
    # Permutations that give the same difference may differ from it by rounding.
    as_far = np.abs(permuted) >= np.abs(points) * (1.0 - 1e-12)
    p = (as_far.sum(axis=0) + 1) / (count + 1)
    return np.where((count < 2) | np.isnan(points), np.nan, p)


def adjusted_p_values(p_values: Floats, correction: str) -> Floats:
    """P-values corrected for being a family: that any is below a level has at most that chance.

    Args:
        p_values: All of the family; NaN is no test and does not count.
        correction: `holm` (never less powerful than `bonferroni`, and as general), `bonferroni`,
            or `none`, which leaves them as they are. `benjamini_hochberg` bounds the expected share
            of false ones among those below the level instead. `holm_unordered` is Holm's without
            the running maximum, as some programs have it, and bounds nothing.

    References:
        Holm (1979), A simple sequentially rejective multiple test procedure.
        Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """
    tests = int((~np.isnan(p_values)).sum())
    if correction == "none":
        return p_values
    if correction == "bonferroni":
        return np.minimum(p_values * tests, 1.0)
    order = np.argsort(p_values, kind="stable")  # NaN stands last
    place = np.arange(len(p_values))
    adjusted = np.empty_like(p_values)
    if correction == "benjamini_hochberg":
        scaled = p_values[order] * tests / (place + 1)
        scaled[:tests] = np.minimum.accumulate(scaled[:tests][::-1])[::-1]
        adjusted[order] = scaled
        return adjusted
    stepped = np.minimum(p_values[order] * (tests - place), 1.0)
    adjusted[order] = stepped if correction == "holm_unordered" else np.maximum.accumulate(stepped)
    return adjusted


def _std(values: Floats, count: Floats) -> Floats:
    """Standard deviation with ddof 1 of the valid values of each column."""
    valid = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(valid, values, 0.0).sum(axis=0) / count
        squares = np.where(valid, values - mean, 0.0) ** 2
        return np.where(count > 1, np.sqrt(squares.sum(axis=0) / (count - 1)), np.nan)


def _quantile(ordered: Floats, count: Floats, p: Floats) -> Floats:
    """Linear interpolation (type 7) in sorted columns whose NaNs stand last."""
    place = np.maximum(count - 1, 0) * p
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    column = np.arange(ordered.shape[1])
    low, high = ordered[below, column], ordered[above, column]
    part = place - below
    # The same two-sided interpolation as numpy's, so that intervals agree to the last digit.
    with np.errstate(invalid="ignore"):
        up, down = low + (high - low) * part, high - (high - low) * (1 - part)
    # Infinities, as thresholds are in infinite confidences, have no difference to take a part of.
    return np.where((part == 0) | (low == high), low, np.where(part < 0.5, up, down))
