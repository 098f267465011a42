"""`evalframe survey --from-runs`: leaderboards of run results of the original."""

import json
from pathlib import Path

import polars as pl
import pytest

from evalframe.jobs.written import read_provenance


@pytest.fixture
def survey(commands):
    """Run `evalframe survey` in an empty folder."""
    return commands("survey")


def run_result(segment, scores, **dtef):
    context = {"surveyId": "s1", "segmentId": segment, "contextQuestionCount": 0, **dtef}
    cells = {f"q1-{segment}": {m: {"avgCoverageExtent": score} for m, score in scores.items()}}
    return {
        "configId": f"c-{segment}",
        "timestamp": "2026-01-01",
        "config": {"tags": ["dtef"], "context": {"dtef": context}},
        "evaluationResults": {"llmCoverageScores": cells},
    }


def test_run_results_of_the_original(survey):
    Path("runs").mkdir()
    segments = {"gender:male": {"a": 0.5, "b": 0.25}, "gender:female": {"a": 1.0, "b": 0.25}}
    for number, (segment, scores) in enumerate(segments.items()):
        document = json.dumps(run_result(segment, scores))
        Path(f"runs/{number}.json").write_text(document)
    text = survey("--from-runs", "runs", "-o", "out.parquet", "--summary", "summary.json")
    found = pl.read_parquet("out.parquet").select("model", "score", "n_segments")
    assert found.rows() == [("a", 0.75, 2), ("b", 0.25, 2)]
    assert "do not count" not in text
    assert json.loads(Path("summary.json").read_text())["topModels"][0]["modelId"] == "a"
    assert [file["rows"] for file in read_provenance("out.parquet")["inputs"]] == [2, 2]
    trial = json.dumps(run_result("gender:male", {"a": 0.0}, experimentId="x"))
    Path("runs/2.json").write_text(trial)
    text = survey("--from-runs", "runs", "-o", "out.parquet")
    assert "1 of 3 run results do not count: 1 experiment." in text
    survey("--from-runs", "runs", "-o", "out.parquet", "-q", "--experiments")
    assert pl.read_parquet("out.parquet")["score"].head(1).item() == pytest.approx(0.625)
    truth = pl.DataFrame(
        {
            "round": "s1",
            "segment_id": [*segments],
            "question_id": "q1",
            "sample_size": [10, 30],
            "actual": [[0.5, 0.5], [1.0, 0.0]],
        }
    )
    truth.write_parquet("truth.parquet")
    args = ["--from-runs", "runs", "--truth", "truth.parquet", "-o", "out.parquet"]
    text = survey(*args, "--weighting", "sample_size", "--baselines", "uniform")
    scores = dict(pl.read_parquet("out.parquet").select("model", "score").iter_rows())
    assert scores["a"] == pytest.approx(0.5 * 0.25 + 1.0 * 0.75)
    assert "baseline:uniform" in scores
    assert "Baselines are scored by jensen_shannon_similarity." in text
    text = survey(*args, "--metric", "cosine", exit_code=1)
    assert "4 of 4 scores of these run results have no response" in text


def test_golden_run_results(survey, golden):
    content = golden("survey/aggregation")
    Path("runs").mkdir()
    for number, result in content["results"].items():
        Path(f"runs/{int(number):03}.json").write_text(json.dumps(result))
    args = ["--rules", "reference", "--versions", "latest", "-q"]
    survey("--from-runs", "runs", "-o", "out.parquet", *args)
    found = pl.read_parquet("out.parquet").select("model", "score", "n_segments")
    expected = content["expected"]["summary_gd8"]["topModels"]
    wanted = [(m["modelId"], pytest.approx(m["overallScore"]), m["segmentCount"]) for m in expected]
    assert found.rows() == wanted


def test_prompts_about_several_questions(survey):
    """They have no question of their own, and baselines answer what the segment was asked."""
    Path("runs").mkdir()
    result = run_result("gender:male", {"a": 0.5})
    cells = result["evaluationResults"]["llmCoverageScores"]
    cells["batch-0-gender:male"] = {"a": {"avgCoverageExtent": 1.0, "keyPointsCount": 2}}
    Path("runs/0.json").write_text(json.dumps(result))
    truth = {"round": "s1", "segment_id": "gender:male", "question_id": ["q1", "q2", "q3"]}
    shares = pl.DataFrame(truth).with_columns(sample_size=10, actual=pl.lit([0.5, 0.5]))
    shares.write_parquet("truth.parquet")
    args = ["--from-runs", "runs", "--truth", "truth.parquet", "--baselines", "uniform"]
    survey(*args, "-o", "tables", "-q")
    found = pl.read_parquet("tables/overall.parquet").select("model", "score", "n_items")
    assert found.rows() == [("baseline:uniform", 1.0, 3), ("a", 0.75, 2)]
    survey("tables/scores.parquet", "-o", "again.parquet", "-q")
    again = pl.read_parquet("again.parquet").select("model", "score", "n_items")
    assert again.rows() == found.rows()
