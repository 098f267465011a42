"""Leaderboards: golden values, a naive program, weights, rounds, and what is refused."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe import survey
from evalframe.compat import dtef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.survey.boards.leaderboard import leaderboard
from evalframe.survey.boards.rows import segment_scores
from evalframe.survey.boards.side_tables import attribute_breakdown, consistency, leaderboards
from survey.stored_scores import ROWS, frame, records


@settings(max_examples=12, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_no_documented_table_depends_on_the_order_of_rows(rows, random):
    shuffled = [*rows]
    random.shuffle(shuffled)
    tables, others = leaderboards(frame(rows)), leaderboards(frame(shuffled))
    assert tables.keys() == others.keys()
    for name, table in tables.items():
        assert_frame_equal(table, others[name], abs_tol=1e-12)


@pytest.mark.parametrize("room", [survey, dtef])
def test_all_at_once_are_those_one_by_one(golden, room):
    table = records(golden)
    tables = room.leaderboards(table)
    for level in ("overall", "segment", "category", "question"):
        alone = room.leaderboard(table, level)
        assert_frame_equal(tables[level], alone, abs_tol=1e-12)
    assert_frame_equal(tables["consistency"], room.consistency(table))
    leading = room.category_leaders(table)
    assert_frame_equal(tables["category_leaders"], leading, abs_tol=1e-12)
    rows = room.segment_overview(table)
    assert_frame_equal(tables["segment_overview"], rows, abs_tol=1e-12)


ROUNDS = frame(
    [
        (0, "gd1", "a", "gender:male", 0, "q1", 0.2),
        (1, "gd2", "a", "gender:male", 0, "q2", 0.6),
        (1, "gd2", "a", "gender:male", 0, "q3", 0.8),
        (2, "gd2", "a", "gender:female", 0, "q2", 0.9),
    ]
)


def test_rounds_overwrite_each_other_in_the_original_alone():
    assert segment_scores(ROUNDS)["score"].to_list() == pytest.approx([0.2, 0.9, 0.7])
    kept = dtef.segment_scores(ROUNDS)
    assert kept["score"].to_list() == pytest.approx([0.2, 0.9])
    found = leaderboard(ROUNDS).row(0, named=True)
    assert found["score"] == pytest.approx(0.6)
    assert (found["best_round"], found["worst_round"]) == ("gd2", "gd1")
    old = dtef.leaderboard(ROUNDS).row(0, named=True)
    assert old["score"] == pytest.approx(0.55)


def test_weights_are_named():
    sizes = ROUNDS.with_columns(sample_size=pl.Series([10, 20, 20, 70]))
    scores = {
        weighting: leaderboard(sizes, weighting=weighting).select("weighting", "score").row(0)
        for weighting in ("segment", "question", "sample_size")
    }
    assert scores["segment"] == ("segment", pytest.approx(0.6))
    assert scores["question"] == ("question", pytest.approx((0.2 + 0.75 + 0.8) / 3))
    assert scores["sample_size"] == ("sample_size", pytest.approx((2 + 14 + 63) / 100))
    unknown = sizes.with_columns(sample_size=pl.Series([None, 20, 20, 20]))
    found = leaderboard(unknown, weighting="sample_size")
    assert found.select("score", "n_segments").row(0) == (pytest.approx(0.8), 2)


def test_runs_of_most_context_are_pooled():
    rows = [(run, "gd1", "a", "odd", 5, "q1", score) for run, score in ((0, 0.2), (1, 0.8))]
    table = frame([*rows, (2, "gd1", "a", "odd", None, "q1", 1.0)])
    kept = segment_scores(table).select("score", "n_items", "context_count")
    assert kept.rows() == [(0.5, 2, 5)]
    old = dtef.segment_scores(table)
    assert old["score"].to_list() == [0.2]
    every = segment_scores(table, runs="all").select("context_count", "score")
    assert every.rows() == [(0, 1.0), (5, 0.5)]
    assert len(dtef.segment_scores(table, runs="all")) == 3


def test_a_run_without_scores_is_no_run_but_counts_as_attempted():
    table = frame(
        [(0, "gd1", "a", "odd", 0, "q1", 0.4), (1, "gd1", "a", "odd", 5, "q1", None)]
    ).with_columns(status=pl.Series(["ok", "failed"]))
    assert segment_scores(table)["score"].to_list() == [0.4]
    lost = leaderboard(table.filter(pl.col("score").is_null()))
    assert lost.select("rank", "score", "n_segments", "parse_rate").row(0) == (None, None, 0, 0.0)
    none = dtef.leaderboard(table.filter(pl.col("score").is_null()))
    assert none.is_empty()


def test_ties_share_a_rank():
    rows = [(0, "gd1", name, "odd", 0, "q1", score) for name, score in
            (("b", 0.5), ("a", 0.5), ("c", 0.4), ("baseline:uniform", 0.9))]  # fmt: skip
    table = frame(rows)
    found = leaderboard(table, baselines=False).select("rank", "model").rows()
    assert found == [(1, "a"), (1, "b"), (3, "c")]
    old = dtef.leaderboard(table).select("rank", "model").rows()
    assert old == [(1, "baseline:uniform"), (2, "b"), (3, "a"), (4, "c")]


def test_consistency_asks_for_two_segments_unless_the_original_does():
    table = frame(
        [
            (0, "gd1", "a", "odd", 0, "q1", 0.5),
            (0, "gd1", "b", "odd", 0, "q1", 0.5),
            (0, "gd1", "b", "even", 0, "q1", 0.7),
            (0, "gd1", "baseline:uniform", "odd", 0, "q1", 0.6),
            (0, "gd1", "baseline:uniform", "even", 0, "q1", 0.6),
        ]
    )
    found = consistency(table).select("rank", "model").rows()
    assert found == [(1, "b"), (None, "a"), (None, "baseline:uniform")]
    old = dtef.consistency(table).select("rank", "model").rows()
    # Equal ones stand as in the leaderboard, where the baseline is first.
    assert old == [(1, "baseline:uniform"), (2, "a"), (3, "b")]


def test_groups_have_leaderboards_of_their_own():
    table = ROUNDS.with_columns(hot=pl.Series([True, False, False, True]))
    found = leaderboard(table, by="hot").select("hot", "score").rows()
    assert found == [(False, pytest.approx(0.7)), (True, pytest.approx(0.55))]


def test_segments_of_several_attributes():
    attributes = pl.DataFrame(
        {
            "segment_id": ["gender:male", "gender:male", "gender:female"],
            "attribute": ["gender", "age", "gender"],
            "value": ["male", "young", "female"],
        }
    )
    found = leaderboard(ROUNDS, "category", attributes=attributes)
    assert found.select("category", "n_segments").rows() == [("age", 2), ("gender", 3)]
    broken = attribute_breakdown(ROUNDS, attributes)
    assert broken.select("attribute", "value", "score", "n_segments").rows() == [
        ("age", "young", pytest.approx(0.45), 2),
        ("gender", "female", pytest.approx(0.9), 1),
        ("gender", "male", pytest.approx(0.45), 2),
    ]
    with pytest.raises(MissingColumnsError, match="the table of attributes needs column"):
        attribute_breakdown(ROUNDS, attributes.drop("attribute"))


def test_no_rows():
    tables = leaderboards(ROUNDS.clear())
    assert all(table.is_empty() for table in tables.values())
    assert len(tables) == 12


def test_it_stays_lazy(tmp_path):
    ROUNDS.write_parquet(tmp_path / "scored.parquet")
    scan = leaderboard(pl.scan_parquet(tmp_path / "scored.parquet"))
    assert isinstance(scan, pl.LazyFrame)
    assert_frame_equal(scan.collect(engine="streaming"), leaderboard(ROUNDS))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"level": "overal"}, ParameterError, "level must be one of .* Did you mean 'overall'"),
        ({"weighting": "n"}, ParameterError, "weighting must be one of"),
        ({"weighting": "sample_size"}, MissingColumnsError, "needs column 'sample_size'"),
        ({"by": pl.col("round").alias("rank")}, ParameterError, "a column 'rank' of its own"),
    ],
)
def test_refusals(change, error, message):
    with pytest.raises(error, match=message):
        leaderboard(ROUNDS, **change)


def test_scores_must_be_numbers():
    text = ROUNDS.with_columns(pl.col("score").cast(pl.String))
    with pytest.raises(ParameterError, match="leaderboard: score must be numbers, but is String"):
        leaderboard(text)
    with pytest.raises(MissingColumnsError, match="consistency needs column 'model'"):
        consistency(ROUNDS.drop("model"))
    with pytest.raises(ParameterError, match="min_segments must be 1 or more"):
        consistency(ROUNDS, min_segments=0)
    with pytest.raises(ParameterError, match="runs must be 'kept' or 'all'"):
        segment_scores(ROUNDS, runs="best")
