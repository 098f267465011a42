"""Standard errors without draws: of the jackknife, of derivatives, and intervals by Student's t."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalframe.resample.intervals import Spread

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


def student_interval(
    points: Floats, std_error: Floats, freedom: Floats | Ints | int, level: float
) -> tuple[Floats, Floats]:
    """The estimate plus and minus a quantile of Student's t of standard errors."""
    from scipy.special import stdtrit

    half = stdtrit(np.maximum(freedom, 1), 0.5 + level / 2.0) * std_error
    return points - half, points + half


def jackknife_spread(points: Floats, left_out: Floats, level: float, strata: Ints | None) -> Spread:
    """Uncertainty from estimates without each cluster (clusters by estimates), by Student's t."""
    # NaN where a group does not have the cluster, or the metric is undefined without it.
    count, squares = _about_means(left_out, strata)
    variance = (squares * (count - 1) / np.maximum(count, 1)).sum(axis=0)
    return _student_spread(points, variance, count, level)


def linear_spread(
    points: Floats,
    influence: Floats,
    level: float,
    strata: Ints | None,
    owned: Floats | None,
) -> Spread:
    """Uncertainty from derivatives by the weights of clusters (clusters by estimates).

    `owned` is 0 where a group does not have the cluster; a derivative that is NaN elsewhere does
    not exist, and then there is no error either.
    """
    # Their mean is 0 unless the metric grows with the number of rows, as a count does.
    undefined = np.isnan(influence)
    if owned is not None:
        undefined &= owned > 0
        influence = np.where(owned > 0, influence, np.nan)
    count, squares = _about_means(influence, strata)
    variance = (squares * count / np.maximum(count - 1, 1)).sum(axis=0)
    variance[undefined.any(axis=0)] = np.nan
    return _student_spread(points, variance, count, level)


def _about_means(values: Floats, strata: Ints | None) -> tuple[Floats, Floats]:
    """Numbers of clusters and sums of squares about the mean: strata by estimates."""
    if strata is None:
        strata = np.zeros(len(values), dtype=np.int64)
    names, which = np.unique(strata, return_inverse=True)
    belongs = (which == np.arange(len(names))[:, None]).astype(np.float64)
    is_known = ~np.isnan(values)
    filled = np.where(is_known, values, 0.0)
    count = belongs @ is_known
    mean = (belongs @ filled) / np.maximum(count, 1)
    about = np.where(is_known, values - mean[which], 0.0)
    return count, belongs @ about**2


def _student_spread(points: Floats, variance: Floats, count: Floats, level: float) -> Spread:
    """Standard errors and intervals; one degree of freedom is lost for each stratum."""
    freedom = np.maximum(count - 1, 0).sum(axis=0)
    std_error = np.sqrt(variance) + np.where(np.isnan(points) | (freedom < 1), np.nan, 0.0)
    ends = student_interval(points, std_error, freedom, level)
    return Spread(std_error, *ends, np.zeros(len(points)))
