"""Fits of maps of one feature: temperature scaling and isotonic regression."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, overload

from evalframe.core.errors import ParameterError, warn
from evalframe.core.frames import any_frame
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.selective.calibrators.maps import EDGE, Isotonic, Temperature
from evalframe.selective.calibrators.training import BINARY, PROBABILITY, Levels, levels

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.selective.calibrators.maps import Grouped


LOWEST, HIGHEST = 0.05, 10.0

_ENDS = {
    LOWEST: "the rows are separable, or too few to calibrate on",
    HIGHEST: "confidence says nothing of what is right, or the opposite; check both columns",
}


@overload
def fit_temperature(
    frame: Frame,
    confidence: IntoExpr = ...,
    correct: IntoExpr = ...,
    *,
    by: None = None,
    weight: IntoExpr | None = ...,
) -> Temperature: ...
@overload
def fit_temperature(
    frame: Frame,
    confidence: IntoExpr = ...,
    correct: IntoExpr = ...,
    *,
    by: IntoExpr | Sequence[IntoExpr],
    weight: IntoExpr | None = ...,
) -> Grouped[Temperature]: ...
@any_frame
def fit_temperature(
    frame: Frame,
    confidence: IntoExpr = "confidence",
    correct: IntoExpr = "correct",
    *,
    by: By = None,
    weight: IntoExpr | None = None,
) -> Temperature | Grouped[Temperature]:
    """The temperature in [0.05, 10] that minimises the negative log-likelihood.

    Rows of equal confidence are added up first. If every confidence is 1/2, no temperature changes
    anything and T is 1. If the optimum is beyond an end of the search, T is that end, with a
    warning: at 0.05 the rows are separable; at 10 confidence says nothing about what is right, or
    the opposite.

    Args:
        frame: Rows to fit on.
        confidence: Probability of being right, in [0, 1]; clipped to [1e-6, 1 - 1e-6].
        correct: 1 or true where the row is right, otherwise 0 or false.
        by: Group keys: one temperature per group.
        weight: Weight of each row.

    Returns:
        A `Temperature`; with `by` one per group, as `Grouped`. `apply()` calibrates rows.

    Raises:
        ContractError: A row has null, NaN or infinity, a confidence outside [0, 1], such as
            percent, or a `correct` that is neither 0 nor 1.

    References:
        Guo et al. (2017), On calibration of modern neural networks.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"confidence": [0.9] * 4, "correct": [1, 1, 1, 0]})
        >>> round(ef.selective.fit_temperature(items).temperature, 6)
        2.0
    """
    data = levels(
        "fit_temperature",
        frame,
        confidence,
        correct,
        by,
        weight,
        demands=BINARY,
        feature_demands=PROBABILITY,
        clip=(EDGE, 1 - EDGE),
    )
    return fitted(data, _optimum)


def fitted(
    data: Levels, optimum: Callable[[Floats, Floats, Floats], float]
) -> Temperature | Grouped[Temperature]:
    """The temperatures of groups; a warning says if a search ended at an end of its range."""

    def fit(x: Floats, mass: Floats, hits: Floats) -> Temperature:
        import numpy as np

        p = x[:, 0]
        return Temperature(optimum(np.log(p / (1 - p)), mass, hits), data.names)

    result = data.each(fit)
    temperatures = [result] if isinstance(result, Temperature) else result.calibrators
    for end, meaning in _ENDS.items():
        at_end = [k for k, each in enumerate(temperatures) if math.isclose(each.temperature, end)]
        if not at_end:
            continue
        others = f", and of {len(at_end) - 1:,} other groups" if len(at_end) > 1 else ""
        warn(
            f"fit_temperature: the temperature{data.place(at_end[0])}{others} is {end:g}, an end of"
            f" the search [{LOWEST:g}, {HIGHEST:g}]: {meaning}"
        )
    return result


def _optimum(logit: Floats, mass: Floats, hits: Floats) -> float:
    """The zero of the derivative of the negative log-likelihood by 1/T, in which it is convex."""
    from scipy.optimize import brentq
    from scipy.special import expit

    if not logit.any():
        return 1.0

    def slope(inverse: float) -> float:
        return float((logit * (mass * expit(logit * inverse) - hits)).sum())

    if slope(1 / LOWEST) <= 0:
        return LOWEST
    if slope(1 / HIGHEST) >= 0:
        return HIGHEST
    return 1 / float(brentq(slope, 1 / HIGHEST, 1 / LOWEST, xtol=1e-14, rtol=1e-14))


@overload
def fit_isotonic(
    frame: Frame,
    feature: IntoExpr = ...,
    target: IntoExpr = ...,
    *,
    by: None = None,
    weight: IntoExpr | None = ...,
) -> Isotonic: ...
@overload
def fit_isotonic(
    frame: Frame,
    feature: IntoExpr = ...,
    target: IntoExpr = ...,
    *,
    by: IntoExpr | Sequence[IntoExpr],
    weight: IntoExpr | None = ...,
) -> Grouped[Isotonic]: ...
@any_frame
def fit_isotonic(
    frame: Frame,
    feature: IntoExpr = "confidence",
    target: IntoExpr = "correct",
    *,
    by: By = None,
    weight: IntoExpr | None = None,
) -> Isotonic | Grouped[Isotonic]:
    """The increasing map of one feature with the least squared error.

    Rows of equal feature are averaged first. Of a run of equal values only the ends are knots;
    between knots the map is linear, beyond them constant.

    Args:
        frame: Rows to fit on.
        feature: One column without nulls; see `feature` for defaults.
        target: The column to predict, on the scale 0 to 1 to which the map is clipped.
        by: Group keys: one calibrator per group.
        weight: Weight of each row.

    Returns:
        An `Isotonic` map with values in [0, 1]; with `by` one per group, as `Grouped`.

    Raises:
        EvalframeError: See `fit_temperature`; or there are several features.

    References:
        Zadrozny & Elkan (2002), Transforming classifier scores into accurate multiclass
        probability estimates.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"msp": [0.1, 0.2, 0.3, 0.4], "correct": [0, 1, 0, 1]})
        >>> ef.selective.fit_isotonic(items, "msp").y_thresholds
        (0.0, 0.5, 0.5, 1.0)
    """
    data = levels("fit_isotonic", frame, feature, target, by, weight, demands={})
    if len(data.names) != 1:
        raise ParameterError(f"fit_isotonic takes exactly one feature, got {list(data.names)}")
    return data.each(partial(_isotonic, features=data.names))


def _isotonic(x: Floats, mass: Floats, hits: Floats, *, features: tuple[str, ...]) -> Isotonic:
    import numpy as np
    from scipy.optimize import isotonic_regression

    value = isotonic_regression(hits / mass, weights=mass).x
    steps = np.concatenate([[True], value[1:] != value[:-1], [True]])
    knots = steps[1:] | steps[:-1]
    return Isotonic(features, tuple(x[knots, 0].tolist()), tuple(value[knots].tolist()))
