"""Every contract of a table: a small sound table of ours, and what is computed from such tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe import rag, replication, selective, survey
from evalframe.rag.sample.questions import sample_instances
from evalframe.rag.sample.responses import sample_responses
from evalframe.replication.sample import sample_designs, sample_participants, sample_tests
from evalframe.selective.sample import sample_items, sample_signals
from evalframe.survey.sample import sample_responses as sample_answers
from evalframe.survey.sample import sample_survey

if TYPE_CHECKING:
    from evalframe.core.contract import Contract


@dataclass(frozen=True)
class Table:
    """A kind of table.

    Attributes:
        sound: A table that keeps the contract.
        contract: What must hold; None of a table that is used without being validated.
        use: The result of the main function that takes such a table.
        each_row: Whether the result has a row for each row of the table.
        checks: Whether the main function checks the table itself, as metrics do not.
        share: Of the broken tables of the contract, which may have several kinds.
    """

    sound: Callable[[], pl.DataFrame]
    contract: Contract | None
    use: Callable[[pl.LazyFrame], Any]
    each_row: bool = False
    checks: bool = True
    share: float = 1.0


_VARIANTS = ("token_msp", "verbalized", "hybrid_evidence_similarity", "consistency")
_OF_RESPONSES = ("model", "dataset", "id", "noise_rate", "passage_num", "answers", "response")
_KEYS = ("model", "study_id", "sub_study_id", "finding_id", "test_id")
_STUDY = {"study_id": "lantern-queue"}


def _items():
    items = sample_items(participants=2).filter(mode="few_shot").head(12)
    return items.with_columns(loss=(pl.col("prediction") - pl.col("label")).abs())


def _people():
    totals = selective.total_scores(sample_items(participants=6), by=["mode", "participant_id"])
    return totals.select("mode", "participant_id", "actual_class", "predicted_class", "min_total")


def _instances():
    return sample_instances(questions=2).filter(dataset="en").drop("fake_answers", "positive_wrong")


def _responses():
    return sample_responses(questions=2).filter(dataset="en").select(_OF_RESPONSES).head(8)


def _survey():
    few = [pl.col(name).rank("dense") <= 2 for name in ("segment_id", "question_id")]
    table = sample_survey().filter(round="MB1").filter(few)
    names = ("round", "segment_id", "question_id", "option_index", "share", "sample_size")
    return table.select(names)


def _distributions():
    nested = survey.as_distributions(_survey())
    return nested.select("round", "segment_id", "question_id", "sample_size", "actual")


def _predictions():
    answers = sample_answers().filter(round="MB1", context_count=0)
    keys = ["round", "segment_id", "question_id"]
    return answers.drop("context_count").join(_distributions(), on=keys).head(8)


def _scores(predictions):
    return survey.score(survey.parse(predictions))


def _statistics(responses):
    return replication.participant_statistics(responses, _designs())


def _tests():
    tests = sample_tests().filter(model="harbor-7b", test_type="t-test").head(5)
    numbers = [f"{name}_{side}" for name in ("stat", "n1", "n2") for side in ("human", "agent")]
    return tests.select(*_KEYS, "test_type", "test_weight", *numbers, "independent_human")


def _posteriors():
    made = replication.with_evidence(_tests()).lazy().collect()
    return made.select(*_KEYS, "test_weight", "pi_human", "pi_agent", "pas", "n_eff")


def _participants():
    table = sample_participants().filter(model="harbor-7b", **_STUDY)
    return table.filter(pl.int_range(pl.len()).over("test_id") < 4)


def _designs():
    return sample_designs().filter(**_STUDY)


CONTRACTS = {
    "items": Table(
        _items,
        selective.items_contract(by="mode", loss="loss"),
        lambda items: ef.evaluate(items, [ef.coverage(), ef.aurc()], by="mode"),
        checks=False,
    ),
    "binary": Table(
        _people,
        selective.binary_contract("predicted_class", "actual_class"),
        lambda people: ef.evaluate(people, selective.binary_metrics(), by="mode"),
        checks=False,
    ),
    "signals": Table(
        lambda: sample_signals(participants=1).head(8),
        selective.signals_contract(_VARIANTS),
        lambda items: items.with_columns(map(selective.confidence, _VARIANTS)),
        each_row=True,
        checks=False,
    ),
    "instances": Table(_instances, rag.instances_contract(), rag.select_documents),
    "responses": Table(
        _responses,
        rag.responses_contract(correct_passage_rate=None, answers="answers"),
        lambda responses: rag.label(responses),
        each_row=True,
    ),
    "survey": Table(_survey, survey.survey_contract(), survey.as_distributions),
    "distributions": Table(
        _distributions,
        survey.distributions_contract(),
        survey.as_distributions,
        each_row=True,
    ),
    "predictions": Table(_predictions, survey.predictions_contract(), _scores, each_row=True),
    "tests": Table(
        _tests,
        replication.replication_contract(),
        replication.with_evidence,
        each_row=True,
        share=0.2,
    ),
    "tests with posteriors": Table(
        _posteriors,
        replication.replication_contract(),
        replication.model_scores,
        share=0.8,
    ),
    "participants": Table(_participants, replication.responses_contract(), _statistics),
    "designs": Table(
        _designs,
        replication.designs_contract(),
        lambda designs: replication.participant_statistics(_participants(), designs),
    ),
}
