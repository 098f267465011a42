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

from evalframe.core.errors import ContractError
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
    """Whether an item is usable: an abstention, or a loss of at least 0 that has a confidence.

    Negative losses are not usable: an oracle and an excess are defined for losses of at least 0.
    """
    usable = loss.is_between(0.0, float("inf"))
    if confidence is not None:
        usable &= confidence.is_not_nan()
    return loss.is_null() | usable.fill_null(value=False)


def is_negative(loss: pl.Expr) -> pl.Expr:
    """Whether a loss is one that no item can have."""
    return (loss < 0.0).fill_null(value=False)


NOT_NEGATIVE = "correct it, or make it a loss: of a score in [0, 1] that is 1 - score"
"""What to do about negative losses."""


def refuse_negative(rows: pl.LazyFrame, where: str) -> None:
    """Raise where a loss in the column `loss` is negative.

    Raises:
        ContractError: One is.
    """
    count = rows.select(is_negative(pl.col("loss")).sum()).collect().item()
    if count:
        raise ContractError(_refusal(where, "loss is negative", count, NOT_NEGATIVE))


def refusing(
    levels: pl.LazyFrame,
    name: str,
    where: str,
    what: str = "loss is negative",
    remedy: str = NOT_NEGATIVE,
) -> pl.LazyFrame:
    """Sums of rows, or an error when they are collected if some rows were left out.

    Args:
        levels: An additive table.
        name: The sum that counts the rows that are refused.
        where: The function, for messages.
        what: What is wrong in these rows.
        remedy: What to do about it.
    """

    def checked(rows: pl.DataFrame) -> pl.DataFrame:
        if count := int(rows[name].sum()):
            raise ContractError(_refusal(where, what, count, remedy))
        return rows

    # Whole, since rows that are not asked for must be sound as well.
    return levels.map_batches(checked, projection_pushdown=False, predicate_pushdown=False)


def _refusal(where: str, what: str, count: int, remedy: str) -> str:
    return f"{where}: a {what} in {count:,} row{'s' * (count > 1)}; {remedy}"


def unusable(weight: pl.Expr) -> dict[str, pl.Expr]:
    """How many items are left out."""
    return {"unusable": counted(pl.lit(value=True), weight)}


def counted(rows: pl.Expr, weight: pl.Expr) -> pl.Expr:
    """One for each of these rows; a row of weight 0 is as if it were not there."""
    return (rows & (weight != 0).fill_null(value=True)).cast(pl.Float64)


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
        left_out=unusable(weight),
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


def zero_if_abstained(t: Totals, value: pl.Expr) -> pl.Expr:
    """A value that is 0 where nothing is predicted, as the area over no coverage at all is.

    Null where items were left out and none remains to be ranked: what is missing is not perfect.
    """
    return pl.when(t.mass > 0).then(value).when(t.unusable == 0).then(0.0)
