"""What leaderboards take: ids of any type, holes in counts and sizes, tables of attributes."""

import math

import polars as pl
import pytest

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.survey.boards.context import context_responsiveness
from evalframe.survey.boards.leaderboard import leaderboard
from evalframe.survey.boards.rows import segment_scores
from evalframe.survey.boards.side_tables import attribute_breakdown, leaderboards
from evalframe.survey.surveys.segments import category

SCORED = pl.DataFrame(
    {
        "model": ["a", "a", "b"],
        "round": ["1", "1", "1"],
        "segment_id": ["gender:male", "gender:female", "gender:male"],
        "question_id": ["q", "q", "q"],
        "score": [0.5, 0.75, 0.25],
        "sample_size": [None, 10, 20],
    }
)
ATTRIBUTES = pl.DataFrame(
    {"segment_id": ["gender:male"], "attribute": ["age"], "value": ["young"], "round": [1]}
)


@pytest.mark.parametrize(
    "dtype", [pl.Categorical, pl.Enum(["gender:male", "gender:female"])], ids=["cat", "enum"]
)
def test_ids_may_be_categories(dtype):
    coded = SCORED.with_columns(pl.col("segment_id").cast(dtype))
    assert coded.select(category()).to_series().to_list() == ["gender"] * 3
    tables, plain = leaderboards(coded), leaderboards(SCORED)
    assert all(tables[name].equals(plain[name]) for name in plain)
    named = attribute_breakdown(coded, ATTRIBUTES).select("model", "value", "score")
    assert named.rows() == [("a", "young", 0.5), ("b", "young", 0.25)]
    coded_names = ATTRIBUTES.with_columns(pl.col("segment_id").cast(dtype))
    assert attribute_breakdown(SCORED, coded_names).height == 2


def test_ids_may_be_numbers():
    numbered = SCORED.with_columns(segment_id=pl.Series([1, 2, 1]), round=pl.Series([7, 7, 7]))
    found = segment_scores(numbered).select("round", "segment_id", "category")
    assert found.rows() == [("7", "1", None), ("7", "2", None), ("7", "1", None)]
    named = ATTRIBUTES.with_columns(segment_id=pl.lit(1), round=pl.lit(7))
    board = leaderboard(numbered, "category", attributes=named)
    assert board.select("category", "model", "score").rows() == [
        ("age", "a", 0.5),
        ("age", "b", 0.25),
    ]


def test_unknown_amounts_of_context():
    counts = SCORED.with_columns(context_count=pl.Series([math.nan, 5.0, 1e30]))
    found = segment_scores(counts).sort("score")
    assert found["context_count"].to_list() == [0, 0, 5]
    slopes = context_responsiveness(counts)
    assert slopes["model"].to_list() == ["a"]
    assert len(leaderboards(counts)) == 12


def test_segments_of_unknown_size_are_left_out_with_their_items():
    found = leaderboard(SCORED, weighting="sample_size")
    assert found.select("model", "score", "n_segments", "n_items").rows() == [
        ("a", 0.75, 1, 1),
        ("b", 0.25, 1, 1),
    ]
    none = SCORED.with_columns(sample_size=pl.Series([-3.0, 0.0, math.nan]))
    found = leaderboard(none, weighting="sample_size")
    assert found.select("score", "n_segments", "n_items").rows() == [(None, 0, 0)] * 2


def test_what_is_no_status_and_no_table():
    with pytest.raises(ParameterError, match="leaderboard: status must be text, but is Int32"):
        leaderboard(SCORED.with_columns(status=1))
    with pytest.raises(ParameterError, match=r"expected a table .*, got list"):
        leaderboard(SCORED, "category", attributes=[1])
    with pytest.raises(MissingColumnsError, match="the table of attributes needs column 'value'"):
        attribute_breakdown(SCORED, ATTRIBUTES.drop("value"))


def test_values_of_rounds_that_scores_do_not_tell_apart():
    rounds = pl.concat([ATTRIBUTES, ATTRIBUTES.with_columns(round=2, value=pl.lit("old"))],
                       how="vertical_relaxed")  # fmt: skip
    with pytest.raises(ParameterError, match="'age' of segment 'gender:male' has other values"):
        attribute_breakdown(SCORED.drop("round"), rounds)
    told = attribute_breakdown(SCORED, rounds).select("value")
    assert told["value"].to_list() == ["young", "young"]
    same = rounds.with_columns(value=pl.lit("young"))
    found = attribute_breakdown(SCORED.drop("round"), same)
    assert found.select("model", "n_items").rows() == [("a", 1), ("b", 1)]


def test_leaderboards_of_segments_need_no_sample_size():
    rows = SCORED.drop("sample_size", strict=False)
    table = leaderboard(rows, "segment", weighting="sample_size").drop("weighting")
    assert table.equals(leaderboard(rows, "segment").drop("weighting"))
