"""Runs of HELM against golden values, and the traps of the format."""

import datetime
import json

import pytest

from evalframe.core.errors import InputError
from evalframe.logs import log_report, read_helm

SPEC = {"name": "sums:n=2,model=m", "adapter_spec": {"model": "m", "method": "generation"}}
TYPOS = {"name": "typos", "robustness": True, "fairness": False}


def stat(name, value, split="test", **more):
    return {"name": {"name": name, "split": split, **more}, "count": 1, "sum": value, "mean": value}


def record(sample, *stats, trial=0, **more):
    return {"instance_id": sample, "train_trial_index": trial, "stats": stats, **more}


def request(sample, text="4", logprob=0.0, **more):
    instance = {
        "id": sample,
        "input": {"text": "2 + 2"},
        "references": [
            {"output": {"text": "4"}, "tags": ["correct"]},
            {"output": {"text": "5"}, "tags": []},
            {"output": {"text": "four"}, "tags": ["correct"]},
        ],
        **more.pop("instance", {}),
    }
    result = {
        "success": True,
        "completions": [{"text": text, "logprob": logprob, "tokens": [{"logprob": logprob}]}],
        "request_time": 0.5,
        "request_datetime": 1751729998,
        **more.pop("result", {}),
    }
    return {"instance": instance, "train_trial_index": 0, "result": result, **more}


@pytest.fixture
def write(tmp_path):
    """Write a run, with its requests if there are any."""

    def written(*records, requests=None):
        folder = tmp_path / "sums:n=2"
        folder.mkdir()
        documents = {"run_spec": SPEC, "per_instance_stats": records}
        if requests is not None:
            documents["scenario_state"] = {"adapter_spec": {}, "request_states": requests}
        for name, document in documents.items():
            (folder / f"{name}.json").write_text(json.dumps(document, indent=2))
        return folder

    return written


def read(path, *columns, **options):
    return read_helm(path, **options).select(columns).collect().rows()


def test_golden(golden, shared):
    for known in golden("logs/logs")["helm"]:
        folder = shared / "data/logs" / known["folder"]
        items = read_helm(folder, extra=["confidence"], bookkeeping=True).collect()
        facts = items.select("run_id", "model", "task").unique().rows()
        assert facts == [(known["name"], known["model"], known["name"].partition(":")[0])]
        assert items["sample_id"].n_unique() == known["n_instances"]
        assert known["all_token_logprobs_zero"]
        assert items["confidence"].count() == 0
        for score in known["scores"]:
            rows = items.filter(scorer=score["scorer"], score_name=score["split"])
            assert len(rows) == score["n_scored"]
            assert rows["score"].mean() == pytest.approx(score["mean"], rel=1e-12)


def test_records_of_several_metric_classes_are_of_one_instance(write):
    path = write(
        record("a", stat("exact_match", 1), stat("num_prompt_tokens", 7), stat("max_prob", 0.25)),
        record("a", stat("f1_score", 0.5), stat("num_output_tokens", 2)),
        record("a", stat("exact_match", 0), trial=1),
        record("a", stat("exact_match", 0, sub_split="hard"), perturbation=TYPOS),
        record("b", stat("exact_match@5", 1, "valid"), {"name": {"name": "rouge_l"}, "count": 0}),
        requests=[request("a", logprob=-1.0)],
    )
    columns = ("sample_id", "scorer", "score_name", "epoch", "score", "confidence", "input_tokens")
    assert read(path, *columns, extra=["confidence"]) == [
        ("a", "exact_match", "test", 1, 1.0, 0.25, 7),
        ("a", "f1_score", "test", 1, 0.5, 0.25, 7),
        ("a", "exact_match", "test", 2, 0.0, None, None),
        ("a", "exact_match", "test/hard:typos", 1, 0.0, None, None),
        ("b", "exact_match@5", "valid", 1, 1.0, None, None),
    ]
    assert read(path, "output_tokens")[:2] == [(2,), (2,)]
    assert len(read(path, "score", bookkeeping=True)) == 8


def test_requests_say_answer_target_errors_and_times(write):
    failed = {"success": False, "error": "too long", "completions": []}
    path = write(
        *(record(sample, stat("exact_match", 1)) for sample in "abc"),
        requests=[
            request("a", output_mapping={"A": "4", "B": "5"}),
            request("b", result=failed),
            *(request("c", reference_index=n, request_mode="original") for n in range(3)),
        ],
    )
    columns = ("answer", "target", "n_choices", "is_error", "error", "total_time")
    assert read(path, *columns) == [
        ("4", "4,four", 2, False, None, 0.5),
        (None, "4,four", 3, True, "too long", 0.5),
        (None, "4,four", 3, False, None, 1.5),  # a request for each choice: none is the answer
    ]
    ((began,), *_) = read(path, "started_at")
    assert log_report(path)["bad_times"].item() == 0
    assert began == datetime.datetime(2025, 7, 5, 15, 39, 58, tzinfo=datetime.UTC)


def test_a_run_without_its_requests_is_read_and_said(write):
    path = write(record("a", stat("exact_match", 1), stat("max_prob", 0.5)))
    assert read(path, "score", "answer", "confidence", extra=["confidence"]) == [(1.0, None, None)]
    assert log_report(path)["no_record"].item() == 1
    assert read(path, "score") == [(1.0,)]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("per_instance_stats", "{}", "must be a list"),
        ("per_instance_stats", '[{"instance_id": "a"', "ends too early"),
        ("per_instance_stats", '[{"stats": []}]', "instance_id"),
        ("scenario_state", "[]", "'request_states' must be a list"),
        ("scenario_state", '{"request_states": [{}]}', "instance"),
        ("run_spec", "[]", "a run of HELM has a name"),
        ("run_spec", '{"name": "a"', "ends too early"),
    ],
)
def test_a_broken_file_is_named(write, name, text, told):
    path = write(record("a", stat("exact_match", 1)), requests=[])
    (path / f"{name}.json").write_text(text)
    with pytest.raises(InputError, match=rf"{name}\.json.*({told})"):
        read_helm(path).collect()


def test_half_characters_are_replaced(write):
    path = write(record("a\ud83d", stat("exact_match", 1)), requests=[request("a\ud83d", "\ud83d")])
    assert read(path, "sample_id", "answer") == [("a\ufffd", "\ufffd")]


def test_times_that_are_none_are_null_and_counted(write):
    at = {"request_datetime": 1e30}
    path = write(record("a", stat("exact_match", 1)), requests=[request("a", result=at)])
    assert read(path, "started_at", "total_time") == [(None, 0.5)]
    assert log_report(path)["bad_times"].item() == 1
