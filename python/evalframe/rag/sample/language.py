"""What a language brings to the sample: things to ask about, and how to speak of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalframe.rag.sample.choices import Choices


class Value(NamedTuple):
    """What can answer a question, as different writers put it."""

    accepted: tuple[str, ...]
    """The aliases, one at least."""
    rewritten: tuple[str, ...] = ()
    """As right, but found only by a check that looks beyond the letters."""
    glued: str | None = None
    """Another value, which is wrong but has an alias in it, as 170 has 70."""


class Attribute(NamedTuple):
    """What can be asked about a subject."""

    value: Callable[[Choices], Value]
    question: str
    """With {subject}, and without question mark, so that questions can be joined."""
    statements: tuple[str, ...]
    """With {subject} and {value}."""


class Subject(NamedTuple):
    """A kind of thing to ask about."""

    names: tuple[str, ...]
    """With {name}."""
    attributes: tuple[Attribute, ...]
    asides: tuple[str, ...]
    """With {subject}; they hold none of the values."""


class Phrases(NamedTuple):
    """What models say besides the answer; with {subject} where it is named."""

    preface: str
    """Of some answers that rest on documents."""
    rejections: tuple[str, ...]
    """With the phrase that every check knows; the last fits without documents, too."""
    doubts: tuple[str, ...]
    """The same phrase, before an answer that is given all the same."""
    near_rejections: tuple[str, ...]
    """Only a check that looks beyond that phrase knows them; the last fits likewise."""
    errors: tuple[str, ...]
    """With the phrase that every check of flagged errors knows."""
    near_errors: tuple[str, ...]
    """Only a check that looks beyond that phrase knows them."""
    denials: tuple[str, ...]
    """That phrase, but denied."""
    correction: str
    """Before the right answer."""


class Language(NamedTuple):
    """All of it."""

    names: tuple[str, ...]
    """Invented names to make names of subjects from."""
    subjects: tuple[Subject, ...]
    phrases: Phrases
    pronoun: str
    """For the subject in a further question about it."""
    between: str
    """Questions that are joined."""
    before_last: str
    question_mark: str
    space: str
    """Between sentences."""

    def query(self, subject: str, questions: list[str]) -> str:
        """Questions about one subject as one sentence."""
        first, *others = questions
        asked = [
            first.format(subject=subject),
            *(question.format(subject=self.pronoun) for question in others),
        ]
        text = self.between.join(asked[:-1])
        joined = f"{text}{self.before_last}{asked[-1]}" if others else asked[-1]
        return sentence(f"{joined}{self.question_mark}")

    def text(self, *sentences: str) -> str:
        """Sentences one after the other."""
        return self.space.join(sentence(said) for said in sentences)


def sentence(text: str) -> str:
    """With a capital at its beginning."""
    return text[:1].upper() + text[1:]
