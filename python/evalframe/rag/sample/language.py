"""Languages of the sample, read from `english.toml` and `chinese.toml`.

A language has `names` to build names of subjects from, `subjects` to ask about, `phrases` of
models, and how sentences and questions are joined. Texts have fields such as {subject}.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache, partial
from importlib import resources
from typing import Any, NamedTuple

from evalframe.rag.sample.values import MAKERS, Choices, Value


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
    """What models say besides the answer.

    `rejections`, `errors` and `doubts` (before an answer) contain the canonical phrase, the `near_`
    ones only what a lenient check knows, `denials` that phrase denied. The last rejection of
    each kind also fits without documents.
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
