"""Answers of single persons: golden values, odd texts, and what cannot be scored."""

import polars as pl
import pytest

from evalframe.compat import dtef
from evalframe.core.errors import ParameterError
from evalframe.survey.similarity.individual import (
    answer_letter,
    answer_probabilities,
    individual_score,
)


def score(response, actual, measure=individual_score, **parameters):
    schema = {"response": pl.String, "actual": pl.List(pl.Float64)}
    frame = pl.DataFrame([(response, actual)], schema=schema, orient="row", strict=False)
    return frame.select(measure(**parameters)).item()


def test_golden_values(golden):
    cases = golden("survey/distribution_metrics")["individual_metric"]
    assert len(cases) >= 14
    frame = pl.DataFrame(
        {"response": [c["text"] for c in cases], "actual": [c["expected"] for c in cases]},
        schema_overrides={"actual": pl.List(pl.Float64)},
        strict=False,
    )
    letters = frame.select(answer_letter()).to_series().to_list()
    assert letters == [case["answer"] for case in cases]
    lists = frame.select(answer_probabilities()).to_series().to_list()
    assert lists == [case["probabilities"] for case in cases]


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("Answer:\u00a0\n C", "c"),
        ("answer: apple", "a"),
        ("b\nANSWER: d", "d"),
        ("I choose\r\n  E.  \r\nthanks", "e"),
        ("b)\nc", "c"),
        ("an\u017fwer: b", None),
        ("ANSWER: é", None),
        ("", None),
        (None, None),
    ],
)
def test_letters(response, letter):
    frame = pl.DataFrame({"response": [response]}, schema={"response": pl.String})
    assert frame.select(answer_letter()).item() == letter


@pytest.mark.parametrize(
    ("response", "probabilities"),
    [
        ("probabilities:\n[ 40%, .5, 1e-1 , +2., -1]", [40.0, 0.5, 0.1, 2.0, -1.0]),
        ("PROBABILITIES: [a, 0.5, ]", [0.5]),
        ("PROBABILITIES: [a]", None),
        ("PROBABILITIES: []", None),
        ("PROBABILITIES = [1]", None),
        ("[0.5, 0.5]", None),
    ],
)
def test_probabilities(response, probabilities):
    frame = pl.DataFrame({"response": [response]})
    assert frame.select(answer_probabilities()).to_series().to_list() == [probabilities]


def test_responses_that_do_not_say_what_is_scored():
    for kind in ("binary", "brier", "confidence"):
        for measure in (individual_score, dtef.individual_score):
            assert score("none", [1, 0], measure, kind=kind) == 0.0
            assert score(None, [1, 0], measure, kind=kind) is None
            assert score("ANSWER: a\nPROBABILITIES: [1, 0]", None, measure, kind=kind) is None
        nothing = score("ANSWER: a\nPROBABILITIES: [1, 0]", [0, 0], kind=kind)
        assert nothing is None


def test_too_few_probabilities_and_none_above_zero():
    few, zero = "PROBABILITIES: [1]", "PROBABILITIES: [0, 0]"
    measures = (individual_score, dtef.individual_score)
    assert [score(few, [1, 0], measure) for measure in measures] == [0.0, 0.1]
    assert [score(zero, [1, 0], measure) for measure in measures] == [0.0, 0.5]
    assert score(few, [0, 1], kind="confidence") == 0.0
    assert score(few, [1, 0], kind="confidence") == 1.0


def test_letters_beyond_the_options_and_arrays():
    assert score("ANSWER: z", [0, 1], kind="binary") == 0.0
    frame = pl.DataFrame({"response": ["b", "a"], "actual": [[0, 1], [0, 1]]})
    frame = frame.with_columns(pl.col("actual").cast(pl.Array(pl.Float64, 2)))
    found = frame.lazy().select(individual_score(kind="binary")).collect(engine="streaming")
    assert found.to_series().to_list() == [1.0, 0.0]


def test_refusals():
    with pytest.raises(ParameterError, match=r"kind must be one of .*got 'brie'. Did"):
        individual_score(kind="brie")
