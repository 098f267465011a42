"""The questions of the sample, and the documents that go with them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from evalframe.core.samples import check_size
from evalframe.rag.sample.chinese import CHINESE
from evalframe.rag.sample.choices import Choices
from evalframe.rag.sample.english import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from evalframe.rag.sample.language import Attribute, Language, Subject, Value

    T = TypeVar("T", bound=Hashable)

DATASETS = ("en", "zh", "en_int", "zh_int", "en_fact", "zh_fact")

_QUESTIONS, _DOCUMENTS = 0, 1
"""Streams of the seed."""

_GLUED = 0.25
"""How many of the fake answers have the right one in them, where there is such a value."""


class Fact(NamedTuple):
    """A value that is asked for, and a wrong one in its place."""

    attribute: Attribute
    value: Value
    fake: Value


class Question(NamedTuple):
    """A question about one or more facts of a subject."""

    dataset: str
    id: int
    language: Language
    kind: Subject
    subject: str
    facts: tuple[Fact, ...]

    @property
    def query(self) -> str:
        """As it is asked."""
        return self.language.query(self.subject, [fact.attribute.question for fact in self.facts])

    @property
    def answers(self) -> list[list[str]]:
        """A group of aliases for each fact."""
        return [list(fact.value.accepted) for fact in self.facts]

    @property
    def fake_answers(self) -> list[str] | None:
        """What the wrong documents of counterfactual data say."""
        return list(self.facts[0].fake.accepted) if is_counterfactual(self.dataset) else None


class Documents(NamedTuple):
    """The documents of a question."""

    positive: list[list[str]]
    """Those that tell a fact, for each fact."""
    negative: list[str]
    positive_wrong: list[str] | None
    """The positive ones of counterfactual data, with the wrong value."""


def is_integration(dataset: str) -> bool:
    """Whether its questions ask for more than one fact."""
    return "_int" in dataset


def is_counterfactual(dataset: str) -> bool:
    """Whether it has wrong documents."""
    return "_fact" in dataset


def ask(dataset: str, count: int, seed: int) -> list[Question]:
    """The questions of a data set; two thirds as many if it is no default one.

    Raises:
        ParameterError: No question or a negative seed.
    """
    check_size(count, seed, of="questions")
    fewer = is_integration(dataset) or is_counterfactual(dataset)
    return [_question(dataset, k, seed) for k in range((2 * count + 2) // 3 if fewer else count)]


def documents(question: Question, seed: int) -> Documents:
    """Passages that tell the facts, and others like them that hold none of the aliases."""
    choices = Choices(seed, _DOCUMENTS, DATASETS.index(question.dataset), question.id)
    low, high = (2, 4) if is_integration(question.dataset) else (3, 8)
    told = [
        _different(partial(_right_and_wrong, question, fact, choices), choices.whole(low, high))
        for fact in question.facts
    ]
    positive = [[right for right, _ in passages] for passages in told]
    wrong = [wrong for passages in told for _, wrong in passages]
    negative = _different(partial(_negative, question, choices), choices.whole(5, 12))
    return Documents(positive, negative, wrong if is_counterfactual(question.dataset) else None)


def _question(dataset: str, number: int, seed: int) -> Question:
    choices = Choices(seed, _QUESTIONS, DATASETS.index(dataset), number)
    language = CHINESE if dataset.startswith("zh") else ENGLISH
    kind = choices.one(language.subjects)
    subject = choices.one(kind.names).format(name=choices.one(language.names))
    asked = choices.some(kind.attributes, choices.one((2, 2, 3)) if is_integration(dataset) else 1)
    known = [subject]
    values = []
    for attribute in asked:
        values.append(_unlike(known, attribute.value, choices))
        known += values[-1].accepted
    facts = []
    for attribute, value in zip(asked, values, strict=True):
        fake = _unlike(known, attribute.value, choices)
        if choices.chance(_GLUED) and value.glued and is_counterfactual(dataset):
            fake = fake._replace(accepted=(value.glued,))
        facts.append(Fact(attribute, value, fake))
    return Question(dataset, number, language, kind, subject, tuple(facts))


def _right_and_wrong(question: Question, fact: Fact, choices: Choices) -> tuple[str, str]:
    """A passage that tells a fact, and the same with the wrong value."""
    passage = _passage(question.kind, choices.one(fact.attribute.statements), choices)
    form = choices.whole(0, len(fact.value.accepted) - 1)
    return _told(question, passage, fact.value, form), _told(question, passage, fact.fake, form)


def _negative(question: Question, choices: Choices) -> str:
    """A passage on something else: another subject, or what was not asked about this one."""
    attribute = choices.one(question.kind.attributes)
    subject = question.subject
    if attribute in [fact.attribute for fact in question.facts] or choices.chance(0.5):
        others = [name for name in question.language.names if name not in question.subject]
        subject = choices.one(question.kind.names).format(name=choices.one(others))
    aliases = [alias for group in question.answers for alias in group]
    value = _unlike(aliases, attribute.value, choices)
    passage = _passage(question.kind, choices.one(attribute.statements), choices)
    return _told(question._replace(subject=subject), passage, value, 0)


def _passage(kind: Subject, statement: str, choices: Choices) -> list[str]:
    """Sentences to be filled: a statement amid up to two asides."""
    sentences = [statement, *choices.some(kind.asides, choices.whole(0, 2))]
    return choices.some(sentences, len(sentences))


def _told(question: Question, passage: Sequence[str], value: Value, form: int) -> str:
    alias = value.accepted[form % len(value.accepted)]
    filled = (sentence.format(subject=question.subject, value=alias) for sentence in passage)
    return question.language.text(*filled)


def _unlike(texts: Sequence[str], make: Callable[[Choices], Value], choices: Choices) -> Value:
    """A value of which no form holds one of the texts or is held by one."""
    lowered = [text.lower() for text in texts]
    while True:
        value = make(choices)
        forms = [form.lower() for form in (*value.accepted, *value.rewritten)]
        if not any(form in text or text in form for form in forms for text in lowered):
            return value


def _different(make: Callable[[], T], count: int) -> list[T]:
    """So many that differ, in the order in which they are made."""
    made: dict[T, None] = {}
    while len(made) < count:
        made[make()] = None
    return list(made)
