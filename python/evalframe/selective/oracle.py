"""How good the ranking is against what its losses allow: optimal, excess and achievable areas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.state import Axis, State, Totals
from evalframe.selective.conventions import (
    Rule,
    accepted_of,
    augrc_rule,
    aurc_oracle_rule,
    aurc_rule,
    coverages,
)
from evalframe.selective.curve import (
    CHORDS,
    RISK,
    confidence_axis,
    unusable,
    valid_item,
    zero_if_abstained,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalframe.core.typing import Role
    from evalframe.selective.conventions import Convention, CoverageConvention

_ANY = (float("-inf"), float("inf"))
_CENTRE = ("loss", "mass")


@metric(family="selective", direction="none", range=(0.0, float("inf")))
def aurc_optimal(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """AURC of the oracle, which accepts the items in the order of their losses, one by one.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Items without one are left out, as `aurc` does; None takes all items.
        weight: How often each row counts.
        convention: As for `aurc`.

    Returns:
        Float64, 0.0 or null in the same cases as `aurc`.

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


@metric(family="selective", direction="none", range=(0.0, float("inf")))
def augrc_optimal(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """AUGRC of the oracle, which accepts the items in the order of their losses.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Items without one are left out, as `augrc` does; None takes all items.
        weight: How often each row counts.
        convention: As for `aurc`.

    Returns:
        Float64, 0.0 or null in the same cases as `aurc`.

    References:
        ai-psychiatrist 36e9fba.

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
    """Excess AURC: what the ranking costs beyond the oracle, `aurc - aurc_optimal`.

    It can be slightly negative under ties: the oracle goes item by item, while a plateau of equal
    confidence is crossed in one chord. Computed about the mean loss, so that it stays exact where
    losses are large and their differences small.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: As for `aurc`.

    Returns:
        Float64, 0.0 or null in the same cases as `aurc`.

    References:
        Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
        classifiers; ai-psychiatrist 36e9fba.

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
    """Excess AUGRC: what the ranking costs beyond the oracle, `augrc - augrc_optimal`.

    At least 0 up to rounding; computed about the mean loss, as `eaurc` is.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: As for `aurc`.

    Returns:
        Float64, 0.0 or null in the same cases as `aurc`.

    References:
        ai-psychiatrist 36e9fba.

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

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: As for `aurc`.

    Returns:
        Float64 in percent, 0.0 where the oracle's area is 0 (as its source does); null where
        that is.

    References:
        ai-psychiatrist 36e9fba.

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

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: As for `aurc`.

    Returns:
        Float64 in percent, 0.0 where the oracle's area is 0 (as its source does); null where
        that is.

    References:
        ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.augrc_gap_pct()).item()
        200.0
    """
    rule = augrc_rule(convention)
    return _gap(rule, rule, loss, confidence, weight)


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def aurc_achievable(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: CoverageConvention = "trapezoid_total",
) -> State:
    """AURC of the lower convex hull of the working points: what mixing thresholds could achieve.

    The hull runs over the working points only; from coverage 0 to the first of its vertices the
    area is that vertex's risk, as in `aurc`.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: As for `aurc`; without the conventions that walk item by item.

    Returns:
        Float64, 0.0 or null in the same cases as `aurc`.

    References:
        ai-psychiatrist 36e9fba, which drops vertices within an absolute 1e-10 of a chord; this is
        the exact hull, whose area is the same to that precision. fd-shifts interpolates its hull
        by hyperbolas instead of chords.

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
    return State(
        sums={"items": weight},
        axes=(_hull_axis(loss, confidence, weight),),
        finish=lambda t: rule.of(t, "achievable", "first"),
        valid=valid_item(loss, confidence),
        left_out=unusable(weight),
    )


@metric(family="selective", direction="none", range=(0.0, 100.0))
def achievable_gain_pct(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
) -> State:
    """How much of AURC the convex hull would save, in percent.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.

    Returns:
        Float64 in percent, 0.0 where AURC is 0 (as its source does); null where that is.

    References:
        ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0, 0.0], "confidence": [0.9, 0.8, 0.7]})
        >>> round(items.select(ef.achievable_gain_pct()).item(), 2)
        50.0
    """
    return State(
        sums={"items": weight},
        axes=(
            confidence_axis(loss, confidence, weight, {"area": CHORDS}),
            _hull_axis(loss, confidence, weight),
        ),
        finish=lambda t: zero_if_abstained(t, _percent(t.area - t.achievable, t.area)),
        valid=valid_item(loss, confidence),
        left_out=unusable(weight),
    )


def _loss_axis(
    loss: pl.Expr,
    weight: pl.Expr,
    terms: Mapping[str, pl.Expr],
    centre: tuple[str, str] | None = None,
) -> Axis:
    """The oracle's order: predicted items from the smallest loss up."""
    return Axis(
        level=loss,
        where=loss.is_not_null(),
        sums={"mass": pl.when(loss.is_not_null()).then(weight), "loss": weight * loss},
        terms=terms,
        centre=centre,
    )


def _hull_axis(loss: pl.Expr, confidence: pl.Expr, weight: pl.Expr) -> Axis:
    # The hull does not depend on the scale of coverage.
    points = (coverages("trapezoid_total")[0], RISK)
    return confidence_axis(loss, confidence, weight, {"achievable": CHORDS}, hull=points)


def _optimal(oracle: Rule, loss: pl.Expr, confidence: pl.Expr | None, weight: pl.Expr) -> State:
    return State(
        sums={"items": weight},
        axes=(_loss_axis(loss, weight, oracle.terms("optimal", "best")),),
        finish=lambda t: oracle.of(t, "optimal", "best"),
        valid=valid_item(loss, confidence),
        left_out=unusable(weight),
    )


def _excess(
    actual: Rule,
    oracle: Rule,
    loss: pl.Expr,
    confidence: pl.Expr,
    weight: pl.Expr,
    *more: Axis,
    finish: Callable[[Totals], pl.Expr] | None = None,
) -> State:
    """What the actual area exceeds the oracle's by, both about the mean loss."""
    terms = actual.terms("area", "first")
    return State(
        sums={"items": weight},
        axes=(
            confidence_axis(loss, confidence, weight, terms, centre=_CENTRE),
            _loss_axis(loss, weight, oracle.terms("optimal", "best"), centre=_CENTRE),
            *more,
        ),
        finish=finish or (lambda t: _difference(t, actual, oracle)),
        valid=valid_item(loss, confidence),
        left_out=unusable(weight),
    )


def _difference(t: Totals, actual: Rule, oracle: Rule) -> pl.Expr:
    area = actual.of(t, "area", "first", centred=True)
    return area - oracle.of(t, "optimal", "best", centred=True)


def _gap(actual: Rule, oracle: Rule, loss: pl.Expr, confidence: pl.Expr, weight: pl.Expr) -> State:
    """The excess in percent of the oracle's own area."""
    whole = _loss_axis(loss, weight, oracle.terms("whole", "least"))
    return _excess(
        actual,
        oracle,
        loss,
        confidence,
        weight,
        whole,
        finish=lambda t: _percent(_difference(t, actual, oracle), oracle.of(t, "whole", "least")),
    )


def _percent(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    return pl.when(whole == 0).then(0.0).otherwise(100 * part / whole)
