"""Fake answers: found or not, inside and outside of accepted ones, in either mode."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError

SCHEMA = {"dataset": pl.String, "answers": pl.List(pl.List(pl.String)), "response": pl.String}


def hits(rows, fakes, mode="strict"):
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(fakes=fakes)
    made = ef.rag.label(frame, fake_answers="fakes", mode=mode)
    assert made.collect_schema()["fake_answer_hit"] == pl.Boolean
    return made["fake_answer_hit"].to_list()


CASES = [
    ("Paris", "Rome", "It is ROME.", True),
    ("Paris", "Rome", "It is Paris.", False),
    ("Paris", "Rome", "Not Rome but Paris.", False),
    ("Paris", "Rome", "I do not know", False),
    ("70", "170", "170 seats", True),
    ("70", "170", "170 or 70 seats", False),
    ("New York City", "New York", "New York City", False),
    ("New York City", "New York", "New York", True),
    ("Paris", "Paris", "Paris", True),
    ("Paris", "a.c", "abc", False),
    ("2.3%", "12.3%", "12.3% and 12.3%", True),
    ("Paris", "", "Rome", False),
    ("Paris", "Rome", "insufficient information, Rome", True),
    ("fake", "real", "The photo is real.", True),
    ("York City", "New York", "New York City", True),
    ("\U00014400", "Rome", "Rome \U00014400", False),
    ("\0", "Rome", "Rome", True),
    ("Paris", " ", "a b", False),
]


@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_one_fake_answer(mode):
    rows = [("en_fact", [[gold]], response) for gold, _, response, _ in CASES]
    fakes = pl.Series([fake for _, fake, _, _ in CASES])
    assert hits(rows, fakes, mode) == [expected for *_, expected in CASES]


@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_fake_answers_are_told_apart(mode):
    rows = [
        ("en", [["New York City"]], "It is Kansas City."),
        ("en", [["New York City"]], "It is Kansas, no, New York City."),
        ("en", [["York"]], "New York"),
        ("en", [["Rome"]], "Rome"),
    ]
    fakes = pl.Series([["New York", "Kansas"]] * 2 + [["York", "New York"], []])
    assert hits(rows, fakes, mode) == [True, False, True, False]


def test_lenient_spelling():
    rows = [
        ("en", [["Paris"]], "Karolína Muchová"),
        ("en", [["Tetsuya Yamagami"]], "Rome, says Yamagami Tetsuya"),
        ("en", [["Muchova"]], "Karolína Muchová"),
        ("en", [["York"]], "New-York New-York"),
    ]
    fakes = pl.Series(["Karolina Muchova", "Rome", "Karolina Muchova", "New York"])
    assert hits(rows, fakes) == [False, True, False, False]
    assert hits(rows, fakes, "lenient") == [True, False, True, True]


@pytest.mark.parametrize("mode", ["strict", "lenient"])
def test_several_fake_answers_and_nulls(mode):
    gold = [["Paris"], ["Lyon"]]
    rows = [
        ("en", gold, "Rome"),
        ("en", gold, "Milan"),
        ("en", gold, "Milan, Lyon"),
        ("en", gold, "Rome"),
        ("en", gold, None),
        (None, gold, "Rome"),
        ("en", None, "Rome"),
        ("en", None, "Lyon"),
        ("en", [["Paris"], None], "Rome"),
        ("en", [["Paris"], None], "Rome, Paris"),
        ("en", gold, "Rome"),
        ("zh", gold, "R o m e"),
    ]
    both = ["Rome", "Milan"]
    fakes = pl.Series([*[both] * 3, None, *[both] * 6, [None], both])
    expected = [True, True, False, None, None, None, None, False, None, False, False, True]
    assert hits(rows, fakes, mode) == expected


def test_other_columns_stay_as_they_are():
    frame = pl.DataFrame([("en", [["a"]], "A")], schema=SCHEMA, orient="row")
    made = ef.rag.label(frame, fake_answers=pl.lit("x"))
    assert made.drop("fake_answer_hit").equals(ef.rag.label(frame))
    assert made["fake_answer_hit"].to_list() == [False]


def test_no_rows():
    assert hits([], pl.Series([], dtype=pl.String)) == []
    assert hits([], pl.Series([], dtype=pl.List(pl.String)), "lenient") == []


def test_bad_columns():
    frame = pl.DataFrame([("en", [["a"]], "A")], schema=SCHEMA, orient="row")
    with pytest.raises(ParameterError, match="must be text or lists of texts, but is Int32"):
        ef.rag.label(frame.with_columns(fake=1), fake_answers="fake")
    with pytest.raises(MissingColumnsError, match="label needs column 'fake'"):
        ef.rag.label(frame, fake_answers="fake")
