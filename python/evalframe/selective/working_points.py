"""Single points of the risk-coverage curve, and the plain quantities beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsFloat

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.metric import metric
from evalframe.core.state import First, State, own, ratio
from evalframe.core.variants import PresetMetric, preset
from evalframe.selective.areas import fraction
from evalframe.selective.conventions import coverages
from evalframe.selective.curve import (
    RISK,
    by_confidence,
    unusable,
    zero_if_abstained,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalframe.core.state import Totals
    from evalframe.core.typing import IntoExpr, Role
    from evalframe.selective.conventions import CoverageConvention


ROUNDING = 1e-12
"""How much of itself a sum may miss a bound by."""


@metric(family="selective", direction="maximize", range=(0.0, 1.0), labels=("prediction",))
def coverage(prediction: Role = "prediction", *, weight: Role = None) -> State:
    """Share of items that are predicted at all, Cmax: the right end of the risk-coverage curve.

    Args:
        prediction: Any type; null is an abstention.
        weight: How often each row counts.

    Returns:
        Float64 in [0, 1], 0.0 where there are no items; null where none of them can be used,
        since their weights cannot.

    References:
        ai-psychiatrist 36e9fba, `cmax`.

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


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def selective_risk(loss: Role = "loss", *, weight: Role = None) -> State:
    """Mean loss of the predicted items: the risk at the right end of the curve.

    Args:
        loss: Loss of each item; null is an abstention.
        weight: How often each row counts.

    Returns:
        Float64, null where nothing is predicted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"loss": [1.0, None, 0.0]}).select(ef.selective_risk()).item()
        0.5
    """
    return _risk(loss, weight, lambda t: ratio(t.loss, t.mass))


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def generalized_risk(loss: Role = "loss", *, weight: Role = None) -> State:
    """Loss of the predicted items over the number of all items, abstentions included.

    Args:
        loss: Loss of each item; null is an abstention.
        weight: How often each row counts.

    Returns:
        Float64, 0.0 where all items are abstentions; null where there are no items, and where
        items are left out and none remains.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"loss": [1.0, None, 0.0, 0.0]}).select(ef.generalized_risk()).item()
        0.25
    """
    return _risk(
        loss,
        weight,
        lambda t: pl.when(t.items > 0).then(zero_if_abstained(t, t.loss / t.items)),
    )


def _risk(loss: pl.Expr, weight: pl.Expr, finish: Callable[[Totals], pl.Expr]) -> State:
    mass = pl.when(loss.is_not_null()).then(weight)
    return State(
        sums={"items": weight, "mass": mass, "loss": weight * loss},
        finish=finish,
        valid=loss.is_null() | loss.is_not_nan(),
        left_out=unusable(weight),
    )


def risk_at(
    coverage: float,
    loss: IntoExpr = "loss",
    confidence: IntoExpr = "confidence",
    *,
    weight: IntoExpr | None = None,
    convention: CoverageConvention = "trapezoid_total",
) -> PresetMetric:
    """Selective risk once a share of all items is accepted: `risk_at(0.5)` is `risk_at_0.50`.

    With absolute errors as losses this is MAE@coverage. It is the risk of the first plateau whose
    coverage is at least the bound (compared as floats; with weights, whose sums are rounded, as
    much as 1e-12 below it will do); the coverage it really has is `achieved_coverage_at`.

    Args:
        coverage: Share of the items, in (0, 1].
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: Of all items (`trapezoid_total`), or of the predicted ones
            (`trapezoid_predicted`).

    Returns:
        The metric: an expression, which called with other columns is that of those; null where Cmax
        is below the bound. In a bootstrap, replicates that do not reach the bound are dropped: read
        `drop_rate` with the interval.

    Raises:
        ParameterError: The coverage lies outside (0, 1].

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0, None], "confidence": [0.9, 0.8, 0.7]})
        >>> items.select(ef.risk_at(0.5), ef.risk_at(0.9, "loss", "confidence"))
        shape: (1, 2)
        ┌──────────────┬──────────────┐
        │ risk_at_0.50 ┆ risk_at_0.90 │
        │ ---          ┆ ---          │
        │ f64          ┆ f64          │
        ╞══════════════╪══════════════╡
        │ 0.5          ┆ null         │
        └──────────────┴──────────────┘
    """
    fraction("coverage", coverage)
    return preset(
        _risk_at, loss, confidence, weight=weight, coverage=float(coverage), convention=convention
    )


def achieved_coverage_at(
    coverage: float,
    loss: IntoExpr = "loss",
    confidence: IntoExpr = "confidence",
    *,
    weight: IntoExpr | None = None,
    convention: CoverageConvention = "trapezoid_total",
) -> PresetMetric:
    """Coverage of the plateau that `risk_at(coverage)` speaks of: at least the bound.

    Args:
        coverage: Share of the items, in (0, 1].
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: Of all items (`trapezoid_total`), or of the predicted ones
            (`trapezoid_predicted`).

    Returns:
        The metric: an expression, which called with other columns is that of those; null where Cmax
        is below the bound.

    Raises:
        ParameterError: The coverage lies outside (0, 1].

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0, 0.0], "confidence": [0.9, 0.8, 0.8]})
        >>> items.select(ef.achieved_coverage_at(0.5)).item()
        1.0
    """
    fraction("coverage", coverage)
    return preset(
        _achieved_coverage_at,
        loss,
        confidence,
        weight=weight,
        coverage=float(coverage),
        convention=convention,
    )


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
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: Coverage of all items (`trapezoid_total`), or of the predicted ones
            (`trapezoid_predicted`).

    Returns:
        The metric: an expression, which called with other columns is that of those; null where no
        plateau keeps to the bound.

    Raises:
        ParameterError: The bound is negative or NaN.

    References:
        Geifman & El-Yaniv (2017). Not torch-uncertainty's CovAtxRisk, which tests a shifted index
        and finds nothing in many admissible cases.

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
    name="risk_at",
    family="selective",
    direction="minimize",
    range=(0.0, float("inf")),
    label="risk_at_{coverage}",
)
def _risk_at(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    coverage: float,
    convention: CoverageConvention = "trapezoid_total",
) -> State:
    """Selective risk once a share of all items is accepted."""
    return at_plateau(loss, confidence, weight, RISK, coverage, convention)


@metric(
    name="achieved_coverage_at",
    family="selective",
    direction="none",
    range=(0.0, 1.0),
    label="achieved_coverage_at_{coverage}",
)
def _achieved_coverage_at(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    coverage: float,
    convention: CoverageConvention = "trapezoid_total",
) -> State:
    """Coverage of the plateau that `risk_at` speaks of."""
    achieved, _ = coverages(convention)
    return at_plateau(loss, confidence, weight, achieved, coverage, convention)


def slack(weight: pl.Expr) -> float:
    """What to multiply a coverage by that is to be reached: sums of weights are rounded."""
    return 1.0 if weight.meta.is_literal() else 1.0 - ROUNDING


def at_plateau(
    loss: pl.Expr,
    confidence: pl.Expr,
    weight: pl.Expr,
    value: pl.Expr,
    bound: float,
    convention: str,
) -> State:
    """The state of a value at the first plateau whose coverage is at least a bound."""
    fraction("coverage", bound)
    coverage, _ = coverages(convention)
    firsts = {"value": First(coverage, bound * slack(weight), value)}
    return by_confidence(loss, confidence, weight, firsts=firsts, finish=lambda t: t.value)


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
    coverage, _ = coverages(convention)
    last = {"coverage": coverage}
    return within_risk(loss, confidence, weight, risk, last, lambda t: t.coverage)


def within_risk(
    loss: pl.Expr,
    confidence: pl.Expr,
    weight: pl.Expr,
    risk: float,
    rising: Mapping[str, pl.Expr],
    finish: Callable[[Totals], pl.Expr],
) -> State:
    """The state of what is true of the last plateau that keeps to a risk.

    Args:
        loss: Loss of each item.
        confidence: Confidence of each item.
        weight: Weight of each item.
        risk: The bound.
        rising: Expressions over the views that never fall from plateau to plateau.
        finish: From what they are at that plateau to the value.
    """
    admissible = (risk_bound(risk) * (1.0 + ROUNDING) >= RISK) & (own.mass > 0)
    last = {name: pl.when(admissible).then(expr) for name, expr in rising.items()}
    return by_confidence(loss, confidence, weight, maxima=last, finish=finish)


def risk_bound(risk: float) -> float:
    """The risk if it is at least 0.

    Raises:
        ParameterError: It is not (NaN included).
    """
    if isinstance(risk, bool) or not isinstance(risk, SupportsFloat) or not risk >= 0:
        raise ParameterError(f"risk must be at least 0, got {risk!r}")
    return risk
