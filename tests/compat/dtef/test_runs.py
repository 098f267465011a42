"""Run results of the original: golden files, filters, contexts, summaries, and broken files."""

import json

import polars as pl
import pytest

from evalframe.compat.dtef import open_runs, question_disparity, read_runs, summary, write_summary
from evalframe.compat.dtef.documents import Document, context_count
from evalframe.core.errors import InputError, ParameterError


def run(segment="gender:male", cells=None, config_id="dtef-gd1-x", tags=("dtef",), **changes):
    cells = {f"q1-{segment}": {"m": {"avgCoverageExtent": 0.5}}} if cells is None else cells
    context = {"dtef": {"surveyId": "gd1", "segmentId": segment, "segmentLabel": "Male"}}
    context["dtef"] |= changes.pop("dtef", {})
    config = {"configId": config_id, "tags": [*tags], "context": context}
    made = {"configId": config_id, "runLabel": "r", "timestamp": "2026-01-01", "config": config}
    return made | {"evaluationResults": {"llmCoverageScores": cells}} | changes


def test_golden_records(golden):
    content = golden("survey/aggregation")
    numbers = [*content["results"]]
    items = read_runs([*content["results"].values()])
    assert len(items) == len(content["records"]) >= 360
    expected = [
        (
            numbers.index(str(record["result"])),
            record["prompt_id"],
            record["question_id"],
            record["model_id"],
            record["item_score"],
            record["item_score"] is None,
        )
        for record in content["records"]
    ]
    shown = items.select("run_id", "prompt_id", "question_id", "model", "score", "failed")
    key = lambda row: (row[0], row[1], row[3])  # noqa: E731 (one key for two lists)
    assert sorted(shown.rows(), key=key) == sorted(expected, key=key)


def test_golden_summary(golden, tmp_path):
    content = golden("survey/aggregation")
    for number, result in content["results"].items():
        (tmp_path / f"{int(number):03}.json").write_text(json.dumps(result))
    results = open_runs(tmp_path)
    expected = content["expected"]["summary_gd8"]
    found = summary(results)
    assert found.keys() == expected.keys()
    for name in ("surveyId", "resultCount", "fairnessConcerns"):
        assert found[name] == expected[name]
    for mine, theirs in zip(found["topModels"], expected["topModels"], strict=True):
        assert mine == theirs | {"overallScore": pytest.approx(theirs["overallScore"], abs=1e-12)}
    slopes, wanted = found["contextResponsiveness"], expected["contextResponsiveness"]
    assert slopes["contextLevelsFound"] == wanted["contextLevelsFound"]
    for mine, theirs in zip(slopes["models"], wanted["models"], strict=True):
        assert mine == theirs | {"slope": pytest.approx(theirs["slope"], abs=1e-12)}
    write_summary(results, tmp_path / "out.json")
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["topModels"][0]["modelName"] == "acme/alpha-1[temp:0.3]"
    assert written.keys() == found.keys()


def test_golden_empty(golden):
    expected = golden("survey/aggregation")["expected"]["aggregate_empty"]
    found = summary(open_runs({"config": {"tags": ["other"]}}))
    assert found["surveyId"] == expected["surveyId"]
    assert (found["resultCount"], found["topModels"]) == (0, [])


def test_golden_context_counts(golden):
    for case in golden("survey/statistics")["context_count"]:
        config = {"configId": case["config_id"], "context": {"dtef": case["dtef_context"]}}
        if case["prompt_text"] is not None:
            config["prompts"] = [{"promptText": case["prompt_text"]}]
        assert context_count(Document("run", {"config": config})) == case["value"]


def test_context_counts_of_old_configs():
    def counted(config_id, dtef=None, text=""):
        config = {"configId": config_id, "context": {"dtef": dtef}}
        return context_count(
            Document("run", {"config": config | {"prompts": [{"promptText": text}]}})
        )

    assert counted("x-c12") == 12
    assert counted("x-c12", {"contextQuestionCount": 4}) == 4
    assert counted("x-c12", {"contextQuestionCount": -1}) == 12
    assert counted("x-ctx", {"contextQuestionIds": ["a", "b"]}) == 2
    assert counted("x-ctx", None, 'Q: "one"\nQ:"two"') == 2
    assert counted("x-ctx") is None


def test_what_counts():
    runs = [
        run(),
        run(tags=("dtef", "experiment:long")),
        run(dtef={"experimentId": "short"}),
        {"config": {"tags": ["other"]}},
        {"config": {"tags": ["dtef"]}},
        {"dtefMetadata": {"surveyId": "gd2", "segmentIds": ["country:t-rkiye"]}},
    ]
    found = open_runs(runs)
    assert found.runs["use"].to_list() == [
        "counted",
        "experiment",
        "experiment",
        "not_dtef",
        "no_segment",
        "counted",
    ]
    assert found.runs["segment_id"].to_list()[-1] == "country:turkey"
    assert found.runs["experiment_id"].to_list()[1:3] == ["long", "short"]
    assert len(read_runs(runs, experiments=True)) == 3


def test_the_latest_run_of_each_config():
    late = run(cells={"q1-gender:male": {"m": {"avgCoverageExtent": 0.9}}})
    late["timestamp"] = "2026-02-01"
    runs = [late, run(), run(config_id="dtef-gd1-y")]
    assert read_runs(runs)["score"].to_list() == [0.9, 0.5, 0.5]
    assert read_runs(runs, versions="latest")["score"].to_list() == [0.9, 0.5]
    assert open_runs(runs, versions="latest").runs["use"][1] == "superseded"


def test_questions_of_prompts():
    cells = {
        name: {"m": {"avgCoverageExtent": 0.5}}
        for name in ("a-b-gender:male", "batch-0-gender:male", "q1", "-gender:male")
    }
    items = read_runs(run(cells=cells))
    assert items["question_id"].to_list() == ["a-b", None, None, None]


def test_renamed_segments_lose_their_questions_in_the_original_alone():
    one = run(segment="country:t-rkiye")
    two = run(segment="country:peru")
    items = read_runs([one, two])
    assert items["question_id"].to_list() == ["q1", "q1"]
    assert items["segment_id"].to_list() == ["country:turkey", "country:peru"]
    assert len(question_disparity(items)) == 1
    old = read_runs([one, two], former_names=False)
    assert old["question_id"].to_list() == [None, "q1"]
    assert question_disparity(old).is_empty()


def test_errors_responses_and_attributes():
    cells = {"q1-gender:male": {"m": {"error": "late"}, "n": None, "o": {"avgCoverageExtent": 1}}}
    texts = {"q1-gender:male": {"o": "[50, 50]"}}
    attributes = {"gender": "Male", "country": "Türkiye"}
    found = open_runs(
        run(cells=cells, allFinalAssistantResponses=texts, dtef={"segmentAttributes": attributes})
    )
    assert found.items.select("model", "score", "error", "response").rows() == [
        ("m", None, "late", None),
        ("n", None, "no result", None),
        ("o", 1.0, None, "[50, 50]"),
    ]
    assert found.attributes["value"].to_list() == ["Male", "Turkey"]


def test_baselines_and_concerns_in_a_summary():
    names = {
        "m": (0.9, 0.5),
        "baseline:uniform": (0.2, 0.8),
        "baseline:random-dirichlet": (0.25, 0.75),
        "baseline:shuffled-null": (0.5, 0.75),
        "baseline:population-marginal": (0.75, 1.0),
    }
    runs = [
        run(
            segment=f"gender:{segment}",
            cells={f"q1-gender:{segment}": {
                model: {"avgCoverageExtent": scores[place]} for model, scores in names.items()
            }},
            config_id=segment,
            dtef={"segmentLabel": segment.title()},
        )
        for place, segment in enumerate(("male", "female"))
    ]  # fmt: skip
    found = summary(open_runs(runs))
    assert found["baselines"] == {
        "populationMarginal": 0.875,
        "uniform": 0.5,
        "randomDirichlet": 0.5,
        "shuffled": 0.625,
    }
    assert [row["modelId"] for row in found["topModels"]] == ["m"]
    assert found["fairnessConcerns"] == [
        {
            "modelId": "m",
            "category": "gender",
            "categoryLabel": "Gender",
            "bestSegment": "Male",
            "worstSegment": "Female",
            "gap": 0.4,
        }
    ]
    assert "contextResponsiveness" not in found


def test_a_summary_counts_experiments_and_levels_without_answers():
    """As `buildDTEFSummary` does: 5 of these 6 are results of the survey, at 3 levels."""
    runs = [
        run(tags=("dtef", "experiment:long")),
        run(),
        run(cells={"q1-gender:male": {"m": {"error": "late"}}}, dtef={"contextQuestionCount": 5}),
        run(cells={}, dtef={"contextQuestionCount": 9}),
        {"config": {"tags": ["dtef"]}},
        {"config": {"tags": ["other"]}},
    ]
    found = summary(open_runs(runs))
    assert (found["surveyId"], found["resultCount"]) == ("gd1", 5)
    assert found["contextResponsiveness"] == {
        "models": [{"modelId": "m", "displayName": "m", "slope": 0.0}],
        "contextLevelsFound": [0, 5, 9],
    }
    errors_only = summary(open_runs(runs[:3]))["contextResponsiveness"]
    assert errors_only["contextLevelsFound"] == [0, 5]
    no_cells = summary(open_runs([runs[1], runs[3]]))["contextResponsiveness"]
    assert [row["modelId"] for row in no_cells["models"]] == ["m"]
    # The first run of the survey says which it is; one that only has its tag does not know.
    assert summary(open_runs([runs[4], runs[1]]))["surveyId"] == "unknown"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"a.json is empty"),
        ("[1]", r"a.json: a run result is an object, but this is a list"),
        ('{"config": 3}', r"a.json: config must be an object, but is a number"),
        ('{"config": {"tags": "dtef"}}', r"config.tags must be a list, but is text"),
        (
            json.dumps(run(cells={"q": {"m": {"avgCoverageExtent": "high"}}})),
            r"llmCoverageScores\['q'\]\['m'\].avgCoverageExtent must be a number, but is 'high'",
        ),
        (json.dumps(run(cells={"q": [1]})), r"llmCoverageScores\['q'\] must be an object"),
        (json.dumps(run(cells={"q": {"m": 1}})), r"\['q'\]\['m'\] must be an object"),
        (json.dumps(run(dtef={"surveyId": 3})), r"a.json: round must be text, but is 3"),
    ],
)
def test_broken_files_are_named(tmp_path, text, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_runs(tmp_path / "a.json")


def test_nothing_to_read(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_runs(tmp_path / "none.json")
    with pytest.raises(InputError, match=r"holds no .json file"):
        read_runs(tmp_path)
    with pytest.raises(InputError, match="no run result to read"):
        read_runs([])
    with pytest.raises(ParameterError, match="versions must be one of"):
        read_runs(run(), versions="last")
    assert read_runs(run(cells={})).schema["score"] == pl.Float64
