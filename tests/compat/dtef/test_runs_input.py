"""Run results that say something else than they should: named with their file and place."""

import json
import math

import pytest

from evalframe.compat.dtef import open_runs, read_runs
from evalframe.core.errors import InputError, ParameterError

PLACE = r"evaluationResults.llmCoverageScores\['q'\]\['m'\]"


def run(cell=None, config=None, responses=None, **dtef):
    context = {"dtef": {"surveyId": "gd1", "segmentId": "gender:male", **dtef}}
    cells = {"q": {"m": {"avgCoverageExtent": 0.5, **(cell or {})}}}
    return {
        "config": {"configId": "x", "context": context, **(config or {})},
        "evaluationResults": {"llmCoverageScores": cells},
        "allFinalAssistantResponses": responses,
    }


def metadata(**told):
    return {"dtefMetadata": {"surveyId": "gd1", **told}}


LARGE = 10**30
WHOLE = "must be a whole number, but is"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (run(contextQuestionCount=math.inf), f"contextQuestionCount {WHOLE} inf"),
        (run(contextQuestionCount=1e30), rf"contextQuestionCount {WHOLE} 1e\+30"),
        (run(config={"configId": "x-c" + "9" * 40}), f"at the end of config.configId {WHOLE} 9999"),
        (run({"keyPointsCount": LARGE}), rf"{PLACE}.keyPointsCount {WHOLE} 10000"),
        (run({"keyPointsCount": True}), rf"{PLACE}.keyPointsCount {WHOLE} True"),
        (run({"avgCoverageExtent": 10**400}), rf"{PLACE}.avgCoverageExtent must be a number"),
        (run({"avgCoverageExtent": True}), rf"{PLACE}.avgCoverageExtent must be a number"),
        (run(batchSize=LARGE), f"batchSize {WHOLE} 10000"),
        (run(batchSize=True), f"batchSize {WHOLE} True"),
        (run(batchSize="2"), f"batchSize {WHOLE} '2'"),
        (metadata(segmentIds={"a": 1}), "dtefMetadata.segmentIds must be a list, but is an object"),
        (metadata(segmentIds="abc"), "dtefMetadata.segmentIds must be a list, but is text"),
        (
            metadata(segmentIds=["a"], segmentLabels=5),
            "dtefMetadata.segmentLabels must be a list, but is a number",
        ),
        (
            run(config={"configId": "x-ctx", "prompts": [{"promptText": 5}]}),
            r"config.prompts.0.promptText must be text, but is a number",
        ),
        (run(responses={"q": 5}), r"allFinalAssistantResponses\['q'\] must be an object"),
        (run(responses={"q": {"m": 5}}), r"Responses\['q'\]\['m'\] must be text, but is 5"),
        (run(responses={"q": {"m": "\ud800"}}), "allFinalAssistantResponses.q.m has half of a"),
        (run(config={"configId": "\udc00"}), "config.configId has half of a character"),
        (run(responses={"\ud800": {}}), r"allFinalAssistantResponses.'\\ud800' has half of a"),
    ],
)
def test_each_is_named_with_its_place(tmp_path, content, message):
    with pytest.raises(InputError, match=f"run result 0: .*{message}"):
        open_runs(content)
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"a.json: .*{message}"):
        open_runs(tmp_path / "a.json")


def test_whole_numbers_may_be_written_as_fractions():
    items = read_runs(run({"keyPointsCount": 2.0}, batchSize=3.0, contextQuestionCount=5.0))
    assert items.select("n_points", "batch_size", "context_count").row(0) == (2, 3, 5)


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_none(score):
    items = read_runs(run({"avgCoverageExtent": score}))
    assert items.select("score", "failed", "error").row(0) == (None, True, f"the score is {score}")


def test_a_key_twice_in_an_object(tmp_path):
    text = '{"evaluationResults": {"llmCoverageScores": {"q": {"m": {}, "m": {"error": "x"}}}}}'
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=r"a.json: an object has the key 'm' more than once"):
        read_runs(tmp_path / "a.json")


@pytest.mark.parametrize("source", [5, None, [5], [run(), 5]])
def test_what_is_no_source(source):
    with pytest.raises(ParameterError, match="expected files, globs, folders or decoded documents"):
        read_runs(source)
