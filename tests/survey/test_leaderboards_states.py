"""A leaderboard is a state that merges: shards that cut segments and questions add up to it."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.survey.boards.leaderboard import leaderboard
from evalframe.survey.boards.scores import leaderboard_score

CATEGORY = ef.survey.category("segment_id").alias("category")
KEYS = {
    "overall": [],
    "segment": ["round", "segment_id"],
    "category": [CATEGORY],
    "question": ["round", "question_id"],
}
SCHEMA = {
    "model": pl.String,
    "round": pl.String,
    "segment_id": pl.String,
    "question_id": pl.String,
    "score": pl.Float64,
    "sample_size": pl.Float64,
}
ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from("xy"),
        st.sampled_from(["gender:male", "gender:female", "country:peru", "odd"]),
        st.sampled_from(["q1", "q2", None]),
        st.sampled_from([None, float("nan"), 0.1, 0.25, 0.5, 0.8]),
        st.sampled_from([None, 0.0, float("inf"), 20.0, 30.0]),
    ),
    max_size=30,
).map(lambda rows: [*rows, ("a", "x", "gender:male", "q1", 0.5, 10.0)])


@settings(max_examples=7, deadline=None)
@given(ROWS, st.sampled_from(["segment", "question", "sample_size"]), st.sampled_from(["x", "xy"]))
def test_merged_shards_are_the_leaderboard(rows, weighting, rounds):
    scored = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    has_rounds = rounds == "xy"
    if not has_rounds:
        scored = scored.drop("round")
    for level, keys in KEYS.items():
        by = [key for key in keys if has_rounds or isinstance(key, pl.Expr) or key != "round"]
        names = [key if isinstance(key, str) else key.meta.output_name() for key in by]
        board = leaderboard(scored, level, weighting=weighting).select(*names, "model", "score")
        metric = leaderboard_score(level, weighting=weighting, rounds=has_rounds)
        shards = [ef.partial(scored[k::3], metric, by=[*by, "model"]) for k in range(3)]
        merged = ef.finish(ef.merge(*shards)).rename({"estimate": "score"})
        merged = merged.drop_nulls(names).select(*names, "model", "score")
        order = [*names, "model"]
        assert_frame_equal(board.sort(order), merged.sort(order), rel_tol=1e-12, abs_tol=1e-12)


def test_states_know_the_errors_of_the_leaderboard():
    scored = pl.DataFrame(
        {
            "model": ["a", "b"] * 30,
            "segment_id": [f"country:{k % 5}" for k in range(30) for _ in "ab"],
            "question_id": [f"q{k % 6}" for k in range(30) for _ in "ab"],
            "score": [(7 * k % 11) / 10 for k in range(60)],
        }
    )
    for weighting in ("segment", "question"):
        for cluster in ("segment_id", "question_id"):
            method = ef.Bootstrap(cluster=cluster, n=50, interval="percentile")
            board = leaderboard(scored, weighting=weighting, resample=method).sort("model")
            metric = leaderboard_score(weighting=weighting)
            shards = [
                ef.partial(scored[k::7], metric, by="model", cluster=cluster) for k in range(7)
            ]
            merged = ef.finish(ef.merge(*shards), resample=method)
            for name in ("std_error", "lower", "upper"):
                assert merged[name].to_list() == pytest.approx(board[name].to_list(), abs=1e-12)
            assert merged["n"].to_list() == board["n_items"].to_list()


def test_unknown_levels_are_refused():
    with pytest.raises(ParameterError, match="level must be one of"):
        leaderboard_score("country")
