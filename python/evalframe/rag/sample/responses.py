"""The responses of the sample: three simulated models in all settings of the four abilities."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.samples import unit_draws
from evalframe.rag.sample.choices import Choices
from evalframe.rag.sample.questions import (
    DATASETS,
    ask,
    is_counterfactual,
    is_integration,
)
from evalframe.rag.sample.replies import Outcome, Setting, reply, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalframe.core.segments import Bools


class Model(NamedTuple):
    """How a simulated model differs from the others."""

    skill: float
    """Its grasp of what documents say."""
    fall: float
    """How much of that noise takes away."""
    memory: float
    """Its grasp of questions without a document that helps."""
    schooling: float
    """Its grasp of the questions of counterfactual data, which are easy."""
    caution: float
    """How readily it rejects a question."""
    alertness: float
    """How readily it sees that documents are wrong."""


MODELS: Mapping[str, Model] = {
    "harbor-7b": Model(
        skill=1.3, fall=1.4, memory=-2.0, schooling=0.7, caution=-0.9, alertness=-1.6
    ),
    "lantern-13b": Model(
        skill=1.8, fall=1.4, memory=-1.7, schooling=1.0, caution=-0.5, alertness=-1.0
    ),
    "quill-70b": Model(
        skill=2.3, fall=1.4, memory=-1.4, schooling=1.4, caution=-0.1, alertness=-0.4
    ),
}

_NOISE_RATES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_PASSAGES = 5
_FAILED = 0.015
"""How many requests fail."""
_OUTCOMES, _WORDS, _FAILURES = 2, 3, 4
"""Streams of the seed."""


def sample_responses(*, questions: int = 30, seed: int = 0) -> pl.DataFrame:
    """One row per model, data set, setting and question of `sample_instances` and `.._int`.

    For question i, model m and setting s, each z a draw `2 (U1 + U2 + U3) - 3` of its own (mean 0,
    variance 1; the indices say what shares it):

        right       if a_ms + 0.8 z_i + 0.5 z_im + 0.2 z_ims > 0
        rejected    if not right and caution_m - 0.6 z_i + 0.8 z_ims > 0
        flagged     if alertness_m + 0.6 z_i + 0.8 z_ims > 0, for wrong documents
        a_ms        = skill_m - fall_m r (0.3 + r) for noise rate r, less 1.9 for integration
                      memory_m at r = 1
                      schooling_m for counterfactual data, less 2 with the wrong documents

    So models and settings are paired by question, and questions are clusters. What is said then
    has the troubles of real responses: requests that failed; rejections without the canonical
    phrase, or with it before an answer; answers with other accents, quotes, digits or order of
    words; wrong numbers with the right one in them; answers of which a part is right; errors
    flagged and corrected, flagged only, denied, or told in other words.

    Args:
        questions: How many questions `en` and `zh` each have; the others have two thirds as many.
            More questions only add rows.
        seed: The seed of the instances.

    Returns:
        `model, dataset, noise_rate, passage_num, correct_passage_rate, id, query, answers
        (List(List(String))), fake_answers (List(String)), response, evaluation`, ordered by
        model, data set, setting, each as declared, and id. `response` is null where a request
        failed. `evaluation` is the text of a judge: at noise rate 1 on rejection, with
        counterfactual documents on detection; null elsewhere.

    Raises:
        ParameterError: No question or a negative seed.

    Example:
        >>> sample_responses(questions=2).filter(dataset="en", id=1)["response"][0]
        'Going by the passages: Tarrystone Robotics was founded on 10 February 1950.'
    """
    schema = {
        "model": pl.String(),
        "dataset": pl.String(),
        "noise_rate": pl.Float64(),
        "passage_num": pl.Int64(),
        "correct_passage_rate": pl.Float64(),
        "id": pl.Int64(),
        "query": pl.String(),
        "answers": pl.List(pl.List(pl.String())),
        "fake_answers": pl.List(pl.String()),
        "response": pl.String(),
        "evaluation": pl.String(),
    }
    return pl.DataFrame(_rows(questions, seed), schema=schema, orient="row")


def _rows(count: int, seed: int) -> Iterator[tuple[object, ...]]:
    asked = {dataset: ask(dataset, count, seed) for dataset in DATASETS}
    outcomes = {dataset: _outcomes(dataset, len(asked[dataset]), seed) for dataset in DATASETS}
    for (m, model), (d, dataset) in product(enumerate(MODELS), enumerate(DATASETS)):
        for (s, setting), q in product(enumerate(_settings(dataset)), asked[dataset]):
            outcome = Outcome(*outcomes[dataset][:, q.id, m, s].tolist())
            # Words are those of question and model, so that settings differ by what comes out.
            words = Choices(seed, _WORDS, d, q.id, m)
            said = (reply(q, setting, outcome, words), verdict(q, setting, outcome, words))
            failed = Choices(seed, _FAILURES, d, q.id, m, s).chance(_FAILED)
            asked_for = (q.id, q.query, q.answers, q.fake_answers)
            yield (model, dataset, *setting, *asked_for, *((None, None) if failed else said))


def _outcomes(dataset: str, count: int, seed: int) -> Bools:
    """The three of `Outcome`, for each question, model and setting."""
    import numpy as np

    settings = _settings(dataset)
    shape = (4, len(MODELS), len(settings))
    ease, own, slip, mood = unit_draws(count, [seed, _OUTCOMES, DATASETS.index(dataset)], shape)
    ease, own = ease[:, :1, :1], own[:, :, :1]
    ability = np.array([[_ability(m, dataset, s) for s in settings] for m in MODELS.values()])
    caution, alertness = (
        np.array([[getattr(model, trait)] for model in MODELS.values()])
        for trait in ("caution", "alertness")
    )
    right = ability + 0.8 * ease + 0.5 * own + 0.2 * slip > 0
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
