"""Names and numbers as readers see them: made visible, cut, unique; digits that an interval needs.

Names come from data and may hold anything. They are drawn as data, never as part of an expression.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evalframe.core.metric import Metric, registered

if TYPE_CHECKING:
    from evalframe.core.typing import Direction

MINUS = "\N{MINUS SIGN}"

LONGEST = 32
_WHOLE = 200
"""Letters of a label, and of a name in a tooltip, at most."""

_HIDDEN = {"Cc", "Co", "Cn", "Cs", "Zl", "Zp"}
_TURNING = {
    *"\u200e\u200f\u061c",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
}
"""Categories of characters that are not seen, and characters that turn the direction of others."""


def visible(name: Any) -> str:
    r"""A name on one line, in which nothing is hidden.

    >>> visible("a\u202eb\n c")
    'a\\u202eb c'
    """
    text = "null" if name is None else " ".join(str(name).split())
    return "".join(
        f"\\u{ord(letter):04x}"
        if letter in _TURNING or unicodedata.category(letter) in _HIDDEN
        else letter
        for letter in text
    )


def cut(name: Any, most: int = LONGEST) -> str:
    """A visible name of at most so many letters: two thirds of its head, one of its tail.

    >>> cut("meta-llama/Llama-3.1-405B-Instruct-Turbo", 24)
    'meta-llama/Llama…t-Turbo'
    """
    text = visible(name)
    if len(text) <= most:
        return text
    head = 2 * most // 3
    return f"{text[:head]}…{text[head + 1 - most :]}"


def labels(names: Iterable[Any], most: int = LONGEST) -> list[str]:
    """Names cut, and made different where cutting made them equal.

    >>> labels(["abcdefgh1xyz", "abcdefgh2xyz", "b"], 9)
    ['abcdef…yz', 'abcdef…yz (2)', 'b']
    """
    made: list[str] = []
    taken: set[str] = set()
    for name in names:
        short = label = cut(name, most)
        number = 1
        while label in taken:
            number += 1
            label = f"{short} ({number})"
        taken.add(label)
        made.append(label)
    return made


def whole(names: Iterable[Any]) -> list[str]:
    """Names as tooltips show them."""
    return [cut(name, _WHOLE) for name in names]


def joined(rows: Iterable[Sequence[Any]]) -> list[str]:
    """Several keys as one name."""
    return [" · ".join("null" if key is None else str(key) for key in row) for row in rows]


class Measure(NamedTuple):
    """What is known of a metric by its name.

    Attributes:
        name: The name in the table.
        phrase: What it is in words, if its definition says so in a few.
        direction: Which way is better.
    """

    name: str
    phrase: str | None
    direction: Direction

    @classmethod
    def of(cls, name: str) -> Measure:
        """The measure of this name; one that nobody declared has no direction.

        >>> Measure.of("aurc").title
        'Area under the risk-coverage curve (aurc)'
        >>> names = ["risk_at_0.50", "aurc_at_common", "accuracy_per_task"]
        >>> [Measure.of(name).direction for name in names]
        ['minimize', 'minimize', 'maximize']
        >>> Measure.of("pas").direction, Measure.of("mean_of_score").direction
        ('maximize', 'none')
        """
        metric, is_inner = _found(name)
        if metric is None:
            return cls(name, None, "maximize" if name in _SCORES else "none")
        if is_inner:
            return cls(name, None, metric.direction)
        phrase, colon, _ = metric.summary.partition(":")
        return cls(name, phrase if colon and len(phrase) <= _PHRASE else None, metric.direction)

    @property
    def title(self) -> str:
        """Words and name, or the name alone if it says the same."""
        name = visible(self.name)
        spoken = name.replace("_", " ").lower()
        if self.phrase is None:
            return name
        return self.phrase if self.phrase.lower() == spoken else f"{self.phrase} ({name})"

    @property
    def axis(self) -> str:
        """The title of its axis: name, unit, and which way is better."""
        unit = " (%)" if self.name.endswith("_pct") else ""
        return cut(f"{self.title}{unit}", _AXIS) + ARROWS[self.direction]

    @property
    def spoken(self) -> str:
        """The name as words, with its unit, for heads of columns.

        >>> Measure.of("risk_at_0.50").spoken, Measure.of("aurc_gap_pct").spoken
        ('risk at 0.50', 'aurc gap (%)')
        """
        name = f"{self.name.removesuffix('_pct')} (%)" if self.name.endswith("_pct") else self.name
        return visible(name.replace("_", " "))

    @property
    def plain(self) -> str:
        """The name alone, and which way is better."""
        return self.short + ARROWS[self.direction]

    @property
    def short(self) -> str:
        """The name alone, for titles."""
        return cut(self.name)


_SCORES = ("pas", "ecs", "score")
"""Scores of the families' tables that are no metrics by themselves; higher is better."""

_PHRASE, _AXIS = 60, 80
"""Letters of a phrase, and of an axis title, at most."""

_DECIMALS, _LARGE = 6, 1e7
"""Decimals at most, and from where on numbers have an exponent."""

_NUMBER = r"-?\d[\d.e+-]*"

ARROWS = {
    "minimize": " · ← lower is better",
    "maximize": " · higher is better →",
    "none": "",
}


def metric_of(name: str) -> Metric | None:
    """The metric whose values are under this name, also of units: `accuracy_per_task`."""
    return _found(name)[0]


def _found(name: str) -> tuple[Metric | None, bool]:
    """The metric of a name, and whether it is only the one inside a metric of units."""
    known = registered()
    metric = known.get(name) or _of_label(name, known)
    return metric or known.get(name.partition("_per_")[0]), metric is None


def _of_label(name: str, known: Mapping[str, Metric]) -> Metric | None:
    """The metric whose output name, with parameters in it, this is."""
    for metric in known.values():
        head, brace, _ = (metric.label or "").partition("{")
        if brace and re.fullmatch(f"{re.escape(head)}({_NUMBER}|common)", name):
            return metric
    return None


def digits(half_widths: Iterable[float | None], spread: float) -> int:
    """Decimals of numbers, from the median half width of their intervals, or else their spread.

    >>> digits([0.012, 0.014, None], 1.0)
    3
    """
    known = sorted(width for width in half_widths if width and 0 < width < math.inf)
    size = known[len(known) // 2] if known else spread / 10
    if not 0 < size < math.inf:
        return 3
    return min(_DECIMALS, max(1, 1 - math.floor(math.log10(size))))


def some(count: int, noun: str) -> str:
    """A number of things.

    >>> some(1, "row"), some(1_200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def number(value: float | None, decimals: int) -> str:
    """A number with a real minus, 0 without a sign, and a dash for null.

    >>> number(-0.0004, 3), number(-0.25, 2), number(None, 2)
    ('0.000', '−0.25', '—')
    >>> number(-math.inf, 3), number(2.5e30, 3), number(2.5e-9, _DECIMALS)
    ('−∞', '2.5e+30', '2.5e−09')
    """
    if value is None:
        return "—"
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else f"{MINUS}∞"
    is_tiny = decimals == _DECIMALS and 0 < abs(value) < 10**-_DECIMALS
    text = f"{value:.3g}" if is_tiny or abs(value) >= _LARGE else f"{value:.{decimals}f}"
    return text.replace("-", "" if float(text) == 0 else MINUS)


def p_value(p: float | None) -> str:
    """A p-value with three decimals, and a dash for null.

    >>> p_value(0.0004), p_value(0.0312), p_value(None)
    ('<0.001', '0.031', '—')
    """
    return "—" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def cell(value: float | None, lower: float | None, upper: float | None, decimals: int) -> str:
    """An estimate with its interval, if there is one.

    >>> cell(0.027, 0.017, 0.038, 3)
    '0.027 [0.017, 0.038]'
    """
    text = number(value, decimals)
    if value is None or lower is None or upper is None:
        return text
    return f"{text} [{number(lower, decimals)}, {number(upper, decimals)}]"
