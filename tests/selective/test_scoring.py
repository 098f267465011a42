"""Proper scores: golden values, naive arithmetic, identities of the Brier score, and the laws."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalframe as ef
from evalframe.compat import ai_psychiatrist
from evalframe.core.errors import ParameterError
from evalframe.selective.scoring import (
    brier_reliability,
    brier_resolution,
    brier_score,
    brier_skill,
    brier_uncertainty,
    mean_confidence,
    negative_log_likelihood,
    overconfidence,
)
from stated import items

PLAIN = [
    negative_log_likelihood,
    brier_score,
    brier_skill,
    brier_uncertainty,
    mean_confidence,
    overconfidence,
]
EVERY = [*PLAIN, brier_reliability, brier_resolution]


def test_golden_values(golden):
    cases = golden("selective/calibration")["metrics"]
    assert len(cases) == 8
    for case in cases:
        frame = items(case["p"], case["y"])
        for loss in (negative_log_likelihood, ai_psychiatrist.negative_log_likelihood):
            assert frame.select(loss()).item() == pytest.approx(case["nll"], abs=1e-12)


PROBABILITIES = st.one_of(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), st.floats(0, 1))
LABELS = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
ANSWERS = st.lists(st.tuples(PROBABILITIES, LABELS), min_size=1, max_size=40)


@settings(max_examples=12, deadline=None)
@given(ANSWERS)
def test_values_are_those_of_plain_arithmetic(answers):
    p, y = np.array(answers).T
    q = np.clip(p, 1e-6, 1 - 1e-6)
    made = items(p, y).select(metric() for metric in PLAIN).row(0, named=True)
    expected = {
        "negative_log_likelihood": -(y * np.log(q) + (1 - y) * np.log(1 - q)).mean(),
        "brier_score": ((p - y) ** 2).mean(),
        "brier_uncertainty": y.var(),
        "mean_confidence": p.mean(),
        "overconfidence": p.mean() - y.mean(),
    }
    for name, value in expected.items():
        assert made[name] == pytest.approx(value, abs=1e-12), name
    if y.var() > 1e-9:
        assert made["brier_skill"] == pytest.approx(1 - ((p - y) ** 2).mean() / y.var(), rel=1e-6)


def test_by_hand():
    frame = items([0.75, 0.75, 0.25], [True, False, False])
    made = frame.select(metric() for metric in EVERY).row(0, named=True)
    assert made == pytest.approx(
        {
            "negative_log_likelihood": -math.log(0.75 * 0.25 * 0.75) / 3,
            "brier_score": (0.0625 + 0.5625 + 0.0625) / 3,
            "brier_skill": 1 - (0.6875 / 3) / (2 / 9),
            "brier_uncertainty": 2 / 9,
            "mean_confidence": 1.75 / 3,
            "overconfidence": 0.75 / 3,
            "brier_reliability": (2 * 0.0625 + 0.0625) / 3,
            "brier_resolution": (2 * (1 / 6) ** 2 + (1 / 3) ** 2) / 3,
        },
        abs=1e-15,
    )


BINS = [
    {},
    {"bins": 1},
    {"bins": 4},
    {"bins": 10, "closed": "right"},
    {"bins": 5, "binning": "equal_mass"},
]


@settings(max_examples=12, deadline=None)
@given(ANSWERS, st.sampled_from(BINS))
def test_the_parts_add_up_to_the_brier_score(answers, how):
    p, y = zip(*answers, strict=True)
    made = items(p, y).select(
        brier_score(), brier_reliability(**how), brier_resolution(**how), brier_uncertainty()
    )
    score, reliability, resolution, uncertainty = made.row(0)
    assert score == pytest.approx(reliability - resolution + uncertainty, abs=1e-12)
    if not how:
        assert resolution >= 0


@settings(max_examples=12, deadline=None)
@given(ANSWERS, st.integers(1, 8))
def test_parts_with_bins_are_those_of_stephenson(answers, bins):
    p, y = np.array(answers).T
    edges = np.linspace(0, 1, bins + 1)
    number = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, bins - 1)
    groups = [(p[number == k], y[number == k]) for k in np.unique(number)]
    n = len(p)
    reliability = sum(len(a) * (a.mean() - b.mean()) ** 2 for a, b in groups) / n
    between = sum(len(a) * (b.mean() - y.mean()) ** 2 for a, b in groups) / n
    variance = sum(((a - a.mean()) ** 2).sum() for a, _ in groups) / n
    covariance = 2 * sum(((a - a.mean()) * (b - b.mean())).sum() for a, b in groups) / n
    made = items(p, y).select(brier_reliability(bins=bins), brier_resolution(bins=bins)).row(0)
    expected = (reliability, between - variance + covariance)
    assert made == pytest.approx(expected, abs=1e-12)


def test_who_always_states_the_accuracy_has_no_skill_and_no_resolution():
    frame = items([0.25] * 4, [1, 0, 0, 0])
    made = frame.select(metric() for metric in EVERY).row(0, named=True)
    assert made["brier_skill"] == made["brier_resolution"] == made["brier_reliability"] == 0.0
    assert made["overconfidence"] == 0.0
    assert made["brier_score"] == made["brier_uncertainty"] == 3 / 16


def test_skill_is_undefined_where_all_outcomes_are_the_same():
    assert items([0.5, 0.7], [1, 1]).select(brier_skill()).item() is None
    assert items([0.5, 0.7, 0.2], [0.1, 0.1, 0.1]).select(brier_skill()).item() is None


def test_certain_mistakes_cost_a_finite_amount():
    made = items([1.0, 0.0], [0, 1]).select(negative_log_likelihood()).item()
    assert made == pytest.approx(-math.log(1e-6), rel=1e-10)


def test_booleans_and_numbers_are_the_same():
    p = [0.2, 0.9, 0.6]
    flags = pl.DataFrame({"confidence": p, "correct": [True, False, True]})
    numbers = pl.DataFrame({"confidence": p, "correct": [1, 0, 1]})
    every = [metric() for metric in EVERY]
    assert flags.select(every).equals(numbers.select(every))


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.__name__)
def test_rows_that_hold_no_probability_are_counted_and_left_out(metric):
    good = items([0.25, 0.75, 0.75], [0, 1, 0])
    bad = items([None, math.nan, 1.0000001, -0.1, math.inf], [1.0] * 5)
    bad = pl.concat([bad, items([0.5] * 3, [None, math.nan, 2.0])])
    row = metric("confidence", "correct")
    table = ef.evaluate(pl.concat([good, bad]), row)
    assert table["n"].to_list() == [3]
    assert table["n_missing"].to_list() == [8]
    assert table["estimate"].item() == good.select(row).item()


def test_the_original_clips_confidences():
    frame = items([1.5, -0.5, math.nan], [1, 0, 1])
    made = ef.evaluate(frame, ai_psychiatrist.negative_log_likelihood())
    assert made["estimate"].item() == pytest.approx(-math.log(1 - 1e-6), rel=1e-9)
    assert made["n_missing"].item() == 1
    assert frame.select(negative_log_likelihood()).item() is None


@pytest.mark.parametrize("metric", EVERY, ids=lambda metric: metric.__name__)
def test_without_items_there_is_no_value(metric):
    for empty in (items([], []), items([None], [None])):
        assert empty.select(metric()).item() is None
        assert ef.evaluate(empty, metric())["estimate"].to_list() == [None]


def test_mean_confidence_needs_no_outcomes_but_keeps_to_them_where_given():
    frame = items([0.5, 1.0], [1, None])
    made = frame.select(mean_confidence(), mean_confidence(correct="correct").alias("same"))
    assert made.row(0) == (0.75, 0.5)


def test_bad_parameters_are_refused():
    for metric in (brier_reliability, brier_resolution):
        with pytest.raises(
            ParameterError, match="bins must be a whole number of at least 1, got 0"
        ):
            metric(bins=0)
        with pytest.raises(ParameterError, match="binning must be one of"):
            metric(bins=5, binning="mass")
