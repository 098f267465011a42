"""Concordance and the regression line as metrics: golden values, exact arithmetic, laws."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalframe as ef
from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.replication.agreement.metrics import (
    concordance_correlation,
    regression_intercept,
    regression_slope,
)
from replication.golden import near, number

FLOATS = {"x": pl.Float64, "y": pl.Float64, "w": pl.Float64}


def of_pairs(weight=None, room=replication):
    return [
        room.concordance_correlation("x", "y", weight=weight),
        regression_slope("x", "y", weight=weight),
        regression_intercept("x", "y", weight=weight),
    ]


def test_golden_agreement(golden):
    cases = [c for c in golden("replication/ecs") if c["inputs"]["family"] == "weighted_agreement"]
    assert cases
    for case in cases:
        given_, wanted = case["inputs"], case["expected"]
        columns = {name: [number(value) for value in given_[name]] for name in "xyw"}
        if len({len(values) for values in columns.values()}) > 1:
            continue
        pairs = pl.DataFrame(columns, schema=FLOATS)
        found = pairs.select(of_pairs("w", humanstudy_bench)).row(0)
        wanted = [wanted["ccc"], wanted["slope"], wanted["intercept"]]
        assert list(found) == [near(value) for value in wanted], case["id"]
        lin = case["reference"]["ccc_lin_weight_normalised"]
        varied = pairs.filter(pl.all().is_finite(), pl.col("w") > 0)
        constant = varied["x"].n_unique() < 2 and varied["y"].n_unique() < 2
        assert pairs.select(of_pairs("w")).item(0, 0) == near(None if constant else lin), case["id"]


def exactly(pairs):
    """Concordance, slope and intercept in rational numbers; None where undefined."""
    pairs = [tuple(map(Fraction, pair)) for pair in pairs]
    pairs = [pair for pair in pairs if pair[2] > 0]
    mass = sum(w for _, _, w in pairs)
    if not mass:
        return None, None, None
    mean_x, mean_y = (sum(p[i] * p[2] for p in pairs) / mass for i in (0, 1))
    xx = sum(w * (x - mean_x) ** 2 for x, _, w in pairs)
    yy = sum(w * (y - mean_y) ** 2 for _, y, w in pairs)
    xy = sum(w * (x - mean_x) * (y - mean_y) for x, y, w in pairs)
    ccc = 2 * xy / (xx + yy + mass * (mean_x - mean_y) ** 2) if xx or yy else None
    slope = xy / xx if xx else None
    return ccc, slope, None if slope is None else mean_y - slope * mean_x


TICKS = st.lists(
    st.tuples(st.integers(0, 64), st.integers(0, 64), st.integers(0, 3)), min_size=1, max_size=30
)


@settings(max_examples=8, deadline=None)
@given(TICKS, st.sampled_from([0.0, 1e3, 1e8]), st.sampled_from([2.0**-3, 2.0**-20]))
def test_small_differences_of_large_effects(ticks, offset, tick):
    pairs = [(offset + x * tick, offset + y * tick, float(w)) for x, y, w in ticks]
    frame = pl.DataFrame(pairs, schema=FLOATS, orient="row")
    ccc, slope, intercept = exactly(pairs)
    expressions = frame.select(of_pairs("w")).row(0)
    tables = ef.evaluate(frame, of_pairs("w"))["estimate"].to_list()
    for found in (expressions, tables):
        for value, exact in zip(found[:2], (ccc, slope), strict=True):
            assert value == (None if exact is None else pytest.approx(float(exact), abs=1e-11))
        if intercept is not None:
            assert found[2] == pytest.approx(float(intercept), rel=1e-7, abs=1e-11 * (1 + offset))


@pytest.mark.parametrize(("far_x", "far_y"), [(0.0, 1e5), (1e5, 1e5), (1e5, 0.0), (1e5, -1e5)])
def test_lines_far_from_the_other_side(far_x, far_y):
    random = np.random.default_rng(0)
    x, y = (far + random.normal(size=40) * 1e-3 for far in (far_x, far_y))
    pairs = [(float(a), float(b), 1.0) for a, b in zip(x, y, strict=True)]
    frame = pl.DataFrame(pairs, schema=FLOATS, orient="row")
    _, slope, intercept = (float(value) for value in exactly(pairs))
    found = frame.select(of_pairs("w")).row(0)
    assert found[1] == pytest.approx(slope, abs=1e-14)
    assert found[2] == pytest.approx(intercept, rel=1e-14, abs=1e-9)


def test_the_scale_of_weights_matters_in_the_original_only():
    pairs = pl.DataFrame({"x": [0.0, 1.0, 2.0], "y": [5.0, 6.0, 8.0], "w": [1.0, 2.0, 3.0]})
    for room, same in ((replication, True), (humanstudy_bench, False)):
        found = [
            pairs.select(room.concordance_correlation("x", "y", weight=pl.col("w") * k))
            for k in (1.0, 1 / 6)
        ]
        values = [frame.item() for frame in found]
        assert (values[0] == pytest.approx(values[1])) is same
    # Weights that sum to 1 make both alike.
    lin = pairs.select(concordance_correlation("x", "y", weight="w")).item()
    assert values[1] == pytest.approx(lin)


@pytest.mark.parametrize(
    ("x", "y", "documented", "reference"),
    [
        ([], [], None, None),
        ([1.0], [1.0], None, None),
        ([1.0, 1.0], [1.0, 1.0], None, 1.0),
        ([0.1] * 3, [0.3] * 3, None, 1.0),
        ([0.1] * 3, [0.1, 0.2, 0.7], 0.0, 0.0),
        ([0.0, 1.0], [0.0, 1.0], 1.0, 1.0),
        ([0.0, 1.0], [1.0, 0.0], -1.0, -1.0),
        ([0.0, None, math.nan, math.inf, 1.0], [0.0, 1.0, 1.0, 1.0, 1.0], 1.0, 1.0),
    ],
)
def test_degenerate_pairs(x, y, documented, reference):
    pairs = pl.DataFrame({"x": x, "y": y}, schema={"x": pl.Float64, "y": pl.Float64})
    assert pairs.select(concordance_correlation("x", "y")).item() == documented
    assert pairs.select(humanstudy_bench.concordance_correlation("x", "y")).item() == reference


def test_what_is_missing_is_counted():
    pairs = pl.DataFrame({"x": [0.0, None, 1.0, math.inf], "y": [0.0, 1.0, 2.0, 1.0]})
    found = ef.evaluate(pairs, concordance_correlation("x", "y"))
    assert found.select("n", "n_missing").row(0) == (2, 2)


def test_intervals_by_study():
    random = np.random.default_rng(3)
    human = random.normal(size=200)
    tests = pl.DataFrame(
        {
            "study_id": np.repeat(np.arange(20), 10),
            "effect_d_human": human,
            "effect_d_agent": 0.8 * human + random.normal(size=200) * 0.3,
        }
    )
    resample = ef.Bootstrap(cluster="study_id", n=200, seed=1)
    made = ef.evaluate(tests, concordance_correlation(), resample=resample)
    row = made.row(0, named=True)
    assert row["lower"] < row["estimate"] < row["upper"]
