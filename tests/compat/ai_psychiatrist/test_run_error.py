"""Errors of runs, against those that the program publishes."""

import math

import polars as pl
import pytest

import evalframe as ef
from evalframe.compat.ai_psychiatrist.run_error import (
    ERRORS,
    RUN,
    item_errors,
    run_errors,
    subject_errors,
)
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.selective.score_error import macro_mean_absolute_error, mean_absolute_error

SCHEMA = {
    "run": pl.String,
    "participant_id": pl.Int64,
    "item_index": pl.Int64,
    "item": pl.String,
    "prediction": pl.Int64,
    "label": pl.Int64,
}
PER_ITEM = ["mae", "count", "coverage", "na_count"]


@pytest.fixture(scope="module")
def cases(golden):
    cases = golden("selective/total_score_binary")["item_level_run_metrics"]
    assert len(cases) == 6
    return {case["id"]: case for case in cases}


@pytest.fixture(scope="module")
def table(cases):
    """The items of the successful participants of all runs."""
    rows = [
        (run, person["participant_id"], index, item, score, person["ground_truth_items"][item])
        for run, case in cases.items()
        for person in case["participants"]
        if person["success"]
        for index, (item, score) in enumerate(person["predicted_items"].items())
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def close(expected):
    return pytest.approx(expected, rel=0, abs=1e-12)


def test_golden_runs(cases, table):
    made = run_errors(table, by="run")
    assert made.columns == ["run", *RUN]
    for row in made.iter_rows(named=True):
        expected = dict(cases[row.pop("run")]["expected"])
        per_item = expected.pop("per_item")
        assert row == close({**expected, "n_missing": 0})
        assert per_item
    empty = run_errors(table.clear())
    (nobody,) = [case["expected"] for case in cases.values() if not case["participants"]]
    found = empty.row(0, named=True)
    assert {name: found[name] for name in nobody if name != "per_item"} == {
        name: value for name, value in nobody.items() if name != "per_item"
    }


def test_golden_items(cases, table):
    made = item_errors(table, by="run")
    assert made.columns == ["run", "item_index", "item", *ERRORS]
    filled = {run for run, case in cases.items() if case["participants"]}
    assert set(made["run"]) == filled
    assert made.height == 8 * len(filled)
    for row in made.iter_rows(named=True):
        expected = cases[row["run"]]["expected"]["per_item"][row["item"]]
        assert {name: row[name] for name in PER_ITEM} == close(expected), (row["run"], row["item"])
    assert item_errors(table.clear()).height == 0


def test_the_first_two_means_are_metrics_of_the_items(table):
    exprs = [mean_absolute_error(), macro_mean_absolute_error()]
    metrics = ef.evaluate(table, exprs, by="run")["estimate"].to_list()
    runs = run_errors(table, by="run")
    both = runs.select("item_mae_weighted", "item_mae_by_item").rows()
    assert metrics == close([value for row in both for value in row])


def test_the_third_mean_is_one_of_participants(table):
    stage = subject_errors(table, by=["run", "participant_id"])
    made = ef.evaluate(stage, ef.selective_risk("mae"), by="run")
    runs = run_errors(table, by="run")
    assert made["estimate"].to_list() == close(runs["item_mae_by_subject"].to_list())
    assert made["n"].to_list() == runs["successful_subjects"].to_list()


def test_a_participant_who_is_drawn_twice_counts_twice_in_the_mean_of_participants():
    people = pl.DataFrame({"participant_id": [1, 1, 2], "prediction": [2, 2, 0], "label": [0] * 3})
    stage = subject_errors(people)
    assert stage["mae"].to_list() == [2.0, 0.0]
    assert stage.select(ef.selective_risk("mae")).item() == 1.0
    twice = stage.with_columns(times=pl.Series([2, 1]))
    assert twice.select(ef.selective_risk("mae", weight="times")).item() == 4 / 3
    resampled = ef.evaluate(
        stage,
        ef.selective_risk("mae"),
        resample=ef.Bootstrap(cluster="participant_id", n=200, seed=1, interval="percentile"),
    )
    assert resampled.select("lower", "upper").row(0) == (0.0, 2.0)


def test_participants_who_abstain_from_everything_are_counted_apart():
    items = pl.DataFrame(
        {
            "participant_id": [1, 1, 2, 2],
            "item_index": [0, 1, 0, 1],
            "item": ["a", "b", "a", "b"],
            "prediction": [1, None, None, None],
            "label": [0, 0, 0, 0],
        }
    )
    made = run_errors(items.lazy()).collect().row(0, named=True)
    assert made == {
        "successful_subjects": 2,
        "excluded_no_evidence": 1,
        "evaluated_subjects": 1,
        "item_mae_weighted": 1.0,
        "item_mae_by_item": 1.0,
        "item_mae_by_subject": 1.0,
        "prediction_coverage": 0.5,
        "n_missing": 0,
    }
    assert items.select(ef.coverage()).item() == 0.25
    assert item_errors(items).rows() == [
        (0, "a", 1.0, 1, 1.0, 0),
        (1, "b", None, 0, 0.0, 1),
    ]
    nothing = items.filter(pl.col("participant_id") == 2)
    assert item_errors(nothing).select(ERRORS).rows() == [(None, 0, None, 0)] * 2
    assert run_errors(nothing).select(RUN[3:7]).row(0) == (None, None, None, None)
    assert subject_errors(items).rows() == [(1, 1.0, 1, 0.5, 1), (2, None, 0, 0.0, 2)]


def test_predictions_without_a_label_are_left_out_and_counted():
    items = pl.DataFrame(
        {
            "participant_id": [1, 1, 1, 2],
            "item_index": [0, 1, 2, 0],
            "prediction": [1.0, 2.0, math.nan, 3.0],
            "label": [0.0, None, 1.0, None],
        }
    )
    made = run_errors(items).row(0, named=True)
    assert made["n_missing"] == 3
    assert (made["item_mae_weighted"], made["item_mae_by_subject"]) == (1.0, 1.0)
    assert made["prediction_coverage"] == 1.0
    assert (made["evaluated_subjects"], made["excluded_no_evidence"]) == (1, 1)


def test_null_keys_are_a_group_and_any_type_names_an_item():
    items = pl.DataFrame(
        {
            "model": [None, None, "a"],
            "participant_id": [1, 1, 1],
            "item": ["x", "y", "x"],
            "prediction": [1, 3, 2],
            "label": [0, 0, 0],
        }
    )
    made = run_errors(items, by=pl.col("model").alias("system"), item="item")
    assert made.select("system", "item_mae_by_item").rows() == [(None, 2.0), ("a", 2.0)]
    assert made.schema["successful_subjects"] == pl.Int64
    per_item = item_errors(items, by="model", item="item")
    assert per_item.select("model", "item", "mae").rows() == [
        (None, "x", 1.0),
        (None, "y", 3.0),
        ("a", "x", 2.0),
    ]


def test_bad_columns():
    items = pl.DataFrame({"participant_id": [1], "prediction": ["x"], "label": [1]})
    with pytest.raises(MissingColumnsError, match="'item_index'"):
        run_errors(items.with_columns(prediction=1))
    with pytest.raises(ParameterError, match="prediction must be a number"):
        subject_errors(items)
    with pytest.raises(ParameterError, match="'mae' of its own"):
        subject_errors(items.with_columns(prediction=1, mae=1), by="mae")
