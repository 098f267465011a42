"""Confidence variants as data: which signals each reads, what makes a signal good, the formula.

Names are those of ai-psychiatrist, so that its command lines carry over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalframe.core.rules import Rules


@dataclass(frozen=True, slots=True)
class Demand:
    """What a value must be.

    Args:
        words: After the column's name: "is finite".
        holds: From the values to whether they are good; it says of NaN, too, whether it is.
    """

    words: str
    holds: Callable[[pl.Expr], pl.Expr]


ANY = Demand("is any number", lambda x: pl.lit(value=True))
FINITE = Demand("is finite", lambda x: x.is_finite())
NOT_INFINITE = Demand("is not infinite", lambda x: ~x.is_infinite())
WHOLE = Demand("is a whole number", lambda x: x.is_finite() & (x == x.floor()))
OTHER_THAN_MINUS_ONE = Demand("is a number other than -1", lambda x: (x != -1) & x.is_not_nan())
NOT_MINUS_ONE = Demand("is not -1", lambda x: x != -1)
FINITE_EXP = Demand("has a finite exponential", lambda x: x.exp().is_finite())
NO_OVERFLOW = Demand(
    "has no overflowing exponential", lambda x: ~x.is_finite() | FINITE_EXP.holds(x)
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A column that a variant reads.

    In signal columns null means that the record says null; NaN that it has no such key, or
    something there that is no number. An absent `llm_evidence_count` is read as 0.0.

    Args:
        column: Its name.
        null: The value that a null stands for; None where a null is an error.
        absent: The value that a NaN stands for; None where a NaN is an error.
        demand: What the value must be otherwise.
    """

    column: str
    null: float | None = None
    absent: float | None = None
    demand: Demand = FINITE

    @property
    def value(self) -> pl.Expr:
        """The values as the formulas take them: defaults filled in, null where a rule is broken."""
        given = pl.col(self.column).cast(pl.Float64)
        filled = given if self.null is None else given.fill_null(self.null)
        return pl.when(self.demand.holds(filled)).then(filled)


# Column, what null stands for, demand by the documented rules, demand by those of the original.
# 3 is the middle of the stated scale of 1 to 5.
_SIGNAL_RULES = (
    ("llm_evidence_count", None, FINITE, ANY),
    ("retrieval_similarity_mean", 0.0, FINITE, ANY),
    ("retrieval_similarity_max", 0.0, FINITE, ANY),
    ("verbalized_confidence", 3.0, WHOLE, WHOLE),
    ("token_msp", None, FINITE, ANY),
    ("token_pe", None, OTHER_THAN_MINUS_ONE, NOT_MINUS_ONE),
    ("token_energy", None, FINITE_EXP, NO_OVERFLOW),
    ("consistency_modal_confidence", None, FINITE, ANY),
    ("consistency_score_std", None, OTHER_THAN_MINUS_ONE, NOT_MINUS_ONE),
)
REQUIREMENTS: Mapping[Rules, Mapping[str, Requirement]] = {
    "documented": {
        column: Requirement(column, null, demand=demand)
        for column, null, demand, _ in _SIGNAL_RULES
    },
    "reference": {
        column: Requirement(column, null, demand=demand)
        for column, null, _, demand in _SIGNAL_RULES
    },
}
"""What each signal must be, whichever variant reads it."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A confidence that follows from signals alone.

    Args:
        name: Its name.
        formula: From the signals, as many expressions as there are, to the confidence.
        signals: The columns it reads, in the order of the formula's arguments.
    """

    name: str
    formula: Callable[..., pl.Expr]
    signals: tuple[str, ...]

    @property
    def itself(self) -> str | None:
        """The signal that it is, at most limited to [0, 1]; None if it is a formula of others."""
        return self.signals[0] if self.formula in (_itself, clip01) else None

    def requirements(self, rules: Rules) -> tuple[Requirement, ...]:
        """What the variant reads, each column once."""
        return tuple(REQUIREMENTS[rules][signal] for signal in dict.fromkeys(self.signals))

    def expression(self, rules: Rules) -> pl.Expr:
        """The confidence, null where a signal is invalid."""
        return self.formula(*(REQUIREMENTS[rules][signal].value for signal in self.signals))


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A confidence that an artifact computes.

    Args:
        name: Its name.
        base: The variant that is calibrated; None if the artifact reads features of its own.
    """

    name: str
    base: Variant | None


def clip01(x: pl.Expr) -> pl.Expr:
    """The value limited to [0, 1]; NaN becomes 1.0, as in the original.

    No NaN gets here under the documented rules, which make invalid signals null.
    """
    return x.clip(0.0, 1.0).fill_nan(1.0)


def _itself(signal: pl.Expr) -> pl.Expr:
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
    Variant("llm", _itself, (_COUNT,)),
    Variant("total_evidence", _itself, (_COUNT,)),
    Variant("retrieval_similarity_mean", _itself, (_SIMILARITY,)),
    Variant("retrieval_similarity_max", _itself, ("retrieval_similarity_max",)),
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
"""The 13 variants that are computed from signals by a formula of their own."""


def _average(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return (a + b) / 2


def _product(a: pl.Expr, b: pl.Expr) -> pl.Expr:
    return a * b


COMBINERS: Mapping[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "average": _average,
    "product": _product,
}

_SECONDARY, _CALIBRATED = "secondary:", "calibrated:"
SECONDARY_FORM = "secondary:<a>+<b>:<average|product>"
KNOWN = (*BASE, "verbalized_calibrated", "calibrated", "calibrated:<name>", SECONDARY_FORM)
"""Every name that `parse` takes, and the forms of those that are composed."""


def parse(name: str) -> Variant | Calibrated:
    """The variant of this name; upper and lower case, and blanks, matter.

    Args:
        name: One of the 13, `verbalized_calibrated`, `calibrated`, `calibrated:<name>` or
            `secondary:<a>+<b>:<average|product>`: the combiner stands behind the last colon, `a`
            ends at the first plus, and both are among the 13.

    Raises:
        UnknownNameError: It, or a name within it, is unknown.
        ParameterError: It begins as a combination, but has no colon or no plus.

    >>> parse("secondary:token_msp+verbalized:average").signals
    ('token_msp', 'verbalized_confidence')
    >>> parse("calibrated:llm").base.name
    'llm'
    """
    if not isinstance(name, str):
        raise ParameterError(f"a confidence variant is named by a string, got {name!r}")
    if name == "calibrated":
        return Calibrated(name, None)
    if name == "verbalized_calibrated":
        return Calibrated(name, BASE["verbalized"])
    if name.startswith(_CALIBRATED):
        base = name.removeprefix(_CALIBRATED)
        return Calibrated(name, _uncalibrated(base, within=name, known=(*BASE, SECONDARY_FORM)))
    return _uncalibrated(name, within=name, known=KNOWN)


def _uncalibrated(name: str, *, within: str, known: tuple[str, ...]) -> Variant:
    if name.startswith(_SECONDARY):
        return _secondary(name)
    if name not in BASE:
        raise UnknownNameError.of(_kind(name, within), name, known)
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
    return _combined(name, BASE[left], BASE[right], COMBINERS[combiner])


def _combined(
    name: str, left: Variant, right: Variant, combine: Callable[[pl.Expr, pl.Expr], pl.Expr]
) -> Variant:
    split = len(left.signals)

    def formula(*signals: pl.Expr) -> pl.Expr:
        return combine(left.formula(*signals[:split]), right.formula(*signals[split:]))

    return Variant(name, formula, (*left.signals, *right.signals))


def _kind(part: str, whole: str) -> str:
    return "confidence variant" + (f" in {whole!r}:" if part != whole else "")
