"""Disparities, context responsiveness and stereotyping: by hand, golden, and of dtef-app."""

from functools import partial

import polars as pl
import pytest

from evalframe import survey
from evalframe.compat import dtef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.survey.boards.context import context_responsiveness, stereotype_score
from evalframe.survey.boards.gaps import disparity, model_disparity, question_disparity
from evalframe.survey.boards.leaderboard import leaderboard
from evalframe.survey.boards.side_tables import category_leaders, leaderboards


def scored(*rows, **columns):
    names = ["model", "segment_id", "question_id", "score"]
    frame = pl.DataFrame(rows, schema=names, orient="row", schema_overrides={"score": pl.Float64})
    return frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()})


FAIR = scored(
    ("a", "gender:male", "q1", 0.9),
    ("a", "gender:female", "q1", 0.8),
    ("a", "country:peru", "q1", 0.3),
    ("a", "country:chad", "q1", 0.7),
    ("a", "language:french", "q1", 0.0),
    ("b", "gender:male", "q1", 0.5),
    ("b", "gender:female", "q1", 0.5),
    ("baseline:uniform", "gender:male", "q1", 0.1),
    ("baseline:uniform", "gender:female", "q1", 0.9),
)


@pytest.mark.parametrize(
    ("room", "ends_of_b"),
    [(survey, ["gender:female"] * 2), (dtef, ["gender:male", "gender:female"])],
)
def test_gaps_within_categories(room, ends_of_b):
    found = room.disparity(FAIR)
    assert found.select("model", "category", "best_segment", "worst_segment").rows() == [
        ("baseline:uniform", "gender", "gender:female", "gender:male"),
        ("a", "country", "country:chad", "country:peru"),
        ("a", "gender", "gender:male", "gender:female"),
        ("b", "gender", *ends_of_b),
    ]
    assert found["gap"].to_list() == pytest.approx([0.8, 0.4, 0.1, 0.0])
    # 0.9 - 0.8 is a little below 0.10; a baseline is no concern.
    assert found["concern"].to_list() == [False, True, False, False]
    assert found["category_label"].to_list() == ["Gender", "Country", "Gender", "Gender"]


def test_the_original_keeps_old_prefixes_apart():
    """Its `getSegmentPrefix` is the text before the first colon, or all of it."""
    rows = scored(
        ("a", "O3:male", "q1", 0.75),
        ("a", "O3:other", "q1", 0.25),
        ("a", "gender:male", "q1", 0.625),
        ("a", "gender", "q1", 0.5),
        ("a", "O1:french", "q1", 0.0),
        ("a", "O1:dutch", "q1", 1.0),
    )
    found = dtef.disparity(rows)
    assert found.select("category", "category_label", "gap", "best_segment").rows() == [
        ("O3", "Gender", 0.5, "O3:male"),
        ("gender", "Gender", 0.125, "gender:male"),
    ]
    largest = dtef.model_disparity(rows)
    assert largest.select("overall_gap", "category", "n_categories").row(0) == (0.5, "O3", 2)
    leading = dtef.category_leaders(rows)
    assert leading.select("category", "score").rows() == [("O3", 0.5), ("gender", 0.5625)]
    board = dtef.leaderboard(rows, "category")
    assert board.select("category", "n_segments").rows() == [("O3", 2), ("gender", 2)]
    # What is sound is one category for both prefixes, and none for an id without a colon.
    assert disparity(rows).select("category", "n_segments").rows() == [
        ("O1", 2),
        ("gender", 3),
    ]


def test_the_original_orders_questions_by_gaps_as_they_are():
    rows = scored(
        ("a", "gender:male", "q1", 0.75),
        ("a", "gender:female", "q1", 0.65),
        ("a", "gender:male", "q2", 0.4),
        ("a", "gender:female", "q2", 0.3),
    )
    assert 0.75 - 0.65 < 0.4 - 0.3
    found = dtef.question_disparity(rows)
    assert found["question_id"].to_list() == ["q2", "q1"]
    assert question_disparity(rows)["question_id"].to_list() == ["q1", "q2"]


def test_categories_are_what_stands_before_the_colon():
    own = scored(
        ("a", "Age:18-29", "q1", 0.9),
        ("a", "Age:30-49", "q1", 0.4),
        ("a", "sex:m", "q1", 0.5),
        ("a", "sex:f", "q1", 0.3),
        ("a", "gender:male", "q1", 0.5),
        ("a", "gender:female", "q1", 0.6),
        ("a", "everybody", "q1", 0.1),
    )
    found = disparity(own).select("category", "category_label", pl.col("gap").round(9))
    assert found.rows() == [("Age", "Age", 0.5), ("sex", "sex", 0.2), ("gender", "Gender", 0.1)]
    old = dtef.disparity(own)
    assert old["category"].to_list() == ["gender"]
    stated = own.with_columns(segment_attribute=pl.col("segment_id").str.extract(r"^(\w+):"))
    assert dtef.disparity(stated).equals(old)
    assert disparity(stated).equals(disparity(own))
    assert leaderboard(own, "category")["category"].to_list() == ["Age", "gender", "sex"]
    leading = category_leaders(own)
    assert leading["category"].to_list() == ["Age", "gender", "sex"]


NAMELESS = {
    "disparity": {},
    "model_disparity": {},
    "category_leaders": {},
    "leaderboard": {"level": "category"},
}


@pytest.mark.parametrize("name", NAMELESS)
def test_no_category_is_an_error_that_says_what_was_looked_for(name):
    rows = scored(("a", "young", "q1", 0.9), ("a", "old", "q1", 0.4))
    table = partial(getattr(survey, name), **NAMELESS[name])
    looked = f"{name}: no segment has a category; searched the text before a ':' in segment_id"
    for given_as in (rows, rows.lazy()):
        with pytest.raises(ParameterError, match=f"{looked}.* got 2 segments, such as 'old'"):
            table(given_as).lazy().collect()
    unknown = rows.with_columns(segment_attribute=pl.lit(None, pl.String))
    with pytest.raises(ParameterError, match="segment_attribute, which is null for all"):
        table(unknown)
    others = pl.DataFrame({"segment_id": ["gender:male"], "attribute": ["gender"]})
    with pytest.raises(ParameterError, match="in the table of attributes, and got 2"):
        table(rows, attributes=others)
    assert getattr(dtef, name)(rows, **NAMELESS[name]).is_empty()
    assert table(rows.clear()).is_empty()
    assert leaderboards(rows)["disparity"].is_empty()


def test_categories_are_looked_for_in_the_whole_table():
    rows = scored(*[("a", f"gender:{value}", "q", 0.5) for value in "mf"], ("b", "young", "q", 0.5))
    for made in (disparity(rows.lazy()), leaderboard(rows.lazy(), "category")):
        assert made.filter(model="b").collect().is_empty()
    with pytest.raises(ParameterError, match="no segment has a category"):
        disparity(rows.lazy().filter(model="b")).select("gap").collect()


def test_a_gap_of_a_tenth_is_no_concern():
    rows = scored(("a", "gender:male", "q1", 0.4), ("a", "gender:female", "q1", 0.3))
    assert 0.4 - 0.3 > 0.1
    assert disparity(rows)["concern"].to_list() == [False]


def test_the_largest_gap_of_each_model():
    found = model_disparity(FAIR)
    assert found.select("rank", "model", "category", "n_categories").rows() == [
        (1, "b", "gender", 1),
        (2, "a", "country", 2),
        (3, "baseline:uniform", "gender", 1),
    ]


def test_gaps_are_within_rounds_unless_the_original_mixes_them():
    rows = scored(
        ("a", "gender:male", "q1", 0.9),
        ("a", "gender:female", "q1", 0.8),
        ("a", "gender:male", "q2", 0.2),
        ("a", "gender:female", "q2", 0.5),
        round=["gd1", "gd1", "gd2", "gd2"],
    )
    found = disparity(rows).select("round", "gap").rows()
    assert found == [("gd2", pytest.approx(0.3)), ("gd1", pytest.approx(0.1))]
    assert dtef.disparity(rows)["gap"].to_list() == pytest.approx([0.1])


def test_question_gaps_of_all_runs_in_the_original():
    rows = scored(
        ("a", "gender:male", "q1", 0.9),
        ("a", "gender:female", "q1", 0.8),
        ("a", "gender:male", "q1", 0.1),
        ("a", "gender:male", None, 0.0),
        context_count=[5, 5, 0, 5],
        run_id=[1, 2, 3, 4],
    )
    found = question_disparity(rows).select("gap", "best_segment", "n_segments").rows()
    assert found == [(pytest.approx(0.1), "gender:male", 2)]
    old = dtef.question_disparity(rows).row(0, named=True)
    assert old["gap"] == pytest.approx(0.8)
    assert (old["best_segment"], old["worst_segment"], old["n_segments"]) == (
        "gender:male",
        "gender:male",
        3,
    )


CONTEXT = scored(
    ("a", "gender:male", "q1", 0.5),
    ("a", "gender:male", "q1", 0.7),
    ("a", "gender:female", "q1", 0.6),
    ("a", "gender:female", "q1", 0.6),
    ("a", "country:peru", "q1", 0.9),
    ("b", "gender:male", "q1", 0.4),
    context_count=[0, 10, 0, 10, 0, 10],
    run_id=[1, 2, 3, 4, 5, 6],
)


def test_slopes_have_a_standard_error_over_segments():
    found = context_responsiveness(CONTEXT)
    assert found.select("model", "slope", "std_error", "n_segments").rows() == [
        ("a", pytest.approx(0.01), pytest.approx(0.01), 2),
        ("b", None, None, 0),
    ]
    old = dtef.context_responsiveness(CONTEXT)
    assert old["slope"].to_list() == pytest.approx([0.01, 0.0])
    segments = context_responsiveness(CONTEXT, level="segment")
    assert segments["slope"].to_list() == pytest.approx([0.0, 0.02])
    categories = context_responsiveness(CONTEXT, level="category")
    assert categories.select("model", "category", "n_segments").rows() == [
        ("a", "country", 0),
        ("a", "gender", 2),
        ("b", "gender", 0),
    ]


def test_one_amount_of_context_is_nothing_for_the_original():
    rows = CONTEXT.with_columns(context_count=pl.lit(3))
    assert dtef.context_responsiveness(rows).is_empty()
    assert dtef.stereotype_score(rows).is_empty()
    assert context_responsiveness(rows)["slope"].to_list() == [None, None]
    unknown = CONTEXT.with_columns(context_count=pl.lit(None, dtype=pl.Int64))
    assert context_responsiveness(unknown).is_empty()


def test_an_amount_with_nothing_but_errors_is_one_for_the_original():
    failed = scored(("a", "gender:male", "q1", None), context_count=[9], run_id=[9])
    same = CONTEXT.with_columns(context_count=pl.lit(3, pl.Int64))
    rows = pl.concat([same, failed.select(CONTEXT.columns)])
    found = dtef.context_responsiveness(rows)
    assert found.select("model", "slope").rows() == [("a", 0.0), ("b", 0.0)]
    # No model has a score at the highest amount, so that none is compared with the lowest.
    assert dtef.stereotype_score(rows).is_empty()
    assert context_responsiveness(rows)["slope"].to_list() == [None, None]


def test_a_segment_with_three_points_has_an_error_of_its_own():
    rows = scored(
        *[("a", "gender:male", "q1", score) for score in (0.0, 1.0, 1.0)],
        context_count=[0, 1, 2],
    )
    found = context_responsiveness(rows, level="segment").row(0, named=True)
    assert found["slope"] == pytest.approx(0.5)
    assert found["std_error"] == pytest.approx((1 / 6 / 2) ** 0.5)


def test_stereotypes():
    found = stereotype_score(CONTEXT).rows()
    lowest, highest = 0.55, 0.65
    gain = (highest - lowest) / highest
    assert found == [
        ("a", 0, 10, pytest.approx(lowest), pytest.approx(highest), pytest.approx(gain), 2)
    ]
    nothing = CONTEXT.with_columns(score=pl.col("score") * 0.0)
    assert stereotype_score(nothing)["improvement"].to_list() == [None]
    old = dtef.stereotype_score(nothing)
    assert old["improvement"].to_list() == [0.0]


def test_an_odd_level_drops_models_in_the_original_alone():
    odd = scored(("b", "gender:male", "q1", 0.5), context_count=[20], run_id=[7])
    rows = pl.concat([CONTEXT, odd.select(CONTEXT.columns)])
    assert dtef.stereotype_score(rows).is_empty()
    assert set(stereotype_score(rows)["model"]) == {"a", "b"}


def test_refusals():
    with pytest.raises(MissingColumnsError, match="needs column 'context_count'"):
        context_responsiveness(FAIR)
    with pytest.raises(ParameterError, match="level must be one of"):
        context_responsiveness(CONTEXT, level="question")
    with pytest.raises(MissingColumnsError, match="question_disparity needs column 'question_id'"):
        question_disparity(FAIR.drop("question_id"))
