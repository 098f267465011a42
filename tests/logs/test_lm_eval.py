"""Samples of lm-evaluation-harness against golden values, and the traps of the format."""

import json
import math

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import InputError, RunWarning
from evalframe.logs import log_report, read_lm_eval

DATE = "2026-01-21T03-44-18.458309"


@pytest.fixture
def write(tmp_path):
    """Write lines of samples, and results beside them if there are any."""

    def written(*lines, task="sums", results=None):
        if results is not None:
            (tmp_path / f"results_{DATE}.json").write_text(json.dumps(results))
        path = tmp_path / f"samples_{task}_{DATE}.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(texts) + "\n")
        return path

    return written


def line(doc_id, **fields):
    """A line that is scored by `acc`."""
    return {"doc_id": doc_id, "filter": "none", "metrics": ["acc"], "acc": 1.0, **fields}


def choices(*likelihoods, texts="ABC"):
    """The fields of a multiple choice."""
    arguments = {
        f"gen_args_{n}": {"arg_0": "Q:", "arg_1": f" {text}"} for n, text in enumerate(texts)
    }
    return {"arguments": arguments, "filtered_resps": [[each, "False"] for each in likelihoods]}


def read(path, *columns, **options):
    return read_lm_eval(path, **options).select(columns).collect().rows()


def test_golden(golden, shared):
    for known in golden("logs/logs")["lm_eval"]:
        if "file" not in known:
            continue
        path = shared / "data/logs" / known["folder"] / known["file"]
        items = read_lm_eval(path, extra=["confidence"]).collect()
        assert len(items) == known["n_rows"]
        facts = ("task", "task_version", "model")
        assert items.select(facts).unique().rows() == [tuple(known[name] for name in facts)]
        for score in known["scores"]:
            rows = items.filter(scorer=score["scorer"], score_name=score["filter"])
            assert len(rows) == score["n"]
            assert rows["score"].mean() == pytest.approx(score.get("mean"))
            assert rows["confidence"].count() == score.get("n_confidence", 0)
            assert rows["confidence"].mean() == pytest.approx(score.get("mean_confidence"))


def test_a_line_is_a_row_for_each_metric_and_a_pair_is_no_score(write):
    path = write(
        line("a", target=["x", "y"], metrics=["acc", "mcc"], acc=True, mcc=[1, 0]),
        line(2, target="z", acc=10**30),
    )
    rows = read(path, "sample_id", "scorer", "score_name", "score", "value", "target", "epoch")
    assert rows == [
        ("a", "acc", "none", 1.0, "true", "x,y", 1),
        ("a", "mcc", "none", None, "[1, 0]", "x,y", 1),
        ("2", "acc", "none", 1e30, str(10**30), "z", 1),
        ("2", "mcc", "none", None, None, "z", 1),
    ]


def test_older_lines_name_no_metrics_and_no_filter(write):
    old = {"doc_id": 0, "doc": {}, "target": "1", "acc": 0, "note": "good", "doc_hash": "ab"}
    path = write(old, {**old, "doc_id": 1, "em": math.nan})
    assert read(path, "sample_id", "scorer", "score_name", "value") == [
        ("0", "acc", "none", "0"),
        ("0", "em", "none", None),
        ("1", "acc", "none", "0"),
        ("1", "em", "none", "NaN"),
    ]


def test_confidence_is_the_share_of_the_most_likely_choice(write):
    path = write(
        line(0, **choices("-1.0", "-2.0", "-3.0")),
        line(1, **choices("-2.0", "-1.0", "-1.0")),  # a tie: the first
        line(2, **choices("-inf", "-1.0", "-inf")),
        line(3, filtered_resps=["free text"], arguments={"gen_args_0": {"arg_1": {"until": []}}}),
        line(
            4, **choices("-1", "-9", "-2", "-2", texts="ABAB"), metrics=["acc", "acc_mutual_info"]
        ),
        line(5, filtered_resps=[[-1.5, False]], arguments=[["Q:", "one"]]),
        line(6, filtered_resps=[[-1.5, False], [-0.5, True]], arguments=[["Q:", "u"], ["Q:", "v"]]),
    )
    rows = read_lm_eval(path, extra=["confidence"]).filter(scorer="acc").collect()
    assert rows["answer"].to_list() == ["A", "B", "B", "free text", "A", "[-1.5, false]", "v"]
    assert rows["n_choices"].to_list() == [3, 3, 3, None, 2, None, 2]
    share = 1 / (1 + math.exp(-1) + math.exp(-2))
    expected = [share, 1 / (2 + math.exp(-1)), 1.0, None, 1 / (1 + math.exp(-8)), None]
    assert rows["confidence"].to_list()[:6] == pytest.approx(expected)


def test_every_document_has_every_filter_and_the_last_of_equal_lines_counts(write):
    path = write(
        line(1, filter="strict", acc=0),
        line(0),
        line(1, acc=0.5),
        line(1, acc=0.25),
        results={"results": {}, "n-samples": {"sums": {"effective": 3}}},
    )
    assert read(path, "sample_id", "score_name", "score") == [
        ("1", "strict", 0.0),
        ("1", "none", 0.25),
        ("0", "strict", None),
        ("0", "none", 1.0),
    ]
    assert log_report(path).select("replaced", "missing").rows() == [(1, 2)]


def test_results_say_model_and_versions(write):
    results = {
        "results": {"a_1_b": {"acc,none": 1.0}},
        "configs": {"a_1_b": {"dataset_path": "org/data", "target_delimiter": "\n"}},
        "versions": {"a_1_b": 2.0},
        "config": {"model": "hf", "model_args": "pretrained=x"},
    }
    lone = write(line(0), task="alone")
    lone = lone.rename(lone.with_name("samples_alone.jsonl"))
    write(line(0, doc={"k": 1}, **choices(-1, -2, texts="AB")), task="a_1_b", results=results)
    names = ("task", "run_id", "task_version", "model", "model_args", "dataset")
    items = read_lm_eval(lone.parent, metadata=["k"]).sort("task").collect()
    assert items.select(names).rows() == [
        ("a_1_b", DATE, "2.0", "hf", '"pretrained=x"', "org/data"),
        ("alone", None, None, None, None, None),
    ]
    assert items["answer"].to_list() == [" A", None]
    assert items["metadata_k"].to_list() == [1, None]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"doc_id": 0, "acc": 1', "line 2: .* ends too early"),
        ('{"acc": 1}', "line 2: no doc_id"),
        ("[1]", "line 2: each line must be a JSON object"),
        ('{"doc_id": 1, "metrics": "acc"}', "line 2: 'metrics'"),
        ('{"doc_id": 1, "filter": 3}', "line 2: 'filter'"),
        (json.dumps(line(0, **choices("-1.0"))), "line 2: 3 choices have 1 filtered_resps"),
        ("[" * 100_000, "line 2: nested too deeply"),
        (json.dumps(line(1)) + json.dumps(line(2)), "line 2: Extra data"),
    ],
)
def test_a_broken_line_is_named(write, text, told):
    path = write(line(0), text)
    with pytest.raises(InputError, match=told):
        read(path, "answer", "score")
    with pytest.warns(RunWarning, match="1 log is skipped"):
        assert not read(path.parent, "answer")


def test_half_characters_are_replaced_and_bare_words_read(write):
    path = write(
        '{"doc_id": "\\ud83d", "target": "a\\ud83d\\ude00", "acc": NaN, "metrics": ["acc"]}'
    )
    ((sample_id, target, score),) = read(path, "sample_id", "target", "score")
    assert (sample_id, target) == ("\ufffd", "a\U0001f600")
    assert score is None, "NaN is no score"


def test_what_is_not_asked_for_is_not_read(write):
    path = write(line(0, arguments="no requests"))
    assert read(path, "score") == [(1.0,)]
    assert read(write({"acc": 1.0, "doc_id": 0}), "score") == [(1.0,)]  # keys in any order
    write(line(0, arguments="no requests"))
    with pytest.raises(InputError, match="line 1: 'arguments'"):
        read(path, "answer")
    assert isinstance(ef.read_lm_eval(path), pl.LazyFrame)
