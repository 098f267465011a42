"""Errors of total scores."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.selective.score_error import (
    macro_mean_absolute_error,
    mean_absolute_error,
    pearson_correlation,
    root_mean_squared_error,
)
from evalframe.selective.total_score import severity_tier_accuracy, total_score_metrics

EVERY = [
    mean_absolute_error(),
    root_mean_squared_error(),
    macro_mean_absolute_error(),
    pearson_correlation(),
    severity_tier_accuracy(),
]
GOLDEN = {
    "coverage_total": "coverage",
    "mean_absolute_error": "mae",
    "root_mean_squared_error": "rmse",
    "pearson_correlation": "pearson_r",
    "severity_tier_accuracy": "severity_tier_accuracy",
}


def values(exprs, **columns):
    return pl.DataFrame(columns).select(exprs).row(0, named=True)


def test_golden_total_scores(golden):
    cases = golden("selective/total_score_binary")["total_score_cases"]
    assert len(cases) == 25
    filled = {case["id"]: case for case in cases if case["predicted"]}
    table = pl.concat(
        pl.DataFrame(
            {"case": case["id"], "p": case["predicted"], "l": case["actual"]},
            schema={"case": pl.String, "p": pl.Int64, "l": pl.Int64},
        )
        for case in cases
    )
    made = ef.evaluate(table, total_score_metrics("p", "l"), by="case")
    assert set(made["case"]) == set(filled)
    for case, metric, estimate, n in made.select("case", "metric", "estimate", "n").iter_rows():
        expected = filled[case]["expected"]
        assert estimate == close(expected[GOLDEN[metric]]), (case, metric)
        assert n == expected["n_total"], (case, metric)


def test_golden_of_nobody(golden):
    cases = golden("selective/total_score_binary")["total_score_cases"]
    (empty,) = [case for case in cases if not case["predicted"]]
    nobody = pl.DataFrame(schema={"p": pl.Int64, "l": pl.Int64})
    made = nobody.select(total_score_metrics("p", "l")).row(0, named=True)
    assert made == {ours: empty["expected"][theirs] for ours, theirs in GOLDEN.items()}


def close(value):
    return None if value is None else pytest.approx(value, rel=0, abs=1e-12)


def test_abstentions_are_valid_and_unlabelled_predictions_are_missing():
    table = pl.DataFrame(
        {
            "prediction": [3.0, None, None, 1.0, math.nan, 2.0],
            "label": [1.0, 2.0, None, None, 0.0, math.nan],
            "item_index": [0, 1, 2, 3, 4, 5],
        }
    )
    made = ef.evaluate(table, EVERY)
    assert made["n"].to_list() == [3] * 5
    assert made["n_missing"].to_list() == [3] * 5
    assert made["estimate"].to_list() == [2.0, 2.0, 2.0, None, 1.0]


def test_all_weightings_of_errors_by_hand():
    columns = {"prediction": [3, 1, 2, None], "label": [0, 0, 0, 3], "item_index": [0, 0, 1, 2]}
    made = values(EVERY, **columns)
    assert made["mean_absolute_error"] == 2.0
    assert made["root_mean_squared_error"] == pytest.approx(math.sqrt(14 / 3), abs=1e-15)
    assert made["macro_mean_absolute_error"] == 2.0
    weighted = values(macro_mean_absolute_error(weight="w"), **columns, w=[3.0, 1.0, 0.5, 9.0])
    assert weighted["macro_mean_absolute_error"] == (2.5 + 2.0) / 2
    unseen = values(macro_mean_absolute_error(weight="w"), **columns, w=[1.0, 1.0, 0.0, 1.0])
    assert unseen["macro_mean_absolute_error"] == 2.0


def test_a_prediction_of_no_item_is_missing_in_the_mean_over_items():
    table = pl.DataFrame({"prediction": [1, 3], "label": [0, 0], "item_index": [0, None]})
    made = ef.evaluate(table, macro_mean_absolute_error())
    assert made.select("estimate", "n", "n_missing").row(0) == (1.0, 1, 1)


def test_the_mean_over_items_is_that_of_units_under_a_name_of_its_own():
    rows = {
        "prediction": [3, 1, 4, None],
        "label": [0] * 4,
        "item": ["Sleep", "Sleep", "Mood", "Mood"],
    }
    items = pl.DataFrame({**rows, "person": [1, 2, 1, 2]})
    named, spelt = (
        ef.evaluate(items, metric, resample=ef.Jackknife(cluster="person"))
        for metric in (
            macro_mean_absolute_error(item="item"),
            ef.per("item", mean_absolute_error()).alias("macro_mean_absolute_error"),
        )
    )
    assert_frame_equal(named, spelt)
    assert named.select("estimate", "n", "n_units", "drawn").row(0) == (3.0, 4, 2, "rows")
    shards = [
        ef.partial(part, macro_mean_absolute_error(item="item"))
        for part in items.partition_by("person")
    ]
    assert ef.finish(ef.merge(*shards))["metric"].item() == "macro_mean_absolute_error"


@pytest.mark.parametrize("dtype", [pl.UInt8, pl.Int64, pl.Float32])
def test_scores_of_any_number_type(dtype):
    table = pl.DataFrame({"prediction": [1, 5], "label": [4, 1]}).cast(dtype)
    assert table.select(mean_absolute_error()).item() == 3.5


@pytest.mark.parametrize(
    ("prediction", "label"),
    [
        ([], []),
        ([None, None], [1.0, 2.0]),
        ([5.0], [4.0]),
        ([5.0, None], [4.0, 2.0]),
        ([0.1, 0.1, 0.1], [1.0, 2.0, 3.0]),
        ([1.0, 2.0, 3.0], [0.1, 0.1, 0.1]),
        ([1.0, math.inf], [1.0, 2.0]),
    ],
)
def test_correlation_is_null_where_it_is_undefined(prediction, label):
    frame = pl.DataFrame(
        {"prediction": prediction, "label": label},
        schema={"prediction": pl.Float64, "label": pl.Float64},
    )
    assert frame.select(pearson_correlation()).item() is None
    assert ef.evaluate(frame.with_columns(g=1), pearson_correlation(), by="g")[
        "estimate"
    ].to_list() == [None] * bool(prediction)


def test_a_row_of_no_weight_gives_no_spread():
    frame = {"prediction": [1.0, 1.0, 2.0], "label": [1.0, 2.0, 3.0], "w": [1.0, 1.0, 0.0]}
    assert values(pearson_correlation(weight="w"), **frame) == {"pearson_correlation": None}


TOTALS = st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), min_size=2, max_size=60)


@settings(max_examples=15, deadline=None)
@given(TOTALS)
def test_totals_agree_with_numpy(pairs):
    p, q = np.array(pairs, dtype=float).T
    made = values(EVERY[:2] + EVERY[3:4], prediction=p, label=q)
    assert made["mean_absolute_error"] == pytest.approx(np.abs(p - q).mean(), abs=1e-12)
    squares = ((p - q) ** 2).mean()
    assert made["root_mean_squared_error"] == pytest.approx(np.sqrt(squares), abs=1e-12)
    defined = p.std() > 0 and q.std() > 0
    expected = pytest.approx(np.corrcoef(p, q)[0, 1], abs=1e-12) if defined else None
    assert made["pearson_correlation"] == expected


def exact_correlation(p, q):
    p, q = [Fraction(x) for x in p], [Fraction(x) for x in q]
    mean_p, mean_q = sum(p) / len(p), sum(q) / len(q)
    products = sum((x - mean_p) * (y - mean_q) for x, y in zip(p, q, strict=True))
    squares = sum((x - mean_p) ** 2 for x in p) * sum((y - mean_q) ** 2 for y in q)
    return float(products) / math.sqrt(squares)


@pytest.mark.parametrize(("exponent", "digits"), [(0, 14), (4, 11), (8, 7), (12, 3)])
def test_correlation_far_from_zero_keeps_the_digits_that_the_docstring_says(exponent, digits):
    rng = np.random.default_rng(exponent)
    p = rng.integers(0, 5, 400) / 7 + 10.0**exponent
    q = p + rng.integers(0, 5, 400) / 3
    found = pl.DataFrame({"prediction": p, "label": q}).select(pearson_correlation()).item()
    assert found == pytest.approx(exact_correlation(p, q), abs=10.0**-digits)


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_correlation_of_tiny_and_huge_scores(scale):
    made = values(pearson_correlation(), prediction=[scale, 2 * scale, 4 * scale], label=[1, 2, 4])
    assert made["pearson_correlation"] == pytest.approx(1.0, abs=1e-12)
