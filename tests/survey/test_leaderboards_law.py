"""All leaderboards at once are those one by one, also where rows repeat."""

import statistics
from collections import defaultdict

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe import survey
from evalframe.compat import dtef
from evalframe.core.errors import ParameterError
from evalframe.survey.boards.gaps import question_disparity
from evalframe.survey.boards.leaderboard import leaderboard
from evalframe.survey.boards.side_tables import leaderboards

SCHEMA = {
    "model": pl.String,
    "segment_id": pl.String,
    "question_id": pl.String,
    "score": pl.Float64,
    "context_count": pl.Int64,
    "run_id": pl.Int64,
    "round": pl.String,
    "status": pl.String,
}
OTHERS = {
    "consistency",
    "disparity",
    "model_disparity",
    "category_leaders",
    "segment_overview",
    "question_disparity",
    "context_responsiveness",
    "stereotype_score",
}
ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from(["gender:male", "gender:female", "odd"]),
        st.sampled_from(["q1", "q2", None]),
        st.sampled_from([None, 0.1, 0.25, 0.5, 0.8]),
        st.sampled_from([0, 5, None]),
        st.sampled_from([1, 2]),
        st.sampled_from(["x", "y"]),
        st.sampled_from(["ok", "failed"]),
    ),
    max_size=16,
)
LACKING = st.sets(st.sampled_from(["context_count", "run_id", "round", "status"]))

ALONE = ("a", "odd", "q1", None, 0, 1, "x", "failed")
TWICE = [("a", f"gender:{name}", "q1", score, 0, 1, "x", "ok") for name, score in
         (("male", 0.8), ("male", 0.1), ("female", 0.5))]  # fmt: skip


def frame(rows, lacking=()):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").drop(lacking)


@settings(max_examples=1, deadline=None)
@given(ROWS, LACKING)
@example(TWICE, set())
@example(TWICE, {"run_id", "context_count", "round", "status"})
@example([ALONE, *TWICE], {"context_count"})
@example([ALONE], set())
def test_all_at_once_are_those_one_by_one(rows, lacking):
    scored = frame(rows, lacking)
    for room in (survey, dtef):
        for name, table in room.leaderboards(scored).items():
            try:
                if name in OTHERS:
                    alone = getattr(room, name)(scored)
                else:
                    alone = room.leaderboard(scored, name)
            except ParameterError:  # no segment has a category
                alone = table.clear()
            assert_frame_equal(table, alone, abs_tol=1e-12)


def naive_gaps(rows):
    """The spread of the mean scores of segments, by model and question."""
    scores, segments = defaultdict(list), defaultdict(list)
    for model, segment, question, score, *_ in rows:
        if score is not None and question is not None:
            scores[model, question, segment].append(score)
    for (model, question, _), values in scores.items():
        segments[model, question].append(statistics.fmean(values))
    return {key: (len(means), max(means) - min(means)) for key, means in segments.items()}


@settings(max_examples=10, deadline=None)
@given(ROWS)
@example(TWICE)
def test_repeated_items_of_a_segment_are_averaged(rows):
    scored = frame(rows, ["context_count", "run_id", "round", "status"])
    expected = naive_gaps(rows)
    for given_as in (scored, scored.lazy()):
        board = leaderboard(given_as, "question").lazy().collect().drop_nulls("score")
        shown = board.select("model", "question_id", "n_segments", "gap").rows()
        assert {(m, q): (n, pytest.approx(gap)) for m, q, n, gap in shown} == expected
        gaps = question_disparity(given_as).lazy().collect()
        shown = gaps.select("model", "question_id", "n_segments", "gap").rows()
        several = {key: found for key, found in expected.items() if found[0] > 1}
        assert {(m, q): (n, pytest.approx(gap)) for m, q, n, gap in shown} == several


def test_segments_count_alike_within_a_question():
    # The segment that was asked twice counts as the other does.
    found = leaderboard(frame(TWICE), weighting="question")
    assert found["score"].item() == pytest.approx((0.45 + 0.5) / 2)


def test_no_scores_have_no_deviation():
    tables = leaderboards(frame([ALONE]))
    assert tables["consistency"]["sd_segments"].to_list() == [None]
    assert tables["overall"]["sd_segments"].to_list() == [None]
