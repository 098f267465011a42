"""Fit of temperature scaling, by the exact optimum or by the original's grid."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import TYPE_CHECKING, overload

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.rules import check_rules
from evalframe.selective.calibrators.maps import EDGE, Temperature
from evalframe.selective.calibrators.training import BINARY, PROBABILITY, levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.evaluation import By
    from evalframe.selective.calibrators.grouped import Grouped
    from evalframe.selective.calibrators.training import Levels


LOWEST, HIGHEST = 0.05, 10.0
_POINTS, _ROUNDS, _ZOOM = 200, 3, 1.5
_BLOCK = 1 << 12


@overload
def fit_temperature(
    frame: Frame,
    confidence: IntoExpr = ...,
    correct: IntoExpr = ...,
    *,
    by: None = None,
    weight: IntoExpr | None = ...,
    rules: Rules = ...,
) -> Temperature: ...
@overload
def fit_temperature(
    frame: Frame,
    confidence: IntoExpr = ...,
    correct: IntoExpr = ...,
    *,
    by: IntoExpr | Sequence[IntoExpr],
    weight: IntoExpr | None = ...,
    rules: Rules = ...,
) -> Grouped[Temperature]: ...
def fit_temperature(
    frame: Frame,
    confidence: IntoExpr = "confidence",
    correct: IntoExpr = "correct",
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    rules: Rules = "documented",
) -> Temperature | Grouped[Temperature]:
    """The temperature in [0.05, 10] that minimises the negative log-likelihood.

    Rows of equal confidence are added up first, so ties cost nothing. Where every confidence is
    1/2 no temperature changes anything and T is 1. Where the likelihood would rise beyond an end
    of the search, T is that end and a warning says so: rows are separable at 0.05, and at 10
    confidence says nothing of what is right, or the opposite.

    Args:
        frame: Rows to fit on.
        confidence: Probability of being right, in [0, 1]; kept 1e-6 away from its ends.
        correct: 1 or true where the row is right, else 0 or false.
        by: Group keys: one temperature for each group. Groups are fitted one after another.
        weight: How often each row counts.
        rules: `documented`: the optimum of the likelihood, which is convex in 1/T.
            `reference`: three rounds of 200 points each, of a likelihood whose probabilities are
            clipped to [1e-6, 1 - 1e-6] once more after scaling; confidences outside [0, 1] are
            clipped, and `correct` is cut to an integer.

    Returns:
        A `Temperature`, or a `Grouped` of them if `by` is given.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: There are no rows, or a column is no number.
        ContractError: Rows with a null, with NaN or infinity, or (documented) whose confidence
            lies outside [0, 1], such as percent, or whose `correct` is neither 0 nor 1.

    References:
        Guo et al. (2017), On calibration of modern neural networks; ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl
        >>> items = pl.DataFrame({"confidence": [0.9] * 4, "correct": [1, 1, 1, 0]})
        >>> round(fit_temperature(items).temperature, 6)
        2.0
    """
    check_rules(rules)
    reference = rules == "reference"
    right = as_expr(correct)
    data = levels(
        "fit_temperature",
        frame,
        confidence,
        right.cast(pl.Float64).cast(pl.Int64, strict=False) if reference else right,
        by,
        weight,
        rules={} if reference else BINARY,
        feature_rules={} if reference else PROBABILITY,
        clip=(EDGE, 1 - EDGE),
    )
    fitted = data.each(partial(_fit, features=data.names, reference=reference))
    _tell_of_ends(data, [fitted] if isinstance(fitted, Temperature) else fitted.calibrators)
    return fitted


def _tell_of_ends(data: Levels, fitted: Sequence[Temperature]) -> None:
    """Warn where the search ended at an end of its range."""
    ends = {
        LOWEST: "the rows are separable, or too few to calibrate on",
        HIGHEST: "confidence says nothing of what is right, or the opposite; check both columns",
    }
    for end, meaning in ends.items():
        there = [k for k, own in enumerate(fitted) if math.isclose(own.temperature, end)]
        if not there:
            continue
        others = f", and of {len(there) - 1:,} other groups" if len(there) > 1 else ""
        warnings.warn(
            f"fit_temperature: the temperature{data.place(there[0])}{others} is {end:g}, an end of "
            f"the search [{LOWEST:g}, {HIGHEST:g}]: {meaning}",
            stacklevel=3,
        )


def _fit(
    x: Floats, mass: Floats, hits: Floats, *, features: tuple[str, ...], reference: bool
) -> Temperature:
    import numpy as np

    p = x[:, 0]
    logit = np.log(p / (1 - p))
    optimum = _grid if reference else _optimum
    return Temperature(optimum(logit, mass, hits), features)


def _optimum(logit: Floats, mass: Floats, hits: Floats) -> float:
    """Where the derivative by 1/T of the negative log-likelihood, which never falls, is zero."""
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


def _grid(logit: Floats, mass: Floats, hits: Floats) -> float:
    """The original's search: the best of a log-spaced grid, which is then narrowed around it."""
    import numpy as np

    best, least = 1.0, float(_losses(np.ones(1), logit, mass, hits)[0])
    low, high = LOWEST, HIGHEST
    for _ in range(_ROUNDS):
        grid = np.exp(np.linspace(np.log(low), np.log(high), _POINTS))
        losses = _losses(grid, logit, mass, hits)
        first = int(losses.argmin())
        if losses[first] < least:
            best, least = float(grid[first]), float(losses[first])
        low, high = max(LOWEST, best / _ZOOM), min(HIGHEST, best * _ZOOM)
    return best


def _losses(temperatures: Floats, logit: Floats, mass: Floats, hits: Floats) -> Floats:
    """The mean negative log-likelihood at each temperature, of probabilities clipped again."""
    import numpy as np

    result = np.zeros(len(temperatures))
    for first in range(0, len(logit), _BLOCK):
        part = slice(first, first + _BLOCK)
        with np.errstate(over="ignore"):
            scaled = 1 / (1 + np.exp(-logit[part] / temperatures[:, None]))
        q = np.clip(scaled, EDGE, 1 - EDGE)
        result -= (hits[part] * np.log(q) + (mass - hits)[part] * np.log(1 - q)).sum(axis=1)
    result /= mass.sum()
    return result
