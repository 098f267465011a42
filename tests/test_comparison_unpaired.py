"""Differences of groups that share no cluster."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import evalframe as ef
from evalframe.core.errors import ParameterError

RNG = np.random.default_rng(4)
SIZES = {"old": 9, "young": 14}
PEOPLE = pl.concat(
    pl.DataFrame(
        {
            "age": age,
            "person": [f"{age}{i % people}" for i in range(4 * people)],
            "loss": RNG.integers(0, 9, 4 * people) / 8,
            "confidence": RNG.random(4 * people),
        }
    )
    for age, people in SIZES.items()
)
METHOD = ef.Bootstrap(cluster="person", n=400, seed=3, interval="percentile")
RISK = ef.selective_risk()


def compare(frame=PEOPLE, metrics=RISK, **options):
    if "other" not in options:
        options = {"between": "age", **options}
    options = {"paired": False, "resample": METHOD, **options}
    return ef.compare(frame, metrics, **options)


def sides(case):
    """Left and right tables of a golden case, with cluster ids of their own."""
    for name in ("left", "right"):
        if case["kind"] == "mean":
            columns = {"loss": case[name], "cluster": case[f"{name}_cluster"]}
        else:
            columns = case[name]
        yield pl.DataFrame(columns).with_columns(cluster=pl.format(f"{name}{{}}", "cluster"))


@pytest.mark.parametrize("kind", ["mean", "aurc"])
def test_golden_values(golden, kind):
    cases = [case for case in golden("inference/unpaired")["cases"] if case["kind"] == kind]
    assert cases
    for case in cases:
        left, right = sides(case["inputs"] | {"kind": kind})
        expected = case["expected"]
        linear = kind == "mean"
        metric = RISK if linear else ef.aurc(convention="rectangle_per_item")
        method = (ef.Linearized if linear else ef.Jackknife)(cluster="cluster")
        found = compare(left, metric, other=right, resample=method).row(0, named=True)
        assert found["n_clusters_left"] == left["cluster"].n_unique()
        assert found["n_clusters_right"] == right["cluster"].n_unique()
        for name in ("delta", "std_error", "lower", "upper", "p_value"):
            assert found[name] == pytest.approx(expected[name], rel=1e-8, abs=1e-12), case["id"]


def test_one_row_for_each_person_is_the_test_of_welch():
    rows = PEOPLE.unique("person", keep="first", maintain_order=True)
    old, young = (rows.filter(age=age)["loss"].to_numpy() for age in ("old", "young"))
    expected = stats.ttest_ind(young, old, equal_var=False)
    found = compare(rows, resample=ef.Linearized()).row(0, named=True)
    assert found["p_value"] == pytest.approx(expected.pvalue, rel=1e-9)
    interval = expected.confidence_interval()
    assert (found["lower"], found["upper"]) == pytest.approx(
        (interval.low, interval.high), rel=1e-9
    )


def test_the_sides_are_drawn_apart():
    drawn = {}
    for place, age in enumerate(SIZES):
        seed = 3 if place == 0 else int(np.random.SeedSequence([3, 1]).generate_state(1)[0])
        people = SIZES[age]
        rows = PEOPLE.filter(age=age)
        means = rows.group_by("person").agg(pl.col("loss").mean()).sort("person")["loss"].to_numpy()
        which = np.random.RandomState(seed).randint(0, people, size=(400, people))
        drawn[age] = means[which].mean(axis=1)
    deltas = drawn["young"] - drawn["old"]
    found = compare().row(0, named=True)
    assert (found["lower"], found["upper"]) == pytest.approx(
        np.quantile(deltas, [0.025, 0.975]), rel=1e-12
    )
    assert found["std_error"] == pytest.approx(deltas.std(ddof=1), rel=1e-12)
    tail = min((deltas <= 0).sum(), (deltas >= 0).sum())
    assert found["p_value"] == pytest.approx(2 * (tail + 1) / 401)
    assert (found["n_clusters_left"], found["n_clusters_right"]) == (9, 14)


def test_equal_sides_are_not_drawn_alike():
    copy = PEOPLE.filter(age="old").with_columns(person="x" + pl.col("person"))
    same = pl.concat([PEOPLE.filter(age="old"), copy.with_columns(age=pl.lit("copy"))])
    for draws in ("reference", "counter", "poisson"):
        found = compare(same, resample=replace(METHOD, draws=draws)).row(0, named=True)
        alone = ef.evaluate(copy, RISK, resample=METHOD).row(0, named=True)
        assert found["delta"] == 0
        assert found["std_error"] == pytest.approx(2**0.5 * alone["std_error"], rel=0.15)


@pytest.mark.parametrize("interval", ["expanded_bca", "bca", "basic", "normal"])
@pytest.mark.parametrize("metric", [ef.aurc(), ef.risk_at(0.5)()])
def test_all_intervals_are_about_as_wide(interval, metric):
    plain = compare(metrics=metric).row(0, named=True)
    found = compare(metrics=metric, resample=replace(METHOD, interval=interval)).row(0, named=True)
    assert found["std_error"] == plain["std_error"]
    assert found["upper"] - found["lower"] == pytest.approx(
        plain["upper"] - plain["lower"], rel=0.35
    )


def test_two_tables_and_a_baseline_and_groups():
    old, young = (PEOPLE.filter(age=age) for age in SIZES)
    tables = compare(old, other=young).drop("left", "right")
    assert_frame_equal(tables, compare().drop("left", "right"))
    turned = compare(baseline="young")
    assert turned.select("left", "right").row(0) == ("young", "old")
    assert turned["delta"].item() == -tables["delta"].item()
    keyed = pl.concat([PEOPLE.with_columns(model=pl.lit(model)) for model in "ba"])
    found = compare(keyed, by="model")
    assert found["model"].to_list() == ["a", "b"]
    assert_frame_equal(found.head(1).drop("model", "p_adjusted"), compare().drop("p_adjusted"))


def test_within_strata_each_side_keeps_its_shares():
    rows = PEOPLE.with_columns(
        site=pl.when(pl.col("person").str.tail(1).cast(pl.Int64) < 4).then(0).otherwise(1)
    )
    rows = rows.with_columns(loss=pl.col("site").cast(pl.Float64))
    found = compare(rows, resample=replace(METHOD, within="site")).row(0, named=True)
    assert found["std_error"] == pytest.approx(0.0, abs=1e-15)


def test_a_lone_cluster_has_no_uncertainty():
    three = pl.concat([PEOPLE, PEOPLE.head(4).with_columns(age=pl.lit("one"), person=pl.lit("p"))])
    for method in (METHOD, ef.Linearized(cluster="person")):
        found = compare(three, resample=method)
        known = found["std_error"].is_not_null().to_list()
        assert found.select("left", "right").rows() == [
            ("old", "one"),
            ("old", "young"),
            ("one", "young"),
        ]
        assert known == [False, True, False]
        assert found["delta"].null_count() == 0
        assert found["p_value"].is_not_null().to_list() == known
        assert found["p_adjusted"][1] == found["p_value"][1]


def test_differences_keep_to_what_they_can_be():
    rows = pl.DataFrame(
        {"age": ["a"] * 3 + ["b"] * 3, "label": [1, 1, 0, 0, 0, 1], "prediction": [1] * 6}
    )
    found = compare(rows, ef.accuracy(), resample=ef.Linearized()).row(0, named=True)
    assert found["lower"] == -1.0
    assert 0.0 < found["upper"] < 1.0
    normal = compare(rows, ef.accuracy(), resample=ef.Bootstrap(n=100, interval="normal", seed=1))
    assert normal["lower"].item() >= -1.0


def test_constants_differ_for_certain_or_not_at_all():
    rows = pl.DataFrame({"age": ["a", "a", "b", "b"], "loss": [0.0, 0.0, 1.0, 1.0]})
    for method in (ef.Linearized(), ef.Jackknife()):
        found = compare(rows, resample=method).row(0, named=True)
        assert (found["delta"], found["std_error"], found["lower"], found["upper"]) == (1, 0, 1, 1)
        assert found["detectable"] is None
        assert found["p_value"] == 0.0
        equal = compare(rows.with_columns(loss=pl.lit(0.0)), resample=method)
        assert equal.select("std_error", "p_value").row(0) == (0.0, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resample": None}, r"name the clusters that are independent.*ef.Bootstrap\(\) if rows"),
        ({"pair_on": "person"}, "pair_on names what both sides share"),
        ({"test": "permutation"}, "with paired=False there are none; use test='bootstrap'"),
        ({"resample": ef.Bootstrap(cluster="seat")}, r"4 clusters are on both sides.*pl.struct"),
        ({"resample": ef.Bootstrap(cluster="none")}, "null or NaN ids"),
        ({"resample": ef.Bootstrap(cluster="age")}, "at least two clusters"),
        ({"resample": ef.Bootstrap(cluster="lone")}, "or on each side of a pair, and none has two"),
        ({"paired": "auto"}, "paired must be True or False, got 'auto'"),
        ({"paired": True}, "share no cluster.* compared by paired=False"),
        ({"paired": True, "resample": ef.Linearized(cluster="person")}, "with paired=False"),
        ({"paired": True, "resample": ef.Bootstrap()}, "rows are not independent here; name what"),
    ],
)
def test_what_is_refused(options, message):
    frame = PEOPLE.with_columns(
        lone=pl.when(pl.col("age") == "old").then("person").otherwise(pl.lit("y")),
        seat=pl.int_range(pl.len()).over("age") % 4,
        none=pl.lit(None, pl.String),
    )
    with pytest.raises(ParameterError, match=message):
        compare(frame, **options)


def test_welchs_test_within_strata_loses_a_degree_of_freedom_for_each():
    # Two strata of two clusters on each side, of means 1 and 5 on the left: variances within them
    # are 2, so each side has an error of (2 + 2) * 2 / 16 and two degrees of freedom, not three.
    rows = pl.DataFrame(
        {
            "side": [*"llllrrrr"],
            "task": [*"aabbaabb"],
            "item": range(8),
            "score": [0.0, 2.0, 4.0, 6.0, 3.0, 5.0, 7.0, 9.0],
        }
    )
    method = ef.Linearized(cluster="item", within="task")
    found = ef.compare(rows, ef.mean("score"), between="side", paired=False, resample=method)
    t = 3.0 / found["std_error"].item()
    assert found["p_value"].item() == pytest.approx(2 * stats.t.sf(t, 4))
