"""The questions of the sample, the documents that go with them, and the tables of both."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import polars as pl

from evalframe.core.samples import check_size
from evalframe.rag.sample.language import Attribute, Choices, Language, Subject, Value, language

T = TypeVar("T", bound=Hashable)

DATASETS = ("en", "zh", "en_int", "zh_int", "en_fact", "zh_fact")

_QUESTIONS, _DOCUMENTS = 0, 1  # streams of the seed
_GLUED = 0.25  # share of fake answers that contain the right one, if there is such a value
_TEXTS = pl.List(pl.String())

ASKED = {
    "dataset": pl.String(),
    "id": pl.Int64(),
    "query": pl.String(),
    "answers": pl.List(_TEXTS),
    "fake_answers": _TEXTS,
}
"""The columns of a question."""


class Fact(NamedTuple):
    """The value of an attribute, and a wrong one."""

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
        """The text of the question."""
        return self.language.query(self.subject, [fact.attribute.question for fact in self.facts])

    @property
    def answers(self) -> list[list[str]]:
        """A group of aliases for each fact."""
        return [list(fact.value.accepted) for fact in self.facts]

    @property
    def fake_answers(self) -> list[str] | None:
        """The answer of the wrong documents, in counterfactual data."""
        return list(self.facts[0].fake.accepted) if is_counterfactual(self.dataset) else None


def is_integration(dataset: str) -> bool:
    """True if questions ask for more than one fact."""
    return "_int" in dataset


def is_counterfactual(dataset: str) -> bool:
    """True if there are wrong documents."""
    return "_fact" in dataset


def ask(dataset: str, count: int, seed: int) -> list[Question]:
    """The questions of a data set; two thirds as many if it is not a default one."""
    check_size(count, seed, of="questions")
    fewer = is_integration(dataset) or is_counterfactual(dataset)
    return [_question(dataset, k, seed) for k in range((2 * count + 2) // 3 if fewer else count)]


def _documents(
    question: Question, seed: int
) -> tuple[list[list[str]], list[str], list[str] | None]:
    """Positive passages for each fact, negative ones without aliases, and wrong ones if any."""
    choices = Choices(seed, _DOCUMENTS, DATASETS.index(question.dataset), question.id)
    low, high = (2, 4) if is_integration(question.dataset) else (3, 8)
    pairs = [
        _different(partial(_right_and_wrong, question, fact, choices), choices.whole(low, high))
        for fact in question.facts
    ]
    positive = [[right for right, _ in passages] for passages in pairs]
    wrong = [wrong for passages in pairs for _, wrong in passages]
    negative = _different(partial(_negative, question, choices), choices.whole(5, 12))
    return positive, negative, wrong if is_counterfactual(question.dataset) else None


def _question(dataset: str, number: int, seed: int) -> Question:
    choices = Choices(seed, _QUESTIONS, DATASETS.index(dataset), number)
    spoken = language("chinese" if dataset.startswith("zh") else "english")
    kind = choices.one(spoken.subjects)
    subject = choices.one(kind.names).format(name=choices.one(spoken.names))
    attributes = choices.some(
        kind.attributes, choices.one((2, 2, 3)) if is_integration(dataset) else 1
    )
    texts = [subject]
    values = []
    for attribute in attributes:
        values.append(_unlike(texts, attribute.value, choices))
        texts += values[-1].accepted
    facts = []
    for attribute, value in zip(attributes, values, strict=True):
        fake = _unlike(texts, attribute.value, choices)
        if choices.chance(_GLUED) and value.glued and is_counterfactual(dataset):
            fake = fake._replace(accepted=(value.glued,))
        facts.append(Fact(attribute, value, fake))
    return Question(dataset, number, spoken, kind, subject, tuple(facts))


def _right_and_wrong(question: Question, fact: Fact, choices: Choices) -> tuple[str, str]:
    """A passage with the value of a fact, and the same with the wrong value."""
    passage = _passage(question.kind, choices.one(fact.attribute.statements), choices)
    form = choices.whole(0, len(fact.value.accepted) - 1)
    return _text(question, passage, fact.value, form), _text(question, passage, fact.fake, form)


def _negative(question: Question, choices: Choices) -> str:
    """A passage about another subject, or another attribute of this one."""
    attribute = choices.one(question.kind.attributes)
    subject = question.subject
    if attribute in [fact.attribute for fact in question.facts] or choices.chance(0.5):
        others = [name for name in question.language.names if name not in question.subject]
        subject = choices.one(question.kind.names).format(name=choices.one(others))
    aliases = [alias for group in question.answers for alias in group]
    value = _unlike(aliases, attribute.value, choices)
    passage = _passage(question.kind, choices.one(attribute.statements), choices)
    return _text(question._replace(subject=subject), passage, value, 0)


def _passage(kind: Subject, statement: str, choices: Choices) -> list[str]:
    """A statement among up to two asides, with fields to fill."""
    sentences = [statement, *choices.some(kind.asides, choices.whole(0, 2))]
    return choices.some(sentences, len(sentences))


def _text(question: Question, passage: Sequence[str], value: Value, form: int) -> str:
    alias = value.accepted[form % len(value.accepted)]
    filled = (sentence.format(subject=question.subject, value=alias) for sentence in passage)
    return question.language.text(*filled)


def _unlike(texts: Sequence[str], make: Callable[[Choices], Value], choices: Choices) -> Value:
    """A value whose forms neither contain any of the texts nor are contained in one."""
    lowered = [text.lower() for text in texts]
    while True:
        value = make(choices)
        forms = [form.lower() for form in (*value.accepted, *value.rewritten)]
        if not any(form in text or text in form for form in forms for text in lowered):
            return value


def _different(make: Callable[[], T], count: int) -> list[T]:
    """This many different results, in the order of their creation."""
    results: dict[T, None] = {}
    while len(results) < count:
        results[make()] = None
    return list(results)


def sample_instances(*, questions: int = 30, seed: int = 0) -> pl.DataFrame:
    """One row per question of the default and the counterfactual data sets.

    Positive passages contain an alias of the answer; negative ones are about other subjects or
    attributes and contain none. Some fake answers contain the right one, as 170 contains 70; some
    Chinese aliases have a space, so that the strict check never finds them.

    Args:
        questions: How many questions `en` and `zh` each have; `en_fact` and `zh_fact` have two
            thirds as many. More questions only add rows.
        seed: Non-negative integer.

    Returns:
        `dataset, id, query, answers (List(List(String))), fake_answers, positive, negative,
        positive_wrong (List(String))`, ordered by data set and id, which counts from 0 in each.
        `fake_answers` and `positive_wrong` (the passages of `positive` with the fake answer) are
        null except in counterfactual data.

    Examples:
        >>> sample_instances(questions=2).select("query", "answers").row(1)
        ('When was Tarrystone Robotics founded?', [['February 10, 1950', '10 February 1950']])
    """
    datasets = [name for name in DATASETS if not is_integration(name)]
    return _instances(datasets, questions, seed).with_columns(pl.col("positive").list.first())


def sample_instances_int(*, questions: int = 30, seed: int = 0) -> pl.DataFrame:
    """One row per question of the integration data sets, which ask for two or three facts.

    Args:
        questions: As for `sample_instances`.
        seed: Non-negative integer.

    Returns:
        The columns of `sample_instances`; `positive` is List(List(String)), the passages for each
        group of the answer.

    Examples:
        >>> sample_instances_int(questions=2)["query"][1]
        'Who won the Bryndora Poetry Prize, when was it awarded, and where was it handed over?'
    """
    return _instances([name for name in DATASETS if is_integration(name)], questions, seed)


def _instances(datasets: Iterable[str], count: int, seed: int) -> pl.DataFrame:
    rows = [
        (q.dataset, q.id, q.query, q.answers, q.fake_answers, *_documents(q, seed))
        for dataset in datasets
        for q in ask(dataset, count, seed)
    ]
    passages = {"positive": pl.List(_TEXTS), "negative": _TEXTS, "positive_wrong": _TEXTS}
    schema = {**ASKED, **passages}
    return pl.DataFrame(rows, schema=schema, orient="row")
