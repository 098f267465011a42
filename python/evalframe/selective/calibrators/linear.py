"""Fits of linear calibrators on standardised features: logistic (Platt) and ridge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from evalframe.core.choices import check_choice
from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.selective.calibrators.maps import Linear, LinearMethod, Link
from evalframe.selective.calibrators.training import BINARY, Levels, levels

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.selective.calibrators.maps import Grouped


_POLISHES = 50


@overload
def fit_logistic(
    frame: Frame,
    features: IntoExpr | Sequence[IntoExpr],
    correct: IntoExpr = ...,
    *,
    by: None = None,
    weight: IntoExpr | None = ...,
    penalty: float = ...,
    method: LinearMethod = ...,
) -> Linear: ...
@overload
def fit_logistic(
    frame: Frame,
    features: IntoExpr | Sequence[IntoExpr],
    correct: IntoExpr = ...,
    *,
    by: IntoExpr | Sequence[IntoExpr],
    weight: IntoExpr | None = ...,
    penalty: float = ...,
    method: LinearMethod = ...,
) -> Grouped[Linear]: ...
@any_frame
def fit_logistic(
    frame: Frame,
    features: IntoExpr | Sequence[IntoExpr],
    correct: IntoExpr = "correct",
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    penalty: float = 1.0,
    method: LinearMethod = "logistic",
) -> Linear | Grouped[Linear]:
    """Logistic regression on standardised features: the exact optimum, a `Linear` map.

    Minimises the summed log-loss plus penalty / 2 times the squared length of the coefficients;
    the intercept is not penalised. A constant feature has the coefficient 0. The optimiser of
    ai-psychiatrist stops earlier: its probabilities differ by up to 3e-3.

    Args:
        frame: Rows to fit on.
        features: Columns without nulls; see `feature` for defaults.
        correct: 1 or true where the row is right, otherwise 0 or false.
        by: Group keys: one calibrator per group.
        weight: Weight of each row.
        penalty: Above 0, so separable classes have an optimum.
        method: `platt` is the same with one feature (labels are not smoothed).

    Returns:
        A `Linear` map through a sigmoid; with `by` one per group, as `Grouped`.

    Raises:
        EvalframeError: See `fit_temperature`; or there is one class only, or `platt` has several
            features.

    References:
        Platt (1999), Probabilistic outputs for support vector machines.

    Examples:
        >>> from evalframe.selective import fit_logistic
        >>> import polars as pl
        >>> items = pl.DataFrame({"count": [0, 0, 2, 2], "correct": [0, 0, 1, 1]})
        >>> items.select(fit_logistic(items, "count").apply().round(3)).to_series().to_list()
        [0.261, 0.261, 0.739, 0.739]
    """
    _positive("penalty", penalty)
    data = _levels("fit_logistic", frame, features, correct, by, weight, method, binary=True)
    mean, std = _scale(data)
    calibrators = []
    for number in range(len(data.groups) if data.by else 1):
        group = slice(data.starts[number], data.starts[number + 1])
        z = (data.x[group] - mean[number]) / std[number]
        mass, hits = data.mass[group], data.hits[group]
        if not 0 < hits.sum() < mass.sum():
            only = "right" if hits.any() else "wrong"
            raise ParameterError(
                f"fit_logistic needs both classes, but all rows are {only}{data.place(number)}"
            )
        solution = _logistic(z, mass, hits, penalty)
        parameters = (solution[1:], solution[0], mean[number], std[number])
        calibrators.append(_linear(data, *parameters, "sigmoid", method))
    return data.fitted(calibrators)


@overload
def fit_linear(
    frame: Frame,
    features: IntoExpr | Sequence[IntoExpr],
    target: IntoExpr,
    *,
    by: None = None,
    weight: IntoExpr | None = ...,
    alpha: float = ...,
    method: LinearMethod = ...,
) -> Linear: ...
@overload
def fit_linear(
    frame: Frame,
    features: IntoExpr | Sequence[IntoExpr],
    target: IntoExpr,
    *,
    by: IntoExpr | Sequence[IntoExpr],
    weight: IntoExpr | None = ...,
    alpha: float = ...,
    method: LinearMethod = ...,
) -> Grouped[Linear]: ...
@any_frame
def fit_linear(
    frame: Frame,
    features: IntoExpr | Sequence[IntoExpr],
    target: IntoExpr,
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    alpha: float = 1.0,
    method: LinearMethod = "logistic",
) -> Linear | Grouped[Linear]:
    """Ridge regression on standardised features, in closed form and for all groups at once.

    Minimises the summed squared error plus alpha times the squared length of the coefficients;
    the intercept, the mean of the target, is not penalised.

    Args:
        frame: Rows to fit on.
        features: Columns without nulls; see `feature` for defaults.
        target: The column to predict, on the scale 0 to 1 to which the map is clipped.
        by: Group keys: one calibrator per group.
        weight: Weight of each row.
        alpha: Strength of the penalty, above 0.
        method: The name in an artifact, which has none for ridge.

    Returns:
        A `Linear` map clipped to [0, 1]; with `by` one per group, as `Grouped`.

    Examples:
        >>> from evalframe.selective import fit_linear
        >>> import polars as pl
        >>> items = pl.DataFrame({"count": [0, 0, 2, 2], "goodness": [0.0, 0.0, 1.0, 1.0]})
        >>> items.select(fit_linear(items, "count", "goodness").apply().round(6)).row(0)
        (0.1,)
    """
    import numpy as np

    from evalframe.core import segments

    _positive("alpha", alpha)
    data = _levels("fit_linear", frame, features, target, by, weight, method, binary=False)
    mean, std = _scale(data)
    lengths = np.diff(data.starts)
    z = (data.x - mean.repeat(lengths, axis=0)) / std.repeat(lengths, axis=0)
    intercept = segments.totals(data.hits, data.starts) / segments.totals(data.mass, data.starts)
    about = data.hits - data.mass * intercept.repeat(lengths)
    weighted = z * data.mass[:, None]
    size = z.shape[1]
    moments = _totals((weighted[:, :, None] * z[:, None, :]).reshape(len(z), -1), data)
    system = moments.reshape(-1, size, size) + alpha * np.eye(size)
    coefficients = np.linalg.solve(system, _totals(z * about[:, None], data)[:, :, None])[:, :, 0]
    fitted = zip(coefficients, intercept, mean, std, strict=True)
    return data.fitted([_linear(data, *parameters, "identity", method) for parameters in fitted])


def _levels(
    fit: str,
    frame: Frame,
    features: IntoExpr | Sequence[IntoExpr],
    target: IntoExpr,
    by: By,
    weight: IntoExpr | None,
    method: str,
    *,
    binary: bool,
) -> Levels:
    check_choice("method", method, LinearMethod)
    data = levels(fit, frame, features, target, by, weight, demands=BINARY if binary else {})
    if method == "platt" and len(data.names) != 1:
        raise ParameterError(
            f"{fit}: method 'platt' takes exactly one feature, got {list(data.names)}; "
            "use method 'logistic'"
        )
    return data


def _scale(data: Levels) -> tuple[Floats, Floats]:
    """Mean and population standard deviation of each feature in each group, 1 where it is 0."""
    import numpy as np

    lengths = np.diff(data.starts)
    mass = _totals(data.mass[:, None], data)
    low, high = (ufunc.reduceat(data.x, data.starts[:-1]) for ufunc in (np.minimum, np.maximum))
    with np.errstate(over="ignore", invalid="ignore"):  # reported below
        # The mean of a constant is that constant, which sums would miss by rounding.
        mean = np.where(low == high, low, _totals(data.x * data.mass[:, None], data) / mass)
        deviation = data.x - mean.repeat(lengths, axis=0)
        std = np.sqrt(_totals(deviation**2 * data.mass[:, None], data) / mass)
    if not np.isfinite(std).all():
        wide = data.names[int(np.argmin(np.isfinite(std).all(axis=0)))]
        raise ParameterError(f"{wide!r} varies too widely to be standardised; give its logarithm")
    return mean, np.where(std == 0, 1.0, std)


def _totals(columns: Floats, data: Levels) -> Floats:
    """Sums of each column within each group, as groups by columns."""
    import numpy as np

    from evalframe.core import segments

    return np.column_stack([segments.totals(column, data.starts) for column in columns.T])


def _logistic(z: Floats, mass: Floats, hits: Floats, penalty: float) -> Floats:
    """Intercept and coefficients at the optimum."""
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import expit

    design = np.column_stack([np.ones(len(z)), z])
    ridge = np.full(design.shape[1], penalty)
    ridge[0] = 0.0

    def loss(w: Floats) -> float:
        score = design @ w
        return float((mass * np.logaddexp(0, score) - hits * score).sum() + ridge @ w**2 / 2)

    def gradient(w: Floats) -> Floats:
        slopes: Floats = design.T @ (mass * expit(design @ w) - hits) + ridge * w
        return slopes

    def hessian(w: Floats) -> Floats:
        p = expit(design @ w)
        curvature: Floats = (design * (mass * p * (1 - p))[:, None]).T @ design + np.diag(ridge)
        return curvature

    start = np.zeros(design.shape[1])
    scale = 1 / mass.sum()
    optimum = minimize(
        lambda w: loss(w) * scale,
        start,
        jac=lambda w: gradient(w) * scale,
        hess=lambda w: hessian(w) * scale,
        method="trust-exact",
        options={"gtol": 1e-7},
    )
    # The gradient still differs where the loss no longer does, so Newton steps go on from there.
    solution: Floats = optimum.x
    slope = gradient(solution)
    for _ in range(_POLISHES):
        nearer = solution - np.linalg.solve(hessian(solution), slope)
        flatter = gradient(nearer)
        if abs(flatter).max() >= abs(slope).max():
            break
        solution, slope = nearer, flatter
    return solution


def _linear(
    data: Levels,
    coefficients: Floats,
    intercept: float,
    mean: Floats,
    std: Floats,
    link: Link,
    method: LinearMethod,
) -> Linear:
    return Linear(
        features=data.names,
        coefficients=tuple(map(float, coefficients)),
        intercept=float(intercept),
        mean=tuple(map(float, mean)),
        std=tuple(map(float, std)),
        link=link,
        method=method,
    )


def _positive(name: str, value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise ParameterError(f"{name} must be a finite number above 0, got {value!r}")
