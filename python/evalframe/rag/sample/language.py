"""Seeded choices, the values that answer questions, and the languages of the sample.

A language is read from `english.toml` or `chinese.toml`. It has `names` to build names of subjects
from, `subjects` to ask about, `phrases` of models, and how sentences and questions are joined.
Texts have fields such as {subject}.
"""

# ruff: noqa: RUF001
# Full-width punctuation is standard in Chinese.

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import resources
from typing import Any, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")


class Choices:
    """A separate stream of uniform draws for each key."""

    def __init__(self, *key: int) -> None:
        self._draw = np.random.Generator(np.random.PCG64(list(key))).random

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._draw() < probability

    def whole(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + int(self._draw() * (high - low + 1))

    def one(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.whole(0, len(options) - 1)]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """This many different options, in random order."""
        draws = [self._draw() for _ in options]
        return [options[k] for k in sorted(range(len(options)), key=draws.__getitem__)[:count]]


class Value(NamedTuple):
    """An answer in several forms.

    `accepted` are its aliases. `rewritten` forms are correct but only a lenient check recognises
    them. `glued` is another, wrong value that contains an alias, as 170 contains 70.
    """

    accepted: tuple[str, ...]
    rewritten: tuple[str, ...] = ()
    glued: str | None = None


_GIVEN = ("Iven", "Maelis", "Torben", "Sanneke", "Joren", "Tamsel", "Lioren", "Rovi")
_FAMILY = ("Torresk", "Vellane", "Ambroke", "Dessoway", "Mirrowen", "Kestavin", "Wexmoor")
_TOWNS = ("Ferry", "Landing", "Cross", "Hollow", "Mere", "Weir")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ACCENTS = str.maketrans("eo", "éö")


def _person(choices: Choices) -> Value:
    given, family = choices.one(_GIVEN), choices.one(_FAMILY)
    name = f"{given} {family}"
    return Value((name,), rewritten=(name.translate(_ACCENTS), f"{family}, {given}"))


def _date(choices: Choices) -> Value:
    day, month, year = choices.whole(1, 28), choices.one(_MONTHS), choices.whole(1921, 2019)
    return Value(
        (f"{month} {day}, {year}", f"{day} {month} {year}"),
        rewritten=(f"{day} {month}, in {year}",),
        glued=f"1{day} {month} {year}" if day < 9 else None,
    )


def _number(low: int, high: int, choices: Choices) -> Value:
    number = choices.whole(low, high)
    plain, written = str(number), f"{number:,}"
    if plain == written:
        return Value((plain,), glued=f"1{plain}")
    if choices.chance(0.5):
        return Value((written, plain), glued=f"1{written}")
    return Value((written,), rewritten=(plain,), glued=f"1{written}")


def _money(choices: Choices) -> Value:
    millions = choices.whole(12, 980)
    return Value(
        (f"{millions} million dollars", f"${millions} million"),
        rewritten=(f"{millions} million US dollars",),
        glued=f"1,{millions} million dollars" if millions > 99 else f"1{millions} million dollars",
    )


def _town(choices: Choices) -> Value:
    name = f"{choices.one(_GIVEN)}'s {choices.one(_TOWNS)}"
    return Value((name,), rewritten=(name.replace("'", "\u2019"),))


_SURNAMES_ZH = ("闻人", "澹台", "公冶", "淳于", "钟离", "濮阳")
_GIVEN_ZH = tuple(start + end for start in "砚霁槿衡绮朔" for end in "秋川言舟禾临")
_TOWNS_ZH = ("镇", "港", "集")
_FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")


def _person_zh(choices: Choices) -> Value:
    surname, given = choices.one(_SURNAMES_ZH), choices.one(_GIVEN_ZH)
    return Value((surname + given,), rewritten=(f"{surname}\u3000{given}", f"{surname}·{given}"))


def _date_zh(choices: Choices) -> Value:
    year, month, day = choices.whole(1921, 2019), choices.whole(1, 12), choices.whole(1, 28)
    date = f"{year}年{month}月{day}日"
    return Value(
        (date, f"{year}/{month}/{day}"),
        rewritten=(date.translate(_FULL_WIDTH),),
    )


def _number_zh(low: int, high: int, choices: Choices, unit: str) -> Value:
    number = choices.whole(low, high)
    plain, written = f"{number}{unit}", f"{number:,}{unit}"
    if plain == written:
        return Value((plain,), rewritten=(plain.translate(_FULL_WIDTH),), glued=f"1{plain}")
    if choices.chance(0.5):
        return Value((plain, written), glued=f"1{plain}")
    return Value((plain,), rewritten=(written,), glued=f"1{plain}")


def _money_zh(choices: Choices) -> Value:
    """An amount; a check that removes spaces cannot find the aliases with a space."""
    amount = f"{choices.whole(1, 9)}.{choices.whole(1, 9)}"
    if choices.chance(0.5):
        return Value((f"{amount} 亿元",), glued=f"1{amount} 亿元")
    written = f"{amount}亿元"
    return Value((written,), rewritten=(written.translate(_FULL_WIDTH),), glued=f"1{written}")


def _town_zh(choices: Choices) -> Value:
    name, kind = choices.one(_GIVEN_ZH), choices.one(_TOWNS_ZH)
    return Value((name + kind,), rewritten=(f"“{name}”{kind}",))


_FEW, _MANY = (21, 98), (1_200, 96_000)

MAKERS: Mapping[str, Mapping[str, Callable[..., Value]]] = {
    "english": {
        "person": _person,
        "date": _date,
        "money": _money,
        "town": _town,
        "few": partial(_number, *_FEW),
        "many": partial(_number, *_MANY),
    },
    "chinese": {
        "person": _person_zh,
        "date": _date_zh,
        "money": _money_zh,
        "town": _town_zh,
        "few": partial(_number_zh, *_FEW),
        "many": partial(_number_zh, *_MANY),
    },
}
"""Functions that draw a value of each kind."""


class Attribute(NamedTuple):
    """Something to ask about a subject; the question lacks its mark, so that it can be joined."""

    value: Callable[[Choices], Value]
    question: str
    statements: tuple[str, ...]


class Subject(NamedTuple):
    """A kind of thing to ask about; asides contain no values."""

    names: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    asides: tuple[str, ...]


class Phrases(NamedTuple):
    """Phrases of models besides the answer.

    `rejections`, `errors` and `doubts` (before an answer) contain the canonical phrase, the `near_`
    ones only phrases of lenient labels, `denials` the canonical phrase denied. The last rejection
    of each kind also fits without documents.
    """

    preface: str
    rejections: tuple[str, ...]
    doubts: tuple[str, ...]
    near_rejections: tuple[str, ...]
    errors: tuple[str, ...]
    near_errors: tuple[str, ...]
    denials: tuple[str, ...]
    correction: str


class Language(NamedTuple):
    """Subjects, phrases, and how sentences are joined."""

    names: tuple[str, ...]
    subjects: tuple[Subject, ...]
    phrases: Phrases
    pronoun: str
    between: str
    before_last: str
    question_mark: str
    space: str

    def query(self, subject: str, questions: list[str]) -> str:
        """Questions about one subject as one sentence."""
        first, *others = questions
        parts = [
            first.format(subject=subject),
            *(question.format(subject=self.pronoun) for question in others),
        ]
        text = self.between.join(parts[:-1])
        joined = f"{text}{self.before_last}{parts[-1]}" if others else parts[-1]
        return _sentence(f"{joined}{self.question_mark}")

    def text(self, *sentences: str) -> str:
        """Sentences one after the other."""
        return self.space.join(map(_sentence, sentences))


@cache
def language(name: str) -> Language:
    """The language `english` or `chinese`."""
    data = tomllib.loads(resources.files(__package__).joinpath(f"{name}.toml").read_text("utf-8"))
    starts, ends = data.pop("name_starts"), data.pop("name_ends")
    makers = MAKERS[name]
    return Language(
        names=tuple(start + end for start in starts for end in ends),
        subjects=tuple(_subject(subject, makers) for subject in data.pop("subjects")),
        phrases=Phrases(**{key: _fixed(value) for key, value in data.pop("phrases").items()}),
        **data,
    )


def _subject(data: dict[str, Any], makers: Any) -> Subject:
    attributes = []
    for each in data["attributes"]:
        make = makers[each["value"]]
        value = partial(make, unit=each["unit"]) if "unit" in each else make
        attributes.append(Attribute(value, each["question"], tuple(each["statements"])))
    return Subject(tuple(data["names"]), tuple(attributes), tuple(data["asides"]))


def _fixed(value: str | list[str]) -> Any:
    return value if isinstance(value, str) else tuple(value)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
