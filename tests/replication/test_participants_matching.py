"""Responses of four people, two in each condition, written in many ways."""

from datetime import date

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.errors import ContractError
from evalframe.replication.participants.design import compared, shared_type
from evalframe.replication.participants.rows import unmatched_responses
from evalframe.replication.participants.statistics import participant_statistics

ONE = {"study_id": "s1", "finding_id": "F1"}
VALUES, CONDITIONS = [3.0, 5.0, 1.0, 3.0], ["x", "x", "y", "y"]
ANSWERS = ["yes", "yes", "no", "yes"]

T = 2.0**0.5
"""Means 4 and 2, sums of squares 2 and 2: 2 / sqrt(4 / 2 * (1/2 + 1/2))."""


def responses(**columns):
    return pl.DataFrame({**ONE, "condition": CONDITIONS, "value": VALUES, **columns})


def design(test_type="t-test", **columns):
    return pl.DataFrame({**ONE, "test_type": test_type, "conditions": [["x", "y"]], **columns})


def row(people, tests, **more):
    found = participant_statistics(people, tests, by=None, **more)
    return {k.removesuffix("_agent"): v for k, v in found.row(0, named=True).items()}


def refused(match, people, tests, **more):
    with pytest.raises(ContractError, match=match):
        participant_statistics(people, tests, by=None, **more)


WHOLE_KEYS = (pl.Int8(), pl.UInt8(), pl.Int64(), pl.UInt64(), pl.Float64())


@pytest.mark.parametrize(
    ("dtype", "ours"),
    [
        (pl.String(), pl.Categorical()),
        (pl.Categorical(), pl.Enum(["F2", "F1"])),
        (pl.Enum(["F1"]), pl.String()),
        (pl.Categorical(), pl.Categorical()),
        (pl.Enum(["F1"]), pl.Enum(["F2", "F1"])),
    ],
)
def test_keys_are_texts_however_they_are_stored(dtype, ours):
    key = pl.col("finding_id")
    people = responses().with_columns(key.cast(dtype))
    tests = pl.concat([design(), design().with_columns(finding_id=pl.lit("F2"))])
    tests = tests.with_columns(key.cast(ours))
    assert row(people, tests)["stat"] == pytest.approx(T)
    assert unmatched_responses(people, tests).is_empty()


@pytest.mark.parametrize("dtype", WHOLE_KEYS)
def test_a_design_can_name_numbers_beyond_those_of_responses(dtype):
    people = responses().with_columns(finding_id=pl.lit(1).cast(dtype))
    tests = pl.concat([design()] * 4).with_columns(finding_id=pl.Series([1, 300, -3, 2**62]))
    assert row(people, tests)["stat"] == pytest.approx(T)
    assert unmatched_responses(people, tests).is_empty()


def test_keys_of_other_kinds_are_refused():
    told = "'finding_id' is Boolean in the responses, but String in the design"
    refused(told, responses().with_columns(finding_id=True), design())


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ([1.0, 2.0], [1, 2]),
        ([1, 2], [1.0, 2.0]),
        ([1.0, 2.0], ["1", "2"]),
        (["1", "2"], [1.0, 2.0]),
        (["1.0", "2.0"], [1, 2]),
        ([1.5, -0.0], ["1.5", "0"]),
        ([True, False], [True, False]),
        ([True, False], ["true", "false"]),
        (["true", "false"], [True, False]),
        ([True, False], [1, 0]),
    ],
)
def test_conditions_are_the_same_in_another_type(theirs, ours):
    people = responses(condition=[theirs[0]] * 2 + [theirs[1]] * 2)
    tests = design(conditions=[ours])
    found = row(people, tests)
    assert (found["stat"], found["n_missing"]) == (pytest.approx(T), 0)
    assert unmatched_responses(people, tests).is_empty()


def test_categorical_conditions_can_be_numbers():
    people = responses(condition=pl.Series(list("1122"), dtype=pl.Categorical))
    assert row(people, design(conditions=[[1, 2]]))["stat"] == pytest.approx(T)


def test_conditions_that_are_no_number_are_told():
    people = responses(condition=["1", "1", "2", "two"])
    tests = design(conditions=[[1, 2]])
    assert row(people, tests)["n_missing"] == 1
    told = unmatched_responses(people, tests)
    assert told.select("reason", "found", "rows").rows() == [("no such condition", "two", 1)]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["no", "yes"])])
def test_categories_can_be_texts(dtype):
    people = responses(value=pl.Series(ANSWERS, dtype=dtype))
    found = row(people, design("binomial", conditions=None, categories=[["yes", "no"]]))
    assert (found["k"], found["n"], found["direction"], found["n_missing"]) == (3, 4, 1, 0)
    found = row(people, design("chi-square", categories=[["no", "yes"]]))
    assert [found[name] for name in "abcd"] == [0, 2, 1, 1]
    told = unmatched_responses(people, design("chi-square", categories=[["no", "Yes"]]))
    assert told.select("reason", "found", "rows").rows() == [("no such category", "yes", 3)]


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        ([True, False, True, True], None),
        ([True, False, True, True], ["true", "false"]),
        ([True, False, True, True], [1, 0]),
        ([1.0, 0.0, 1.0, 1.0], ["1", "0"]),
        (["1", "0", "1.0", "1"], [1, 0]),
        (["1", "0", "1", "1"], None),
        ([1, 0, 1, 1], [True, False]),
    ],
)
def test_categories_are_the_same_in_another_type(values, categories):
    tests = design("binomial", conditions=None, categories=[categories])
    found = row(responses(value=values), tests)
    assert (found["k"], found["n"], found["n_missing"]) == (3, 4, 0)


@pytest.mark.parametrize("values", [[True, False, True, True], [1.0, 0.0, 1.0, 1.0]])
def test_the_usual_categories_stand_beside_named_ones(values):
    tests = pl.concat(
        [
            design("binomial", conditions=None, categories=[["yes", "no"]]),
            design("binomial", conditions=None, categories=pl.Series([None], dtype=pl.List(str))),
        ],
        how="vertical_relaxed",
    ).with_columns(finding_id=pl.Series(["F1", "F2"]))
    people = responses(value=values).with_columns(finding_id=pl.lit("F2"))
    found = row(people, tests)
    assert (found["k"], found["n"], found["n_missing"]) == (3, 4, 0)


def test_texts_can_be_numbers_but_must_be_in_tests_on_numbers():
    for dtype in (pl.String, pl.Categorical):
        people = responses(value=pl.Series(["3", "5.0", "1", "3e0"], dtype=dtype))
        assert row(people, design())["stat"] == pytest.approx(T)
    told = r"value is a number in tests on numbers: not so in 1 of 4 rows\n    row 2: .*value='no'"
    refused(told, responses(value=["3", None, "no", "1"]), design())
    told = (
        r"value_2 is a number.*\n    row 1: .*value_2='-'\n    Remedy: write numbers in 'value_2'"
    )
    refused(told, responses(value_2=["3", "-", "1", "1"]), design(samples=["paired"]))


def test_what_can_be_no_measure_or_condition_is_refused():
    refused(r"'value' \(the measure\) is Date, not", responses(value=date(2000, 1, 1)), design())
    people = responses().with_columns(condition=pl.concat_list("condition"))
    refused(r"'condition' is List\(String\), not a single value", people, design())
    for name in ("conditions", "categories"):
        told = f"design: column '{name}' is String, not a list of values"
        refused(told, responses(), design(**{name: "x,y"}))


@pytest.mark.parametrize("weight", [-1, 0.5, float("inf"), -float("inf"), 1e300])
def test_weights_are_whole_numbers(weight):
    people = responses(times=pl.Series([1.0, None, weight, float("nan")]))
    told = r"times is a whole number of 0 or more: not so in 1 of 4 rows\n    row 2: study_id='s1'"
    refused(told, people, design(), weight="times")
    refused("column 'times' .* is String", responses(times="1"), design(), weight="times")


def test_weights_can_be_boolean_or_of_no_rows():
    people = responses(times=[True, True, False, True])
    found = row(people, design(), weight="times")
    assert (found["n1"], found["n2"]) == (2, 1)
    nobody = participant_statistics(people.head(0), design(), by=None, weight="times")
    assert nobody.is_empty()


def test_types_do_not_change_the_columns():
    usual = participant_statistics(responses(), design(), by=None)
    people = responses(value=["3", "5", "1", "3"]).with_columns(
        pl.col("finding_id").cast(pl.Enum(["F1"]))
    )
    assert_frame_equal(participant_statistics(people, design(), by=None), usual)


def test_the_design_decides_the_type_of_comparison():
    assert shared_type(pl.String(), pl.Int64()) == pl.String()
    assert shared_type(pl.Int64(), pl.Float32()) == pl.Float64()
    numbers = compared(pl.lit(pl.Series([1.0, 1.5, -0.0])), pl.Float64(), pl.String())
    assert pl.select(numbers).to_series().to_list() == ["1", "1.5", "0"]
