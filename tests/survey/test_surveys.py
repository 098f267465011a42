"""Surveys: segments, categories and options."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe.compat import dtef
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.segments import (
    canonical_id,
    canonical_value,
    category,
    segment_id,
    slug,
)
from evalframe.survey.surveys.tables import as_distributions, as_long


def test_ids_of_segments(golden):
    for case in golden("survey/blueprint_validation")["segment_ids"]:
        assert pl.select(segment_id(pl.lit("a"), pl.lit(case["value"]))).item() == case["id"]


def test_slugs_and_aliases():
    values = pl.DataFrame({"value": ["65+", "Türkiye", "-a--B-", None]})
    assert values.select(slug("value")).to_series().to_list() == ["65", "t-rkiye", "-a-b", None]
    assert pl.select(canonical_id(pl.lit("country:t-rkiye"))).item() == "country:turkey"
    assert pl.select(canonical_value(pl.lit("Türkiye"))).item() == "Turkey"
    assert pl.select(canonical_value(pl.lit("Kenya"))).item() == "Kenya"


@pytest.mark.parametrize(
    ("id_", "expected"),
    [
        ("ageGroup:18-25", "ageGroup"),
        ("O2:18-25", "ageGroup"),
        ("O7:kenya", "country"),
        ("aiConcern:more:excited", "aiConcern"),
        ("language:french", "language"),
        ("O1:french", "O1"),
        ("Age:18-29", "Age"),
        ("sex:m", "sex"),
        ("young-women", None),
        (":x", None),
        (None, None),
    ],
)
def test_categories(id_, expected):
    assert pl.select(category(pl.lit(id_, pl.String))).item() == expected


LISTS = pl.DataFrame(
    {
        "round": ["A", "A", "B"],
        "question_id": ["q", "q", "r"],
        "segment_id": ["gender:male", "gender:female", "O1:en"],
        "sample_size": [40, 60, 10],
        "options": [["Yes", "No"]] * 2 + [["x", "y", "z"]],
        "actual": [[0.25, 0.75], [0.5, 0.5], [0.2, 0.3, 0.5]],
    }
)


def test_lists_to_long_and_back():
    long = as_long(LISTS)
    assert long["option_index"].to_list() == [0, 1, 0, 1, 0, 1, 2]
    assert long["percent"].to_list() == [25.0, 75.0, 50.0, 50.0, 20.0, 30.0, 50.0]
    assert long["segment_attribute"].to_list() == ["gender"] * 4 + ["O1"] * 3
    assert_frame_equal(as_distributions(long), as_distributions(LISTS))
    assert_frame_equal(as_long(long), long)


@pytest.mark.parametrize("unit", ["share", "percent"])
def test_long_tables_in_either_unit_and_any_order(unit):
    long = as_long(LISTS)
    backwards = long.select("question_id", "segment_id", "option_index", "round", unit).reverse()
    found = as_distributions(backwards).select("question_id", "actual")
    assert found.rows() == [("r", [0.2, 0.3, 0.5]), ("q", [0.5, 0.5]), ("q", [0.25, 0.75])]


def test_percentages_are_normalised_or_not():
    table = pl.DataFrame({"question_id": "q", "segment_id": "s", "actual": [[50.2, 50.2]]})
    assert as_distributions(table)["actual"].to_list() == [[0.5, 0.5]]
    assert as_distributions(table, normalised=False)["actual"].to_list() == [[50.2, 50.2]]
    row = as_distributions(table).row(0, named=True)
    assert (row["round"], row["sample_size"], row["options"]) == ("survey", None, None)


def test_arrays_and_integers_are_taken():
    table = pl.DataFrame({"question_id": "q", "segment_id": "s", "actual": [[25, 75]]})
    array = table.with_columns(pl.col("actual").cast(pl.Array(pl.Int32, 2)))
    assert_frame_equal(as_distributions(table), as_distributions(array))


@given(st.lists(st.lists(st.integers(1, 99), min_size=2, max_size=6), min_size=1, max_size=5))
@settings(max_examples=12, deadline=None)
def test_any_survey_goes_both_ways(counts):
    shares = [[count / sum(row) for count in row] for row in counts]
    ids = [f"q{k}" for k in range(len(counts))]
    lists = pl.DataFrame({"question_id": ids, "segment_id": "s", "actual": shares})
    back = as_distributions(as_long(lists), normalised=False)
    assert back["actual"].to_list() == shares
    assert back["n_options"].to_list() == list(map(len, counts))


BAD_LISTS = [
    ({"actual": [[0.2, 0.2], [0.5, 0.5], [1.0, 0.0]]}, r"actual sums to 1 or to 100.*\n.*row 0"),
    ({"actual": [[1.5, -0.5], [0.5, 0.5], [1.0, 0.0]]}, r"actual is not negative.*\n.*row 0"),
    ({"actual": [[0.5, None], [0.5, 0.5], [1.0, 0.0]]}, "actual has numbers only"),
    ({"actual": [[0.5, float("nan")], [0.5, 0.5], [1.0, 0.0]]}, "actual has numbers only"),
    ({"actual": [[], [0.5, 0.5], [1.0, 0.0]]}, "actual has numbers only"),
    ({"actual": [None, [0.5, 0.5], [1.0, 0.0]]}, "actual is present"),
    ({"actual": [[1.0], [0.5, 0.5], [1.0, 0.0]]}, r"the same options in all segments.*\n.*row 0"),
    ({"options": [["a"], ["a", "b"], ["a", "b"]]}, "options and actual tell of as many options"),
    ({"question_id": ["q"] * 3, "segment_id": ["a", "b", "a"]}, r"are unique.*\n.*\(as row 0\)"),
    ({"sample_size": [-1, 2, 3]}, "sample_size is not negative"),
    ({"question_id": [None, "q", "q"]}, "question_id is present"),
]


@pytest.mark.parametrize(("change", "message"), BAD_LISTS)
def test_bad_lists_are_named_with_their_rows(change, message):
    good = {"question_id": ["q"] * 3, "segment_id": ["a", "b", "c"]}
    shares = {"actual": [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]}
    table = pl.DataFrame(good | shares | change)
    with pytest.raises(ContractError, match=rf"(?s){message}"):
        as_distributions(table)


BAD_LONG = [
    ({"share": [0.5, 0.2, 0.5, 0.5]}, "share of a question and segment sum to 1"),
    ({"share": [1.5, -0.5, 0.5, 0.5]}, "share is not negative"),
    ({"share": [0.5, float("nan"), 0.5, 0.5]}, "share is finite"),
    ({"share": [0.5, None, 0.5, 0.5]}, "share is present"),
    ({"option_index": [0, 0, 0, 1]}, "option_index are unique"),
    ({"option_index": [1, 2, 0, 1]}, "option_index counts from 0"),
    ({"segment_id": ["a", "b", "b", "b"], "option_index": [0, 0, 1, 2]}, "the same options"),
    ({"sample_size": [1, 2, 3, 3]}, "sample_size is one number"),
]


@pytest.mark.parametrize(("change", "message"), BAD_LONG)
def test_bad_long_rows_are_named(change, message):
    good = {"question_id": ["q"] * 4, "segment_id": ["a", "a", "b", "b"]}
    good |= {"option_index": [0, 1, 0, 1], "share": [0.5, 0.5, 0.5, 0.5]}
    with pytest.raises(ContractError, match=message):
        as_distributions(pl.DataFrame(good | change))


def test_tables_of_other_kinds_are_refused():
    with pytest.raises(MissingColumnsError, match="'segment_id'"):
        as_distributions(pl.DataFrame({"question_id": ["q"], "actual": [[1.0]]}))
    ids = pl.DataFrame({"question_id": ["q"], "segment_id": ["s"]})
    with pytest.raises(MissingColumnsError, match="a column 'share', 'percent' or 'count'"):
        as_distributions(ids)
    with pytest.raises(MissingColumnsError, match="'share'"):
        as_distributions(ids.with_columns(option_index=0))
    with pytest.raises(ParameterError, match=r"actual must be lists of shares.*String"):
        as_distributions(ids.with_columns(actual=pl.lit("[1]")))
    with pytest.raises(ContractError, match="no rows"):
        as_distributions(ids.clear().with_columns(actual=pl.lit([1.0], pl.List(pl.Float64))))


def test_a_survey_of_tables():
    texts = {"round": ["A", "B"], "question_id": ["q", "r"], "question_text": ["Now?", "Then?"]}
    questions = pl.DataFrame(texts | {"question_order": [1, 0]})
    segments = pl.DataFrame({"segment_id": LISTS["segment_id"], "segment_label": ["M", "F", "E"]})
    survey = as_survey(LISTS, questions=questions, segments=segments)
    assert survey.questions["question_text"].to_list() == ["Now?", "Then?"]
    assert survey.segments["segment_value"].to_list() == ["M", "F", "E"]
    assert survey.segment_attributes["attribute"].to_list() == ["gender", "gender", "O1"]
    assert as_survey(survey) is survey
    assert_frame_equal(
        survey.distributions().drop("segment_value"),
        as_distributions(LISTS).drop("segment_value"),
    )
    assert str(survey) == "A, B: 2 questions, 3 segments, 3 distributions, 0 warnings"


def test_rounds_keep_their_questions_together():
    table = pl.DataFrame(
        {
            "round": ["B", "B", "A", "A"],
            "question_id": ["b1", "b2", "a1", "a2"],
            "question_text": ["1", "2", "3", "4"],
            "segment_id": ["s"] * 4,
            "actual": [[0.5, 0.5]] * 4,
        }
    )
    assert as_survey(table).questions["question_id"].to_list() == ["b1", "b2", "a1", "a2"]


def test_unknown_and_repeated_descriptions_are_named():
    questions = pl.DataFrame({"question_id": ["q"]})
    with pytest.raises(ContractError, match=r"unknown question_id in 1 cases: r\."):
        as_survey(LISTS, questions=questions)
    with pytest.raises(ContractError, match=r"unknown segment_id in 3 cases: gender:male, "):
        as_survey(LISTS, segments=pl.DataFrame({"segment_id": ["other"]}))
    with pytest.raises(ContractError, match="2 rows share a question_id: q, q"):
        as_survey(LISTS, questions=pl.DataFrame({"question_id": ["q", "q", "r"]}))
    options = pl.DataFrame({"question_id": ["q", "r"], "options": [["a"], ["x", "y", "z"]]})
    with pytest.raises(ContractError, match=r"1 questions have another number of options.*: q;"):
        as_survey(LISTS.drop("options"), questions=options)
    with pytest.raises(MissingColumnsError, match="'question_id'"):
        as_survey(LISTS, questions=pl.DataFrame({"id": ["q"]}))
    with pytest.raises(ParameterError, match="has its questions"):
        as_survey(as_survey(LISTS), questions=questions)


def test_the_real_survey(shared):
    folder = shared / "data" / "survey"
    table = pl.read_parquet(folder / "survey.parquet")
    lists = as_distributions(table)
    assert lists.shape == (18_632, 10)
    assert (lists["actual"].list.sum() - 1).abs().max() < 1e-12
    raw = as_long(table)
    assert (raw["share"] - table["share"]).abs().max() == 0
    described = as_survey(
        table,
        questions=pl.read_parquet(folder / "questions.parquet"),
        segments=pl.read_parquet(folder / "segments.parquet"),
    )
    known = pl.read_parquet(folder / "segments.parquet")
    assert_frame_equal(
        described.segments.select(known.columns), known, check_dtypes=False, check_row_order=False
    )
    one_round = dtef.read_survey(folder / "dtef_survey_gd5.json").distributions()
    same = lists.filter(round="GD5").select("question_id", "segment_id", "actual", "sample_size")
    joined = same.join(one_round, on=["question_id", "segment_id"])
    assert len(joined) == len(same) == len(one_round)
    assert joined["sample_size"].equals(joined["sample_size_right"])
    difference = (joined["actual"] - joined["actual_right"]).list.eval(pl.element().abs())
    assert difference.list.max().max() < 1e-12
