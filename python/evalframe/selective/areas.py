"""Areas under the risk-coverage curves, complete and truncated, in every published convention."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from evalframe.core.metric import metric, sharing
from evalframe.core.state import First, State, Totals, at, before, ratio
from evalframe.core.typing import Role
from evalframe.selective.conventions import (
    ACCEPTED,
    AUGRC,
    AURC,
    CHORDS,
    GENERALIZED_CHORDS,
    RISK,
    RISK_BEFORE,
    Convention,
    Items,
    Rules,
    accepted_of,
    coverage_at,
    rule_of,
    zero_if_abstained,
)
from evalframe.selective.working_points import at_coverage

if TYPE_CHECKING:
    import polars as pl

_POSITIVE = (0.0, float("inf"))


def _area(
    rules: Callable[[], Rules],
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """An area by the rule of a convention."""
    rule = rule_of(rules(), convention)
    finish = partial(rule.of, height="height", first="first")
    items = Items(loss, confidence, weight)
    return items.state(items.axis(rule.terms("height", "first")), finish=finish)


@sharing(_area, family="selective", direction="minimize", range=_POSITIVE)
def aurc() -> Rules:
    """Area under the risk-coverage curve: mean loss of the accepted items, over all coverages.

    Items of equal confidence enter together: conventions that walk item by item take the
    expectation over random order within ties. With losses in [0, 1] the area lies in [0, 1].

    Args:
        weight: How often each row counts (a frequency; per-item conventions take it literally).
        convention: `trapezoid_total` (ai-psychiatrist): trapezoids over [0, Cmax] from the first
            working point's risk; coverage is a share of all items, abstentions included.
            `trapezoid_predicted` (fd-shifts): the same among predicted items only.
            `trapezoid_per_item_renorm` (torch-uncertainty): trapezoids over single items, first to
            last, stretched by n / (n - 1). `rectangle_per_item` (Geifman & El-Yaniv): mean over k
            of the risk of the k most confident. `population` (Traub et al.): mean over items of
            the risk at the item's own confidence as threshold.

    Returns:
        `trapezoid_total` gives 0.0 if nothing is predicted; the others give null then,
        `trapezoid_per_item_renorm` also for a single item. All give null if items are left out and
        none remains to rank.

    References:
        Geifman & El-Yaniv (2017), Selective classification for deep neural networks; Traub et al.
        (2024), Overcoming common flaws in the evaluation of selective classification systems.
        Values match ai-psychiatrist 36e9fba, fd-shifts c4467ae and torch-uncertainty 8769bc8.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, None], "confidence": [0.9, 0.8]})
        >>> items.select(ef.aurc(), predicted=ef.aurc(convention="trapezoid_predicted")).row(0)
        (0.5, 1.0)
    """
    return AURC


@sharing(_area, family="selective", direction="minimize", range=_POSITIVE)
def augrc() -> Rules:
    """Area under the generalized-risk-coverage curve: joint risk of accepting and being wrong.

    For binary losses and `trapezoid_predicted` it equals
    (1 - AUROC) acc (1 - acc) + (1 - acc)^2 / 2 exactly, also with ties. With losses in [0, 1] the
    area lies in [0, 1/2].

    Args:
        convention: As for `aurc`; `population` is the same number as `trapezoid_predicted`.

    References:
        As for `aurc`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.augrc()).item()
        0.125
    """
    return AUGRC


@metric(family="selective", direction="minimize", range=_POSITIVE)
def aurc_normalised(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None
) -> State:
    """AURC divided by Cmax: the mean selective risk over the coverages that are reached.

    Unlike the area it does not reward abstention. It equals `aurc` in the convention
    `trapezoid_predicted`.

    Returns:
        Null if nothing is predicted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, None], "confidence": [0.9, 0.8]})
        >>> items.select(ef.aurc(), ef.aurc_normalised()).row(0)
        (0.5, 1.0)
    """
    state: State = aurc.metric.define(
        loss, confidence, weight=weight, convention="trapezoid_predicted"
    )
    return state


@metric(family="selective", direction="minimize", range=_POSITIVE)
def augrc_normalised(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None
) -> State:
    """AUGRC divided by the square of Cmax, its scale-free form.

    It equals `augrc` in the convention `trapezoid_predicted`.

    Returns:
        Null if nothing is predicted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, None], "confidence": [0.9, 0.8]})
        >>> items.select(ef.augrc(), ef.augrc_normalised()).row(0)
        (0.125, 0.5)
    """
    state: State = augrc.metric.define(
        loss, confidence, weight=weight, convention="trapezoid_predicted"
    )
    return state


@at_coverage(direction="minimize")
def aurc_at(items: Items, coverage: float, convention: str) -> State:
    """AURC over the coverages up to a bound only: `aurc_at(0.5)` is the metric `aurc_at_0.50`.

    The area ends at min(coverage, Cmax); the last chord is cut by linear interpolation. If Cmax is
    below the bound, the area covers less than the bound: report coverage with it.

    Returns:
        0.0 if nothing is predicted, or null among predicted items. Null if items are left out and
        none remains to rank.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.aurc_at(0.75)).item()
        0.03125
    """
    return _until(aurc_until(coverage, convention), items, convention, power=1)


@at_coverage(direction="minimize")
def augrc_at(items: Items, coverage: float, convention: str) -> State:
    """AUGRC over the coverages up to a bound only; see `aurc_at`.

    Returns:
        0.0 or null in the same cases as `aurc_at`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 1.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.augrc_at(0.25)).item()
        0.03125
    """
    return _until(augrc_until(coverage, convention), items, convention, power=2)


def aurc_until(bound: float | pl.Expr, convention: str) -> First:
    """Area under selective risk up to a coverage, times the number it is a share of."""
    slope = (RISK - RISK_BEFORE) / ACCEPTED
    return _chords_until(bound, convention, CHORDS, RISK_BEFORE, slope)


def augrc_until(bound: float | pl.Expr, convention: str) -> First:
    """Area under joint risk up to a coverage, times the square of the number it is a share of."""
    slope = (at.loss - before.loss) / ACCEPTED
    return _chords_until(bound, convention, GENERALIZED_CHORDS, before.loss, slope)


def _chords_until(
    bound: float | pl.Expr, convention: str, chords: pl.Expr, height: pl.Expr, slope: pl.Expr
) -> First:
    """Complete chords before the bound, and the left part of the chord that crosses it."""
    width = bound * accepted_of(convention) - before.mass
    part = width * (height + slope * width / 2)
    return First(coverage_at(convention), bound, part, earlier=chords)


def _until(area: First, items: Items, convention: str, power: int) -> State:
    def finish(t: Totals) -> pl.Expr:
        if convention == "trapezoid_total":
            return zero_if_abstained(t, t.area / t.items**power)
        return ratio(t.area, t.mass**power)

    return items.state(items.axis(firsts={"area": area}), finish=finish)
