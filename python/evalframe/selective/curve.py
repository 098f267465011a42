"""The risk-coverage state: what all selective metrics are made of.

Accept the items whose confidence is at least a threshold. With N items in all, of which the
accepted ones number m and lose L together,

    coverage = m / N,   selective risk = L / m,   generalized risk = L / N.

An item whose loss is null is an abstention: it counts in N and is never accepted. Items of equal
confidence enter together, so that no value depends on the order of rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.special import harmonic_increase
from evalframe.core.state import Axis, State, Totals, at, before, own

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalframe.core.state import First

TINY = 1e-300
"""Added to a denominator, it changes nothing but makes the quotient of two zeros 0."""

RISK = at.loss / (at.mass + TINY)
RISK_BEFORE = pl.when(before.mass > 0).then(before.loss / (before.mass + TINY)).otherwise(RISK)
ACCEPTED = at.mass - before.mass


def valid_item(loss: pl.Expr, confidence: pl.Expr | None) -> pl.Expr:
    """Whether an item is usable: its loss is not NaN, and if it has a loss it has a confidence."""
    usable = loss.is_nan().fill_null(value=False).not_()
    if confidence is None:
        return usable
    return usable & (loss.is_null() | confidence.is_not_nan().fill_null(value=False))


def by_confidence(
    loss: pl.Expr,
    confidence: pl.Expr,
    weight: pl.Expr,
    *,
    finish: Callable[[Totals], pl.Expr],
    terms: Mapping[str, pl.Expr] | None = None,
    maxima: Mapping[str, pl.Expr] | None = None,
    firsts: Mapping[str, First] | None = None,
    hull: tuple[pl.Expr, pl.Expr] | None = None,
) -> State:
    """The state of a metric of the risk-coverage curve."""
    axis = confidence_axis(loss, confidence, weight, terms or {}, hull=hull)
    return State(
        sums={"items": weight},
        axes=(replace(axis, maxima=maxima or {}, firsts=firsts or {}),),
        finish=finish,
        valid=valid_item(loss, confidence),
    )


def confidence_axis(
    loss: pl.Expr,
    confidence: pl.Expr,
    weight: pl.Expr,
    terms: Mapping[str, pl.Expr],
    *,
    hull: tuple[pl.Expr, pl.Expr] | None = None,
    centre: tuple[str, str] | None = None,
) -> Axis:
    """Mass and loss of the predicted items, from the most confident down."""
    return Axis(
        level=confidence,
        where=loss.is_not_null(),
        sums={"mass": pl.when(loss.is_not_null()).then(weight), "loss": weight * loss},
        terms=terms,
        descending=True,
        hull=hull,
        centre=centre,
    )


FIRST_RISK = pl.when((before.mass == 0) & (at.mass > 0)).then(RISK).otherwise(0.0)
"""Term: the selective risk of the first plateau, which every curve starts with."""

CHORDS = ACCEPTED * (RISK + RISK_BEFORE) / 2
"""Term: the trapezoid under selective risk between two working points, times N."""

GENERALIZED_CHORDS = ACCEPTED * (at.loss + before.loss) / 2
"""Term: the trapezoid under generalized risk between two working points, times N squared."""


def per_item_risks() -> pl.Expr:
    """Term: the selective risks at every single item of a plateau, added up.

    Within a plateau the items come in random order, so that the running loss grows by their mean
    at each; the sum of (running loss / running mass) is then a difference of harmonic numbers.
    """
    mean = own.loss / (own.mass + TINY)
    steps = harmonic_increase(before.mass, at.mass)
    return own.loss + (before.loss - before.mass * mean) * steps


def zero_if_empty(value: pl.Expr, denominator: pl.Expr) -> pl.Expr:
    """A quotient whose empty case is the documented 0: the area over no coverage at all."""
    return pl.when(denominator > 0).then(value / denominator).otherwise(0.0)
