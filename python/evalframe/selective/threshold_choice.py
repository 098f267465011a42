"""Thresholds of confidence for targets of risk and coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.metric import Metric, lookup, metric
from evalframe.core.state import State, at, level
from evalframe.core.typing import By, Frame, IntoExpr, Role
from evalframe.core.variants import PresetMetric, preset
from evalframe.evaluation import evaluate
from evalframe.selective.conventions import Items, counted, is_negative, refusing
from evalframe.selective.working_points import at_coverage, at_plateau, risk_bound, within_risk

THRESHOLDS = ("target", "bound", "threshold", "coverage", "risk", "n", "n_missing")
"""Columns of a table of thresholds, after the group keys."""

_NUMBER, _COLUMN = ":number", ":column"


@at_coverage(direction="none", range=(float("-inf"), float("inf")))
def threshold_at_coverage(items: Items, coverage: float, convention: str) -> State:
    """The confidence from which on to accept so that a share of all items is accepted.

    The highest threshold whose coverage is at least the bound: that of the plateau whose risk
    `risk_at(coverage)` is. Accept the items whose confidence is at least the threshold.

    Returns:
        In units of the confidence; null if Cmax is below the bound.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 1.0, 0.0], "confidence": [0.9, 0.8, 0.7]})
        >>> items.select(ef.threshold_at_coverage(0.5)).item()
        0.8
    """
    return at_plateau(items, level, coverage, convention)


def threshold_at_risk(
    risk: float,
    loss: IntoExpr = "loss",
    confidence: IntoExpr = "confidence",
    *,
    weight: IntoExpr | None = None,
) -> PresetMetric:
    """The confidence from which on to accept so that the selective risk is at most a bound.

    The lowest threshold that keeps to the bound, with the largest coverage, which is
    `coverage_at_risk(risk)`. Accept the items whose confidence is at least the threshold.

    **No guarantee.** The risk is that of the sample on which the threshold was chosen; on other
    items it can be higher, the more so the fewer items are accepted. Choose on one sample and
    report the risk on another.

    Args:
        risk: Bound on the mean loss of the accepted items, at least 0, in units of the loss.
        loss: As for `risk_at`.
        confidence: As for `risk_at`.
        weight: As for `risk_at`.

    Returns:
        The metric: an expression, and a function of other columns; in units of the confidence,
        null if no threshold keeps to the bound.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0.0, 0.0, 1.0, 0.0], "confidence": [0.9, 0.8, 0.7, 0.6]})
        >>> items.select(ef.threshold_at_risk(0.1)).item()
        0.8
    """
    risk_bound(risk)
    return preset(_threshold_at_risk, loss, confidence, weight=weight, risk=float(risk))


@like_input
def thresholds(
    frame: Frame,
    loss: IntoExpr = "loss",
    confidence: IntoExpr = "confidence",
    *,
    risk: float | Sequence[float] = (),
    coverage: float | Sequence[float] = (),
    by: By = None,
    weight: IntoExpr | None = None,
) -> pl.LazyFrame:
    """The threshold for each target, with its coverage and risk.

    Accept the items whose confidence is at least the threshold. For a risk it is
    `ef.threshold_at_risk`, for a coverage `ef.threshold_at_coverage`. Neither guarantees the risk
    on other items; see `ef.threshold_at_risk`.

    Args:
        frame: Items, one row each.
        loss: Loss of each item, at least 0; null is an abstention.
        confidence: Accepted from the highest down; any scale.
        risk: Bounds on the mean loss of the accepted items, each at least 0.
        coverage: Shares of all items to accept, each in (0, 1].
        by: Group keys: a threshold per group.
        weight: Weight of each row.

    Returns:
        by..., then `target` (`risk` or `coverage`), `bound`, `threshold`, `coverage` (accepted
        share of all items) and `risk` (mean loss of the accepted), Float64, null if no threshold
        reaches the target, `n` (rows used, abstentions included) and `n_missing` (rows left out).
        Sorted by the keys, then risks before coverages, in the order of the arguments.

    Raises:
        ContractError: On collect: a loss is negative.
        ParameterError: There is no target.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"loss": [0, 0, 1, 0], "confidence": [0.9, 0.8, 0.7, 0.6]})
        >>> ef.selective.thresholds(items, risk=[0.1, 0.25]).drop("n", "n_missing").rows()
        [('risk', 0.1, 0.8, 0.5, 0.0), ('risk', 0.25, 0.6, 1.0, 0.25)]
    """
    targets = pl.DataFrame(
        [(kind, bound) for kind, bounds in _listed(risk, coverage) for bound in bounds],
        schema={"target": pl.String, "bound": pl.Float64},
        orient="row",
    ).with_row_index(_NUMBER)
    if targets.is_empty():
        raise ParameterError("name a target, such as risk=0.1 or coverage=[0.5, 0.8]")
    keys = tables.Keys.of(by, taken=THRESHOLDS)
    read = lookup("aurc").bind((loss, confidence), weight=weight, name="thresholds")
    lazy = tables.lazy(frame)
    tables.check_columns(lazy, [read], *keys.exprs)
    requested = [(0, _NEGATIVE, "negative", {})] + [
        (number, metric, column, {kind: bound})
        for number, kind, bound in targets.iter_rows()
        for column, metric in _metrics(kind).items()
    ]
    long = evaluate(
        lazy,
        [
            metric.bind((loss, confidence), weight=weight, params=params, name=f"{number} {column}")
            for number, metric, column, params in requested
        ],
        by=by,
    )
    parts = pl.col("metric").str.splitn(" ", 2).struct
    columns = ("threshold", "coverage", "risk", "negative")
    is_of = {name: pl.col(_COLUMN) == name for name in columns}
    wide = (
        long.with_columns(
            parts.field("field_0").cast(pl.UInt32).alias(_NUMBER),
            parts.field("field_1").alias(_COLUMN),
        )
        .group_by(*keys.names, _NUMBER)
        .agg(
            *(pl.col("estimate").filter(chosen).first().alias(n) for n, chosen in is_of.items()),
            pl.col("n", "n_missing").filter(is_of["threshold"]).first(),
        )
    )
    return (
        refusing(wide, "negative", "thresholds")
        .join(targets.lazy(), on=_NUMBER)
        .sort(*keys.names, _NUMBER)
        .select(*keys.names, *THRESHOLDS)
    )


def _listed(
    risk: float | Sequence[float], coverage: float | Sequence[float]
) -> Iterator[tuple[str, list[float]]]:
    for kind, value in (("risk", risk), ("coverage", coverage)):
        try:
            listed = [value] if isinstance(value, int | float) else list(value)
            yield kind, [each + 0.0 for each in listed]
        except TypeError as error:
            message = f"{kind} must be a number or a list of numbers, got {value!r}"
            raise ParameterError(message) from error


def _metrics(kind: str) -> dict[str, Metric]:
    """The metrics of a target, by column of the result."""
    if kind == "risk":
        return {
            "threshold": lookup("threshold_at_risk"),
            "coverage": lookup("coverage_at_risk"),
            "risk": _RISK,
        }
    return {
        "threshold": lookup("threshold_at_coverage"),
        "coverage": lookup("achieved_coverage_at"),
        "risk": lookup("risk_at"),
    }


def _risk(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None, risk: float
) -> State:
    """Selective risk at the largest coverage that keeps to a bound on it."""
    last = {"lost": at.loss, "accepted": at.mass}
    items = Items(loss, confidence, weight)
    return within_risk(items, risk, last, lambda t: t.lost / t.accepted)


def _negative(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None
) -> State:
    """Number of negative losses."""
    return State(
        sums={"items": weight},
        finish=lambda t: t.negative,
        valid=Items(loss, confidence, weight).valid,
        left_out={"negative": counted(is_negative(loss), weight)},
    )


@metric(
    name="threshold_at_risk",
    family="selective",
    direction="none",
    range=(float("-inf"), float("inf")),
    label="threshold_at_risk_{risk}",
)
def _threshold_at_risk(
    loss: Role = "loss", confidence: Role = "confidence", *, weight: Role = None, risk: float
) -> State:
    """The confidence from which on to accept so that the selective risk is at most a bound."""
    items = Items(loss, confidence, weight)
    return within_risk(items, risk, {"below": -level}, lambda t: -t.below)


# Not registered, since they serve here only.
_RISK = replace(lookup("coverage_at_risk"), define=_risk, params={"risk": 0.0}, checked=set())
_NEGATIVE = replace(lookup("aurc"), define=_negative, params={}, checked=set())
