"""Logs as records of the families: selective prediction at once, others by naming fields."""

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.survey.sample import sample_survey
from logs.made import HEADER, archive, members, sample


def write_samples(folder, task, lines):
    """Samples of lm-evaluation-harness of one model; `doc` holds their metadata."""
    date = "2026-01-21T03-44-18.458309"
    (folder / f"results_{date}.json").write_text(
        json.dumps({"model_name": "m", "results": {}, "configs": {}})
    )
    with (folder / f"samples_{task}_{date}.jsonl").open("w") as file:
        for number, (doc, target, answer) in enumerate(lines):
            fields = {"doc_id": number, "doc": doc, "target": target, "filter": "none"}
            fields |= {"filtered_resps": [answer], "metrics": ["acc"], "acc": number % 2}
            file.write(json.dumps(fields) + "\n")


def test_likelihoods_are_confidences(folder, call):
    for name, skill in (("a", 0.3), ("b", 0.8)):
        log = ef.logs.sample_log(model=name, skill=skill, seed=3)
        (folder / f"{name}.eval").write_bytes(log)
    words = ["--confidence", "confidence", "--loss", "zero_one", "--by", "model"]
    told = call("selective", "a.eval", "b.eval", *words, "--bootstrap", "50", "-o", "out.parquet")
    assert "Kept apart by scorer, of which there are several." in told.stdout
    assert "An answer is its score, 1 if right; an empty answer abstains, and one" in told.stdout
    assert "values of model are pooled" not in told.stdout
    items = ef.read_logs(folder, extra=["confidence"]).with_columns(
        loss=(pl.col("score") != 1).cast(pl.Float64),
        cluster=pl.format("{}/{}", "task", "sample_id"),
    )
    resample = ef.Bootstrap(cluster="cluster", n=50, seed=42)
    expected = ef.evaluate(items, ef.aurc(), by=["model", "scorer"], resample=resample).collect()
    found = pl.read_parquet("out.parquet").filter(metric="aurc")
    columns = ["model", "scorer", "estimate", "lower", "upper", "n_clusters"]
    assert_frame_equal(found.select(columns), expected.select(columns))


def test_rows_without_a_confidence_break_the_contract(folder, call):
    (folder / "a.eval").write_bytes(ef.logs.sample_log(samples=5))
    told = call("selective", "a.eval", "--confidence", "logprob_tokens", exit_code=1)
    assert "numbers do not say what loss they want" in told.stderr
    write_samples(folder, "sums", [({}, "1", "2")] * 3)
    told = call("selective", "samples*", "--loss", "zero_one", exit_code=1)
    assert "confidence is present where prediction is: not so in 3 of 3 rows" in told.stderr


def test_refusals_abstain(folder, call):
    letter = {"token": "B", "logprob": -0.1}
    output = {"choices": [{"logprobs": {"content": [letter]}}]}
    answers = {1: ("C", "B"), 2: ("I", "B"), 3: ("I", ""), 4: ("C", "B")}
    samples = [
        sample(n, scores={"choice": {"value": value, "answer": answer}})
        for n, (value, answer) in answers.items()
    ]
    samples = [{**each, "choices": ["x", "y"], "output": output} for each in samples]
    for model in ("a", "b"):
        header = {**HEADER, "eval": {**HEADER["eval"], "model": model}}
        (folder / f"{model}.eval").write_bytes(archive(members(samples, header)))
    words = ["--loss", "zero_one", "--metrics", "coverage,selective_risk", "-o", "out.parquet"]
    told = call("selective", "a.eval", "b.eval", *words).stdout
    assert "2 values of model are pooled; --by model keeps them apart." in told
    values = dict(pl.read_parquet("out.parquet").select("metric", "estimate").rows())
    assert values == pytest.approx({"coverage": 3 / 4, "selective_risk": 1 / 3})


def test_long_answers_are_read_whole(folder, call):
    long = "so " * 600 + "Paris"
    full = sample(scores={"match": {"value": "C", "answer": long}}, metadata={"noise": 0})
    full["target"] = "Paris"
    brief = {**full, "scores": {"match": {"value": "C", "answer": long[:1021] + "..."}}}
    (folder / "a.eval").write_bytes(archive(members([full], summaries=[brief])))
    named = {"response": "answer", "answers": "target", "dataset": "task", "id": "sample_id"}
    named |= {"noise_rate": "metadata_noise"}
    columns = [word for item in named.items() for word in ("--column", "=".join(item))]
    call("rag", "a.eval", *columns, "-o", "out.parquet")
    assert pl.read_parquet("out.parquet")["all_rate"].to_list() == [1.0]


@pytest.fixture
def documents(folder):
    """Answers to questions with documents, as text with the number or a rejection."""
    lines = [
        ({"noise": 0.5 * (k % 2), "set": "en"}, "70", "It is 70." if k % 3 else "I cannot say.")
        for k in range(12)
    ]
    write_samples(folder, "rag", lines)
    return lines


def test_answers_to_documents(documents, call):
    named = {"response": "answer", "answers": "target", "dataset": "metadata_set"}
    named |= {"noise_rate": "metadata_noise", "id": "sample_id"}
    columns = [word for item in named.items() for word in ("--column", "=".join(item))]
    call("rag", "samples*", *columns, "-o", "out.parquet")
    found = pl.read_parquet("out.parquet").sort("noise_rate")
    right = pl.DataFrame(
        [(doc["noise"], "70" in answer) for doc, _, answer in documents],
        schema=["noise_rate", "right"],
        orient="row",
    )
    expected = right.group_by("noise_rate").agg(pl.col("right").mean()).sort("noise_rate")
    assert found["all_rate"].to_list() == pytest.approx(expected["right"].to_list())


def test_distributions_of_a_survey(folder, call):
    survey = sample_survey()
    truth = ef.survey.as_distributions(survey).head(6)
    rows = truth.select("round", "segment_id", "question_id", "actual").to_dicts()
    lines = [
        (
            {key: row[key] for key in ("round", "segment_id", "question_id")},
            "",
            str([round(100 * share, 2) for share in row["actual"]]),
        )
        for row in rows
    ]
    write_samples(folder, "survey", lines)
    truth.write_parquet("truth.parquet")
    named = {key: f"metadata_{key}" for key in ("round", "segment_id", "question_id")}
    named["response"] = "answer"
    columns = [word for item in named.items() for word in ("--column", "=".join(item))]
    call("survey", "samples*", *columns, "--truth", "truth.parquet", "-o", "out.parquet")
    found = pl.read_parquet("out.parquet").filter(model="m")
    assert found["score"].item() > 0.99
