"""Fit of isotonic regression."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, overload

from evalframe.core.errors import ParameterError
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.selective.calibrators.maps import Isotonic
from evalframe.selective.calibrators.training import levels

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.selective.calibrators.grouped import Grouped


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
        feature: One column without nulls.
        target: The column to predict, on the scale 0 to 1 to which the map is clipped.
        by: Group keys: one calibrator per group.
        weight: Weight of each row.

    Returns:
        An `Isotonic`, or with `by` a `Grouped` of them.

    Raises:
        EvalframeError: See `fit_temperature`; or there are several features.

    References:
        Zadrozny & Elkan (2002), Transforming classifier scores into accurate multiclass
        probability estimates.

    Examples:
        >>> import polars as pl
        >>> items = pl.DataFrame({"msp": [0.1, 0.2, 0.3, 0.4], "correct": [0, 1, 0, 1]})
        >>> fitted = fit_isotonic(items, "msp")
        >>> fitted.x_thresholds, fitted.y_thresholds
        ((0.1, 0.2, 0.3, 0.4), (0.0, 0.5, 0.5, 1.0))
    """
    data = levels("fit_isotonic", frame, feature, target, by, weight, demands={})
    if len(data.names) != 1:
        raise ParameterError(f"fit_isotonic takes exactly one feature, got {list(data.names)}")
    return data.each(partial(_fit, features=data.names))


def _fit(x: Floats, mass: Floats, hits: Floats, *, features: tuple[str, ...]) -> Isotonic:
    import numpy as np
    from scipy.optimize import isotonic_regression

    value = isotonic_regression(hits / mass, weights=mass).x
    steps = np.concatenate([[True], value[1:] != value[:-1], [True]])
    knots = steps[1:] | steps[:-1]
    return Isotonic(features, tuple(x[knots, 0].tolist()), tuple(value[knots].tolist()))
