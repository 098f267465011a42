"""Samples of Every Eval Ever against golden values, the traps of the format, and files written."""

import hashlib
import json

import pytest

from evalframe.core.errors import InputError
from evalframe.logs import log_report, read_every_eval_ever

UUID = "0b4c6b1e-1111-4111-8111-111111111111"


def line(sample="1", score=1.0, **fields):
    named = {"evaluation_id": "run", "evaluation_name": "sums", "sample_id": sample}
    return {**named, "model_id": "org/m", "evaluation": {"score": score}, **fields}


def result(metric, name="sums", **fields):
    config = {
        "evaluation_description": metric,
        "lower_is_better": False,
        **fields.pop("config", {}),
    }
    return {
        "evaluation_name": name,
        "metric_config": config,
        "source_data": {"dataset_name": "numbers"},
        **fields,
    }


@pytest.fixture
def write(tmp_path):
    """Write lines of samples, and an aggregate with results if there are any."""

    def written(*lines, results=None, **details):
        path = tmp_path / f"{UUID}_samples.jsonl"
        texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
        path.write_text("".join(f"{text}\n" for text in texts))
        if results is not None:
            checksum = hashlib.sha256(path.read_bytes()).hexdigest()
            beside = {"total_rows": len(lines), "checksum": checksum, **details}
            aggregate = {"evaluation_id": "run", "evaluation_results": results}
            text = json.dumps({**aggregate, "detailed_evaluation_results": beside})
            path.with_name(f"{UUID}.json").write_text(text)
        return path

    return written


def read(path, *columns, **options):
    return read_every_eval_ever(path, **options).select(columns).collect().rows()


def test_golden(golden, shared):
    folder = shared / "data/logs/eee_made"
    for known in golden("logs/logs")["every_eval_ever"]:
        if known["samples"] is None:
            continue
        path = folder / known["file"].replace(".json", "_samples.jsonl")
        items, samples = read_every_eval_ever(path).collect(), known["samples"]
        assert len(items) == samples["n_rows"]
        assert items["sample_id"].n_unique() == samples["n_sample_ids"]
        assert items["model"].unique().to_list() == [known["model_id"]]
        assert items["is_error"].sum() == samples["n_errors"]
        for name, expected in samples["by_evaluation_name"].items():
            rows = items.filter(task=name)
            assert len(rows) == expected["n"]
            assert rows["score"].mean() == pytest.approx(expected["mean_score"], rel=1e-12)
            metrics = {
                each["metric"] for each in known["results"] if each["evaluation_name"] == name
            }
            assert {*rows["scorer"]} == (metrics if len(metrics) == 1 else {None})
    counts = log_report(folder).select("missing", "foreign", "changed").sum().row(0)
    assert counts == (0, 0, 0)


def test_a_line_belongs_to_the_result_of_its_id_else_of_its_name_if_only_one_has_it(write):
    path = write(
        line(evaluation_result_id="b"),
        line(evaluation_result_id=None),
        line(evaluation_result_id="gone", evaluation_name="alone"),
        line(evaluation_name="unknown"),
        results=[
            result("acc", evaluation_result_id="a"),
            result("long text", evaluation_result_id="b", config={"metric_id": "f1"}),
            result("em", name="alone", source_data={"dataset_name": "words"}),
        ],
    )
    assert read(path, "task", "scorer", "dataset", "run_id", "log_id") == [
        ("sums", "f1", "numbers", "run", UUID),
        ("sums", None, None, "run", UUID),
        ("alone", "em", "words", "run", UUID),
        ("unknown", None, None, "run", UUID),
    ]
    assert read_every_eval_ever(path).filter(task="alone").collect()["scorer"].to_list() == ["em"]


def test_what_a_line_says(write):
    path = write(
        line(
            input={"raw": "?", "reference": ["a", "b"], "choices": ["a", "b", "c"]},
            output={"raw": ["first", "second"]},
            token_usage={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
            performance={"generation_time_ms": 1500.0},
            error="late",
            metadata={"epoch": "2", "level": "hard"},
        ),
        line(7, output=None, messages=[], token_usage=None, metadata={"epoch": "second"}),
    )
    columns = ("sample_id", "epoch", "target", "answer", "n_choices", "total_tokens", "total_time")
    assert read(path, *columns) == [
        ("1", 2, "a,b", "first", 3, 3, 1.5),
        ("7", 1, None, None, None, None, None),
    ]
    assert read(path, "is_error", "error") == [(True, "late"), (False, None)]
    assert read(path, "metadata_level", metadata=["level"]) == [("hard",), (None,)]


def test_minus_one_is_no_score_where_it_means_unknown(write):
    results = [result("acc", config={"has_unknown_level": True})]
    assert read(write(line(score=-1), line(score=0), results=results), "score") == [(None,), (0.0,)]
    assert read(write(line(score=-1), results=[result("acc")]), "score") == [(-1.0,)]


def test_what_the_aggregate_promises_is_checked(write):
    path = write(line(), line(evaluation_id="other"), results=[], total_rows=5, checksum="ab")
    assert log_report(path).select("missing", "foreign", "changed").row(0) == (3, 1, 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"evaluation_id": "run"', "line 2: .* ends too early"),
        ('{"evaluation_id": "run"}', "line 2: 'evaluation_name'"),
        (json.dumps(line(score="1")), "line 2: 'evaluation'"),
        (json.dumps(line(sample=None)), "line 2: 'sample_id'"),
        (json.dumps(line(metadata=[])), "line 2: 'metadata'"),
    ],
)
def test_a_broken_line_is_named(write, text, told):
    with pytest.raises(InputError, match=told):
        read(write(line(), text), "score")


def test_a_broken_aggregate_is_named(write):
    path = write(line())
    path.with_name(f"{UUID}.json").write_text("{}")
    with pytest.raises(InputError, match=rf"{UUID}\.json: no evaluation_results"):
        read(path, "score")
