"""Total scores of items, and what is derived from them."""

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    ParameterError,
)
from evalframe.selective.total_score import TOTALS, total_scores


def items(scores, labels=None, **columns):
    labels = [0] * len(scores) if labels is None else labels
    made = {"participant_id": 1, "prediction": scores, "label": labels, **columns}
    return pl.DataFrame(made, schema_overrides={"prediction": pl.Int64, "label": pl.Int64})


def one(table):
    return table.row(0, named=True)


def test_golden_derivation(golden):
    cases = golden("selective/total_score_binary")["total_and_binary_derivation"]
    assert len(cases) == 14
    for case in cases:
        coverage = case["total_min_coverage"]
        for mode in ("item", "total", "binary"):
            for actual, (truth, said, correct) in case["binary"].items():
                labels = [min(3, max(0, int(actual) - 3 * item)) for item in range(8)]
                table = items(case["item_scores"], labels)
                made = one(total_scores(table, mode=mode, min_coverage=coverage))
                assert made["min_total"] == case["min_total"]
                assert made["max_total"] == case["max_total"]
                assert made["available"] == case["available"]
                assert made["actual_total"] == int(actual)
                assert made["actual_class"] == truth
                key = "item" if mode == "item" else "total_or_binary"
                assert made["predicted_total"] == case[f"predicted_total_mode_{key}"]
                if mode != "item":
                    assert made["predicted_class"] == said
                    hit = None if said is None else made["predicted_class"] == truth
                    assert hit == correct


def test_in_mode_item_bounds_alone_decide_the_class():
    scores = [0] * 6 + [None] * 2
    assert one(total_scores(items(scores), min_coverage=1))["predicted_class"] is None
    made = one(total_scores(items(scores), min_coverage=1, mode="item"))
    assert (made["predicted_total"], made["predicted_class"]) == (0, "not_depressed")


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=1, max_size=8),
    st.integers(0, 8).map(lambda eighths: eighths / 8),
)
def test_bounds_enclose_every_completion(scores, coverage):
    made = one(total_scores(items(scores), min_coverage=coverage))
    absent = 8 - len(scores) + scores.count(None)
    assert made["max_total"] - made["min_total"] == 3 * absent
    assert made["available"] == 8 - absent
    assert (made["predicted_total"] is None) == (8 - absent < 8 * coverage)
    open_ = made["min_total"] < 10 <= made["max_total"]
    assert (made["predicted_class"] is None) == (open_ or made["predicted_total"] is None)


def test_items_without_a_row_leave_the_totals_open():
    made = one(total_scores(items([3, 3, 3, 3], [1, 1, 1, 1])))
    assert (made["min_total"], made["max_total"], made["actual_total"]) == (12, 24, None)
    assert (made["predicted_class"], made["actual_class"]) == ("depressed", None)


def test_another_questionnaire_and_several_keys():
    table = pl.concat(
        [items([4, None], [4, 4], mode="b"), items([1, 2], [1, None], mode="a")]
    ).lazy()
    made = total_scores(table, by=["mode", "participant_id"], n_items=2, highest=4, threshold=5)
    assert isinstance(made, pl.LazyFrame)
    assert made.collect_schema().names() == ["mode", "participant_id", *TOTALS]
    assert made.drop("participant_id").collect().rows() == [
        ("a", 3, 3, 2, 3, None, "not_depressed", None),
        ("b", 4, 8, 1, 4, 8, None, "depressed"),
    ]
    assert made.collect_schema() == made.collect().schema


def test_scores_need_not_be_integers():
    table = items([1] * 8).with_columns(pl.col("prediction") + 0.25)
    made = one(total_scores(table))
    assert (made["predicted_total"], made["predicted_class"]) == (10.0, "depressed")
    nothing = one(total_scores(items([None] * 8).with_columns(prediction=None)))
    assert (nothing["min_total"], nothing["max_total"], nothing["available"]) == (0.0, 24.0, 0)


def test_a_label_that_is_nan_leaves_the_actual_total_open():
    table = items([1] * 8).with_columns(label=pl.Series([math.nan] + [3.0] * 7))
    made = one(total_scores(table))
    assert (made["actual_total"], made["actual_class"]) == (None, None)


def test_nobody_has_no_rows():
    assert total_scores(items([1]).clear()).height == 0


def test_two_questionnaires_under_one_key_are_refused():
    table = pl.concat([items([1] * 8, mode=mode) for mode in ("few", "zero")])
    message = (
        "1 of 1 participants have more than 8 items: participant_id=1 has 16. "
        "Name in `by` what else"
    )
    with pytest.raises(ContractError, match=message):
        total_scores(table).select("participant_id")
    with pytest.raises(ContractError, match=message):
        total_scores(table).filter(pl.col("participant_id") > 1)
    assert total_scores(table, by=["mode", "participant_id"]).height == 2


def test_a_prediction_that_is_nan_is_refused():
    table = items([1] * 8).with_columns(prediction=pl.lit(math.nan))
    with pytest.raises(ContractError, match="a prediction that is NaN: participant_id=1"):
        total_scores(table)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"mode": "totals"}, ParameterError, "Did you mean 'total'"),
        ({"min_coverage": 1.5}, ParameterError, r"must lie in \[0, 1\], got 1.5"),
        ({"min_coverage": math.nan}, ParameterError, "got nan"),
        ({"n_items": 0}, ParameterError, "n_items must be at least 1, got 0"),
        ({"threshold": math.nan}, ParameterError, "threshold must be a finite number, got nan"),
        ({"highest": -1}, ParameterError, "highest must be at least 0, got -1"),
        ({"by": []}, ParameterError, "by names no column"),
        ({"by": "person"}, MissingColumnsError, "'person'"),
        ({"by": pl.col("label").alias("available")}, ParameterError, "'available' of its own"),
        ({"prediction": pl.lit("x")}, ParameterError, "prediction must be a number"),
    ],
)
def test_bad_arguments(options, error, message):
    with pytest.raises(error, match=message):
        total_scores(items([1]), **options)
