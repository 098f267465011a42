"""Single points of the risk-coverage curve, and the risks of all items."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol, SupportsFloat, cast

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.metric import metric
from evalframe.core.state import First, State, Totals, own, ratio
from evalframe.core.typing import Direction, IntoExpr, Role
from evalframe.core.variants import PresetMetric, preset
from evalframe.selective.conventions import (
    RISK,
    CoverageConvention,
    Items,
    coverage_at,
    fraction,
    unusable,
    zero_if_abstained,
)

ROUNDING = 1e-12
"""Relative error of a sum that still reaches a bound."""

_POSITIVE = (0.0, float("inf"))


@metric(family="selective", direction="maximize", range=(0.0, 1.0), labels=("prediction",))
def coverage(prediction: Role = "prediction", *, weight: Role = None) -> State:
    """Share of items that are predicted, Cmax: the right end of the risk-coverage curve.

    Args:
        prediction: Any type; null is an abstention.

    Returns:
        0.0 without items; null if all weights are missing.

    References:
        Geifman & El-Yaniv (2017), as for `aurc`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"prediction": [2, None, 0, 1]}).select(ef.coverage()).item()
        0.75
    """
    predicted = prediction.is_not_null()
    return State(
        sums={"items": weight, "mass": pl.when(predicted).then(weight)},
        finish=lambda t: pl.when((t.items > 0) | (t.n_missing == 0)).then(
            pl.when(t.items > 0).then(t.mass / t.items).otherwise(0.0)
        ),
        valid=predicted | prediction.is_null(),
    )


@metric(family="selective", direction="minimize", range=_POSITIVE)
def selective_risk(loss: Role = "loss", *, weight: Role = None) -> State:
    """Mean loss of the predicted items: the risk at the right end of the curve.

    Returns:
        Null if nothing is predicted.

    References:
        Geifman & El-Yaniv (2017), as for `aurc`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"loss": [1.0, None, 0.0]}).select(ef.selective_risk()).item()
        0.5
    """
    return _risk(loss, weight, lambda t: ratio(t.loss, t.mass))


@metric(family="selective", direction="minimize", range=_POSITIVE)
def generalized_risk(loss: Role = "loss", *, weight: Role = None) -> State:
    """Loss of the predicted items over the number of all items, abstentions included.

    Returns:
        0.0 if all items are abstentions; null without items, and if items are left out and none
        remains.

    References:
        Traub et al. (2024), as for `aurc`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"loss": [1.0, None, 0.0, 0.0]}).select(ef.generalized_risk()).item()
        0.25
    """

    def finish(t: Totals) -> pl.Expr:
        return pl.when(t.items > 0).then(zero_if_abstained(t, t.loss / t.items))

    return _risk(loss, weight, finish)


def _risk(loss: pl.Expr, weight: pl.Expr, finish: Callable[[Totals], pl.Expr]) -> State:
    mass = pl.when(loss.is_not_null()).then(weight)
    return State(
        sums={"items": weight, "mass": mass, "loss": weight * loss},
        finish=finish,
        valid=loss.is_null() | loss.is_not_nan(),
        left_out=unusable(weight),
    )


class AtCoverage(Protocol):
    """From a coverage to the metric at that coverage."""

    def __call__(
        self,
        coverage: float,
        loss: IntoExpr = "loss",
        confidence: IntoExpr = "confidence",
        *,
        weight: IntoExpr | None = None,
        convention: CoverageConvention = "trapezoid_total",
    ) -> PresetMetric:
        """The metric: an expression, and a function of other columns."""


def at_coverage(
    *, direction: Direction, range: tuple[float, float] = _POSITIVE
) -> Callable[[Callable[[Items, float, str], State]], AtCoverage]:
    """Declare the metric `<name>_<coverage>`, and return the function of its coverage.

    The decorated function makes the state of items, a coverage in (0, 1] and a convention.
    """

    def declare(part: Callable[[Items, float, str], State]) -> AtCoverage:
        def define(
            loss: Role = "loss",
            confidence: Role = "confidence",
            *,
            weight: Role = None,
            coverage: float,
            convention: CoverageConvention = "trapezoid_total",
        ) -> State:
            items = Items(loss, confidence, weight)
            return part(items, fraction("coverage", coverage), convention)

        own_signature = inspect.signature(define)
        functools.update_wrapper(define, part).__dict__["__signature__"] = own_signature
        label = f"{define.__name__}_{{coverage}}"
        declared = metric(family="selective", direction=direction, range=range, label=label)(define)

        def call(
            coverage: float,
            loss: IntoExpr = "loss",
            confidence: IntoExpr = "confidence",
            *,
            weight: IntoExpr | None = None,
            convention: CoverageConvention = "trapezoid_total",
        ) -> PresetMetric:
            params: dict[str, Any] = {"coverage": fraction("coverage", coverage)}
            params["convention"] = convention
            return preset(declared, loss, confidence, weight=weight, **params)

        signature = inspect.signature(call)
        function: Any = functools.wraps(define)(call)
        function.__signature__, function.__doc__ = signature, declared.__doc__
        return cast("AtCoverage", function)

    return declare


@at_coverage(direction="minimize")
def risk_at(items: Items, coverage: float, convention: str) -> State:
    """Selective risk once a share of all items is accepted: `risk_at(0.5)` is `risk_at_0.50`.

    With absolute errors as losses this is MAE@coverage. It is the risk of the first plateau whose
    coverage is at least the bound (compared as floats; with weights, whose sums are rounded, up to
    1e-12 below it); that plateau's coverage is `achieved_coverage_at`.

    Returns:
        Null if Cmax is below the bound. In a bootstrap such replicates are dropped: report
        `drop_rate` with the interval.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0, None], "confidence": [0.9, 0.8, 0.7]})
        >>> items.select(ef.risk_at(0.5), ef.risk_at(0.9, "loss", "confidence")).row(0)
        (0.5, None)
    """
    return at_plateau(items, RISK, coverage, convention)


@at_coverage(direction="none", range=(0.0, 1.0))
def achieved_coverage_at(items: Items, coverage: float, convention: str) -> State:
    """Coverage of the plateau whose risk `risk_at(coverage)` is: at least the bound.

    Returns:
        Null if Cmax is below the bound.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0, 0.0], "confidence": [0.9, 0.8, 0.8]})
        >>> items.select(ef.achieved_coverage_at(0.5)).item()
        1.0
    """
    return at_plateau(items, coverage_at(convention), coverage, convention)


def coverage_at_risk(
    risk: float,
    loss: IntoExpr = "loss",
    confidence: IntoExpr = "confidence",
    *,
    weight: IntoExpr | None = None,
    convention: CoverageConvention = "trapezoid_total",
) -> PresetMetric:
    """Largest coverage whose selective risk is at most a bound: `coverage_at_risk_0.10`.

    Args:
        risk: Bound on the mean loss of the accepted items, at least 0, in units of the loss.
        loss: As for `risk_at`.
        confidence: As for `risk_at`.
        weight: As for `risk_at`.
        convention: As for `risk_at`.

    Returns:
        The metric: an expression, and a function of other columns; null if no plateau keeps to the
        bound.

    References:
        Geifman & El-Yaniv (2017), as for `aurc`. CovAtxRisk of torch-uncertainty tests a shifted
        index and is NaN in many admissible cases.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0, 0.0, 0.0], "confidence": [0.9, 0.8, 0.7, 0.6]})
        >>> items.select(ef.coverage_at_risk(0.3)).item()
        1.0
    """
    risk_bound(risk)
    return preset(
        _coverage_at_risk, loss, confidence, weight=weight, risk=float(risk), convention=convention
    )


@metric(
    name="coverage_at_risk",
    family="selective",
    direction="maximize",
    range=(0.0, 1.0),
    label="coverage_at_risk_{risk}",
)
def _coverage_at_risk(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    risk: float,
    convention: CoverageConvention = "trapezoid_total",
) -> State:
    """Largest coverage whose selective risk is at most a bound."""
    last = {"coverage": coverage_at(convention)}
    return within_risk(Items(loss, confidence, weight), risk, last, lambda t: t.coverage)


def slack(weight: pl.Expr) -> float:
    """Factor of a bound on coverage that allows for the rounding of sums of weights."""
    return 1.0 if weight.meta.is_literal() else 1.0 - ROUNDING


def at_plateau(items: Items, value: pl.Expr, bound: float, convention: str) -> State:
    """The state of a value at the first plateau whose coverage is at least a bound."""
    first = First(coverage_at(convention), bound * slack(items.weight), value)
    return items.state(items.axis(firsts={"value": first}), finish=lambda t: t.value)


def within_risk(
    items: Items, risk: float, rising: Mapping[str, pl.Expr], finish: Callable[[Totals], pl.Expr]
) -> State:
    """The state of values at the last plateau that keeps to a risk."""
    admissible = (risk_bound(risk) * (1.0 + ROUNDING) >= RISK) & (own.mass > 0)
    last = {name: pl.when(admissible).then(expr) for name, expr in rising.items()}
    return items.state(items.axis(maxima=last), finish=finish)


def risk_bound(risk: float) -> float:
    """The risk; ParameterError unless it is at least 0."""
    if isinstance(risk, bool) or not isinstance(risk, SupportsFloat) or not risk >= 0:
        raise ParameterError(f"risk must be at least 0, got {risk!r}")
    return risk
