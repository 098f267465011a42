"""Responses joined with their instances, and what is said if they have none."""

import polars as pl
import pytest

from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.rag.joining import attach_answers

INSTANCES = pl.DataFrame(
    {
        "dataset": ["en", "en", "zh"],
        "id": [0, 1, 0],
        "query": ["a?", "b?", "c?"],
        "answers": [[["a"]], [], [["b", "c"]]],
        "origin": ["x", "y", "z"],
    }
)
RESPONSES = pl.DataFrame(
    {"dataset": ["zh", "en", "en", "zh"], "id": [0, 1, 0, 0], "response": ["p", "q", "r", "s"]}
)


def test_rows_keep_their_order():
    joined = attach_answers(RESPONSES.lazy(), INSTANCES.lazy())
    assert isinstance(joined, pl.LazyFrame)
    for engine in ("in-memory", "streaming"):
        found = joined.collect(engine=engine)
        assert found.columns == ["dataset", "id", "response", "answers", "query"]
        assert found["response"].to_list() == ["p", "q", "r", "s"]
        assert found["answers"].to_list() == [[["b", "c"]], [], [["a"]], [["b", "c"]]]


def test_columns_that_are_taken():
    queried = RESPONSES.with_columns(query=pl.lit("own"))
    assert attach_answers(queried, INSTANCES).columns[-2:] == ["query", "answers"]
    found = attach_answers(RESPONSES, INSTANCES, columns=["origin"])
    assert found["origin"].to_list() == ["z", "y", "x", "z"]
    with pytest.raises(ParameterError, match="the responses have a column 'query' already"):
        attach_answers(queried, INSTANCES, columns=["query"])
    with pytest.raises(ParameterError, match=r"nothing to attach.*Instances have .*'origin'"):
        attach_answers(RESPONSES, INSTANCES.drop("query", "answers"))
    with pytest.raises(MissingColumnsError, match="'fake'"):
        attach_answers(RESPONSES, INSTANCES, columns=["fake"])


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt32])
def test_keys_of_other_integers_and_kinds_of_text(dtype):
    responses = RESPONSES.cast({"id": dtype, "dataset": pl.Enum(["en", "zh"])})
    instances = pl.concat([INSTANCES, INSTANCES.head(1).with_columns(id=pl.lit(2**40, pl.Int64))])
    found = attach_answers(responses, instances)
    assert found["query"].to_list() == ["c?", "b?", "a?", "c?"]
    assert found.schema["id"] == dtype


def test_responses_without_an_instance():
    responses = RESPONSES.with_columns(id=pl.Series([0, 7, 0, None]))
    message = (
        r"2 of 4 responses have no instance \(rows are numbered from 0\)\.\n"
        r"  row 1: dataset='en', id=7\n  row 3: dataset='zh', id=None\nAdd their instances"
    )
    with pytest.raises(ContractError, match=message):
        attach_answers(responses, INSTANCES)


def test_instances_that_share_a_key():
    twice = pl.concat([INSTANCES, INSTANCES.tail(1)])
    with pytest.raises(ContractError, match="dataset, id are unique: not so in 1 of 4 rows"):
        attach_answers(RESPONSES, twice)
    with pytest.raises(ContractError, match="id is present: not so in 1 of 3"):
        attach_answers(RESPONSES, INSTANCES.with_columns(id=pl.Series([0, 1, None])))


def test_keys_that_cannot_be_compared():
    with pytest.raises(ParameterError, match="compares 'id', which is String in the responses"):
        attach_answers(RESPONSES.cast({"id": pl.String}), INSTANCES)
    with pytest.raises(MissingColumnsError, match="attach_answers needs column 'id'"):
        attach_answers(RESPONSES.drop("id"), INSTANCES)
    with pytest.raises(ParameterError, match="needs the columns that identify"):
        attach_answers(RESPONSES, INSTANCES, on=[])


def test_no_responses():
    assert attach_answers(RESPONSES.clear(), INSTANCES).is_empty()


def test_real_responses_find_their_instances(shared):
    folder = shared / "data/rag"
    responses = pl.scan_parquet(folder / "results_licensed.parquet")
    instances = pl.scan_parquet(folder / "instances.parquet").rename({"answer_groups": "answers"})
    joined = attach_answers(responses, instances).collect()
    assert len(joined) == 14_700
    assert joined["answers"].null_count() == 0
