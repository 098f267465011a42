"""Items from the data frames of Inspect."""

import pandas as pd
import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, RunWarning

SAMPLES = pd.DataFrame(
    {
        "sample_id": ["u1", "u2", "u3", "u4"],
        "eval_id": ["a", "a", "b", "c"],
        "log": ["a.eval", "a.eval", "b.eval", "c.eval"],
        "id": ["1", "2", "1", "1"],
        "epoch": [1, 1, 1, 1],
        "error": ["", "timeout", "", ""],
        "metadata_level": [3, None, 5, 6],
        "score_match": ["C", None, None, None],
        "score_rubric": [None, None, '{"safe": "P", "steps": 4}', None],
    }
)
EVALS = pd.DataFrame({"eval_id": ["a", "b"], "task_name": ["sums", "essay"], "model": ["m", "n"]})


def test_pairs_are_those_of_each_evaluation():
    items = ef.logs.from_samples_df(SAMPLES, EVALS)
    assert items.columns[:2] == ["log", "format"]
    shown = items.select("log_id", "task", "model", "sample_id", "scorer", "score_name", "score")
    assert shown.rows() == [
        ("a", "sums", "m", "1", "match", "match", 1.0),
        ("a", "sums", "m", "2", "match", "match", None),
        ("b", "essay", "n", "1", "rubric", "safe", 0.5),
        ("b", "essay", "n", "1", "rubric", "steps", 4.0),
        ("c", None, None, "1", None, None, None),
    ]
    assert items["uuid"].to_list() == ["u1", "u2", "u3", "u3", "u4"]
    assert items["is_error"].to_list() == [False, True, False, False, False]
    assert items["metadata_level"].to_list() == [3, None, 5, 5, 6]


def test_columns_of_the_samples_come_first():
    samples = SAMPLES.assign(task_name="own")
    assert ef.logs.from_samples_df(samples, EVALS)["task"].unique().to_list() == ["own"]


def test_what_is_no_number_is_said():
    samples = pl.DataFrame({"eval_id": "a", "id": ["x", "y"], "epoch": 1, "score_s": ["ok", "{"]})
    with pytest.warns(RunWarning, match="2 scores are no numbers and count 0.0"):
        assert ef.logs.from_samples_df(samples)["score"].to_list() == [0.0, 0.0]


def test_columns_that_are_needed():
    with pytest.raises(MissingColumnsError, match="from_samples_df needs column 'epoch'"):
        ef.logs.from_samples_df(SAMPLES.drop(columns="epoch"))
