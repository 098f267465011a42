"""Samples of Every Eval Ever against golden values, the traps of the format, and files written."""

import hashlib
import json
import math
import re

import polars as pl
import pytest

from evalframe.core.errors import InputError, MissingColumnsError, OutputError, ParameterError
from evalframe.logs import (
    check_logs,
    log_report,
    read_every_eval_ever,
    read_logs,
    write_every_eval_ever,
)

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


ITEM = {
    "task": "sums",
    "model": "org/m/7b",
    "dataset": "numbers",
    "scorer": "acc",
    "score_name": None,
    "sample_id": "1",
    "epoch": 1,
    "score": 1.0,
    "answer": None,
    "target": "a",
    "is_error": False,
    "error": None,
    "input_tokens": None,
    "output_tokens": None,
    "total_tokens": None,
    "total_time": None,
    "metadata_level": None,
}


def items(*changes):
    """Rows of an items table, each with its changes."""
    return pl.DataFrame([{**ITEM, **each} for each in changes], infer_schema_length=None)


def test_written_items_are_read_back(tmp_path):
    rows = items(
        {},
        {"sample_id": "1", "epoch": 2, "score": 0.25, "metadata_level": 'h"ard'},
        {"sample_id": "é\n\u0007", "answer": "x,y", "error": "late", "is_error": True},
        {"scorer": "f1", "score_name": "none", "score": -3.5, "total_time": 0.5},
        {"scorer": "f1", "score_name": "strict", "input_tokens": 1, "output_tokens": 2},
        {"task": "words", "scorer": None, "dataset": "letters"},
        {"model": "lone", "total_tokens": 7},
    )
    files = write_every_eval_ever(rows, tmp_path, organization="me", created_at="0")
    assert files.select("rows", "left_out").rows() == [(6, 0), (1, 0)]
    back = read_every_eval_ever(tmp_path, metadata=["level"]).select(rows.columns).collect()
    tokens = pl.Series([None] * 4 + [3, None, None])  # only with both of its parts
    expected = rows.with_columns(total_tokens=tokens)
    assert back.sort("model", descending=True).equals(expected)
    checks = check_logs(tmp_path)
    assert checks["follows"].all()
    assert checks.filter(scorer="acc")["published"].sort().to_list() == [(0.625 + 1) / 2, 1.0]


def test_written_files_are_what_the_format_asks_for(tmp_path):
    rows = items({}, {"sample_id": "2", "score": 0.0}, {"sample_id": "3", "input_tokens": 4})
    (file,) = write_every_eval_ever(
        rows.with_columns(input=pl.lit("2 + 2"), format=pl.lit("helm")),
        tmp_path,
        organization="me",
        relationship="first_party",
        lower_is_better=["acc"],
        created_at="1795317665.7",
    )["file"]
    place = re.escape("numbers/org/m_7b/")
    uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    name = re.fullmatch(rf"{re.escape(str(tmp_path))}/({place}{uuid})_samples\.jsonl", file)[1]
    aggregate = json.loads((tmp_path / f"{name}.json").read_text())
    lines = [
        json.loads(each)
        for each in (tmp_path / f"{name}_samples.jsonl").read_text().split("\n")[:-1]
    ]
    (result,) = aggregate["evaluation_results"]
    assert result["metric_config"]["lower_is_better"] is True
    error = math.sqrt(1 / 3 / 3)
    assert result["score_details"] == {
        "score": pytest.approx(2 / 3),
        "uncertainty": {
            "num_samples": 3,
            "standard_error": {"value": pytest.approx(error), "method": "analytic"},
        },
    }
    assert aggregate["detailed_evaluation_results"] | {"checksum": ""} == {
        "format": "jsonl",
        "file_path": f"data/{name}_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": "",
        "total_rows": 3,
    }
    assert aggregate["source_metadata"]["evaluator_relationship"] == "first_party"
    assert aggregate["eval_library"]["name"] == "helm"
    for each in lines:
        assert each["evaluation_id"] == aggregate["evaluation_id"]
        assert each["evaluation_result_id"] == result["evaluation_result_id"]
        assert each["input"] == {"raw": "2 + 2", "reference": ["a"]}
        assert each["token_usage"] is None
        assert all(isinstance(entry, str) for entry in each["metadata"].values())
    assert [each["evaluation"]["is_correct"] for each in lines] == [True, False, True]


def test_rows_without_a_score_are_left_out_and_counted(tmp_path):
    scores = (1.0, None, math.nan, math.inf)
    rows = items(*({"sample_id": str(n), "score": score} for n, score in enumerate(scores)))
    files = write_every_eval_ever(rows, tmp_path, organization="me")
    assert files.select("rows", "left_out").rows() == [(1, 3)]
    assert write_every_eval_ever(rows[1:], tmp_path, organization="me").is_empty()


def test_names_are_never_paths_and_files_are_not_replaced(tmp_path):
    rows = items({"dataset": "../..", "model": "../C:\\x/"}, {"dataset": "CON", "model": "data"})
    files = write_every_eval_ever(rows, tmp_path / "new" / "data", organization="me")
    folders = [each.removeprefix(str(tmp_path)).split("/")[3:6] for each in files["file"]]
    assert folders == [["_.._", "_", "C__x_"], ["_CON", "unknown", "_data"]]
    assert len(read_logs(tmp_path).collect()) == 2
    with pytest.raises(OutputError, match=r"4 of 4 files exist already.*overwrite=True"):
        write_every_eval_ever(rows, tmp_path / "new" / "data", organization="me")
    again = write_every_eval_ever(rows, tmp_path / "new/data", organization="me", overwrite=True)
    assert again.equals(files)


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(MissingColumnsError, match="write_every_eval_ever needs column 'score'"):
        write_every_eval_ever(items({}).drop("score"), tmp_path, organization="me")
    with pytest.raises(ParameterError, match="relationship"):
        write_every_eval_ever(items({}), tmp_path, organization="me", relationship="friend")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        write_every_eval_ever(items({}), tmp_path / "file", organization="me")
