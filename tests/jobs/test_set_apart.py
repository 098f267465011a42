"""Rejected rows stand beside the result that they were left out of, or nowhere."""

import polars as pl
import pytest

from evalframe.core.errors import EvalframeError, InputError, ParameterError
from evalframe.jobs.flags import parse
from evalframe.jobs.run import run, target_of
from evalframe.jobs.samples import write_samples

FAMILIES = {
    "selective": {"items": ["items.parquet"], "by": ["mode"], "loss": {"name": "abs"}},
    "survey": {"items": ["survey_responses.parquet"], "truth": "survey.parquet"},
    "rag": {"items": ["rag_responses.parquet"]},
    "replication": {"items": ["replication_tests.parquet"]},
}
APART = {"on_invalid": "quarantine", "output": "out.parquet"}


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_samples(folder, participants=3)
    return folder


@pytest.mark.parametrize("family", FAMILIES)
def test_a_job_that_fails_leaves_the_rejected_rows_as_they_were(family, samples):
    asked = FAMILIES[family]
    rejected = samples / "out.rejected.parquet"
    rejected.write_bytes(b"of another run")
    before = sorted(samples.iterdir())
    failing = {"by": ["nowhere"]} if family == "replication" else {}
    failing = failing or {"bootstrap": {"n": 5, "cluster": "nowhere"}}
    with pytest.raises(EvalframeError):
        run(parse({"family": family, **asked, **APART, **failing}), folder=samples)
    assert rejected.read_bytes() == b"of another run"
    assert sorted(samples.iterdir()) == before
    rejected.unlink()


@pytest.mark.parametrize("family", FAMILIES)
def test_rejected_rows_are_named_where_they_are(family, samples):
    asked = FAMILIES[family]
    outcome = run(parse({"family": family, **asked, **APART}), folder=samples)
    assert outcome.validation.quarantine == samples / "out.rejected.parquet"
    assert pl.read_parquet(outcome.validation.quarantine).is_empty()


def test_baselines_among_the_models_stay_as_they_are(tmp_path):
    write_samples(tmp_path, participants=3)
    survey = {"family": "survey", "truth": "survey.parquet"}
    scores = pl.DataFrame(
        {
            "model": "baseline:uniform",
            "round": "MB1",
            "segment_id": "gender:female",
            "question_id": pl.read_parquet(tmp_path / "survey.parquet")["question_id"][0],
            "score": [0.25],
        }
    )
    scores.write_parquet(tmp_path / "scores.parquet")
    job = parse({**survey, "items": ["scores.parquet"], "baselines": ["uniform"]})
    outcome = run(job, folder=tmp_path)
    assert outcome.result.select("model", "score", "n_items").rows() == [
        ("baseline:uniform", 0.25, 1)
    ]
    assert not any("Baselines are scored" in note for note in outcome.notes)


def test_two_spellings_of_a_segment_are_duplicates(tmp_path):
    rows = {"model": "m", "question_id": "q", "score": [1.0, 0.0]}
    spelled = {"segment_id": ["country:t-rkiye", "country:turkey"]}
    pl.DataFrame({**rows, **spelled}).write_parquet(tmp_path / "said.parquet")
    with pytest.raises(EvalframeError, match="unique: not so in 1 of 2 rows"):
        run(parse({"family": "survey", "items": ["said.parquet"]}), folder=tmp_path)


def test_blank_responses_are_no_answers_of_the_original(tmp_path):
    truth = {"segment_id": ["gender:male"] * 2, "question_id": ["q"] * 2}
    shares = {"option_index": [0, 1], "share": [0.5, 0.5]}
    pl.DataFrame({**truth, **shares}).write_parquet(tmp_path / "truth.parquet")
    said = {"model": ["a", "b"], "segment_id": "gender:male", "question_id": "q"}
    pl.DataFrame({**said, "response": ["[50, 50]", " "]}).write_parquet(tmp_path / "said.parquet")
    asked = {"items": ["said.parquet"], "truth": "truth.parquet", "baselines": []}
    for rules in ("documented", "reference"):
        job = parse({"family": "survey", **asked, "rules": rules})
        scores = run(job, folder=tmp_path).result["score"].to_list()
        assert scores in ([1.0, None], [1.0])


def test_run_results_are_named_once(tmp_path):
    job = {"family": "survey", "runs": True, "items": ["run.json", "./run.json"]}
    (tmp_path / "run.json").write_text(RUN)
    with pytest.raises(InputError, match="is named twice"):
        run(parse(job), folder=tmp_path)


def test_a_summary_is_a_file_of_its_own(tmp_path):
    (tmp_path / "run.json").write_text(RUN)
    job = {"family": "survey", "runs": True, "items": ["run.json"]}
    both = {"output": "out.json", "summary": "out.json"}
    with pytest.raises(ParameterError, match="would both be"):
        run(parse({**job, **both}), folder=tmp_path)


def test_an_output_has_a_name(tmp_path):
    with pytest.raises(ParameterError, match="the output has no name"):
        target_of(" ", tmp_path)


RUN = """
{"configId": "c", "runLabel": "r", "timestamp": "2026-01-01", "config": {"configId": "c",
"tags": ["dtef"], "context": {"dtef": {"surveyId": "s", "segmentId": "gender:male"}}},
"evaluationResults": {"llmCoverageScores": {"q": {"m": {"avgCoverageExtent": 0.5}}}}}
"""
