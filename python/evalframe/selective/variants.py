"""Confidence variants as data: signals, demands on their values, formulas.

Names are those of ai-psychiatrist, so its command lines work here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Demand:
    """A demand on values: words that follow the column's name, and a predicate."""

    words: str
    holds: Callable[[pl.Expr], pl.Expr]


ANY = Demand("is any number", lambda x: pl.lit(value=True))
FINITE = Demand("is finite", lambda x: x.is_finite())
NOT_INFINITE = Demand("is not infinite", lambda x: ~x.is_infinite())
WHOLE = Demand("is a whole number", lambda x: x.is_finite() & (x == x.floor()))
OTHER_THAN_MINUS_ONE = Demand("is a number other than -1", lambda x: (x != -1) & x.is_not_nan())
FINITE_EXP = Demand("has a finite exponential", lambda x: x.exp().is_finite())


@dataclass(frozen=True, slots=True)
class Requirement:
    """A column that a variant reads.

    A null in a signal column is a null of the record; NaN means that the record lacks the key, or
    that its value is not a number.

    Attributes:
        column: Its name.
        null: The value that a null stands for; None if a null is an error.
        absent: The value that a NaN stands for; None if a NaN is an error.
        demand: The demand on all other values.
    """

    column: str
    null: float | None = None
    absent: float | None = None
    demand: Demand = FINITE

    @property
    def value(self) -> pl.Expr:
        """The values for formulas: with defaults, null where the demand is not met."""
        values = pl.col(self.column).cast(pl.Float64)
        values = values if self.absent is None else values.fill_nan(self.absent)
        filled = values if self.null is None else values.fill_null(self.null)
        return pl.when(self.demand.holds(filled)).then(filled)


CALIBRATED = "calibrated"
"""The variant of a calibration's features, and the key of what each of them must be."""

REQUIREMENTS: Mapping[str, Requirement] = {
    need.column: need
    for need in (
        Requirement("llm_evidence_count"),
        Requirement("retrieval_similarity_mean", null=0.0),
        Requirement("retrieval_similarity_max", null=0.0),
        # 3 is the middle of the stated scale of 1 to 5.
        Requirement("verbalized_confidence", null=3.0, demand=WHOLE),
        Requirement("token_msp"),
        Requirement("token_pe", demand=OTHER_THAN_MINUS_ONE),
        Requirement("token_energy", demand=FINITE_EXP),
        Requirement("consistency_modal_confidence"),
        Requirement("consistency_score_std", demand=OTHER_THAN_MINUS_ONE),
        Requirement(CALIBRATED, demand=NOT_INFINITE),
    )
}
"""Requirements of each signal, for every variant that reads it."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A formula of signals, which are the columns in the order of its arguments."""

    name: str
    formula: Callable[..., pl.Expr]
    signals: tuple[str, ...]

    @property
    def signal(self) -> str | None:
        """The signal that the variant equals, perhaps clipped to [0, 1]; None for a formula."""
        return self.signals[0] if self.formula in (_unchanged, clip01) else None

    def requirements(self, registry: Mapping[str, Requirement]) -> tuple[Requirement, ...]:
        """The requirements of its columns, each once."""
        return tuple(registry[signal] for signal in dict.fromkeys(self.signals))

    def expression(self, registry: Mapping[str, Requirement]) -> pl.Expr:
        """The confidence, null where a signal is invalid."""
        return self.formula(*(registry[signal].value for signal in self.signals))


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A calibrated variant; without a `base` the calibration reads its own features."""

    name: str
    base: Variant | None


def clip01(x: pl.Expr) -> pl.Expr:
    """The value clipped to [0, 1]."""
    # Invalid signals are null here, never NaN; the original's NaN becomes full confidence.
    return x.clip(0.0, 1.0).fill_nan(1.0)


def _unchanged(signal: pl.Expr) -> pl.Expr:
    return signal


def _evidence(count: pl.Expr) -> pl.Expr:
    return clip01(count.clip(upper_bound=3.0) / 3)


def _stated(verbalized: pl.Expr) -> pl.Expr:
    return clip01((verbalized - 1) / 4)


def _inverse(spread: pl.Expr) -> pl.Expr:
    return 1 / (1 + spread)


def _exponential(energy: pl.Expr) -> pl.Expr:
    return clip01(energy.exp())


def _evidence_similarity(count: pl.Expr, similarity: pl.Expr) -> pl.Expr:
    return 0.5 * _evidence(count) + 0.5 * clip01(similarity)


def _three(confidence: pl.Expr, count: pl.Expr, similarity: pl.Expr) -> pl.Expr:
    return clip01(0.4 * confidence + 0.3 * _evidence(count) + 0.3 * clip01(similarity))


def _hybrid_verbalized(verbalized: pl.Expr, count: pl.Expr, similarity: pl.Expr) -> pl.Expr:
    return _three(_stated(verbalized), count, similarity)


def _hybrid_consistency(modal: pl.Expr, count: pl.Expr, similarity: pl.Expr) -> pl.Expr:
    return _three(clip01(modal), count, similarity)


_COUNT, _SIMILARITY = "llm_evidence_count", "retrieval_similarity_mean"
_STATED, _MODAL = "verbalized_confidence", "consistency_modal_confidence"

_TABLE = (
    Variant("llm", _unchanged, (_COUNT,)),
    Variant("total_evidence", _unchanged, (_COUNT,)),
    Variant("retrieval_similarity_mean", _unchanged, (_SIMILARITY,)),
    Variant("retrieval_similarity_max", _unchanged, ("retrieval_similarity_max",)),
    Variant("hybrid_evidence_similarity", _evidence_similarity, (_COUNT, _SIMILARITY)),
    Variant("verbalized", _stated, (_STATED,)),
    Variant("hybrid_verbalized", _hybrid_verbalized, (_STATED, _COUNT, _SIMILARITY)),
    Variant("token_msp", clip01, ("token_msp",)),
    Variant("token_pe", _inverse, ("token_pe",)),
    Variant("token_energy", _exponential, ("token_energy",)),
    Variant("consistency", clip01, (_MODAL,)),
    Variant("consistency_inverse_std", _inverse, ("consistency_score_std",)),
    Variant("hybrid_consistency", _hybrid_consistency, (_MODAL, _COUNT, _SIMILARITY)),
)
BASE: Mapping[str, Variant] = {variant.name: variant for variant in _TABLE}
"""The 13 variants that are formulas of signals."""


def _average(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return (a + b) / 2


Combiner: TypeAlias = Callable[[pl.Expr, pl.Expr], pl.Expr]
COMBINERS: Mapping[str, Combiner] = {"average": _average, "product": operator.mul}

_SECONDARY, _OF_BASE = "secondary:", "calibrated:"
SECONDARY_FORM = "secondary:<a>+<b>:<average|product>"
KNOWN = (*BASE, "verbalized_calibrated", CALIBRATED, "calibrated:<name>", SECONDARY_FORM)
"""The names that `parse` accepts, and the forms of composed ones."""


def parse(name: str) -> Variant | Calibrated:
    """The variant of this name, which is case-sensitive and has no blanks."""
    # Of `secondary:<a>+<b>:<combiner>` the combiner follows the last colon, and the first plus
    # ends `a`; both a and b are among the 13.
    if not isinstance(name, str):
        raise ParameterError(f"a confidence variant is named by a string, got {name!r}")
    if name == CALIBRATED:
        return Calibrated(name, None)
    if name == "verbalized_calibrated":
        return Calibrated(name, BASE["verbalized"])
    if name.startswith(_OF_BASE):
        base = name.removeprefix(_OF_BASE)
        return Calibrated(name, _uncalibrated(base, within=name, names=(*BASE, SECONDARY_FORM)))
    return _uncalibrated(name, within=name, names=KNOWN)


def _uncalibrated(name: str, *, within: str, names: tuple[str, ...]) -> Variant:
    if name.startswith(_SECONDARY):
        return _secondary(name)
    if name not in BASE:
        raise UnknownNameError.of(_kind(name, within), name, names)
    return BASE[name]


def _secondary(name: str) -> Variant:
    pair, colon, combiner = name.removeprefix(_SECONDARY).rpartition(":")
    left, plus, right = pair.partition("+")
    if not colon or not plus:
        raise ParameterError(
            f"{name!r} is no combination of two confidence variants; write {SECONDARY_FORM}, "
            "such as secondary:token_msp+verbalized:average"
        )
    for part in (left, right):
        if part not in BASE:
            raise UnknownNameError.of(_kind(part, name), part, BASE)
    if combiner not in COMBINERS:
        raise UnknownNameError.of(f"combiner in {name!r}:", combiner, COMBINERS)
    first, second, combine = BASE[left], BASE[right], COMBINERS[combiner]
    split = len(first.signals)

    def formula(*signals: pl.Expr) -> pl.Expr:
        return combine(first.formula(*signals[:split]), second.formula(*signals[split:]))

    return Variant(name, formula, (*first.signals, *second.signals))


def _kind(part: str, name: str) -> str:
    return "confidence variant" + (f" in {name!r}:" if part != name else "")
