"""Parsing responses: columns, statuses, shapes of inputs, errors and streaming."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe import survey
from evalframe.compat import dtef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.survey.parsing.parse import parse as read

READERS = [survey.parse, dtef.parse]
MADE = {"predicted": pl.List(pl.Float64), "status": pl.String, "parse_rule": pl.String}


@pytest.mark.parametrize("parse", READERS)
def test_statuses(parse):
    texts = ["[60, 40]", "[60, 30, 10]", "none", None, "", " \u00a0\n", "<<error>> [60, 40]"]
    frame = pl.DataFrame({"response": texts, "n_options": 2})
    made = parse(frame)
    assert made.schema == frame.schema | MADE
    blank = "unparsed" if parse is dtef.parse else "failed"
    failed = ["failed", blank, blank, "failed"]
    assert made["status"].to_list() == ["ok", "length_mismatch", "unparsed", *failed]
    wrong = [60, 30, 10] if parse is dtef.parse else None
    assert made["predicted"].to_list() == [[60, 40], wrong] + [None] * 5
    assert made["parse_rule"].to_list() == ["bracket", "bracket"] + [None] * 5


@pytest.mark.parametrize("parse", READERS)
def test_without_a_number_of_options_there_is_no_status(parse):
    texts = ["[60, 40]", "[60, 40]", None]
    frame = pl.DataFrame({"response": texts, "n_options": [None, 0, None]})
    made = parse(frame)
    assert made.select(list(MADE)).rows() == [(None,) * 3, (None,) * 3, (None, "failed", None)]


@pytest.mark.parametrize("parse", READERS)
@pytest.mark.parametrize(
    "n",
    [
        pl.Series([2], dtype=pl.UInt8),
        pl.Series([["Yes", "No"]]),
        pl.Series([[1.0, 2.0]], dtype=pl.Array(pl.Float64, 2)),
    ],
)
def test_numbers_of_options_of_any_shape(parse, n):
    frame = pl.DataFrame({"response": ["[60, 40]"], "n_options": n})
    assert parse(frame)["status"].to_list() == ["ok"]


@pytest.mark.parametrize("parse", READERS)
def test_no_rows_and_nothing_but_nulls(parse):
    none = pl.DataFrame(schema={"response": pl.String, "n_options": pl.Int64, "k": pl.String})
    made = parse(none, question_key="k")
    assert made.schema == none.schema | MADE
    nulls = pl.DataFrame({"response": [None], "n_options": [2]})
    assert parse(nulls)["status"].to_list() == ["failed"]


def test_columns_may_be_expressions_and_are_replaced():
    frame = pl.DataFrame(
        {"status": ["old"], "text": ["[60, 40]"], "q": ["Q1"], "names": [["x", "y"]]}
    )
    made = read(
        frame.lazy(),
        response=pl.col("text").str.replace("\\[", "Q1: ["),
        n_options=pl.lit(2),
        question_key="q",
        options="names",
    )
    assert made.collect_schema().names() == ["text", "q", "names", *MADE]
    assert made.collect()["parse_rule"].to_list() == ["keyed"]


@pytest.mark.parametrize("parse", READERS)
def test_streaming_from_parquet_gives_the_same(tmp_path, parse):
    texts = [
        "DISTRIBUTION: [60, 40]",
        "60, 40",
        "a. x: 60\nb. y: 40",
        '{"Q1": [60, 40]}',
        None,
        "no",
    ]
    frame = pl.DataFrame({"response": texts * 300, "n_options": 2}).with_columns(
        k=pl.when(pl.col("response").str.starts_with("{")).then(pl.lit("Q1"))
    )
    frame.write_parquet(tmp_path / "responses.parquet", row_group_size=500)
    scan = pl.scan_parquet(tmp_path / "responses.parquet")
    made = parse(scan, question_key="k").collect(engine="streaming")
    whole = parse(frame, question_key="k")
    assert_frame_equal(made, whole)
    fired = ["marker", "lines", "labelled", "keyed", None, None]
    assert made["parse_rule"].to_list() == fired * 300


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({"response": [1]}, {}, "response must be text, but is Int64; cast it"),
        ({"response": [b"\xff"]}, {}, "response must be text, but is Binary"),
        (
            {"n_options": [2.0]},
            {},
            "n_options must be integers or lists of options, but is Float64",
        ),
        ({"k": [1]}, {"question_key": "k"}, "question_key must be text"),
        ({"o": ["x"]}, {"options": "o"}, r"options must be lists of labels .* but is String"),
    ],
)
def test_bad_arguments(change, arguments, message):
    frame = pl.DataFrame({"response": ["[60, 40]"], "n_options": [2]} | change)
    with pytest.raises(ParameterError, match=message):
        read(frame, **arguments)


def test_missing_columns():
    with pytest.raises(MissingColumnsError, match="parse needs columns 'n_options', 'response'"):
        read(pl.DataFrame({"text": ["x"]}))
