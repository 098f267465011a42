"""What a simulated model says to a question, and what a judge says of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalframe.rag.sample.questions import is_counterfactual

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalframe.rag.sample.choices import Choices
    from evalframe.rag.sample.questions import Question

_REJECTED = (
    "The question is not addressed by this response.",
    "What was asked is not addressed: no answer is given.",
)
_ADDRESSED = ("The response answers the question.", "An answer is given.")
_DETECTED = (
    "The model has identified a mistake in the passages.",
    "It has identified that the passages are wrong.",
)
_TRUSTED = ("The model takes the passages at their word.", "No doubt about the passages is voiced.")


class Setting(NamedTuple):
    """What a question is asked with."""

    noise_rate: float
    passage_num: int
    correct_passage_rate: float = 0.0


class Outcome(NamedTuple):
    """How a model fares with a question."""

    right: bool
    careful: bool
    """It rejects what it does not get right."""
    alert: bool
    """It sees that documents are wrong."""


def reply(question: Question, setting: Setting, outcome: Outcome, choices: Choices) -> str:
    """The response."""
    said = (
        _objection(question, outcome, choices)
        if outcome.alert and _misleads(question, setting)
        else _answer(question, setting, outcome, choices)
    )
    return question.language.text(*(text.format(subject=question.subject) for text in said))


def verdict(question: Question, setting: Setting, outcome: Outcome, choices: Choices) -> str | None:
    """What a judge says of the response, null where none is asked; not always what is so."""
    if setting.noise_rate == 1:
        rejected = outcome.careful and not outcome.right
        return choices.one(_REJECTED if choices.chance(0.9 if rejected else 0.1) else _ADDRESSED)
    if _misleads(question, setting):
        return choices.one(
            _DETECTED if choices.chance(0.9 if outcome.alert else 0.03) else _TRUSTED
        )
    return None


def _misleads(question: Question, setting: Setting) -> bool:
    return is_counterfactual(question.dataset) and setting.passage_num > 0


def _objection(question: Question, outcome: Outcome, choices: Choices) -> Iterator[str]:
    """That the documents are wrong, corrected or not."""
    phrases = question.language.phrases
    yield choices.one(phrases.errors if choices.chance(0.7) else phrases.near_errors)
    if outcome.right:
        yield phrases.correction
        yield from _told(question, choices)
    elif outcome.careful:
        yield choices.one(phrases.rejections)


def _answer(
    question: Question, setting: Setting, outcome: Outcome, choices: Choices
) -> Iterator[str]:
    phrases = question.language.phrases
    if outcome.right:
        if choices.chance(0.02):
            yield choices.one(phrases.doubts)
        elif setting.passage_num and choices.chance(0.2):
            yield phrases.preface
        yield from _told(question, choices)
    elif outcome.careful:
        rejections = phrases.rejections if choices.chance(0.6) else phrases.near_rejections
        yield choices.one(rejections if setting.passage_num else rejections[-1:])
    else:
        if _misleads(question, setting) and choices.chance(0.1):
            yield choices.one(phrases.denials)
        yield from _mistold(question, choices)


def _told(question: Question, choices: Choices) -> Iterator[str]:
    """The facts, now and then one of them in a form that only a lenient check knows."""
    rewritten = choices.one(question.facts) if choices.chance(0.06) else None
    for fact in question.facts:
        forms = fact.value.rewritten if fact is rewritten else ()
        form = choices.one(forms or fact.value.accepted)
        yield choices.one(fact.attribute.statements).replace("{value}", form)


def _mistold(question: Question, choices: Choices) -> Iterator[str]:
    """The facts with one wrong at least; each other is as often right, and some are left out."""
    wrong = choices.one(question.facts)
    for fact in question.facts:
        form = choices.one(fact.value.accepted)
        if fact is wrong or choices.chance(0.5):
            glued = fact.value.glued if choices.chance(0.15) else None
            form = glued or choices.one(fact.fake.accepted)
        if fact is wrong and fact is not question.facts[0] and choices.chance(0.3):
            continue
        yield choices.one(fact.attribute.statements).replace("{value}", form)
