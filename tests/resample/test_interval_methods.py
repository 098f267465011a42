"""Interval methods beyond percentiles, against their formulas."""

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import evalframe as ef
from evalframe.resample import draws, intervals
from evalframe.resample.intervals import INTERVALS, MOST_BIAS, Sample, Shape
from evalframe.resample.methods import Interval
from resample.test_intervals import bootstrap, result

RNG = np.random.default_rng(11)
LOSSES = RNG.gamma(2.0, size=30)
PEOPLE = pl.DataFrame({"person": range(30), "loss": LOSSES})
EXPANDED = ("expanded", "expanded_bca")
ALL = [*INTERVALS]


def replicate_means(method, losses=LOSSES):
    size = len(losses)
    drawn = np.random.RandomState(method.seed).randint(0, size, size=(method.n, size))
    return losses[drawn].mean(axis=1)


def student_tail(clusters, tail=0.025):
    """Hesterberg's: the normal tail at as many deviations as Student's t, of a larger error."""
    stretch = math.sqrt(clusters / (clusters - 1))
    return stats.norm.cdf(stretch * stats.t.ppf(tail, clusters - 1))


def test_expanded_percentiles_by_hand():
    # Of 30 clusters: t = 2.0452, times sqrt(30 / 29) is 2.0802, whose normal tail is 0.01876.
    tail = student_tail(30)
    assert tail == pytest.approx(0.01876, abs=1e-5)
    method = bootstrap(interval="expanded")
    found = result(PEOPLE, method)
    expected = np.quantile(replicate_means(method), [tail, 1 - tail])
    assert (found["lower"], found["upper"]) == pytest.approx(expected, rel=1e-12)


def test_expanded_bca_has_the_outer_ends_of_corrected_and_plain_percentiles():
    method = bootstrap(interval="expanded_bca", level=0.9)
    means = replicate_means(method)
    left_out = (LOSSES.sum() - LOSSES) / 29
    centred = left_out.mean() - left_out
    a = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
    bias = stats.norm.ppf((means < LOSSES.mean()).mean())
    tail = student_tail(30, 0.05)
    z = bias + stats.norm.ppf(tail) * np.array([1, -1])
    corrected = np.quantile(means, stats.norm.cdf(bias + z / (1 - a * z)))
    plain = np.quantile(means, [tail, 1 - tail])
    expected = min(corrected[0], plain[0]), max(corrected[1], plain[1])
    found = result(PEOPLE, method)
    assert (found["lower"], found["upper"]) == pytest.approx(expected, rel=1e-12)


def test_the_bias_of_expanded_bca_is_bounded():
    """Where all replicates lie above the estimate, BCa has no width; here some is left."""
    replicates = np.linspace(1.0, 2.0, 1001)[:, None]
    point, jackknife, clusters = np.array([0.5]), np.zeros((30, 1)), np.array([10_000])
    method = bootstrap(interval="expanded_bca")
    made = intervals.bootstrap_spread(method, Sample(point, replicates, jackknife, clusters))
    lower = stats.norm.cdf(-2 * MOST_BIAS + stats.norm.ppf(0.025))
    assert [made.lower.item(), made.upper.item()] == pytest.approx([1.0 + lower, 1.975], abs=1e-4)


def test_with_many_clusters_nothing_is_expanded():
    means = replicate_means(bootstrap())[:, None]
    sample = Sample(np.array([LOSSES.mean()]), means, clusters=np.array([10**9]))
    ends = [
        intervals.bootstrap_spread(bootstrap(interval=name), sample)
        for name in ("expanded", "percentile")
    ]
    assert ends[0].lower == pytest.approx(ends[1].lower, rel=1e-6)
    assert ends[0].upper == pytest.approx(ends[1].upper, rel=1e-6)


@pytest.mark.parametrize("interval", EXPANDED)
@pytest.mark.parametrize("draws", [200, 20_000])
def test_few_clusters_have_intervals_by_t_beyond_their_replicates(interval, draws):
    # No replicate lies outside of [0, 4]. The standard error of 0, 2, 4 is 2 / sqrt(3).
    frame = pl.DataFrame({"person": [1, 2, 3], "loss": [0.0, 2.0, 4.0]})
    found = result(frame, bootstrap(interval=interval, n=draws), ef.mean("loss"))
    half = stats.t.ppf(0.975, 2) * 2 / math.sqrt(3)
    assert (found["lower"], found["upper"]) == pytest.approx((2 - half, 2 + half), rel=0.1)
    cut = result(frame, bootstrap(interval=interval, n=draws))
    assert cut["lower"] == 0.0  # the range of the metric


def test_more_draws_of_few_clusters_are_no_more_evidence():
    # Three clusters that all differ the same way: a replicate of one alone has a chance of 1 / 27.
    deltas = np.random.default_rng(0).uniform(1.0, 1.1, (100_000, 1))
    sample = Sample(np.ones(1), deltas, clusters=np.array([3]))
    expected = 2 * stats.t.sf(stats.norm.isf(1 / 27) / math.sqrt(3 / 2), 2)
    assert intervals.p_values("expanded", sample).item() == pytest.approx(expected)


@pytest.mark.parametrize("interval", EXPANDED)
def test_ends_lie_within_the_range_and_around_the_plain_ones(interval):
    shares = PEOPLE.with_columns(loss=(pl.col("loss") > 4.0).cast(pl.Float64))
    found = result(shares, bootstrap(interval=interval))
    plain = result(shares, bootstrap(interval={"expanded": "percentile"}.get(interval, "bca")))
    assert 0.0 <= found["lower"] <= plain["lower"] <= plain["upper"] <= found["upper"] <= 1.0


@pytest.mark.parametrize("interval", EXPANDED)
@pytest.mark.parametrize("metric", [ef.aurc(), ef.selective_risk()])
def test_weights_are_repetitions(interval, metric):
    rng = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "person": rng.integers(0, 9, 60),
            "loss": rng.random(60),
            "confidence": rng.integers(0, 5, 60) / 4,
            "times": rng.integers(1, 4, 60),
        }
    )
    method = bootstrap(interval=interval, n=100)
    repeated = frame.select(pl.all().repeat_by("times").explode())
    weighted = ef.evaluate(frame, metric, weight="times", resample=method)
    plain = ef.evaluate(repeated, metric, resample=method)
    for name in ("estimate", "std_error", "lower", "upper"):
        assert weighted[name].item() == pytest.approx(plain[name].item(), rel=1e-12), name


@pytest.mark.parametrize("interval", EXPANDED)
def test_an_expression_without_a_state_has_the_same_interval(interval):
    method = bootstrap(interval=interval, n=200)
    frame = pl.concat([PEOPLE, PEOPLE.head(10)]).with_columns(group=pl.col("person") % 2)
    plain = pl.col("loss").mean().alias("selective_risk")
    made = [
        ef.evaluate(frame, metric, by="group", resample=method)
        for metric in (ef.selective_risk(), plain)
    ]
    for name in ("std_error", "lower", "upper"):
        assert made[0][name].to_list() == pytest.approx(made[1][name].to_list(), rel=1e-9), name


def test_many_clusters_are_left_out_in_groups():
    method = bootstrap(interval="expanded_bca")
    few = draws.left_out(method, draws.GROUPS)
    assert (few.total, few.held) == (draws.GROUPS, 1)
    many = draws.left_out(method, 450)
    weights = np.concatenate([*many.chunks(70)])
    assert weights.shape == (draws.GROUPS, 450)
    assert ((weights == 0).sum(axis=0) == 1).all()
    assert {*(weights == 0).sum(axis=1)} == {2, 3}
    assert draws.left_out(replace(method, interval="bca"), 450).total == 450


def test_groups_have_the_acceleration_of_single_clusters():
    losses = np.random.default_rng(0).gamma(0.5, size=6_000)

    def acceleration(weights):
        left_out = np.concatenate([*weights])
        values = (left_out @ losses) / left_out.sum(axis=1)
        clusters = np.array([len(losses)])
        sample = Sample(np.zeros(1), np.zeros((2, 1)), values[:, None], clusters)
        return Shape.expanded_bca(sample).acceleration.item()

    exact = stats.skew(losses) / (6 * math.sqrt(len(losses)))
    groups = draws.groups_left_out(len(losses)).chunks(200)
    assert acceleration(groups) == pytest.approx(exact, abs=0.004)


def test_the_registry_has_the_names_for_type_checkers():
    assert tuple(INTERVALS) == get_args(Interval)
    for name in INTERVALS:
        assert f"`{name}`" in ef.Bootstrap.__doc__


# p-values


def test_expanded_intervals_make_up_for_what_strata_lack():
    # Replicates within strata of m clusters have (m - 1) / m of the variance, and one degree of
    # freedom less each; the cluster that is alone in its stratum has none.
    strata = [*"aaaabbbbccccd"]
    items = pl.DataFrame({"task": strata, "item": range(13), "score": np.arange(13.0) ** 2 % 7})
    metric, options = ef.per("task", ef.mean("score")), {"cluster": "item", "within": "task"}
    found = {
        name: ef.evaluate(items, metric, resample=ef.Bootstrap(interval=name, n=20_000, **options))
        for name in ("normal", "expanded")
    }
    width = {
        name: each.select((pl.col("upper") - pl.col("lower")) / pl.col("std_error")).item() / 2
        for name, each in found.items()
    }
    stretch = np.sqrt(4 / 3) * stats.t.isf(0.025, 12 - 3)
    assert width["normal"] == pytest.approx(stats.norm.isf(0.025))
    assert width["expanded"] == pytest.approx(stretch, rel=0.03)


@settings(max_examples=12, deadline=None)
@given(
    st.floats(-0.5, 0.5), st.floats(-0.2, 0.2), st.sampled_from([None, 5, 40]),
    st.floats(0.001, 0.4),
)  # fmt: skip
def test_tails_undo_ends(bias, acceleration, clusters, tail):
    known = None if clusters is None else np.array([clusters])
    shape = Shape(np.array([bias]), np.array([acceleration]), known)
    lower, upper = shape.ends(tail)
    if 1e-6 < lower < upper < 1 - 1e-6:  # nearer to 1 no digits are left
        assert shape.tails(lower)[0] == pytest.approx(tail, rel=1e-6)
        assert shape.tails(upper)[1] == pytest.approx(tail, rel=1e-6)


@pytest.mark.parametrize("interval", ALL)
def test_p_values_are_the_level_at_which_the_interval_begins_to_hold_zero(interval):
    rng = np.random.default_rng(8)
    points = rng.normal(0.0, 1.5, 60)
    deltas = points + rng.gamma(4.0, 0.5, (2_000, 60)) - 2.0
    jackknife = points + rng.normal(0.0, 0.1, (20, 60)) ** 2
    clusters = np.full(60, 20)
    sample = Sample(points, deltas, jackknife, clusters)
    p = intervals.p_values(interval, sample)
    assert ((p > 0) & (p <= 1)).all()
    for level, apart in ((0.95, 0.004), (0.8, 0.008)):
        made = intervals.bootstrap_spread(bootstrap(interval=interval, level=level), sample)
        holds = (made.lower <= 0) & (made.upper >= 0)
        sure = np.abs(p - (1 - level)) > apart  # that is more than the replicates resolve
        assert (holds == (p > 1 - level))[sure].all()
        assert sure.sum() > 40


def test_an_expanded_p_value_by_hand():
    # Of 999 replicates 9 at most 0: a share of 0.01, 2.3263 deviations, and so much of t.
    deltas = np.r_[np.full(9, -1.0), np.full(990, 1.0)][:, None]
    found = intervals.p_values("expanded", Sample(np.ones(1), deltas, clusters=np.array([20])))
    expected = 2 * stats.t.sf(2.3263479 / math.sqrt(20 / 19), 19)
    assert found.item() == pytest.approx(expected, rel=1e-6)
    found = intervals.p_values("percentile", Sample(np.ones(1), deltas))
    assert found.item() == pytest.approx(0.02)


@pytest.mark.parametrize("interval", ALL)
def test_what_does_not_differ_has_a_p_value_of_one(interval):
    deltas, points, jackknife = np.zeros((50, 2)), np.array([0.0, math.nan]), np.zeros((5, 2))
    deltas[:, 1] = math.nan
    found = intervals.p_values(interval, Sample(points, deltas, jackknife, np.array([5, 5])))
    assert found[0] == 1.0
    assert math.isnan(found[1])


@pytest.mark.parametrize("interval", ALL)
def test_no_p_value_is_zero(interval):
    deltas, points = np.full((99, 1), 2.0), np.array([2.0])
    deltas[0] = 2.5
    jackknife = np.full((5, 1), 2.0)
    found = intervals.p_values(interval, Sample(points, deltas, jackknife, np.array([5])))
    assert found.item() >= 0.02


def test_a_comparison_has_the_p_value_of_its_interval():
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({"person": [*range(12)] * 2, "mode": ["a"] * 12 + ["b"] * 12})
    rows = rows.with_columns(loss=pl.Series(np.r_[rng.random(12), rng.random(12) + 0.3]))
    found = {
        name: ef.compare(
            rows, ef.selective_risk(), between="mode", resample=bootstrap(interval=name)
        ).row(0, named=True)
        for name in ALL
    }  # fmt: skip
    assert found["expanded"]["p_value"] > found["percentile"]["p_value"]
    for name, row in found.items():
        assert (row["p_value"] > 0.05) == (row["lower"] <= 0 <= row["upper"]), name


def test_differences_are_not_corrected():
    assert bootstrap(interval="expanded_bca").of_differences == bootstrap(interval="expanded")
    assert bootstrap(interval="bca").of_differences == bootstrap(interval="bca")
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({"person": [*range(12)] * 2, "mode": ["a"] * 12 + ["b"] * 12})
    rows = rows.with_columns(loss=pl.Series(rng.random(24)))
    made = [
        ef.compare(rows, ef.selective_risk(), between="mode", resample=bootstrap(interval=name))
        for name in EXPANDED
    ]
    assert made[0].equals(made[1])
