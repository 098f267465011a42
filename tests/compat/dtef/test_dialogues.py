"""Surveys from dialogues: counts, percentages and what is left out."""

import polars as pl
import pytest

from evalframe.compat.dtef import read_dialogues
from evalframe.core.errors import (
    ContractError,
    InputError,
    MissingColumnsError,
    ParameterError,
)

POLL = "Poll Single Select"
TABLE = {
    "Question ID": ["q1", "q1", "q2", "q2", "q2", "q3", "q4", "q4"],
    "Question Type": [POLL, POLL, POLL, POLL, POLL, "Ask Opinion", POLL, POLL],
    "Question": ["Hot?"] * 2 + ["Late?"] * 3 + ["Why?"] + ["How old are you?"] * 2,
    "Response": ["Yes", "No", "Now", "Later", "Never", "Because", "18-25", "65+"],
    "All": ["50%"] * 8,
    "O1: English": ["50%", "50%", "20%", "30%", "50%", "1%", "50%", "50%"],
    "O2: 65+": ["60.5%", "39.5%", "100%", "", "", "1%", "0%", "100%"],
    "O3: Male": ["40%", "60%", "20%", "30%", "50 %", "1%", "50%", "50%"],
    "O5: More excited than concerned": ["10", "90", "", "", "", "1", "50", "50"],
    "O6: Islam": ["25%", "75%", "20%", "30%", "50%", "1%", "50%", "50%"],
    "O7: Türkiye": ["25%", "75%", "20%", "30%", "50%", "1%", "50%", "50%"],
    "Africa": ["50%"] * 8,
}
COUNTS = {
    "Question ID": ["q1", "q2"],
    "O2: 65+": ["0", "41"],
    "O3: Male": ["100", "90"],
    "O5: More excited than concerned": ["55", "54"],
    "O6: Islam": ["9", "8"],
    "O7: Türkiye": ["33", "30"],
}


@pytest.fixture
def aggregate(tmp_path):
    path = tmp_path / "GD9_aggregate_standardized.csv"
    pl.DataFrame(TABLE).write_csv(path)
    return path


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / "GD9_segment_counts_by_question.csv"
    pl.DataFrame(COUNTS).write_csv(path)
    return path


@pytest.mark.parametrize("cell", ["NaN", "inf", "33.5", "1e30", "few"])
def test_counts_are_whole_numbers(aggregate, counts, cell):
    pl.DataFrame({**COUNTS, "O3: Male": [cell, "90"]}).write_csv(counts)
    with pytest.raises(InputError, match=f"1 cells are no whole numbers, the first '{cell}'"):
        read_dialogues(aggregate, counts)


def test_percentages_are_finite(aggregate):
    pl.DataFrame({**TABLE, "O3: Male": ["NaN", *TABLE["O3: Male"][1:]]}).write_csv(aggregate)
    with pytest.raises(InputError, match="1 cells are no numbers, the first 'NaN'"):
        read_dialogues(aggregate)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"excluded": ["("]}, r"'\(' in excluded is no pattern"),
        ({"excluded": "hot"}, r"excluded is a list of texts, got 'hot'; write \['hot'\]"),
        ({"prefixes": "O3"}, "prefixes is a list of texts, got 'O3'"),
    ],
)
def test_lists_of_patterns(aggregate, options, message):
    with pytest.raises(ParameterError, match=message):
        read_dialogues(aggregate, **options)


def test_the_header_is_utf_8_too(aggregate):
    aggregate.write_bytes(aggregate.read_bytes().replace("ü".encode(), b"\xfc"))
    with pytest.raises(InputError, match=r"not UTF-8 text in 1 lines \(line 1; the first is byte"):
        read_dialogues(aggregate)


def test_questions_and_segments(aggregate):
    survey = read_dialogues(aggregate)
    assert survey.rounds["round"].to_list() == ["GD9"]
    assert survey.questions.select("question_id", "question_text", "options").rows() == [
        ("q1", "Hot?", ["Yes", "No"]),
        ("q2", "Late?", ["Now", "Later", "Never"]),
    ]
    assert survey.segments["segment_id"].to_list() == [
        "ageGroup:65",
        "gender:male",
        "aiConcern:more-excited-than-concerned",
        "religion:islam",
        "country:turkey",
    ]
    assert survey.segments["segment_value"].to_list()[-1] == "Turkey"
    assert survey.segments["sample_size"].null_count() == 5


def test_an_option_without_a_percentage_has_none(aggregate):
    lists = read_dialogues(aggregate).distributions(normalised=False)
    old = lists.filter(segment_id="ageGroup:65")["actual"].to_list()
    assert old == [[60.5, 39.5], [100.0, 0.0, 0.0]]


def test_what_is_left_out_is_told(aggregate, counts):
    survey = read_dialogues(aggregate, counts)
    assert "religion:islam" not in survey.segments["segment_id"]
    assert survey.warnings.select("path", "message").rows() == [
        ("q4", "left out: 'How old are you?' makes the segments"),
        ("O6: Islam", "left out: fewer than 10 respondents"),
        ("O5: More excited than concerned", "left out: no answers to question 'q2'"),
    ]


@pytest.mark.parametrize(
    ("sample_sizes", "expected"),
    [("question", [None, 41, 100, 90, 55, 33, 30]), ("segment", [41, 41, 100, 100, 55, 33, 33])],
)
def test_sample_sizes(aggregate, counts, sample_sizes, expected):
    lists = read_dialogues(aggregate, counts, sample_sizes=sample_sizes).distributions()
    places = {
        name: place for place, name in enumerate(lists["segment_id"].unique(maintain_order=True))
    }
    ordered = lists.sort(pl.col("segment_id").replace_strict(places), "question_id")
    assert ordered["sample_size"].to_list() == expected


def test_other_segments_and_questions_on_request(aggregate):
    survey = read_dialogues(aggregate, prefixes=["O1"], excluded=[], round="X")
    assert survey.segments.select("round", "segment_id", "segment_attribute").rows() == [
        ("X", "language:english", "language")
    ]
    assert len(survey.questions) == 3


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("How old is your phone?", True),
        ("How old are you?", False),
        ("Would you trust a religious group more than an AI?", True),
        ("What religious group do you identify with?", False),
        ("Will AI make life in your country or region better?", True),
        ("What country or region do you most identify with?", False),
        ("Did your gender matter?", True),
        ("What is your gender?", False),
        ("Is AI used where you live?", True),
        ("What best describes where you live?", False),
        ("Do your feelings about AI change?", True),
        ("Overall, how would you describe your feelings about AI?", False),
        ("Please select your preferred language", False),
    ],
)
def test_questions_that_make_segments_are_those_of_the_original(tmp_path, text, *, is_read):
    path = tmp_path / "GD9_a.csv"
    texts = pl.Series([text if question == "q2" else "Hot?" for question in TABLE["Question ID"]])
    pl.DataFrame(TABLE).with_columns(Question=texts).write_csv(path)
    survey = read_dialogues(path)
    assert ("q2" in survey.questions["question_id"]) == is_read
    assert ("q2" not in survey.warnings["path"]) == is_read


def test_segments_that_nobody_counted_are_left_out(aggregate, counts):
    pl.DataFrame(COUNTS).drop("O3: Male").write_csv(counts)
    survey = read_dialogues(aggregate, counts)
    assert "gender:male" not in survey.segments["segment_id"]
    assert survey.warnings["path"].to_list()[:2] == ["q4", "O3: Male"]


def test_bad_tables_are_named(tmp_path, aggregate, counts):
    with pytest.raises(ParameterError, match="sample_sizes must be one of"):
        read_dialogues(aggregate, sample_sizes="none")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no column of a segment"):
        read_dialogues(aggregate, prefixes=["O9"])
    with pytest.raises(InputError, match="no such file"):
        read_dialogues(tmp_path / "none.csv")
    bad = tmp_path / "bad.csv"

    def write(**columns):
        renamed = {name.replace("_", ": "): cells for name, cells in columns.items()}
        pl.DataFrame(TABLE | renamed).write_csv(bad)
        return bad

    with pytest.raises(InputError, match=r"1 cells are no numbers, the first 'n/a' in column 'O3:"):
        read_dialogues(write(O3_Male=["40%", "60%", "n/a", "30%", "50%", "", "50%", "50%"]))
    with pytest.raises(ContractError, match="sum"):
        read_dialogues(write(O3_Male=["40%", "20%", "20%", "30%", "50%", "", "50%", "50%"]))
    pl.DataFrame(TABLE).drop("Response").write_csv(bad)
    with pytest.raises(MissingColumnsError, match="'Response'"):
        read_dialogues(bad)
    bad.write_bytes(b"Question ID,Question Type,Question,Response,O3: Male\nq,\xff,a,b,1\n")
    with pytest.raises(InputError, match=r"cannot read .*bad\.csv"):
        read_dialogues(bad)
    pl.DataFrame(COUNTS | {"O3: Male": ["x", "90"]}).write_csv(counts)
    with pytest.raises(InputError, match="'x' in column 'O3: Male' of question 'q1'"):
        read_dialogues(aggregate, counts)
