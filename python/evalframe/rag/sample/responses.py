"""The responses of three simulated models in all settings of the four abilities, as files too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.samples import SampleFile, unit_draws
from evalframe.rag.sample.language import Choices
from evalframe.rag.sample.questions import (
    ASKED,
    DATASETS,
    Question,
    ask,
    is_counterfactual,
    is_integration,
    sample_instances,
    sample_instances_int,
)

if TYPE_CHECKING:
    from evalframe.core.segments import Bools


class Model(NamedTuple):
    """Traits of a simulated model."""

    skill: float  # grasp of the documents
    memory: float  # of questions without a helpful document
    schooling: float  # of the questions of counterfactual data, which are easy
    caution: float  # readiness to reject a question
    alertness: float  # to notice wrong documents
    fall: float = 1.4  # loss of skill by noise


MODELS: Mapping[str, Model] = {
    "harbor-7b": Model(1.3, memory=-2.0, schooling=0.7, caution=-0.9, alertness=-1.6),
    "lantern-13b": Model(1.8, memory=-1.7, schooling=1.0, caution=-0.5, alertness=-1.0),
    "quill-70b": Model(2.3, memory=-1.4, schooling=1.4, caution=-0.1, alertness=-0.4),
}

_NOISE_RATES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_PASSAGES = 5
_FAILED = 0.015  # share of failed requests
_OUTCOMES, _WORDS, _FAILURES = 2, 3, 4  # streams of the seed

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
    """How a question is asked."""

    noise_rate: float
    passage_num: int
    correct_passage_rate: float = 0.0


class Outcome(NamedTuple):
    """How a model does on a question: right, else careful enough to reject, alert to errors."""

    right: bool
    careful: bool
    alert: bool


def sample_responses(*, questions: int = 30, seed: int = 0) -> pl.DataFrame:
    """One row per model, data set, setting and question of `sample_instances` and `.._int`.

    For question i, model m and setting s, each z a separate draw `2 (U1 + U2 + U3) - 3`
    (mean 0, variance 1; indices say what shares it):

        right       if a_ms + 0.8 z_i + 0.5 z_im + 0.2 z_ims > 0
        rejected    if not right and caution_m - 0.6 z_i + 0.8 z_ims > 0
        flagged     if alertness_m + 0.6 z_i + 0.8 z_ims > 0, for wrong documents
        a_ms        = skill_m - fall_m r (0.3 + r) for noise rate r, less 1.9 for integration
                      memory_m at r = 1
                      schooling_m for counterfactual data, less 2 with the wrong documents

    So models and settings are paired by question, and questions are clusters. The texts have the
    troubles of real responses: failed requests, rejections and errors in other words, other
    spellings, wrong numbers that contain the right one, partly right answers.

    Args:
        questions: As for `sample_instances`.
        seed: The seed of the instances.

    Returns:
        `model, dataset, noise_rate, passage_num, correct_passage_rate, id, query, answers
        (List(List(String))), fake_answers (List(String)), response, evaluation`, ordered by
        model, data set, setting and id. `response` is null if a request failed. `evaluation` is
        the text of a judge: at noise rate 1 about rejection, with counterfactual documents about
        detection; null elsewhere.

    Examples:
        >>> sample_responses(questions=2).filter(dataset="en", id=1)["response"][0]
        'Going by the passages: Tarrystone Robotics was founded on 10 February 1950.'
    """
    schema = {
        "model": pl.String(),
        "dataset": pl.String(),
        "noise_rate": pl.Float64(),
        "passage_num": pl.Int64(),
        "correct_passage_rate": pl.Float64(),
        **ASKED,
        "response": pl.String(),
        "evaluation": pl.String(),
    }
    return pl.DataFrame(_rows(questions, seed), schema=schema, orient="row")


def sample_files(*, questions: int = 30, seed: int = 0) -> list[SampleFile]:
    """The sample as three files: instances of both shapes, and responses.

    Args:
        questions: How many questions `en` and `zh` each have.
        seed: Non-negative integer.

    Examples:
        >>> [file.name for file in sample_files(questions=1)]
        ['rag_instances.parquet', 'rag_instances_int.parquet', 'rag_responses.parquet']
    """
    return [
        SampleFile(
            name=f"rag_{make.__name__.removeprefix('sample_')}.parquet",
            row=row,
            generator=f"evalframe.rag.sample.{make.__name__}(questions={questions}, seed={seed})",
            seed=seed,
            content=make(questions=questions, seed=seed),
        )
        for make, row in _ROWS.items()
    ]


_ROWS = {
    sample_instances: "one question of a default or counterfactual data set, with its documents",
    sample_instances_int: (
        "one question of an integration data set, with documents for each group of answers"
    ),
    sample_responses: (
        "one response of a simulated model to a question in a setting; null if it failed"
    ),
}


def _rows(count: int, seed: int) -> Iterator[tuple[object, ...]]:
    questions = {dataset: ask(dataset, count, seed) for dataset in DATASETS}
    outcomes = {dataset: _outcomes(dataset, len(questions[dataset]), seed) for dataset in DATASETS}
    for (m, model), (d, dataset) in product(enumerate(MODELS), enumerate(DATASETS)):
        for (s, setting), q in product(enumerate(_settings(dataset)), questions[dataset]):
            outcome = Outcome(*outcomes[dataset][:, q.id, m, s].tolist())
            # Draws are shared by the settings of a question and model: only outcomes differ.
            words = Choices(seed, _WORDS, d, q.id, m)
            texts = (_reply(q, setting, outcome, words), _verdict(q, setting, outcome, words))
            failed = Choices(seed, _FAILURES, d, q.id, m, s).chance(_FAILED)
            asked_for = (q.id, q.query, q.answers, q.fake_answers)
            yield (model, dataset, *setting, *asked_for, *((None, None) if failed else texts))


def _outcomes(dataset: str, count: int, seed: int) -> Bools:
    """The flags of `Outcome`, for each question, model and setting."""
    settings = _settings(dataset)
    shape = (4, len(MODELS), len(settings))
    ease, affinity, slip, mood = unit_draws(
        count, [seed, _OUTCOMES, DATASETS.index(dataset)], shape
    )
    ease, affinity = ease[:, :1, :1], affinity[:, :, :1]
    ability = np.array([[_ability(m, dataset, s) for s in settings] for m in MODELS.values()])
    caution, alertness = (
        np.array([[getattr(model, trait)] for model in MODELS.values()])
        for trait in ("caution", "alertness")
    )
    right = ability + 0.8 * ease + 0.5 * affinity + 0.2 * slip > 0
    careful = caution - 0.6 * ease + 0.8 * mood > 0
    return np.stack([right, careful, alertness + 0.6 * ease + 0.8 * mood > 0])


def _ability(model: Model, dataset: str, setting: Setting) -> float:
    if is_counterfactual(dataset):
        return model.schooling - (2 if setting.passage_num else 0)
    if setting.noise_rate == 1:
        return model.memory
    noise = setting.noise_rate
    return (
        model.skill - model.fall * noise * (0.3 + noise) - (1.9 if is_integration(dataset) else 0)
    )


def _settings(dataset: str) -> Sequence[Setting]:
    if is_counterfactual(dataset):
        return [Setting(0.0, _PASSAGES), Setting(0.0, 0)]
    rates = _NOISE_RATES[:3] if is_integration(dataset) else _NOISE_RATES
    return [Setting(rate, _PASSAGES) for rate in rates]


def _reply(question: Question, setting: Setting, outcome: Outcome, choices: Choices) -> str:
    """The response."""
    sentences = (
        _objection(question, outcome, choices)
        if outcome.alert and _misleads(question, setting)
        else _answer(question, setting, outcome, choices)
    )
    return question.language.text(*(text.format(subject=question.subject) for text in sentences))


def _verdict(
    question: Question, setting: Setting, outcome: Outcome, choices: Choices
) -> str | None:
    """A judge's text, sometimes mistaken; None if no judge is asked."""
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
    """A response that calls the documents wrong, with or without a correction."""
    phrases = question.language.phrases
    yield choices.one(phrases.errors if choices.chance(0.7) else phrases.near_errors)
    if outcome.right:
        yield phrases.correction
        yield from _right_facts(question, choices)
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
        yield from _right_facts(question, choices)
    elif outcome.careful:
        rejections = phrases.rejections if choices.chance(0.6) else phrases.near_rejections
        yield choices.one(rejections if setting.passage_num else rejections[-1:])
    else:
        if _misleads(question, setting) and choices.chance(0.1):
            yield choices.one(phrases.denials)
        yield from _wrong_facts(question, choices)


def _right_facts(question: Question, choices: Choices) -> Iterator[str]:
    """The facts; sometimes one is in a form that only a lenient check recognises."""
    rewritten = choices.one(question.facts) if choices.chance(0.06) else None
    for fact in question.facts:
        forms = fact.value.rewritten if fact is rewritten else ()
        form = choices.one(forms or fact.value.accepted)
        yield choices.one(fact.attribute.statements).replace("{value}", form)


def _wrong_facts(question: Question, choices: Choices) -> Iterator[str]:
    """The facts, at least one wrong or missing; each other one is right half of the time."""
    wrong = choices.one(question.facts)
    for fact in question.facts:
        form = choices.one(fact.value.accepted)
        if fact is wrong or choices.chance(0.5):
            glued = fact.value.glued if choices.chance(0.15) else None
            form = glued or choices.one(fact.fake.accepted)
        if fact is wrong and fact is not question.facts[0] and choices.chance(0.3):
            continue
        yield choices.one(fact.attribute.statements).replace("{value}", form)
