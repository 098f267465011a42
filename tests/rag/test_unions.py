"""Several responses to a question: golden unions, lengths that differ, and what has no label."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError


def union(rows, by="id"):
    frame = pl.DataFrame(rows, schema={"id": pl.Int64, "label": pl.List(pl.Int8)}, orient="row")
    return ef.rag.union_labels(frame, by=by)


def test_golden_unions(golden):
    cases = golden("rag/rates")["any_of_k"]
    assert len(cases) >= 4
    rows = [(k, label) for k, case in enumerate(cases) for label in case["labels_per_response"]]
    assert union(rows)["any_of"].to_list() == [case["expected"] for case in cases]


def test_labels_of_different_kinds():
    rows = [(0, [-1]), (0, [1, 0]), (1, [-1]), (1, [-1]), (2, []), (3, None), (4, None), (4, [1])]
    assert union(rows).rows() == [
        (0, [1, 0], 2, False),
        (1, [-1], 2, True),
        (2, [], 1, True),
        (3, None, 0, None),
        (4, [1], 1, True),
    ]
    assert union(rows, by=[]).rows() == [([1, 0], 6, False)]
    assert union([]).rows() == []


def test_refusals():
    with pytest.raises(MissingColumnsError, match="union_labels needs column 'model'"):
        union([(0, [1])], by=["id", "model"])
    with pytest.raises(ParameterError, match="'any_of' of its own"):
        union([(0, [1])], by=pl.col("id").alias("any_of"))
