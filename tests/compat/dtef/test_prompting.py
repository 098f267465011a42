"""Prompts of dtef-app: ids of batches, the token budget, and golden contexts."""

import pytest

from evalframe.compat.dtef import prompts, read_survey
from evalframe.survey.prompting.configurations import blueprints
from survey.test_prompting import document


@pytest.fixture
def survey():
    return read_survey(document(("gender:male", 50, "pqrs"), ("few", 20, "pr")))


def test_the_original_calls_a_last_question_a_batch(survey):
    """Its `generateBatchedBlueprintForSegment` numbers all batches."""
    asked = prompts(survey, batch_size=3)
    batches = ["batch-0-gender:male", "batch-1-gender:male", "batch-0-few"]
    assert asked["prompt_id"].to_list() == batches
    one = prompts(survey, segments=["few"])
    assert one["prompt_id"].to_list() == ["p-few", "r-few"]


@pytest.mark.parametrize(
    ("budget", "shown"),
    [(458, 0), (459, 1), (477, 1), (478, 2), (492, 2), (493, 3), (0, 3)],
)
def test_the_budget_of_the_original(survey, budget, shown):
    """By `calculateTokenBudget`, at four UTF-16 units to a token.

    System prompt 444 units, 111 tokens; the placeholder with "50" and the lines of two attributes
    280 + 2 + 26 units, 77 tokens; response 256 tokens. The answers to p, q and r in the form of
    `Q: "Hot?"`, `  Response distribution: Yes: 60.0%, No: 40.0%` are 58, 75 and 59 units: 15, 19
    and 15 tokens. So one fits into 459, two into 478, and three into 493. 0 is no budget.
    """
    for eval_type in ("distribution", "shift", "synthetic-individual"):
        asked = prompts(
            survey,
            context_count=None,
            questions=["s"],
            segments=["gender:male"],
            token_budget=budget,
            eval_type=eval_type,  # type: ignore[arg-type]
        )
        assert asked["context_count"].item() == shown
    options = {"questions": ["s"], "token_budget": 459, "system": "x" * 448}
    own = prompts(survey, context=["p"], context_count=1, **options)  # type: ignore[arg-type]
    assert own["context_count"].item() == 0


def test_context_as_the_original_chooses_it(golden):
    values = golden("survey/blueprint_validation")
    content = values["context_survey"]
    for case in values["context_selection"]:
        answers = {s["id"]: s["responses"] for s in content["segments"]}[case["segment_id"]]
        extra = []
        if case["target"] not in {answer["questionId"] for answer in answers}:
            # The original also chooses context for a question that the segment did not answer.
            others = content["segments"][0]["responses"]
            extra = [answer for answer in others if answer["questionId"] == case["target"]]
        segments = [
            {**s, "responses": s["responses"] + (extra if s["id"] == case["segment_id"] else [])}
            for s in content["segments"]
        ]
        budget = {} if case["budget"] is None else {"token_budget": case["budget"]}
        asked = prompts(
            read_survey({**content, "segments": segments}),
            segments=[case["segment_id"]],
            questions=[case["target"]],
            context=case["pool"],
            context_count=case["requested"],
            context_format="distribution-context",
            **budget,
        )
        assert asked["context_ids"].to_list() == [case["selected"] or []]


def test_blueprints_as_the_original_makes_them(golden):
    values = golden("survey/blueprint_validation")
    survey = read_survey(values["context_survey"])
    ids = survey.questions["question_id"].to_list()
    for case in values["blueprints"]:
        asked = prompts(
            survey,
            questions=["q0", "q3", "q7", "q20"],
            context=ids[: case["config"]["contextQuestionIds"]],
            context_count=case["config"]["contextQuestionCount"],
        )
        found = blueprints(asked)
        assert len(found) == len(case["blueprints"])
        for row, expected in zip(found.iter_rows(named=True), case["blueprints"], strict=True):
            assert row["config_id"] == expected["config_id"]
            assert row["prompt_ids"] == expected["prompt_ids"] == expected["ground_truth_keys"]
            assert row["n_questions"] == expected["points"]
            assert row["context_count"] == expected["context_count"]
            assert row["context_ids"] == expected["context_ids"]
            assert row["temperature"] == expected["temperature"]
