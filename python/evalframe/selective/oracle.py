"""Optimal, excess and achievable areas: the ranking compared with what its losses allow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.metric import metric, sharing
from evalframe.core.typing import Role
from evalframe.selective.conventions import (
    AUGRC,
    AURC,
    AURC_ORACLE,
    CHORDS,
    RISK,
    Convention,
    CoverageConvention,
    Items,
    Rule,
    Rules,
    accepted_of,
    coverage_at,
    rule_of,
    zero_if_abstained,
)

if TYPE_CHECKING:
    from evalframe.core.state import Axis, State, Totals

_POSITIVE, _ANY = (0.0, float("inf")), (float("-inf"), float("inf"))
_CENTRE = ("loss", "mass")


def _optimal(
    rules: Callable[[], Rules],
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """The area of the oracle."""
    oracle = rule_of(rules(), convention)
    items = Items(loss, confidence, weight)
    axis = items.oracle_axis(oracle.terms("optimal", "best"))
    return items.state(axis, finish=partial(oracle.of, height="optimal", first="best"))


@sharing(_optimal, family="selective", direction="none", range=_POSITIVE)
def aurc_optimal() -> Rules:
    """AURC of the oracle, which accepts the items one by one in the order of their losses.

    Args:
        confidence: Items without one are left out, as in `aurc`; None takes all items.

    References:
        The finite-sample oracle of ai-psychiatrist 36e9fba; fd-shifts uses the limit of
        infinitely many items for binary losses.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0]})
        >>> items.select(ef.aurc_optimal(confidence=None)).item()
        0.125
    """
    return AURC_ORACLE


@sharing(_optimal, family="selective", direction="none", range=_POSITIVE)
def augrc_optimal() -> Rules:
    """AUGRC of the oracle, which accepts the items in the order of their losses.

    Args:
        confidence: Items without one are left out, as in `augrc`; None takes all items.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0, 1, 0, 1, None]})
        >>> items.select(ef.augrc_optimal(confidence=None)).item()
        0.08
    """
    return AUGRC


def _excess(
    actual_and_oracle: Callable[[], tuple[Rules, Rules]],
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """The actual area minus the oracle's."""
    actual, oracle = (rule_of(rules, convention) for rules in actual_and_oracle())
    items = Items(loss, confidence, weight)
    finish = partial(_difference, actual=actual, oracle=oracle)
    return items.state(*_centred(actual, oracle, items), finish=finish)


def _gap(
    actual_and_oracle: Callable[[], tuple[Rules, Rules]],
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """The excess in percent of the oracle's area."""
    actual, oracle = (rule_of(rules, convention) for rules in actual_and_oracle())
    items = Items(loss, confidence, weight)
    uncentred = items.oracle_axis(oracle.terms("total", "least"))

    def finish(t: Totals) -> pl.Expr:
        return _percent(_difference(t, actual, oracle), oracle.of(t, "total", "least"))

    return items.state(*_centred(actual, oracle, items), uncentred, finish=finish)


def _centred(actual: Rule, oracle: Rule, items: Items) -> tuple[Axis, Axis]:
    """Both orders about the mean loss, so two nearly equal areas are never subtracted."""
    ranked = items.axis(actual.terms("area", "first"), centre=_CENTRE)
    return ranked, items.oracle_axis(oracle.terms("optimal", "best"), centre=_CENTRE)


def _difference(t: Totals, actual: Rule, oracle: Rule) -> pl.Expr:
    area = actual.of(t, "area", "first", centred=True)
    return area - oracle.of(t, "optimal", "best", centred=True)


def _percent(part: pl.Expr, total: pl.Expr) -> pl.Expr:
    return pl.when(total == 0).then(0.0).otherwise(100 * part / total)


@sharing(_excess, family="selective", direction="minimize", range=_ANY)
def eaurc() -> tuple[Rules, Rules]:
    """Excess AURC over the oracle, `aurc - aurc_optimal`.

    It can be slightly negative with ties: the oracle goes item by item, a plateau of equal
    confidence is crossed in one chord. Computed about the mean loss, so it stays exact if losses
    are large and their differences small.

    References:
        Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
        classifiers.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.eaurc()).item()
        0.75
    """
    return AURC, AURC_ORACLE


@sharing(_excess, family="selective", direction="minimize", range=_ANY)
def eaugrc() -> tuple[Rules, Rules]:
    """Excess AUGRC over the oracle, `augrc - augrc_optimal`: at least 0 up to rounding.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.eaugrc()).item()
        0.25
    """
    return AUGRC, AUGRC


@sharing(_gap, family="selective", direction="minimize", range=_ANY)
def aurc_gap_pct() -> tuple[Rules, Rules]:
    """Excess AURC in percent of the oracle's AURC.

    Returns:
        Percent, 0.0 if the oracle's area is 0, null if it is null.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.aurc_gap_pct()).item()
        600.0
    """
    return AURC, AURC_ORACLE


@sharing(_gap, family="selective", direction="minimize", range=_ANY)
def augrc_gap_pct() -> tuple[Rules, Rules]:
    """Excess AUGRC in percent of the oracle's AUGRC.

    Returns:
        Percent, 0.0 if the oracle's area is 0, null if it is null.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.augrc_gap_pct()).item()
        200.0
    """
    return AUGRC, AUGRC


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

    References:
        ai-psychiatrist 36e9fba, which drops vertices within 1e-10 of a chord. fd-shifts
        interpolates its hull by hyperbolas instead of chords.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.aurc_achievable()).item()
        0.125
    """
    accepted_of(convention)
    rule = rule_of(AURC, convention)
    items = Items(loss, confidence, weight)
    finish = partial(rule.of, height="achievable", first="first")
    return items.state(_hull_axis(items), finish=finish)


@metric(family="selective", direction="none", range=(0.0, 100.0))
def achievable_gain_pct(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None
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
    items = Items(loss, confidence, weight)
    return items.state(
        items.axis({"area": CHORDS}),
        _hull_axis(items),
        finish=lambda t: zero_if_abstained(t, _percent(t.area - t.achievable, t.area)),
    )


def _hull_axis(items: Items) -> Axis:
    """Only the plateaus on the lower hull of (coverage, risk); the chords connect these."""
    points = (coverage_at("trapezoid_total"), RISK)  # the hull is the same at any scale
    return items.axis({"achievable": CHORDS}, hull=points)
