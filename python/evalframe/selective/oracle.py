"""How good the ranking is against what its losses allow: optimal, excess and achievable areas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.state import Axis, State, Totals
from evalframe.selective.curve import (
    CHORDS,
    COVERAGE,
    FIRST_RISK,
    GENERALIZED_CHORDS,
    RISK,
    confidence_axis,
    per_item_risks,
    valid_item,
    zero_if_empty,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalframe.core.typing import Role

_ANY = (float("-inf"), float("inf"))
_OPTIMAL = {"optimal": per_item_risks(), "best": FIRST_RISK}
_GENERALIZED_OPTIMAL = {"optimal": GENERALIZED_CHORDS}
_CENTRE = ("loss", "mass")


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


@metric(family="selective", direction="none", range=(0.0, float("inf")))
def aurc_optimal(loss: Role = "loss", confidence: Role = None, *, weight: Role = None) -> State:
    """AURC of the oracle, which accepts the items in the order of their losses, one by one.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Not needed; where given, items without one are left out, as `aurc` does.
        weight: How often each row counts.

    Returns:
        Float64, 0.0 where nothing is predicted.

    References:
        The finite-sample oracle of ai-psychiatrist 36e9fba; fd-shifts uses the limit of
        infinitely many items for binary losses.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0, 1, 0, 1, None]})
        >>> round(items.select(ef.aurc_optimal()).item(), 6)
        0.116667
    """
    return State(
        sums={"items": weight},
        axes=(_loss_axis(loss, weight, _OPTIMAL),),
        finish=lambda t: zero_if_empty(
            t.optimal + (t.best - t.loss / t.mass) / 2, t.items
        ).fill_nan(0),
        valid=valid_item(loss, confidence),
    )


@metric(family="selective", direction="none", range=(0.0, float("inf")))
def augrc_optimal(loss: Role = "loss", confidence: Role = None, *, weight: Role = None) -> State:
    """AUGRC of the oracle, which accepts the items in the order of their losses.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Not needed; where given, items without one are left out, as `augrc` does.
        weight: How often each row counts.

    Returns:
        Float64, 0.0 where nothing is predicted.

    References:
        ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0, 1, 0, 1, None]})
        >>> items.select(ef.augrc_optimal()).item()
        0.08
    """
    return State(
        sums={"items": weight},
        axes=(_loss_axis(loss, weight, _GENERALIZED_OPTIMAL),),
        finish=lambda t: zero_if_empty(t.optimal, t.items**2),
        valid=valid_item(loss, confidence),
    )


@metric(family="selective", direction="minimize", range=_ANY)
def eaurc(loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None) -> State:
    """Excess AURC: what the ranking costs beyond the oracle, `aurc - aurc_optimal`.

    It can be slightly negative under ties: the oracle goes item by item, while a plateau of equal
    confidence is crossed in one chord. Computed about the mean loss, so that it stays exact where
    losses are large and their differences small.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.

    Returns:
        Float64, 0.0 where nothing is predicted.

    References:
        Geifman, Uziel & El-Yaniv (2019), Bias-reduced uncertainty estimation for deep neural
        classifiers; ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.eaurc()).item()
        0.75
    """
    # About the mean loss the oracle's last risk is 0.
    return _excess(
        loss,
        confidence,
        weight,
        {"area": CHORDS},
        _OPTIMAL,
        lambda t: zero_if_empty(t.area - t.optimal - t.best / 2, t.items),
    )


@metric(family="selective", direction="minimize", range=_ANY)
def eaugrc(loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None) -> State:
    """Excess AUGRC: what the ranking costs beyond the oracle, `augrc - augrc_optimal`.

    At least 0 up to rounding; computed about the mean loss, as `eaurc` is.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.

    Returns:
        Float64, 0.0 where nothing is predicted.

    References:
        ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.eaugrc()).item()
        0.25
    """
    return _excess(
        loss,
        confidence,
        weight,
        {"area": GENERALIZED_CHORDS},
        _GENERALIZED_OPTIMAL,
        lambda t: zero_if_empty(t.area - t.optimal, t.items**2),
    )


def _excess(
    loss: pl.Expr,
    confidence: pl.Expr,
    weight: pl.Expr,
    actual: Mapping[str, pl.Expr],
    oracle: Mapping[str, pl.Expr],
    finish: Callable[[Totals], pl.Expr],
    *more: Axis,
) -> State:
    return State(
        sums={"items": weight},
        axes=(
            confidence_axis(loss, confidence, weight, actual, centre=_CENTRE),
            _loss_axis(loss, weight, oracle, centre=_CENTRE),
            *more,
        ),
        finish=finish,
        valid=valid_item(loss, confidence),
    )


@metric(family="selective", direction="minimize", range=_ANY)
def aurc_gap_pct(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None
) -> State:
    """Excess AURC in percent of the oracle's AURC.

    Returns:
        Float64 in percent, 0.0 where the oracle's area is 0 (as its source does).

    References:
        ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.aurc_gap_pct()).item()
        600.0
    """
    return _excess(
        loss,
        confidence,
        weight,
        {"area": CHORDS},
        _OPTIMAL,
        lambda t: _percent(
            t.area - t.optimal - t.best / 2, t.optimum + (t.first - t.loss / t.mass) / 2
        ),
        _loss_axis(loss, weight, {"optimum": per_item_risks(), "first": FIRST_RISK}),
    )


@metric(family="selective", direction="minimize", range=_ANY)
def augrc_gap_pct(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None
) -> State:
    """Excess AUGRC in percent of the oracle's AUGRC.

    Returns:
        Float64 in percent, 0.0 where the oracle's area is 0 (as its source does).

    References:
        ai-psychiatrist 36e9fba.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.augrc_gap_pct()).item()
        200.0
    """
    return _excess(
        loss,
        confidence,
        weight,
        {"area": GENERALIZED_CHORDS},
        _GENERALIZED_OPTIMAL,
        lambda t: _percent(t.area - t.optimal, t.optimum),
        _loss_axis(loss, weight, {"optimum": GENERALIZED_CHORDS}),
    )


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def aurc_achievable(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None
) -> State:
    """AURC of the lower convex hull of the working points: what mixing thresholds could achieve.

    The hull runs over the working points only; from coverage 0 to the first of its vertices the
    area is that vertex's risk, as in `aurc`.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.

    Returns:
        Float64, 0.0 where nothing is predicted.

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
    return State(
        sums={"items": weight},
        axes=(_hull_axis(loss, confidence, weight),),
        finish=lambda t: zero_if_empty(t.achievable, t.items),
        valid=valid_item(loss, confidence),
    )


@metric(family="selective", direction="none", range=(0.0, 100.0))
def achievable_gain_pct(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None
) -> State:
    """How much of AURC the convex hull would save, in percent.

    Returns:
        Float64 in percent, 0.0 where AURC is 0 (as its source does).

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
        finish=lambda t: _percent(t.area - t.achievable, t.area),
        valid=valid_item(loss, confidence),
    )


def _hull_axis(loss: pl.Expr, confidence: pl.Expr, weight: pl.Expr) -> Axis:
    return confidence_axis(loss, confidence, weight, {"achievable": CHORDS}, hull=(COVERAGE, RISK))


def _percent(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    # NaN (nothing predicted) compares as largest, hence the two conditions.
    return pl.when((whole > 0) & whole.is_finite()).then(100 * part / whole).otherwise(0.0)
