"""Calibration errors: golden values, naive arithmetic, ties and edges, and the laws."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import ai_psychiatrist
from evalframe.core.errors import ParameterError
from evalframe.core.state import before, own, total
from evalframe.selective.calibration_error import (
    adaptive_calibration_error,
    bin_number,
    expected_calibration_error,
    maximum_calibration_error,
    squared_calibration_error,
)
from evalframe.selective.scoring import mean_confidence
from stated import HARD, items

ERRORS = [expected_calibration_error, maximum_calibration_error, squared_calibration_error]
EVERY = [*ERRORS, adaptive_calibration_error]


def test_golden_values(golden):
    cases = golden("selective/calibration")["metrics"]
    assert len(cases) == 8
    for case in cases:
        frame = items(case["p"], case["y"])
        for bins, expected in case["ece"].items():
            for error in (expected_calibration_error, ai_psychiatrist.expected_calibration_error):
                value = frame.select(error(bins=int(bins))).item()
                assert value == pytest.approx(expected, abs=1e-12)


def test_golden_errors(golden):
    (case,) = (c for c in golden("selective/calibration")["metric_errors"] if c["fn"] == "ece")
    assert case["error_type"] == "ValueError"
    with pytest.raises(ValueError, match="bins must be a whole number of at least 1, got 0"):
        expected_calibration_error(bins=case["n_bins"])


def naive_bins(p, y, bins, binning, closed="left"):
    """Items of each filled bin, by a walk over items."""
    found = {}
    edges = np.linspace(0, 1, bins + 1)
    for stated, outcome in zip(p, y, strict=True):
        if binning == "equal_mass":
            number = sum(other < stated for other in p) * bins // len(p)
        elif closed == "left":
            number = min(sum(edge <= stated for edge in edges) - 1, bins - 1)
        else:
            number = max(min(sum(edge < stated for edge in edges), bins) - 1, 0)
        found.setdefault(number, []).append((stated, outcome))
    return [np.array(pairs) for _, pairs in sorted(found.items())]


def naive(p, y, bins, binning, closed="left"):
    parts = naive_bins(p, y, bins, binning, closed)
    sizes = np.array([len(part) for part in parts])
    gaps = np.array([abs(part[:, 1].mean() - part[:, 0].mean()) for part in parts])
    accuracy = np.array([part[:, 1].mean() for part in parts])
    share = sizes / sizes.sum()
    variance = accuracy * (1 - accuracy) / np.maximum(sizes - 1, 1)
    return {
        "expected": share @ gaps,
        "maximum": gaps.max(),
        "adaptive": gaps.mean(),
        "squared": share @ gaps**2,
        "debiased": share @ np.where(sizes > 1, gaps**2 - variance, 0),
    }


DECIMALS = st.integers(0, 20).map(lambda twentieths: twentieths / 20)
ANSWERS = st.lists(
    st.tuples(st.one_of(DECIMALS, st.floats(0, 1)), st.booleans()), min_size=1, max_size=40
)


@settings(max_examples=15, deadline=None)
@given(
    ANSWERS,
    st.integers(1, 12),
    st.sampled_from(["equal_width", "equal_mass"]),
    st.sampled_from(["left", "right"]),
)
def test_values_are_those_of_a_walk_over_the_items(answers, bins, binning, closed):
    p, y = (list(column) for column in zip(*answers, strict=True))
    how = {"bins": bins, "binning": binning, "closed": closed}
    made = items(p, y).select(
        expected_calibration_error(**how).alias("expected"),
        maximum_calibration_error(**how).alias("maximum"),
        squared_calibration_error(**how, debiased=False).alias("squared"),
        squared_calibration_error(**how).alias("debiased"),
    )
    expected = naive(p, y, bins, binning, closed)
    if made["debiased"].item() is None:
        made, apart = made.drop("debiased"), expected.pop("debiased")
        assert apart == 0.0
    for name, value in made.row(0, named=True).items():
        assert value == pytest.approx(expected[name], abs=1e-12), name
    adaptive = items(p, y).select(adaptive_calibration_error(bins=bins)).item()
    assert adaptive == pytest.approx(naive(p, y, bins, "equal_mass")["adaptive"], abs=1e-12)


@pytest.mark.parametrize("bins", [1, 3, 7, 10, 15, 49, 98, 107, 1023])
def test_bins_of_equal_width_have_the_edges_of_linspace(bins):
    edges = np.linspace(0, 1, bins + 1)
    p = np.concatenate([edges, np.nextafter(edges, -1), np.nextafter(edges, 2), [5e-324, 1e-17]])
    p = p[(p >= 0) & (p <= 1)]
    frame = pl.DataFrame({"p": p})
    for closed, side in (("left", "right"), ("right", "left")):
        made = frame.select(bin_number(pl.col("p"), bins, closed)).to_series().to_numpy()
        expected = np.clip(np.searchsorted(edges, p, side=side) - 1, 0, bins - 1)
        np.testing.assert_array_equal(made, expected, err_msg=closed)


def test_ties_share_a_bin_of_equal_mass():
    # Half of the items lie below the block of three, which so fills bins 2 and 3 of 4.
    frame = items([0.1, 0.2, 0.3, 0.5, 0.5, 0.5], [0, 0, 0, 1, 1, 1])
    made = frame.select(adaptive_calibration_error(bins=4)).item()
    assert made == pytest.approx((0.15 + 0.3 + 0.5) / 3, abs=1e-15)


@settings(max_examples=15, deadline=None)
@given(ANSWERS, st.integers(1, 10), st.sampled_from([0.1, 1 / 3, 7.3]))
def test_bins_of_equal_mass_do_not_change_with_the_scale_of_weights(answers, bins, scale):
    p, y = (list(column) for column in zip(*answers, strict=True))
    frame = items(p, y, weight=[scale] * len(p))
    how = {"bins": bins, "binning": "equal_mass"}
    scaled = frame.select(expected_calibration_error(**how, weight="weight")).item()
    plain = frame.select(expected_calibration_error(**how)).item()
    assert scaled == pytest.approx(plain, abs=1e-12)


def test_debiased_error_of_a_calibrated_forecaster_averages_to_nothing():
    rng = np.random.default_rng(0)
    p = np.repeat([0.25, 0.5, 0.75], 8)
    groups = np.repeat(np.arange(4000), len(p))
    stated = np.tile(p, 4000)
    frame = items(stated, rng.random(len(stated)) < stated, group=groups)
    plain = squared_calibration_error(debiased=False).alias("plain")
    means = frame.group_by("group").agg(plain, squared_calibration_error()).mean()
    variance = (p * (1 - p)).mean() / 8
    assert means["plain"].item() == pytest.approx(variance, rel=0.03)
    assert abs(means["squared_calibration_error"].item()) < variance * 0.03


def test_confidences_outside_the_unit_interval_are_missing_and_in_the_original_clipped():
    frame = items([1.5, -0.5, 0.25, math.nan, None, 0.5], [1, 0, 1, 1, 1, None])
    errors = [
        expected_calibration_error().alias("sound"),
        ai_psychiatrist.expected_calibration_error().alias("original"),
    ]
    table = ef.evaluate(frame, errors)
    assert table["estimate"].to_list() == pytest.approx([0.75, 0.25])
    assert table["n"].to_list() == [1, 6]
    assert table["n_missing"].to_list() == [5, None]


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.__name__)
def test_without_items_there_is_no_error(metric):
    for empty in (items([], []), items([None, math.nan, 2.0], [1, 1, 1]), items([0.5], [None])):
        assert empty.select(metric()).item() is None
        assert ef.evaluate(empty, metric())["estimate"].to_list() == [None]


def test_without_items_the_original_gives_0():
    assert items([], []).select(ai_psychiatrist.expected_calibration_error()).item() == 0.0


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.__name__)
@pytest.mark.parametrize("bins", [0, -1, 2.0, True, None, "ten"])
def test_bins_must_be_a_whole_number(metric, bins):
    with pytest.raises(ParameterError, match=r"bins must be a whole number of at least 1, got"):
        metric(bins=bins)


@pytest.mark.parametrize("metric", ERRORS, ids=lambda metric: metric.__name__)
def test_unknown_names_are_refused_with_a_hint(metric):
    with pytest.raises(
        ParameterError, match=r"binning must be one of .*'equal_widths'.*'equal_width'"
    ):
        metric(binning="equal_widths")
    with pytest.raises(ParameterError, match="closed must be one of"):
        metric(closed="both")


OFF_BY_ONE = {
    ("lsat_ar", "claude-sonnet-4-20250514"): (0.32765, 0.33914, -1),
    ("sciq", "claude-3-7-sonnet-20250219"): (0.05077, 0.04977, 1),
}
"""ECE here, as published, and their difference in items; the cause is not known."""


def test_published_calibration_of_eleven_models_on_five_tasks(shared):
    """The table of Michael et al., Confidence Calibration in Large Language Models."""
    folder = shared / "data/selective"
    answers = pl.read_parquet(folder / "lifeeval_llm.parquet").filter("in_common")
    stated = pl.col("stated_confidence_norm").fill_null(0.0)
    metrics = [
        ef.selective_risk("correct").alias("accuracy"),
        mean_confidence(stated),
        expected_calibration_error(stated, "correct", bins=10, closed="right").alias("ece"),
    ]
    result = ef.evaluate(answers, metrics, by=["task", "model"])
    assert result["n_missing"].sum() == 0
    made = result.pivot("metric", index=["task", "model", "n"], values="estimate")
    published = pl.read_parquet(folder / "lifeeval_published_table1.parquet").sort("task", "model")
    assert len(published) == 55
    columns = ["task", "model", "n", "accuracy", "mean_confidence"]
    assert_frame_equal(
        made.select(columns),
        published.select(columns),
        abs_tol=1e-12,
        rel_tol=0,
        check_dtypes=False,
    )
    both = made.join(published, on=["task", "model"], suffix="_published")
    off = both.filter((pl.col("ece") - pl.col("ece_published")).abs() > 1e-12)
    assert {tuple(key) for key in off.select("task", "model").iter_rows()} == set(OFF_BY_ONE)
    for row in off.iter_rows(named=True):
        ours, theirs, items = OFF_BY_ONE[row["task"], row["model"]]
        assert row["ece"] == pytest.approx(ours, abs=5e-6)
        assert row["ece_published"] == pytest.approx(theirs, abs=5e-6)
        assert (row["ece"] - row["ece_published"]) * row["n"] == pytest.approx(items, abs=1e-9)


def test_a_replicate_regroups_the_levels_that_it_drew():
    method = ef.Bootstrap(cluster="person", n=50, seed=1)
    how = {"bins": 3, "binning": "equal_mass"}
    metric = expected_calibration_error(**how)
    by_state = ef.evaluate(HARD, metric, resample=method)
    by_rows = ef.evaluate(HARD, metric.bound.expr, resample=method)
    for column in ("estimate", "std_error", "lower", "upper"):
        assert by_state[column].item() == pytest.approx(by_rows[column].item(), rel=1e-12), column


def test_a_regroup_over_sums_that_are_not_there_is_refused():
    @ef.metric(direction="none", range=(0, 1), name="regrouped_badly")
    def bad(confidence="confidence", *, weight=None):
        axis = ef.Axis(confidence, {"mass": weight}, regroup=before.items / total.mass)
        return ef.State(axes=(axis,), finish=lambda t: t.mass)

    with pytest.raises(ParameterError, match=r"regroup reads 'items', but the sums are \['mass'\]"):
        bad()


def test_regrouped_levels_stand_for_their_first():
    @ef.metric(direction="none", range=(0, 100), name="first_levels")
    def firsts(confidence="confidence", *, weight=None):
        axis = ef.Axis(
            confidence,
            {"mass": weight},
            terms={"value": ef.level * own.mass},
            regroup=(before.mass / 2).floor(),
        )
        return ef.State(axes=(axis,), finish=lambda t: t.value)

    frame = pl.DataFrame({"confidence": [5.0, 1.0, 2.0, 4.0, 3.0]})
    assert frame.select(firsts()).item() == 1 + 1 + 3 + 3 + 5
    table = ef.evaluate(frame, [firsts(), maximum_calibration_error("confidence", pl.lit(1.0))])
    assert table["estimate"].to_list() == [13.0, 0.0]
