"""The risk-coverage curve as sums over plateaus, and the published conventions of its area.

Accept the items whose confidence is at least a threshold. With N items in all, of which the
accepted ones number m and lose L together,

    coverage = m / N,   selective risk = L / m,   generalized risk = L / N.

An item whose loss is null is an abstention: it is one of the N and is never accepted. Items of
equal confidence form a plateau and enter together, so no value depends on the order of rows.

The engine adds up `mass` and `loss` per plateau, sorts the plateaus, and offers each expression
three views: `own` (this plateau), `at` (up to and including it) and `before` (up to the one
before). A *term* is an expression over these views that is added up over the plateaus; the finish
makes a value of the sums. A convention of the area is therefore one term and one finish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple, SupportsFloat, TypeAlias, get_args

import polars as pl

from evalframe.core.errors import ContractError, ParameterError
from evalframe.core.special import harmonic_increase
from evalframe.core.state import Axis, First, State, Totals, at, before, own, ratio, total

Convention: TypeAlias = Literal[
    "trapezoid_total",
    "trapezoid_predicted",
    "trapezoid_per_item_renorm",
    "rectangle_per_item",
    "population",
]
CoverageConvention: TypeAlias = Literal["trapezoid_total", "trapezoid_predicted"]

NOT_NEGATIVE = "correct it, or make it a loss: of a score in [0, 1] that is 1 - score"
"""The remedy for negative losses."""

TINY = 1e-300
"""Added to a denominator, it makes the quotient of two zeros 0 and changes no other."""

RISK = at.loss / (at.mass + TINY)
RISK_BEFORE = pl.when(before.mass > 0).then(before.loss / (before.mass + TINY)).otherwise(RISK)
ACCEPTED = at.mass - before.mass

FIRST_RISK = pl.when((before.mass == 0) & (at.mass > 0)).then(RISK).otherwise(0.0)
"""Term: the selective risk of the first plateau, at which every curve starts."""

CHORDS = ACCEPTED * (RISK + RISK_BEFORE) / 2
"""Term: the trapezoid under selective risk between two working points, times N."""

GENERALIZED_CHORDS = ACCEPTED * (at.loss + before.loss) / 2
"""Term: the trapezoid under generalized risk between two working points, times N squared."""


class Items(NamedTuple):
    """Loss, confidence and weight of each item."""

    loss: pl.Expr
    confidence: pl.Expr | None
    weight: pl.Expr

    @property
    def valid(self) -> pl.Expr:
        """True for an abstention, or a loss of at least 0 that has a confidence."""
        usable = self.loss.is_between(0.0, float("inf"))
        if self.confidence is not None:
            usable &= self.confidence.is_not_nan()
        return self.loss.is_null() | usable.fill_null(value=False)

    def axis(
        self,
        terms: Mapping[str, pl.Expr] | None = None,
        *,
        hull: tuple[pl.Expr, pl.Expr] | None = None,
        centre: tuple[str, str] | None = None,
        maxima: Mapping[str, pl.Expr] | None = None,
        firsts: Mapping[str, First] | None = None,
    ) -> Axis:
        """Predicted items from the highest confidence down."""
        predicted = self.loss.is_not_null()
        return Axis(
            level=self.loss if self.confidence is None else self.confidence,
            where=predicted,
            sums={"mass": pl.when(predicted).then(self.weight), "loss": self.weight * self.loss},
            terms=terms or {},
            maxima=maxima or {},
            firsts=firsts or {},
            descending=True,
            hull=hull,
            centre=centre,
        )

    def oracle_axis(
        self, terms: Mapping[str, pl.Expr], *, centre: tuple[str, str] | None = None
    ) -> Axis:
        """Predicted items from the smallest loss up."""
        axis = self.axis(terms, centre=centre)
        return replace(axis, level=self.loss, descending=False)

    def state(self, *axes: Axis, finish: Callable[[Totals], pl.Expr]) -> State:
        """The state of a metric of items in one or several orders."""
        return State(
            sums={"items": self.weight},
            axes=axes,
            finish=finish,
            valid=self.valid,
            left_out=unusable(self.weight),
        )


def is_negative(loss: pl.Expr) -> pl.Expr:
    """True for a negative loss."""
    return (loss < 0.0).fill_null(value=False)


def unusable(weight: pl.Expr) -> dict[str, pl.Expr]:
    """The number of items that are left out, as sums over those."""
    return {"unusable": counted(pl.lit(value=True), weight)}


def counted(rows: pl.Expr, weight: pl.Expr) -> pl.Expr:
    """1 for each of these rows, except for rows of weight 0."""
    return (rows & (weight != 0).fill_null(value=True)).cast(pl.Float64)


def refuse_negative(rows: pl.LazyFrame) -> None:
    """Raise ContractError if a value of the column `loss` is negative."""
    count = rows.select(is_negative(pl.col("loss")).sum()).collect().item()
    if count:
        raise ContractError(
            _refusal("compare_at_coverage", "loss is negative", count, NOT_NEGATIVE)
        )


def refusing(
    levels: pl.LazyFrame,
    name: str,
    where: str,
    what: str = "loss is negative",
    remedy: str = NOT_NEGATIVE,
) -> pl.LazyFrame:
    """The table, which raises ContractError on collect if the sum in a column is not 0."""

    def checked(rows: pl.DataFrame) -> pl.DataFrame:
        check_none(rows, name, where, what, remedy)
        return rows

    # Without pushdown, so that rows and columns that the caller drops are checked too.
    return levels.map_batches(checked, projection_pushdown=False, predicate_pushdown=False)


def check_none(
    rows: pl.DataFrame,
    name: str,
    where: str,
    what: str = "loss is negative",
    remedy: str = NOT_NEGATIVE,
) -> None:
    """Raise ContractError if the sum in a column is not 0."""
    if count := int(rows[name].sum()):
        raise ContractError(_refusal(where, what, count, remedy))


def _refusal(where: str, what: str, count: int, remedy: str) -> str:
    return f"{where}: a {what} in {count:,} row{'s' * (count > 1)}; {remedy}"


def fraction(name: str, value: float) -> float:
    """The value; ParameterError unless it lies in (0, 1]."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat) or not 0 < value <= 1:
        raise ParameterError(
            f"{name} must lie in (0, 1], got {value!r}; 0.5 means half of all items"
        )
    return float(value)


def zero_if_abstained(t: Totals, value: pl.Expr) -> pl.Expr:
    """The value; 0 if nothing is predicted; null if items are left out and none remains."""
    return pl.when(t.mass > 0).then(value).when(t.unusable == 0).then(0.0)


class Sums(NamedTuple):
    """Sums of the curve: heights of the plateaus, first and last risk, mass, number of items."""

    height: pl.Expr
    first: pl.Expr
    last: pl.Expr
    mass: pl.Expr
    items: pl.Expr


class Rule(NamedTuple):
    """One convention: a term per plateau, and the area from the sums.

    Attributes:
        height: The term.
        area: From the sums to the area.
        begins: True if the area needs the risk at the first plateau.
        of_all: True if coverage is a share of all items, so the area is 0 if all abstain.
    """

    height: pl.Expr
    area: Callable[[Sums], pl.Expr]
    begins: bool = False
    of_all: bool = False

    def terms(self, height: str, first: str) -> dict[str, pl.Expr]:
        """The terms of the convention, under names of the metric."""
        return {height: self.height} | ({first: FIRST_RISK} if self.begins else {})

    def of(self, t: Totals, height: str, first: str, *, centred: bool = False) -> pl.Expr:
        """The area from the totals of a finish; about the mean loss the last risk is 0."""
        last = pl.lit(0.0) if centred else t.loss / t.mass
        begin = getattr(t, first) if self.begins else last
        area = self.area(Sums(getattr(t, height), begin, last, t.mass, t.items))
        return zero_if_abstained(t, area) if self.of_all else area


def _per_item_risks() -> pl.Expr:
    """Term: the expected selective risks at each item of a plateau, added up."""
    mean = own.loss / (own.mass + TINY)
    steps = harmonic_increase(before.mass, at.mass)
    return own.loss + (before.loss - before.mass * mean) * steps


_RISKS = _per_item_risks()
_LOSSES = before.loss * own.mass + own.loss * (own.mass + 1) / 2


def _per_item_trapezoid(s: Sums) -> pl.Expr:
    return pl.when(s.mass > 1).then((s.height - (s.first + s.last) / 2) / (s.mass - 1))


def _per_item_loss_trapezoid(s: Sums) -> pl.Expr:
    return _per_item_trapezoid(s._replace(last=s.last * s.mass)) / s.mass


def _oracle_trapezoid(s: Sums) -> pl.Expr:
    return s.height + (s.first - s.last) / 2


Rules: TypeAlias = Mapping[str, Rule]

AURC = {
    "trapezoid_total": Rule(CHORDS, lambda s: s.height / s.items, of_all=True),
    "trapezoid_predicted": Rule(CHORDS, lambda s: ratio(s.height, s.mass)),
    "trapezoid_per_item_renorm": Rule(_RISKS, _per_item_trapezoid, begins=True),
    "rectangle_per_item": Rule(_RISKS, lambda s: ratio(s.height, s.mass)),
    "population": Rule(ACCEPTED * RISK, lambda s: ratio(s.height, s.mass)),
}

# The oracle accepts the items one by one, so ties of its losses are crossed item by item.
AURC_ORACLE = {
    "trapezoid_total": Rule(
        _RISKS, lambda s: _oracle_trapezoid(s) / s.items, begins=True, of_all=True
    ),
    "trapezoid_predicted": Rule(_RISKS, lambda s: ratio(_oracle_trapezoid(s), s.mass), begins=True),
    "trapezoid_per_item_renorm": AURC["trapezoid_per_item_renorm"],
    "rectangle_per_item": AURC["rectangle_per_item"],
    "population": AURC["rectangle_per_item"],
}

# Generalized risk is linear within ties, so its oracle has the same form.
AUGRC = {
    "trapezoid_total": Rule(GENERALIZED_CHORDS, lambda s: s.height / s.items**2, of_all=True),
    "trapezoid_predicted": Rule(GENERALIZED_CHORDS, lambda s: ratio(s.height, s.mass**2)),
    "trapezoid_per_item_renorm": Rule(_LOSSES, _per_item_loss_trapezoid, begins=True),
    "rectangle_per_item": Rule(_LOSSES, lambda s: ratio(s.height, s.mass**2)),
    "population": Rule(GENERALIZED_CHORDS, lambda s: ratio(s.height, s.mass**2)),
}


def rule_of(rules: Rules, convention: str) -> Rule:
    """The rule of a convention."""
    if convention not in rules:
        raise ParameterError(f"unknown convention {convention!r}; known: {', '.join(rules)}")
    return rules[convention]


def accepted_of(convention: str) -> pl.Expr:
    """The number that coverage is a share of: all items, or the predicted ones."""
    if convention == "trapezoid_total":
        return total.items
    if convention == "trapezoid_predicted":
        return total.mass
    choices = ", ".join(get_args(CoverageConvention))
    raise ParameterError(
        f"this metric has no form in convention {convention!r}, which walks item by item; "
        f"known: {choices}"
    )


def coverage_at(convention: str) -> pl.Expr:
    """Coverage at a working point."""
    return at.mass / accepted_of(convention)
