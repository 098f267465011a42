"""Thresholds that targets need: against the curve, as expression and as table."""

import itertools
import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.selective import rc_curve, thresholds

RISKS, COVERAGES = (0.0, 0.25, 0.5, 3.0), (0.05, 0.5, 1.0)
ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 8).map(lambda eighths: eighths / 8)),
        st.sampled_from([0.1, 0.5, 0.5, 0.9, -3.0, 0.0, -math.inf, math.inf, None]),
        st.sampled_from([0.0, 0.5, 1.0, 2.0]),
        st.sampled_from(["a", "b", None]),
    ),
    min_size=1,
    max_size=30,
)


def frame_of(rows):
    schema = {"loss": pl.Float64, "confidence": pl.Float64, "w": pl.Float64, "model": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


@settings(max_examples=12, deadline=None)
@given(ROWS, st.sampled_from([None, "w"]))
def test_a_threshold_is_that_of_the_working_point_that_the_target_needs(rows, weight):
    items = frame_of(rows)
    curve = rc_curve(items, weight=weight).with_columns(pl.col("selective_risk"))
    table = thresholds(items, risk=RISKS, coverage=COVERAGES, weight=weight)
    assert table["target"].to_list() == ["risk"] * len(RISKS) + ["coverage"] * len(COVERAGES)
    assert table["bound"].to_list() == [*RISKS, *COVERAGES]
    for target, bound, *found in table.select(
        "target", "bound", "threshold", "coverage", "risk"
    ).iter_rows():
        if target == "risk":
            points = curve.filter(pl.col("selective_risk") <= bound + 1e-12).tail(1)
        else:
            points = curve.filter(pl.col("coverage") >= bound - 1e-12).head(1)
        wanted = points.select("threshold", "coverage", "selective_risk").rows()
        assert found == (pytest.approx(list(wanted[0])) if wanted else [None] * 3)


@settings(max_examples=10, deadline=None)
@given(ROWS)
def test_the_table_says_what_the_expressions_say_of_each_group(rows):
    items = frame_of(rows)
    table = thresholds(items, risk=0.25, coverage=[0.5], by="model")
    wanted = items.group_by("model").agg(
        ef.threshold_at_risk(0.25)().alias("threshold"),
        ef.coverage_at_risk(0.25)().alias("coverage"),
    )
    assert_frame_equal(
        table.filter(target="risk").select("model", "threshold", "coverage"),
        wanted.sort("model"),
    )
    wanted = items.group_by("model").agg(
        ef.threshold_at_coverage(0.5)().alias("threshold"),
        ef.achieved_coverage_at(0.5)().alias("coverage"),
        ef.risk_at(0.5)().alias("risk"),
    )
    assert_frame_equal(table.filter(target="coverage").select(wanted.columns), wanted.sort("model"))


def test_accepting_from_the_threshold_on_gives_what_the_table_says():
    items = pl.DataFrame(
        {"loss": [0, 1, 0, 1, 0, None], "confidence": [0.9, 0.8, 0.8, 0.8, 0.4, 0.1]}
    )
    for row in thresholds(items, risk=[0.4, 0.5], coverage=[0.2, 0.5]).iter_rows(named=True):
        accepted = items.filter(pl.col("confidence") >= row["threshold"])["loss"].drop_nulls()
        assert (len(accepted) / 6, accepted.mean()) == (row["coverage"], row["risk"])
    assert items.select(ef.threshold_at_risk(0.3)()).item() == 0.9  # ties enter together


def test_of_the_predicted_items():
    items = pl.DataFrame({"loss": [0.0, 1.0, None, None], "confidence": [0.9, 0.8, 0.7, 0.6]})
    half = (
        ef.threshold_at_coverage(0.5),
        ef.threshold_at_coverage(0.5, convention="trapezoid_predicted"),
    )
    assert [items.select(at()).item() for at in half] == [0.8, 0.9]
    assert items.select(ef.threshold_at_coverage(0.75)()).item() is None


def test_no_threshold_will_do():
    items = pl.DataFrame({"g": ["a", "a", "b"], "loss": [1.0, 1.0, None], "confidence": 0.5})
    table = thresholds(items, risk=0.5, coverage=0.9, by="g")
    assert table.select("g", "target", "threshold", "n").rows() == [
        ("a", "risk", None, 2),
        ("a", "coverage", 0.5, 2),
        ("b", "risk", None, 1),
        ("b", "coverage", None, 1),
    ]
    lost = items.with_columns(confidence=pl.lit(None, pl.Float64))
    assert thresholds(lost, coverage=0.9).select("n", "n_missing").row(0) == (1, 2)


def test_an_interval_of_a_threshold():
    items = pl.DataFrame({"loss": [0, 0, 0, 1] * 10, "confidence": [0.9, 0.8, 0.7, 0.6] * 10})
    items = items.with_columns(person=pl.int_range(40) // 4)
    made = ef.evaluate(
        items.with_columns(pl.col("confidence") - pl.col("person") / 100),
        [ef.threshold_at_risk(0.1), ef.threshold_at_coverage(0.5)],
        resample=ef.Bootstrap(cluster="person", n=50, interval="percentile"),
    )
    assert made["metric"].to_list() == ["threshold_at_risk_0.10", "threshold_at_coverage_0.50"]
    for row in made.iter_rows(named=True):
        assert row["lower"] <= row["estimate"] <= row["upper"] > row["lower"]


def test_refusals():
    items = pl.DataFrame({"loss": [0.0, -1.0], "confidence": [0.9, 0.8], "risk": ["a", "b"]})
    with pytest.raises(ParameterError, match="name a target, such as risk="):
        thresholds(items)
    for wrong, message in itertools.chain(
        ((({"risk": [0.1, bad]}), "risk must be at least 0") for bad in (-0.1, math.nan)),
        ((({"coverage": bad}), r"coverage must lie in \(0, 1\]") for bad in (0, 1.5)),
    ):
        with pytest.raises(ParameterError, match=message):
            thresholds(items, **wrong)
    with pytest.raises(ParameterError, match="a column 'risk' of its own; rename the key"):
        thresholds(items, risk=0.1, by="risk")
    for wrong in ("0.1", None, ["a"]):
        with pytest.raises(ParameterError, match="risk must be a number or a list of numbers"):
            thresholds(items, risk=wrong)
    with pytest.raises(MissingColumnsError, match="'thresholds' needs column 'confidense'"):
        thresholds(items, confidence="confidense", risk=0.1)
    with pytest.raises(ContractError, match="thresholds: a loss is negative in 1 row; correct it"):
        thresholds(items, risk=[0.1, 0.2], coverage=0.5, by=pl.col("risk").alias("g"))
