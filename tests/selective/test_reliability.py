"""Reliability tables: by hand, against the errors they belong to, and their intervals."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.selective.calibration_error import (
    adaptive_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from evalframe.selective.curves import RELIABILITY, reliability_table
from stated import items

WIDTH = {"bins": 10}
RIGHT = {"bins": 5, "closed": "right"}
MASS = {"bins": 4, "binning": "equal_mass"}


def test_bins_of_equal_width_by_hand():
    frame = items([0.3, 0.25, 0.30000000000000004, 1.0, 1.0], [0, 1, 1, 1, 0])
    made = reliability_table(frame).drop("lower", "upper")
    expected = pl.DataFrame(
        {
            "bin": [2, 3, 9],
            "lower_edge": [0.2, 0.3, 0.9],
            "upper_edge": [0.3, 0.4, 1.0],
            "n": [2, 1, 2],
            "mean_confidence": [0.275, 0.3, 1.0],
            "accuracy": [0.5, 1.0, 0.5],
            "gap": [0.225, 0.7, -0.5],
        }
    )
    assert_frame_equal(made, expected, abs_tol=1e-12)


def test_bins_of_equal_mass_by_hand():
    frame = items([0.1, 0.2, 0.3, 0.5, 0.5, 0.5], [0, 0, 1, 1, 1, 0])
    made = reliability_table(frame, **MASS)
    assert made["bin"].to_list() == [0, 1, 2]
    assert made["lower_edge"].to_list() == [0.1, 0.3, 0.5]
    assert made["upper_edge"].to_list() == [0.2, 0.3, 0.5]
    assert made["n"].to_list() == [2, 1, 3]


def test_columns_and_types():
    frame = items([0.5], [1], model=["a"], weight=[2])
    table = reliability_table(frame, by="model").collect_schema()
    assert table.names() == ["model", *RELIABILITY]
    assert table["bin"] == table["n"] == pl.Int64
    weighted = reliability_table(frame.lazy(), by="model", weight="weight")
    assert isinstance(weighted, pl.LazyFrame)
    assert weighted.collect_schema()["n"] == pl.Float64
    assert weighted.collect()["n"].to_list() == [2.0]


def test_edges_are_those_of_linspace():
    for bins in (7, 10, 49):
        edges = np.linspace(0, 1, bins + 1)
        table = reliability_table(items(edges, edges), bins=bins)
        assert table["lower_edge"].to_list() == edges[:-1].tolist()
        assert table["upper_edge"].to_list() == edges[1:].tolist()


ROWS = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0, None, math.nan]), st.floats(0, 1)),
        st.sampled_from([0.0, 1.0, 1.0, None]),
        st.sampled_from(["a", "b", None]),
        st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    ),
    min_size=1,
    max_size=50,
)


@settings(max_examples=12, deadline=None)
@given(
    ROWS, st.sampled_from([WIDTH, RIGHT, MASS]), st.sampled_from([None, "weight"]), st.booleans()
)
def test_the_errors_follow_from_the_table(rows, how, weight, grouped):
    confidence, correct, model, weights = zip(*rows, strict=True)
    frame = items(confidence, correct, model=model, weight=weights)
    by = ["model"] if grouped else []
    table = reliability_table(frame, by=by, weight=weight, **how)
    gap, n = pl.col("gap").abs(), pl.col("n")
    follows = [
        ((gap * n).sum() / n.sum()).alias("expected"),
        gap.max().alias("maximum"),
        gap.mean().alias("adaptive"),
    ]
    made = table.group_by(by).agg(follows) if by else table.select(follows)
    metrics = [
        expected_calibration_error(weight=weight, **how).alias("expected"),
        maximum_calibration_error(weight=weight, **how).alias("maximum"),
    ]
    if how is MASS:
        metrics.append(
            adaptive_calibration_error(weight=weight, bins=how["bins"]).alias("adaptive")
        )
    expected = frame.group_by(by).agg(metrics) if by else frame.select(metrics)
    expected = expected.drop_nulls("expected")
    made = made.select(expected.columns).filter(pl.col("expected").is_not_nan())
    assert_frame_equal(made, expected, check_row_order=False, abs_tol=1e-12)


def test_a_table_is_sorted_whatever_the_order_of_rows():
    rng = np.random.default_rng(0)
    frame = items(rng.random(500), rng.random(500) < 0.5, model=rng.integers(0, 5, 500))
    for how in (WIDTH, MASS):
        table = reliability_table(frame, by="model", **how)
        assert table.select("model", "bin").equals(
            table.select("model", "bin").sort("model", "bin")
        )
        again = reliability_table(frame.reverse(), by="model", **how)
        assert_frame_equal(table, again, abs_tol=1e-12)


def test_wilson_intervals():
    # Wilson (1927) as Newcombe (1998) prints it: 81 of 263, and 15 of 148.
    for hits, n, lower, upper in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)]:
        frame = items([0.5] * n, [1] * hits + [0] * (n - hits))
        made = reliability_table(frame).row(0, named=True)
        assert (made["lower"], made["upper"]) == pytest.approx((lower, upper), abs=5e-5)
    none = reliability_table(items([0.5] * 20, [0] * 20)).row(0, named=True)
    assert none["lower"] == pytest.approx(0.0, abs=1e-12)
    assert none["upper"] == pytest.approx(0.1611, abs=5e-5)
    wide = reliability_table(items([0.5] * 4, [1, 1, 0, 0]), level=0.99)
    narrow = reliability_table(items([0.5] * 4, [1, 1, 0, 0]), level=0.5)
    assert wide["lower"].item() < narrow["lower"].item() < 0.5 < narrow["upper"].item()


def test_weights_count_as_items():
    frame = items([0.5, 0.5, 0.7], [1, 0, 1], weight=[3, 1, 0])
    repeated = items([0.5] * 4, [1, 1, 1, 0])
    made = reliability_table(frame, weight="weight")
    assert_frame_equal(made, reliability_table(repeated), check_dtypes=False)


def test_without_items_the_table_has_no_rows():
    for how in (WIDTH, MASS):
        for frame in (items([], []), items([None, math.nan], [1, 1])):
            table = reliability_table(frame, **how)
            assert table.columns == list(RELIABILITY)
            assert len(table) == 0


@pytest.mark.parametrize("how", [WIDTH, MASS])
def test_confidences_that_are_no_probabilities_are_refused(how):
    frame = items([0.5, 87.0, 90.0, -0.1, 40.0], [1, 1, None, 0, 1], weight=[1.0, 1, 1, 1, 0])
    for weight, count in ((None, 4), ("weight", 3)):
        table = reliability_table(frame.lazy(), weight=weight, **how)
        with pytest.raises(
            ContractError, match=rf"outside \[0, 1\] in {count} rows; divide percent by 100"
        ):
            table.collect()
    errors = [expected_calibration_error(**how), ef.brier_score()]
    made = ef.evaluate(frame, errors)  # expressions do not raise, they count
    assert made["n_missing"].to_list() == [4, 4]
    share = frame.with_columns(pl.col("confidence").clip(0, 100) / 100)
    assert reliability_table(share, **how)["n"].sum() == 4


def test_bad_arguments_are_refused():
    frame = items([0.5], [1])
    with pytest.raises(ParameterError, match="bins must be a whole number of at least 1, got None"):
        reliability_table(frame, bins=None)
    for level in (0, 1, True, math.nan):
        with pytest.raises(ParameterError, match="level must lie between 0 and 1, got"):
            reliability_table(frame, level=level)
    with pytest.raises(ParameterError, match="binning must be one of"):
        reliability_table(frame, binning="mass")
    with pytest.raises(ParameterError, match="a column 'bin' of its own; rename the key"):
        reliability_table(frame.with_columns(bin=1), by="bin")
    with pytest.raises(MissingColumnsError, match=r"'reliability_table' needs column 'stated'"):
        reliability_table(frame, "stated")


def test_people_and_models_are_read_lazily(shared):
    path = shared / "data/selective/lifeeval_llm.parquet"
    answers = pl.scan_parquet(path).filter(pl.col("status") == "answered")
    table = reliability_table(
        answers, "stated_confidence_norm", by=["task", "model"], binning="equal_mass"
    ).collect()
    missing = ef.evaluate(
        answers, expected_calibration_error("stated_confidence_norm"), by=["task", "model"]
    ).collect()
    assert table["n"].sum() == missing["n"].sum() == 72_178
    assert missing["n_missing"].sum() == 7
    assert (table["lower"] <= table["accuracy"] + 1e-12).all()
    assert (table["accuracy"] <= table["upper"] + 1e-12).all()
