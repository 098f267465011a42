"""Areas under the risk-coverage curves, whole and truncated, in every published convention."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsFloat

from evalframe.core.errors import ParameterError
from evalframe.core.metric import metric
from evalframe.core.state import First, at, before, ratio
from evalframe.core.variants import PresetMetric, preset
from evalframe.selective.conventions import (
    Rule,
    accepted_of,
    augrc_rule,
    aurc_rule,
    coverages,
)
from evalframe.selective.curve import (
    ACCEPTED,
    CHORDS,
    GENERALIZED_CHORDS,
    RISK,
    RISK_BEFORE,
    by_confidence,
    zero_if_abstained,
)

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.state import State, Totals
    from evalframe.core.typing import IntoExpr, Role
    from evalframe.selective.conventions import Convention, CoverageConvention


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def aurc(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """Area under the risk-coverage curve: mean loss of the accepted items, over all coverages.

    Ties enter together, and no value depends on row order: conventions that walk item by item
    take the expectation over random order within ties. With losses in [0, 1] the area is too.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale. Rows with a loss and without a
            confidence (null or NaN) are left out and counted as missing.
        weight: How often each row counts (a frequency; per-item conventions take it literally).
        convention: `trapezoid_total` (default, as it keeps abstentions in the denominator and is
            what this package's bootstrap reproduces): trapezoids over [0, Cmax], starting at the
            first working point's risk, coverage relative to all items; ai-psychiatrist.
            `trapezoid_predicted`: the same among predicted items only; fd-shifts.
            `trapezoid_per_item_renorm`: trapezoids over single items, first to last, stretched by
            n / (n - 1); torch-uncertainty. `rectangle_per_item`: mean over k of the risk of the
            k most confident; Geifman & El-Yaniv. `population`: mean over items of the risk at
            the item's own confidence as threshold; Traub et al.

    Returns:
        Float64. `trapezoid_total` gives 0.0 where nothing is predicted (an area over no
        coverage, as its source does); the others give null there, `trapezoid_per_item_renorm`
        also for a single item. All give null where items are left out and none remains to rank.

    Raises:
        ParameterError: The convention is unknown.

    References:
        Geifman & El-Yaniv (2017), Selective classification for deep neural networks; Traub et al.
        (2024), Overcoming common flaws in the evaluation of selective classification systems.
        Values match ai-psychiatrist 36e9fba, fd-shifts c4467ae and torch-uncertainty 8769bc8.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame(
        ...     {"loss": [0, 1, 0, 1, None], "confidence": [0.9, 0.8, 0.8, 0.4, 0.1]}
        ... )
        >>> items.select(
        ...     ef.aurc(), ef.aurc(convention="trapezoid_predicted").alias("predicted")
        ... )
        shape: (1, 2)
        ┌──────┬───────────┐
        │ aurc ┆ predicted │
        │ ---  ┆ ---       │
        │ f64  ┆ f64       │
        ╞══════╪═══════════╡
        │ 0.15 ┆ 0.1875    │
        └──────┴───────────┘
    """
    return _area(aurc_rule(convention), loss, confidence, weight)


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def augrc(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    convention: Convention = "trapezoid_total",
) -> State:
    """Area under the generalized-risk-coverage curve: joint risk of accepting and being wrong.

    For binary losses and `trapezoid_predicted` it equals
    (1 - AUROC) acc (1 - acc) + (1 - acc)^2 / 2 exactly, ties included. With losses in [0, 1] the
    area lies in [0, 1/2].

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: As for `aurc`; `population` is the same number as `trapezoid_predicted`.

    Returns:
        Float64, undefined in the same cases as `aurc`.

    Raises:
        ParameterError: The convention is unknown.

    References:
        Traub et al. (2024), Overcoming common flaws in the evaluation of selective classification
        systems. Values match the programs named at `aurc`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame(
        ...     {"loss": [0, 1, 0, 1, None], "confidence": [0.9, 0.8, 0.8, 0.4, 0.1]}
        ... )
        >>> items.select(ef.augrc()).item()
        0.1
    """
    return _area(augrc_rule(convention), loss, confidence, weight)


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def aurc_normalised(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None
) -> State:
    """AURC divided by Cmax: the mean selective risk over the coverages that are reached.

    It does not reward abstention as the area itself does, and equals `aurc` in the convention
    `trapezoid_predicted`.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.

    Returns:
        Float64, null where nothing is predicted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, None], "confidence": [0.9, 0.8]})
        >>> items.select(ef.aurc(), ef.aurc_normalised()).row(0)
        (0.5, 1.0)
    """
    return _area(aurc_rule("trapezoid_predicted"), loss, confidence, weight)


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def augrc_normalised(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None
) -> State:
    """AUGRC divided by the square of Cmax, its scale-free form.

    Equals `augrc` in the convention `trapezoid_predicted`.

    Args:
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.

    Returns:
        Float64, null where nothing is predicted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, None], "confidence": [0.9, 0.8]})
        >>> items.select(ef.augrc(), ef.augrc_normalised()).row(0)
        (0.125, 0.5)
    """
    return _area(augrc_rule("trapezoid_predicted"), loss, confidence, weight)


def aurc_at(
    coverage: float,
    loss: IntoExpr = "loss",
    confidence: IntoExpr = "confidence",
    *,
    weight: IntoExpr | None = None,
    convention: CoverageConvention = "trapezoid_total",
) -> PresetMetric:
    """AURC over the coverages up to a bound only: `aurc_at(0.5)` is the metric `aurc_at_0.50`.

    The area ends at min(coverage, Cmax), the last chord cut by linear interpolation. Where Cmax
    is below the bound, the area covers less than was asked for: report coverage beside it.

    Args:
        coverage: Upper end of the area, in (0, 1].
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: Whether coverage is a share of all items (`trapezoid_total`) or of the
            predicted ones (`trapezoid_predicted`).

    Returns:
        The metric: an expression, which called with other columns is that of those; where nothing
        is predicted 0.0, or null among predicted items. Null where items are left out and none
        remains to rank.

    Raises:
        ParameterError: The coverage lies outside (0, 1].

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.aurc_at(0.75))
        shape: (1, 1)
        ┌──────────────┐
        │ aurc_at_0.75 │
        │ ---          │
        │ f64          │
        ╞══════════════╡
        │ 0.03125      │
        └──────────────┘
    """
    fraction("coverage", coverage)
    return preset(
        _truncated_aurc,
        loss,
        confidence,
        weight=weight,
        coverage=float(coverage),
        convention=convention,
    )


def augrc_at(
    coverage: float,
    loss: IntoExpr = "loss",
    confidence: IntoExpr = "confidence",
    *,
    weight: IntoExpr | None = None,
    convention: CoverageConvention = "trapezoid_total",
) -> PresetMetric:
    """AUGRC over the coverages up to a bound only; see `aurc_at`.

    Args:
        coverage: Upper end of the area, in (0, 1].
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        weight: How often each row counts.
        convention: Whether coverage is a share of all items (`trapezoid_total`) or of the
            predicted ones (`trapezoid_predicted`).

    Returns:
        The metric: an expression, which called with other columns is that of those; where nothing
        is predicted 0.0, or null among predicted items. Null where items are left out and none
        remains to rank.

    Raises:
        ParameterError: The coverage lies outside (0, 1].

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [1.0, 1.0], "confidence": [0.9, 0.8]})
        >>> items.select(ef.augrc_at(0.25)).item()
        0.03125
    """
    fraction("coverage", coverage)
    return preset(
        _truncated_augrc,
        loss,
        confidence,
        weight=weight,
        coverage=float(coverage),
        convention=convention,
    )


def fraction(name: str, value: float) -> float:
    """The value if it lies in (0, 1].

    Raises:
        ParameterError: It does not (NaN included).
    """
    if isinstance(value, bool) or not isinstance(value, SupportsFloat) or not 0 < value <= 1:
        raise ParameterError(
            f"{name} must lie in (0, 1], got {value!r}; 0.5 means half of all items"
        )
    return float(value)


def _area(rule: Rule, loss: pl.Expr, confidence: pl.Expr, weight: pl.Expr) -> State:
    return by_confidence(
        loss,
        confidence,
        weight,
        terms=rule.terms("height", "first"),
        finish=lambda t: rule.of(t, "height", "first"),
    )


@metric(
    name="aurc_at",
    family="selective",
    direction="minimize",
    range=(0.0, float("inf")),
    label="aurc_at_{coverage}",
)
def _truncated_aurc(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    coverage: float,
    convention: CoverageConvention = "trapezoid_total",
) -> State:
    """AURC over the coverages up to a bound only."""
    area = aurc_until(fraction("coverage", coverage), convention)
    return _until(area, loss, confidence, weight, convention, power=1)


@metric(
    name="augrc_at",
    family="selective",
    direction="minimize",
    range=(0.0, float("inf")),
    label="augrc_at_{coverage}",
)
def _truncated_augrc(
    loss: Role = "loss",
    confidence: Role = "confidence",
    *,
    weight: Role = None,
    coverage: float,
    convention: CoverageConvention = "trapezoid_total",
) -> State:
    """AUGRC over the coverages up to a bound only."""
    area = augrc_until(fraction("coverage", coverage), convention)
    return _until(area, loss, confidence, weight, convention, power=2)


def aurc_until(bound: float | pl.Expr, convention: str) -> First:
    """The area under selective risk up to a coverage, times what coverage is a share of.

    Args:
        bound: The coverage: a number, or an expression over totals.
        convention: What coverage is a share of.
    """
    slope = (RISK - RISK_BEFORE) / ACCEPTED
    return _chords_until(bound, convention, CHORDS, RISK_BEFORE, slope)


def augrc_until(bound: float | pl.Expr, convention: str) -> First:
    """The area under joint risk up to a coverage, times the square of what that is a share of."""
    slope = (at.loss - before.loss) / ACCEPTED
    return _chords_until(bound, convention, GENERALIZED_CHORDS, before.loss, slope)


def _chords_until(
    bound: float | pl.Expr, convention: str, chords: pl.Expr, height: pl.Expr, slope: pl.Expr
) -> First:
    """Whole chords, and of the one over the bound the part to its left."""
    coverage, _ = coverages(convention)
    kept = bound * accepted_of(convention) - before.mass
    return First(coverage, bound, kept * (height + slope * kept / 2), earlier=chords)


def _until(
    area: First,
    loss: pl.Expr,
    confidence: pl.Expr,
    weight: pl.Expr,
    convention: str,
    power: int,
) -> State:
    def finish(t: Totals) -> pl.Expr:
        if convention == "trapezoid_total":
            return zero_if_abstained(t, t.area / t.items**power)
        return ratio(t.area, t.mass**power)

    return by_confidence(loss, confidence, weight, firsts={"area": area}, finish=finish)
