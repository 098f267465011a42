"""Optimal, excess and achievable areas: the ranking compared with what its losses allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.typing import Role
from evalframe.selective.conventions import (
    CHORDS,
    RISK,
    Convention,
    CoverageConvention,
    Rule,
    accepted_of,
    augrc_rule,
    aurc_oracle_rule,
    aurc_rule,
    confidence_axis,
    coverage_at,
    loss_axis,
    of_axes,
    zero_if_abstained,
)

if TYPE_CHECKING:
    from evalframe.core.state import Axis, State, Totals


_POSITIVE = (0.0, float("inf"))
_ANY = (float("-inf"), float("inf"))
_CENTRE = ("loss", "mass")


@metric(family="selective", direction="none", range=_POSITIVE)
def aurc_optimal(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """AURC of the oracle, which accepts the items one by one in the order of their losses.

    Args:
        confidence: Items without one are left out, as in `aurc`; None takes all items.

    Returns:
        0.0 or null in the same cases as `aurc`.

    References:
        The finite-sample oracle of ai-psychiatrist 36e9fba; fd-shifts uses the limit of
        infinitely many items for binary losses.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0, 1, 0, 1, None]})
        >>> round(items.select(ef.aurc_optimal(confidence=None)).item(), 6)
        0.116667
    """
    return _optimal(aurc_oracle_rule(convention), loss, confidence, weight)


@metric(family="selective", direction="none", range=_POSITIVE)
def augrc_optimal(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """AUGRC of the oracle, which accepts the items in the order of their losses.

    Args:
        confidence: Items without one are left out, as in `augrc`; None takes all items.

    Returns:
        0.0 or null in the same cases as `aurc`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0, 1, 0, 1, None]})
        >>> items.select(ef.augrc_optimal(confidence=None)).item()
        0.08
    """
    return _optimal(augrc_rule(convention), loss, confidence, weight)


@metric(family="selective", direction="minimize", range=_ANY)
def eaurc(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """Excess AURC over the oracle, `aurc - aurc_optimal`.

    It can be slightly negative with ties: the oracle goes item by item, a plateau of equal
    confidence is crossed in one chord. Computed about the mean loss, so it stays exact if losses
    are large and their differences small.

    Returns:
        0.0 or null in the same cases as `aurc`.

    References:
        Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
        classifiers.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.eaurc()).item()
        0.75
    """
    rules = aurc_rule(convention), aurc_oracle_rule(convention)
    return _excess(*rules, loss, confidence, weight)


@metric(family="selective", direction="minimize", range=_ANY)
def eaugrc(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """Excess AUGRC over the oracle, `augrc - augrc_optimal`: at least 0 up to rounding.

    Returns:
        0.0 or null in the same cases as `aurc`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.eaugrc()).item()
        0.25
    """
    rule = augrc_rule(convention)
    return _excess(rule, rule, loss, confidence, weight)


@metric(family="selective", direction="minimize", range=_ANY)
def aurc_gap_pct(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """Excess AURC in percent of the oracle's AURC.

    Returns:
        Percent, 0.0 if the oracle's area is 0, null if it is null.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.aurc_gap_pct()).item()
        600.0
    """
    rules = aurc_rule(convention), aurc_oracle_rule(convention)
    return _gap(*rules, loss, confidence, weight)


@metric(family="selective", direction="minimize", range=_ANY)
def augrc_gap_pct(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """Excess AUGRC in percent of the oracle's AUGRC.

    Returns:
        Percent, 0.0 if the oracle's area is 0, null if it is null.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.augrc_gap_pct()).item()
        200.0
    """
    rule = augrc_rule(convention)
    return _gap(rule, rule, loss, confidence, weight)


@metric(family="selective", direction="minimize", range=_POSITIVE)
def aurc_achievable(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: CoverageConvention = "trapezoid_total",
) -> State:
    """AURC of the lower convex hull of the working points, which mixed thresholds can achieve.

    The hull is that of the working points only; from coverage 0 to its first vertex the risk is
    that vertex's risk, as in `aurc`.

    Args:
        convention: As for `aurc`, without those that walk item by item.

    Returns:
        0.0 or null in the same cases as `aurc`.

    References:
        ai-psychiatrist 36e9fba, which drops vertices within 1e-10 of a chord. fd-shifts
        interpolates its hull by hyperbolas instead of chords.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame(
        ...     {"loss": [0, 1, 0, 1, None], "confidence": [0.9, 0.8, 0.8, 0.4, 0.1]}
        ... )
        >>> items.select(ef.aurc_achievable()).item()
        0.15
    """
    accepted_of(convention)
    rule = aurc_rule(convention)
    hull = _hull_axis(loss, confidence, weight)
    return of_axes(
        loss, confidence, weight, hull, finish=lambda t: rule.of(t, "achievable", "first")
    )


@metric(family="selective", direction="none", range=(0.0, 100.0))
def achievable_gain_pct(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
) -> State:
    """Share of AURC that the convex hull saves, in percent.

    Returns:
        Percent, 0.0 if AURC is 0, null if it is null.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0, 0.0], "confidence": [0.9, 0.8, 0.7]})
        >>> round(items.select(ef.achievable_gain_pct()).item(), 2)
        50.0
    """
    return of_axes(
        loss,
        confidence,
        weight,
        confidence_axis(loss, confidence, weight, {"area": CHORDS}),
        _hull_axis(loss, confidence, weight),
        finish=lambda t: zero_if_abstained(t, _percent(t.area - t.achievable, t.area)),
    )


def _hull_axis(loss: pl.Expr, confidence: pl.Expr, weight: pl.Expr) -> Axis:
    """Only the plateaus on the lower hull of (coverage, risk); the chords connect these."""
    points = (coverage_at("trapezoid_total"), RISK)  # the hull is the same at any scale
    return confidence_axis(loss, confidence, weight, {"achievable": CHORDS}, hull=points)


def _optimal(oracle: Rule, loss: pl.Expr, confidence: pl.Expr | None, weight: pl.Expr) -> State:
    axis = loss_axis(loss, weight, oracle.terms("optimal", "best"))
    return of_axes(loss, confidence, weight, axis, finish=lambda t: oracle.of(t, "optimal", "best"))


def _excess(
    actual: Rule,
    oracle: Rule,
    loss: pl.Expr,
    confidence: pl.Expr,
    weight: pl.Expr,
    *more: Axis,
    finish: Callable[[Totals], pl.Expr] | None = None,
) -> State:
    """The actual area minus the oracle's, both about the mean loss."""
    # Centred, every loss loses its mean first, so two nearly equal areas are never subtracted.
    terms = actual.terms("area", "first")
    return of_axes(
        loss,
        confidence,
        weight,
        confidence_axis(loss, confidence, weight, terms, centre=_CENTRE),
        loss_axis(loss, weight, oracle.terms("optimal", "best"), centre=_CENTRE),
        *more,
        finish=finish or (lambda t: _difference(t, actual, oracle)),
    )


def _difference(t: Totals, actual: Rule, oracle: Rule) -> pl.Expr:
    area = actual.of(t, "area", "first", centred=True)
    return area - oracle.of(t, "optimal", "best", centred=True)


def _gap(actual: Rule, oracle: Rule, loss: pl.Expr, confidence: pl.Expr, weight: pl.Expr) -> State:
    """The excess in percent of the oracle's area."""
    uncentred = loss_axis(loss, weight, oracle.terms("total", "least"))
    return _excess(
        actual,
        oracle,
        loss,
        confidence,
        weight,
        uncentred,
        finish=lambda t: _percent(_difference(t, actual, oracle), oracle.of(t, "total", "least")),
    )


def _percent(part: pl.Expr, total: pl.Expr) -> pl.Expr:
    return pl.when(total == 0).then(0.0).otherwise(100 * part / total)
