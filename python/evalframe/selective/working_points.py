"""Single points of the risk-coverage curve, and the plain quantities beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.metric import MetricFunction, metric, variant
from evalframe.core.state import First, State, at, ratio
from evalframe.selective.areas import fraction
from evalframe.selective.conventions import coverages
from evalframe.selective.curve import RISK, by_confidence, valid_item, zero_if_empty

if TYPE_CHECKING:
    from evalframe.core.typing import Role
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
        Float64 in [0, 1], 0.0 where there are no items.

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
        finish=lambda t: zero_if_empty(t.mass, t.items),
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
    return _risk(loss, weight, per="mass")


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def generalized_risk(loss: Role = "loss", *, weight: Role = None) -> State:
    """Loss of the predicted items over the number of all items, abstentions included.

    Args:
        loss: Loss of each item; null is an abstention.
        weight: How often each row counts.

    Returns:
        Float64, null where there are no items.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"loss": [1.0, None, 0.0, 0.0]}).select(ef.generalized_risk()).item()
        0.25
    """
    return _risk(loss, weight, per="items")


def _risk(loss: pl.Expr, weight: pl.Expr, *, per: str) -> State:
    mass = pl.when(loss.is_not_null()).then(weight)
    return State(
        sums={"items": weight, "mass": mass, "loss": weight * loss},
        finish=lambda t: ratio(t.loss, getattr(t, per)),
        valid=valid_item(loss, None),
    )


def risk_at(
    coverage: float, *, convention: CoverageConvention = "trapezoid_total"
) -> MetricFunction[...]:
    """Selective risk once a share of all items is accepted: `risk_at(0.5)` is `risk_at_0.50`.

    With absolute errors as losses this is MAE@coverage. It is the risk of the first plateau whose
    coverage is at least the bound (compared as floats; with weights, whose sums are rounded, as
    much as 1e-12 below it will do); the coverage it really has is `achieved_coverage_at`.

    Args:
        coverage: Share of the items, in (0, 1].
        convention: Of all items (`trapezoid_total`), or of the predicted ones
            (`trapezoid_predicted`).

    Returns:
        A metric of `loss` and `confidence`, null where Cmax is below the bound. In a bootstrap,
        replicates that do not reach the bound are dropped: read `drop_rate` with the interval.

    Raises:
        ParameterError: The coverage lies outside (0, 1].

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0, None], "confidence": [0.9, 0.8, 0.7]})
        >>> items.select(ef.risk_at(0.5)("loss"), ef.risk_at(0.9)("loss"))
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
    return variant(_risk_at, coverage=float(coverage), convention=convention)


def achieved_coverage_at(
    coverage: float, *, convention: CoverageConvention = "trapezoid_total"
) -> MetricFunction[...]:
    """Coverage of the plateau that `risk_at(coverage)` speaks of: at least the bound.

    Args:
        coverage: Share of the items, in (0, 1].
        convention: Of all items (`trapezoid_total`), or of the predicted ones
            (`trapezoid_predicted`).

    Returns:
        A metric of `loss` and `confidence`, null where Cmax is below the bound.

    Raises:
        ParameterError: The coverage lies outside (0, 1].

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0, 0.0], "confidence": [0.9, 0.8, 0.8]})
        >>> items.select(ef.achieved_coverage_at(0.5)("loss", "confidence")).item()
        1.0
    """
    fraction("coverage", coverage)
    return variant(_achieved_coverage_at, coverage=float(coverage), convention=convention)


def coverage_at_risk(
    risk: float, *, convention: CoverageConvention = "trapezoid_total"
) -> MetricFunction[...]:
    """Largest coverage whose selective risk is at most a bound: `coverage_at_risk_0.10`.

    Args:
        risk: Bound on the mean loss of the accepted items, at least 0, in units of the loss.
        convention: Coverage of all items (`trapezoid_total`), or of the predicted ones
            (`trapezoid_predicted`).

    Returns:
        A metric of `loss` and `confidence`, null where no plateau keeps to the bound.

    Raises:
        ParameterError: The bound is negative or NaN.

    References:
        Geifman & El-Yaniv (2017). Not torch-uncertainty's CovAtxRisk, which tests a shifted index
        and finds nothing in many admissible cases.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0, 0.0, 0.0], "confidence": [0.9, 0.8, 0.7, 0.6]})
        >>> items.select(ef.coverage_at_risk(0.3)("loss", "confidence")).item()
        1.0
    """
    _bound(risk)
    return variant(_coverage_at_risk, risk=float(risk), convention=convention)


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
    return _at_plateau(loss, confidence, weight, RISK, coverage, convention)


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
    return _at_plateau(loss, confidence, weight, achieved, coverage, convention)


def slack(weight: pl.Expr) -> float:
    """What to multiply a coverage by that is to be reached: sums of weights are rounded."""
    return 1.0 if weight.meta.is_literal() else 1.0 - ROUNDING


def _at_plateau(
    loss: pl.Expr,
    confidence: pl.Expr,
    weight: pl.Expr,
    value: pl.Expr,
    bound: float,
    convention: str,
) -> State:
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
    admissible = (_bound(risk) * (1.0 + ROUNDING) >= RISK) & (at.mass > 0)
    return by_confidence(
        loss,
        confidence,
        weight,
        maxima={"coverage": pl.when(admissible).then(coverage)},
        finish=lambda t: t.coverage,
    )


def _bound(risk: float) -> float:
    if isinstance(risk, bool) or not risk >= 0:
        raise ParameterError(f"risk must be at least 0, got {risk!r}")
    return risk
