"""Surveys in the shapes that people have them in: the same distributions, and what is told."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.tables import as_distributions
from survey.shapes import KEYS, OPTIONS, PEOPLE, QUESTIONS, counts, shapes

SHAPES = shapes()
SHOWN = [*KEYS, "sample_size", "n_options", "options", "actual"]


def distributions(table, answers=()):
    return as_distributions(table, answers=answers).sort(KEYS)


def told(table, answers=()):
    return as_survey(table, answers=answers).warnings["message"].to_list()


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_the_same_survey(shape):
    table, answers = SHAPES[shape]
    expected = distributions(SHAPES["lists"][0]).select(SHOWN)
    for rows in (table, table.sample(fraction=1, shuffle=True, seed=1)):
        found = distributions(rows, answers)
        assert_frame_equal(found.select(SHOWN), expected)
        assert dict(found.select("question_id", "options").rows()) == OPTIONS
    assert as_survey(table, answers=answers).distributions().height == 8


def test_what_is_guessed_is_told():
    order = (
        "the options of 2 questions have no 'option_index' and are taken in the order of their"
        " labels (1 by the numbers they begin with, 1 by the alphabet): distances of earth movers"
        " assume it, and lists of shares must be in it"
    )
    sizes = "sample sizes are the sums of the counts"
    expected = {
        "lists": [],
        "numbered shares": [],
        "percent texts": [order],
        "percent signs in shares": [order],
        "percentages called shares": ["share sums to 100 and was read as percentages", order],
        "counts of chosen options": [
            "1 options that a segment has no count of were filled in with 0",
            sizes,
            order,
        ],
        "actual counts": ["actual was read as counts, by its sums", order],
        "a column per option": [],
        "counts per option": ["actual was read as counts, by its sums", sizes],
        "a row per respondent": [
            "segments are made of the values of age (2), gender (2); drop columns that say"
            " something else",
            order,
        ],
    }
    for shape, messages in expected.items():
        assert told(*SHAPES[shape]) == messages, shape


def test_missing_answers_segments_and_weights_are_counted():
    people = pl.DataFrame(
        {
            "gender": ["f", "f", "f", "m", "m", None, "m"],
            "hot": ["Yes", " No ", None, "Yes", "", "Yes", "No"],
            "weight": [1.0, 3.0, 1.0, 2.0, 1.0, 1.0, None],
        }
    )
    found = distributions(people, ["hot"])
    shown = found.select("segment_id", "actual", "sample_size", "n_unanswered").rows()
    assert shown == [("gender:f", [0.75, 0.25], 2, 1), ("gender:m", [0.0, 1.0], 1, 1)]
    assert told(people, ["hot"])[:5] == [
        "respondents count by 'weight'; sample sizes are their numbers, not weighted",
        "1 of 7 rows have no weight of 0 or more and are left out",
        "1 of 6 respondents have no 'gender' and are in no segment of it",
        "segments are made of the values of gender (2); drop columns that say something else",
        "2 of 5 respondents did not answer 'hot'",
    ]
    silent = people.with_columns(late=pl.when(pl.col("gender") == "f").then(pl.lit("No")))
    messages = told(silent, ["hot", "late"])
    assert "question 'late' has no answers of segment 'gender:m' and is left out for it" in messages
    of_segments = people.with_columns(segment_id=pl.lit("all")).drop("gender")
    assert distributions(of_segments, ["hot"])["n_unanswered"].to_list() == [2]
    assert distributions(SHAPES["lists"][0])["n_unanswered"].null_count() == 8


def test_values_that_are_none_are_counted():
    people = pl.DataFrame(
        {
            "age": [18.0, 18.0, float("nan")],
            "hot": [1.0, float("nan"), 10.0],
            "old": pl.Series(["1.0", "1.0", " 2"], dtype=pl.Enum([" 2", "1.0"])),
        }
    )
    found = distributions(people, ["hot", "old"])
    assert found.select(
        "segment_id", "options", "actual", "sample_size", "n_unanswered"
    ).rows() == [
        ("age:18", ["1"], [1.0], 1, 1),
        ("age:18", [" 2", "1.0"], [0.0, 1.0], 2, 0),
    ]
    assert told(people, ["hot", "old"])[0] == (
        "1 of 3 respondents have no 'age' and are in no segment of it"
    )
    placed = people.select("hot", segment_id=pl.Series(["age:18", " ", None]))
    assert told(placed, ["hot"])[0] == "2 of 3 respondents have no 'segment_id' and are left out"
    assert distributions(placed, ["hot"])["sample_size"].to_list() == [1]


def test_respondents_of_several_rows_are_counted_once():
    answers = pl.DataFrame(
        {
            "respondent_id": [1, 2, 3, 1, 2, 3],
            "gender": ["f", "m", None] * 2,
            "question_id": ["hot"] * 3 + ["old"] * 3,
            "option_label": ["Yes", "No", "No", "Yes", None, "No"],
        }
    )
    messages = told(answers)
    assert messages[0] == "1 of 3 respondents have no 'gender' and are in no segment of it"
    assert messages[2] == "1 of 2 respondents did not answer 'old'"


OPTIONS_OF = {
    "question_id": ["q"] * 4,
    "segment_id": ["x:a"] * 2 + ["x:b"] * 2,
    "option_index": [0, 1, 0, 1],
}


@pytest.mark.parametrize(
    ("name", "cells", "first", "size"),
    [
        ("count", ["1,234", "900", "500", "2,000"], 1234 / 2134, 2134),
        ("actual", ["1,234", "900", "500", "2,000"], 1234 / 2134, 2134),
        ("count", ["1,234,567", "1,000.0", "5", "5"], 1234567 / 1235567, 1235567),
        # Decimal commas, as other cells or the sums say.
        ("count", ["1,250", "0,500", "5", "5"], 1.25 / 1.75, None),
        ("actual", ["45,125", "54,875", "10,000", "90,000"], 0.45125, None),
        ("percent", ["45,125", "54,875", "10,000", "90,000"], 0.45125, None),
    ],
)
def test_commas_are_of_thousands_or_decimal(name, cells, first, size):
    table = pl.DataFrame({**OPTIONS_OF, name: cells})
    found = distributions(table)
    assert found["actual"][0][0] == pytest.approx(first)
    assert found["sample_size"][0] == size
    assert any("read as marks of thousands" in message for message in told(table)) == bool(size)


def test_options_are_ordered_by_their_type_or_their_numbers():
    answers = pl.Series("q", ["low", "high", "low"], dtype=pl.Enum(["low", "mid", "high"]))
    people = pl.DataFrame({"g": ["a", "a", "b"], "q": answers, "r": [10.0, 9.0, 2.0]})
    found = as_survey(people, answers=["q", "r"])
    lists = dict(found.distributions().select("question_id", "options").rows())
    assert lists == {"q": ["low", "mid", "high"], "r": ["2", "9", "10"]}
    assert "the options of 1 questions" in found.warnings["message"][-1]
    long = counts().filter(question_id="hot")
    typed = long.with_columns(pl.col("option_label").cast(pl.Enum(["Yes", "No"])))
    assert distributions(typed)["options"][0].to_list() == ["Yes", "No"]
    assert not any("option_index" in message for message in told(typed))


def test_texts_are_numbers_or_are_named():
    table = SHAPES["percent texts"][0]
    cell = pl.col("percent")
    commas = table.with_columns(cell.str.replace(".", ",", literal=True).str.replace("%", " %"))
    assert_frame_equal(distributions(commas), distributions(table))
    with pytest.raises(ContractError, match=r"percent is no number in 1 of 20 rows: 'half'"):
        distributions(table.with_columns(pl.when(pl.int_range(20) > 0).then(cell).otherwise(
            pl.lit("half")).alias("percent")))  # fmt: skip
    with pytest.raises(ContractError, match="has a percent sign in 18 rows and none in 1"):
        distributions(table.with_columns(pl.when(pl.int_range(20) > 0).then(cell).otherwise(
            pl.lit("0.35")).alias("percent")))  # fmt: skip
    lists = pl.DataFrame({"question_id": ["q"], "segment_id": ["s"], "actual": [["45%", "55 %"]]})
    assert distributions(lists)["actual"].to_list() == [pytest.approx([0.45, 0.55])]


WIDE = SHAPES["a column per option"][0]


@pytest.mark.parametrize(
    ("table", "answers", "error", "message"),
    [
        (PEOPLE, "hot", ParameterError, r"write \['hot'\]"),
        (PEOPLE, ["hot", "hot"], ParameterError, "named twice in answers: hot, hot"),
        (PEOPLE, ["hott"], MissingColumnsError, "a survey with these answers needs column 'hott'"),
        (PEOPLE.select("hot"), ["hot"], MissingColumnsError, "respondents need segments"),
        (
            PEOPLE.with_columns(respondent_id=1),
            QUESTIONS,
            ContractError,
            "respondent_id repeats in 40 rows: 1; keep one row of each respondent",
        ),
        (
            PEOPLE.with_columns(pl.col("age").replace("18-25", "65")),
            QUESTIONS,
            ContractError,
            r"segment 'age:65' would be made of several values: '65', '65\+'; rename one",
        ),
        (SHAPES["lists"][0], ["x"], ParameterError, "holds the shares already; leave out answers"),
        (counts().with_columns(pl.col("count") * -1), (), ContractError, "count is no count in"),
        (counts().with_columns(count=0), (), ContractError, "nobody is counted in 8"),
        (pl.concat([counts(), counts()]), (), ContractError, "38 rows repeat an option, the first"),
        (
            SHAPES["percent texts"][0].with_columns(option_label=pl.lit(None, pl.String)),
            (),
            ContractError,
            "option_label is null in 20 of 20 rows; name the options",
        ),
        (
            WIDE.with_columns(pl.when(pl.int_range(8) > 0).then("Yes").alias("Yes")),
            SHAPES["a column per option"][1],
            ContractError,
            "share|percent",
        ),
    ],
)
def test_what_is_no_survey(table, answers, error, message):
    with pytest.raises(error, match=message):
        as_distributions(table, answers=answers)
