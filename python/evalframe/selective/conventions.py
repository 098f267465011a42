"""The published meanings of an area under the risk-coverage curve, and of its oracle.

A convention is a height that is added up over plateaus and what is made of the sum. Each has a
form for the actual curve, whose plateaus are crossed as the convention says, and one for the
oracle, which accepts the items one by one in the order of their losses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.state import at, before, own, ratio, total
from evalframe.selective.curve import (
    CHORDS,
    FIRST_RISK,
    GENERALIZED_CHORDS,
    RISK,
    per_item_risks,
    zero_if_abstained,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalframe.core.state import Totals

Convention: TypeAlias = Literal[
    "trapezoid_total",
    "trapezoid_predicted",
    "trapezoid_per_item_renorm",
    "rectangle_per_item",
    "population",
]
CoverageConvention: TypeAlias = Literal["trapezoid_total", "trapezoid_predicted"]


class Sums(NamedTuple):
    """What a finish is made of.

    Attributes:
        height: The heights, added up over the plateaus.
        first: The risk at the first plateau.
        last: The risk at the last.
        mass: Number of predicted items.
        items: Number of items.
    """

    height: pl.Expr
    first: pl.Expr
    last: pl.Expr
    mass: pl.Expr
    items: pl.Expr


class Rule(NamedTuple):
    """One convention.

    Attributes:
        height: The height of a plateau.
        area: The area from the heights added up.
        begins: Whether the area needs the risk at the first plateau.
        of_all: Whether coverage is a share of all items, so that the area is 0 if all abstain.
    """

    height: pl.Expr
    area: Callable[[Sums], pl.Expr]
    begins: bool = False
    of_all: bool = False

    def terms(self, height: str, first: str) -> dict[str, pl.Expr]:
        """The terms of the rule under names of the metric's own."""
        return {height: self.height} | ({first: FIRST_RISK} if self.begins else {})

    def of(self, t: Totals, height: str, first: str, *, centred: bool = False) -> pl.Expr:
        """The area from a finish's totals; about the mean loss the last risk is 0."""
        last = pl.lit(0.0) if centred else t.loss / t.mass
        begin = getattr(t, first) if self.begins else last
        area = self.area(Sums(getattr(t, height), begin, last, t.mass, t.items))
        return zero_if_abstained(t, area) if self.of_all else area


_RISKS = per_item_risks()
_LOSSES = before.loss * own.mass + own.loss * (own.mass + 1) / 2


def _per_item_trapezoid(s: Sums) -> pl.Expr:
    return pl.when(s.mass > 1).then((s.height - (s.first + s.last) / 2) / (s.mass - 1))


def _per_item_loss_trapezoid(s: Sums) -> pl.Expr:
    return _per_item_trapezoid(s._replace(last=s.last * s.mass)) / s.mass


_AURC = {
    "trapezoid_total": Rule(CHORDS, lambda s: s.height / s.items, of_all=True),
    "trapezoid_predicted": Rule(CHORDS, lambda s: ratio(s.height, s.mass)),
    "trapezoid_per_item_renorm": Rule(_RISKS, _per_item_trapezoid, begins=True),
    "rectangle_per_item": Rule(_RISKS, lambda s: ratio(s.height, s.mass)),
    "population": Rule((at.mass - before.mass) * RISK, lambda s: ratio(s.height, s.mass)),
}


def _oracle_trapezoid(s: Sums) -> pl.Expr:
    return s.height + (s.first - s.last) / 2


_AURC_ORACLE = {
    "trapezoid_total": Rule(
        _RISKS,
        lambda s: _oracle_trapezoid(s) / s.items,
        begins=True,
        of_all=True,
    ),
    "trapezoid_predicted": Rule(_RISKS, lambda s: ratio(_oracle_trapezoid(s), s.mass), begins=True),
    "trapezoid_per_item_renorm": _AURC["trapezoid_per_item_renorm"],
    "rectangle_per_item": _AURC["rectangle_per_item"],
    "population": _AURC["rectangle_per_item"],
}

_AUGRC = {
    "trapezoid_total": Rule(GENERALIZED_CHORDS, lambda s: s.height / s.items**2, of_all=True),
    "trapezoid_predicted": Rule(GENERALIZED_CHORDS, lambda s: ratio(s.height, s.mass**2)),
    "trapezoid_per_item_renorm": Rule(_LOSSES, _per_item_loss_trapezoid, begins=True),
    "rectangle_per_item": Rule(_LOSSES, lambda s: ratio(s.height, s.mass**2)),
    "population": Rule(GENERALIZED_CHORDS, lambda s: ratio(s.height, s.mass**2)),
}


def aurc_rule(convention: str) -> Rule:
    """AURC in this convention.

    Raises:
        ParameterError: There is no such convention.
    """
    return _of(_AURC, convention)


def aurc_oracle_rule(convention: str) -> Rule:
    """AURC of the oracle in this convention.

    Raises:
        ParameterError: There is no such convention.
    """
    return _of(_AURC_ORACLE, convention)


def augrc_rule(convention: str) -> Rule:
    """AUGRC in this convention; its oracle's has the same form, since chords are straight.

    Raises:
        ParameterError: There is no such convention.
    """
    return _of(_AUGRC, convention)


def accepted_of(convention: str) -> pl.Expr:
    """What coverage is a share of, within terms: all items, or the predicted ones.

    Args:
        convention: `trapezoid_total` or `trapezoid_predicted`.

    Raises:
        ParameterError: The metric has no form in this convention.
    """
    if convention == "trapezoid_total":
        return total.items
    if convention == "trapezoid_predicted":
        return total.mass
    known = ", ".join(get_args(CoverageConvention))
    raise ParameterError(
        f"this metric has no form in convention {convention!r}, which walks item by item; "
        f"known: {known}"
    )


def coverages(convention: str) -> tuple[pl.Expr, pl.Expr]:
    """Coverage at a working point and at the one before, within terms."""
    whole = accepted_of(convention)
    return at.mass / whole, before.mass / whole


def _of(rules: Mapping[str, Rule], convention: str) -> Rule:
    if convention not in rules:
        raise ParameterError(f"unknown convention {convention!r}; known: {', '.join(rules)}")
    return rules[convention]
