"""Results as inspect_viz reads them."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.logs import headline_scores

ITEMS = pl.DataFrame(
    {
        "model": ["a"] * 4 + ["b"] * 4,
        "task": ["s", "s", "t", "t"] * 2,
        "scorer": "acc",
        "sample_id": ["1", "2"] * 4,
        "score": [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.5, 1.0],
    }
)


def test_a_result_becomes_a_row_per_model_and_task():
    jackknife = ef.Jackknife(cluster="sample_id")
    by = ["model", "task", "scorer"]
    result = ef.evaluate(ITEMS, ef.mean("score"), by=by, resample=jackknife)
    table = headline_scores(result)
    assert table.select("model", "task_name", "score_headline_name").rows() == [
        ("a", "s", "acc"),
        ("a", "t", "acc"),
        ("b", "s", "acc"),
        ("b", "t", "acc"),
    ]
    assert table["score_headline_value"].to_list() == [0.5, 1.0, 0.0, 0.75]
    assert table["score_headline_stderr"].to_list() == result["std_error"].to_list()
    assert table["score_headline_metric"].unique().to_list() == result["metric"].unique().to_list()
    plain = headline_scores(ef.evaluate(ITEMS, ef.mean("score"), by=["model", "task"]))
    assert plain["score_headline_stderr"].null_count() == 4
    assert plain["score_headline_name"].equals(plain["score_headline_metric"])


def test_several_scores_of_a_model_in_a_task_are_refused():
    metrics = [ef.mean("score"), ef.mean("score").alias("twice")]
    result = ef.evaluate(ITEMS, metrics, by=["model", "task"])
    with pytest.raises(ParameterError, match="2 scores of model 'a' in task 's'; name one metric"):
        headline_scores(result)
    assert len(headline_scores(result, metric="twice")) == 4
    with pytest.raises(ParameterError, match="no metric 'other' in the result; it has"):
        headline_scores(result, metric="other")
    with pytest.raises(MissingColumnsError, match="headline_scores needs column 'task'"):
        headline_scores(result.drop("task"))
