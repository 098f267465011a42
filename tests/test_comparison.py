"""Comparisons of systems on what they share."""

import itertools
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.resample import corrections, paired

RNG = np.random.default_rng(2)
COLUMNS = [
    *("metric", "left", "right", "estimate_left", "estimate_right", "delta"),
    *("std_error", "lower", "upper", "p_value", "p_adjusted"),
    *("n_clusters", "drop_rate", "n_missing_left", "n_missing_right", "detectable"),
]


def system(name, people, **more):
    people = list(people)
    return pl.DataFrame(
        {
            "mode": [name] * len(people),
            "person": people,
            "loss": RNG.integers(0, 9, len(people)) / 8,
            "confidence": RNG.integers(0, 5, len(people)) / 4,
            **more,
        }
    )


FEW, ZERO = system("few", [*range(12)] * 3), system("zero", [*range(2, 16)] * 2)
BOTH = pl.concat([FEW, ZERO])
METRICS = [ef.aurc(), ef.selective_risk()]
METHOD = ef.Bootstrap(cluster="person", n=200, seed=7)


def compare(*frames, **options):
    options = {"metrics": METRICS, "resample": METHOD, **options}
    return ef.compare(*frames, **options)


def test_a_comparison_is_one_row_for_each_metric():
    result = compare(BOTH, between="mode")
    assert result.columns == COLUMNS
    assert result.select("metric", "left", "right", "n_clusters").rows() == [
        ("aurc", "few", "zero", 10),
        ("selective_risk", "few", "zero", 10),
    ]


def test_both_sides_are_estimated_on_the_shared_clusters():
    result = compare(BOTH, between="mode")
    shared = BOTH.filter(pl.col("person").is_between(2, 11))
    wide = ef.evaluate(shared, METRICS, by="mode").pivot("mode", index="metric", values="estimate")
    assert_frame_equal(
        result.select("metric", few="estimate_left", zero="estimate_right"), wide, check_exact=False
    )
    np.testing.assert_allclose(result["delta"], wide["zero"] - wide["few"], atol=1e-15)


def test_every_replicate_draws_the_same_clusters_on_both_sides():
    shared = BOTH.filter(pl.col("person").is_between(2, 11))
    deltas = []
    for drawn in np.random.RandomState(7).randint(0, 10, size=(200, 10)) + 2:
        sample = pl.DataFrame({"person": drawn}).join(shared, on="person")
        risks = dict(sample.group_by("mode").agg(pl.col("loss").mean()).rows())
        deltas.append(risks["zero"] - risks["few"])
    percentile = replace(METHOD, interval="percentile")
    found = compare(BOTH, between="mode", resample=percentile).row(1, named=True)
    low, high = np.quantile(deltas, [0.025, 0.975])
    assert (found["lower"], found["upper"]) == pytest.approx((low, high), rel=1e-12)
    assert found["std_error"] == pytest.approx(np.std(deltas, ddof=1), rel=1e-12)
    tail = min(np.sum(np.array(deltas) <= 0), np.sum(np.array(deltas) >= 0))
    assert found["p_value"] == pytest.approx(2 * (tail + 1) / 201)


def test_two_tables_are_two_groups_of_one():
    tables = compare(FEW, other=ZERO)
    groups = compare(BOTH, between="mode")
    assert tables["left"].unique().to_list() == ["left"]
    assert_frame_equal(tables.drop("left", "right"), groups.drop("left", "right"))


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_left_and_right_mirror_each_other(test):
    there, back = compare(FEW, other=ZERO, test=test), compare(ZERO, other=FEW, test=test)
    mirrored = back.with_columns(
        estimate_left="estimate_right",
        estimate_right="estimate_left",
        delta=-pl.col("delta"),
        lower=-pl.col("upper"),
        upper=-pl.col("lower"),
    )
    assert_frame_equal(mirrored, there, check_exact=False, rel_tol=1e-10)


def test_all_pairs_of_several_systems():
    three = pl.concat([BOTH, system("chain", range(12))])
    result = compare(three, between="mode", metrics=ef.aurc)
    assert result.select("left", "right").rows() == [
        ("chain", "few"),
        ("chain", "zero"),
        ("few", "zero"),
    ]
    alone = compare(BOTH, between="mode", metrics=ef.aurc)
    assert_frame_equal(result[2:].drop("p_adjusted"), alone.drop("p_adjusted"))


def test_rows_that_a_side_leaves_out_are_counted():
    """A question that one side did not answer still counts for the other, so it must be told."""
    answers = {"few": [1, 0, 1, 1, 0], "zero": [1, None, 0, None, 0], "none": [None] * 5}
    items = pl.DataFrame(answers).with_row_index("item").unpivot(index="item")
    metric, method = ef.mean("value"), ef.Bootstrap(cluster="item", n=20)
    pairs = ef.compare(items, metric, between="variable", resample=method, baseline="few")
    counts = pl.col("n_missing_left", "n_missing_right")
    assert pairs.select("right", counts).rows() == [("none", 0, 5), ("zero", 0, 2)]
    assert pairs["delta"].to_list() == [None, pytest.approx(1 / 3 - 3 / 5)]
    assert "Rows without a value are left out: up to 5." in ef.show(pairs).notes
    apart = items.with_columns(item=pl.concat_str("variable", "item"))
    unpaired = ef.compare(apart, metric, between="variable", resample=method, paired=False)
    assert unpaired.select(counts).rows() == [(0, 5), (0, 2), (5, 2)]
    board = ef.rank(items, metric, between="variable", resample=method, best="highest")
    assert board.select("variable", "n_missing").rows() == [("few", 0), ("zero", 2), ("none", 5)]


def test_a_warning_is_at_the_line_of_the_caller():
    keyed = pl.concat([BOTH.with_columns(half="mode"), BOTH.with_columns(half=pl.lit("all"))])
    with pytest.warns(UserWarning, match="hold a single system are not compared: 2") as warned:
        compare(keyed, between="mode", by="half")
    assert warned[0].filename == __file__


def test_within_groups_and_by_an_expression():
    keyed = pl.concat([BOTH.with_columns(model=pl.lit(m)) for m in ("b", "a")])
    keyed = keyed.with_columns(loss=pl.when(model="b").then("loss").otherwise(1 - pl.col("loss")))
    result = compare(keyed, between=pl.col("mode") == "zero", by="model")
    assert result.columns == ["model", *COLUMNS]
    assert result["model"].to_list() == ["a", "a", "b", "b"]
    assert result["left"].to_list() == [False] * 4
    alone = compare(BOTH, between="mode").drop("left", "right", "p_adjusted")
    mine = result.filter(model="b").drop("model", "left", "right", "p_adjusted")
    assert_frame_equal(mine, alone)


def test_identical_systems_do_not_differ():
    same = pl.concat([FEW, FEW.with_columns(mode=pl.lit("copy"))])
    for test in ("bootstrap", "permutation"):
        result = compare(same, between="mode", test=test)
        assert (
            result.select("delta", "std_error", "lower", "upper", "p_value").rows()
            == [(0.0, 0.0, 0.0, 0.0, 1.0)] * 2
        )


def test_weights_repeat_rows():
    weighted = compare(BOTH.with_columns(w=pl.lit(2)), between="mode", weight="w")
    repeated = compare(pl.concat([BOTH, BOTH]), between="mode")
    assert_frame_equal(weighted, repeated, check_exact=False)


# the permutation test, on a case small enough to list

TINY = pl.DataFrame(
    {
        "mode": ["a"] * 4 + ["b"] * 4,
        "person": [1, 2, 3, 4] * 2,
        "loss": [0.0, 0.25, 0.5, 0.0, 1.0, 0.5, 0.25, 0.75],
    }
)


def tiny_deltas(swaps):
    """Mean of b minus mean of a after each swap, by hand."""
    by_person = np.array([1.0, 0.25, -0.25, 0.75])
    return np.where(swaps, -by_person, by_person).mean(axis=-1)


def test_a_permutation_test_counts_its_swaps():
    method = ef.Bootstrap(cluster="person", n=300, seed=1)
    keep = np.concatenate(list(paired.swaps(method, 4, 0).chunks(300)))[:, :4]
    as_far = np.abs(tiny_deltas(keep == 0)) >= 0.4375
    found = compare(
        TINY, metrics=ef.selective_risk, between="mode", resample=method, test="permutation"
    )
    assert found["delta"].item() == 0.4375
    assert found["p_value"].item() == pytest.approx((as_far.sum() + 1) / 301)


def test_a_permutation_test_comes_near_the_full_enumeration():
    swaps = np.array(list(itertools.product([False, True], repeat=4)))
    exact = np.mean(np.abs(tiny_deltas(swaps)) >= 0.4375)
    assert exact == 6 / 16
    method = ef.Bootstrap(cluster="person", n=4000, seed=1)
    found = compare(
        TINY, metrics=ef.selective_risk, between="mode", resample=method, test="permutation"
    )
    assert found["p_value"].item() == pytest.approx(exact, abs=0.03)


# families of tests


def naive_holm(p_values):
    """Holm's step-down procedure, as one would write it by hand."""
    tests = sorted((p, place) for place, p in enumerate(p_values) if not math.isnan(p))
    adjusted, highest = list(p_values), 0.0
    for rank, (p, place) in enumerate(tests):
        highest = max(highest, min(1.0, (len(tests) - rank) * p))
        adjusted[place] = highest
    return adjusted


def adjusted(p_values, correction="holm"):
    return corrections.adjusted_p_values(np.array(p_values, dtype=np.float64), correction).tolist()


def test_holm_by_hand():
    # 4 x 0.01; 3 x 0.02; then 2 x 0.02 and 1 x 0.5, of which the first may not fall below 0.06.
    assert adjusted([0.02, 0.5, 0.01, 0.02]) == pytest.approx([0.06, 0.5, 0.04, 0.06])
    assert adjusted([0.5, 0.75]) == [1.0, 1.0]
    assert adjusted([0.02, 0.5, 0.01], "bonferroni") == pytest.approx([0.06, 1.0, 0.03])
    assert adjusted([0.02, 0.5, 0.01], "none") == [0.02, 0.5, 0.01]


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "none"])
def test_what_is_no_test_does_not_count(correction):
    with_gap = adjusted([0.02, math.nan, 0.01], correction)
    assert math.isnan(with_gap[1])
    assert [with_gap[0], with_gap[2]] == adjusted([0.02, 0.01], correction)
    assert adjusted([], correction) == []
    assert np.isnan(adjusted([math.nan] * 2, correction)).all()


P_VALUES = st.lists(
    st.one_of(st.sampled_from([0.01, 0.02, 1.0, math.nan]), st.floats(1e-9, 1)), max_size=30
)


@given(P_VALUES)
def test_holm_is_the_naive_one_and_lies_between_raw_and_bonferroni(p_values):
    holm = np.array(adjusted(p_values))
    np.testing.assert_allclose(holm, naive_holm(p_values), rtol=1e-15)
    tests = ~np.isnan(holm)
    raw, bonferroni = np.array(p_values), np.array(adjusted(p_values, "bonferroni"))
    assert (raw[tests] <= holm[tests]).all()
    assert (holm[tests] <= bonferroni[tests]).all()
    assert (bonferroni[tests] <= 1).all()
    order = np.argsort(raw[tests])
    assert (np.diff(holm[tests][order]) >= 0).all()


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_the_family_is_the_whole_call(test):
    """Every pair, metric and group counts; a call for each metric makes smaller families."""
    three = pl.concat([BOTH, system("chain", range(12))])
    keyed = pl.concat([three.with_columns(model=pl.lit(m)) for m in ("a", "b")])
    noisy = pl.when(model="b").then(pl.col("person") % 4 / 4).otherwise("loss")
    options = {"between": "mode", "by": "model", "test": test}
    whole = compare(keyed.with_columns(loss=noisy), **options)
    assert len(whole) == 2 * 3 * 2
    assert whole["p_adjusted"].to_list() == pytest.approx(naive_holm(whole["p_value"]))
    assert (whole["p_adjusted"] > whole["p_value"]).any()
    small = compare(keyed.with_columns(loss=noisy), metrics=ef.aurc, **options)
    aurc = whole.filter(metric="aurc")
    assert small["p_value"].to_list() == aurc["p_value"].to_list()
    assert small["p_adjusted"].to_list() == pytest.approx(naive_holm(small["p_value"]))
    assert (small["p_adjusted"] <= aurc["p_adjusted"]).all()
    raw = compare(keyed.with_columns(loss=noisy), correction="none", **options)
    assert raw["p_adjusted"].to_list() == raw["p_value"].to_list() == whole["p_value"].to_list()


def test_a_pair_without_a_test_does_not_count():
    """A system that shares no cluster has no p-value, and takes nothing from the others."""
    third = pl.concat([BOTH, system("other", range(40, 44))])
    found = compare(third, between="mode", metrics=ef.aurc)
    assert found["p_value"].is_null().to_list() == [True, False, True]
    assert found["p_adjusted"].to_list() == found["p_value"].to_list()


# what is refused

APART = pl.concat([FEW, system("zero", range(20, 30))])


def test_no_shared_cluster():
    with pytest.raises(ParameterError, match="the two sides share no cluster; check the column"):
        compare(APART, between="mode")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"name either between=.* or other=.*\(a second table\)"),
        ({"between": "mode", "other": ZERO}, "name either between="),
        ({"between": "mode", "resample": None}, "name the clusters to pair on, such as pair_on="),
        (
            {"between": "mode", "resample": ef.Jackknife(cluster="person")},
            "are resampled by ef.Bootstrap, got Jackknife.* with paired=False",
        ),
        (
            {"between": "mode", "metrics": pl.col("loss").median()},
            "'loss' declares no state, so systems cannot be compared by it; declare it",
        ),
        ({"between": pl.lit("x").alias("mode")}, r"a comparison needs two systems, found \['x'\]"),
        ({"between": "mode", "metrics": [ef.aurc(), ef.aurc()]}, "two metrics are named 'aurc'"),
        ({"between": "mode", "test": "t"}, "test must be one of"),
        (
            {"between": "mode", "correction": "fdr"},
            "correction must be one of",
        ),
        (
            {"between": "mode", "by": pl.col("person").alias("p_adjusted")},
            "'p_adjusted' of its own",
        ),
    ],
)
def test_what_cannot_be_compared(options, message):
    with pytest.raises(ParameterError, match=message):
        compare(FEW if "other" in options else BOTH, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"between": "modes"}, "needs column 'modes'.* Did you mean 'mode'"),
        (
            {"between": "mode", "pair_on": "persona"},
            "needs column 'persona'.* Did you mean 'person'",
        ),
        ({"between": "mode", "metrics": ef.aurc("los")}, "metric 'aurc' needs column 'los'"),
    ],
)
def test_columns_that_are_not_there(options, message):
    with pytest.raises(MissingColumnsError, match=message):
        compare(BOTH, **options)


def test_pair_on_stands_before_the_cluster_of_the_bootstrap():
    method = ef.Bootstrap(cluster="no such column", n=200, seed=7)
    paired = compare(BOTH, between="mode", pair_on="person", resample=method)
    assert_frame_equal(paired, compare(BOTH, between="mode"))


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_many_systems_are_compared_as_each_pair_alone(test):
    rng = np.random.default_rng(5)
    rows = 240
    items = pl.DataFrame(
        {
            "system": rng.choice(["a", "b", "c", "d"], rows),
            "person": rng.integers(0, 12, rows),
            "loss": rng.random(rows),
            "confidence": rng.random(rows).round(1),
        }
    )
    # c lacks three persons, d one: some pairs share all clusters of a side, some do not.
    items = items.filter(~((pl.col("system") == "c") & (pl.col("person") < 3)))
    items = items.filter(~((pl.col("system") == "d") & (pl.col("person") == 7)))
    resample = ef.Bootstrap(cluster="person", n=200, seed=3, interval="bca")
    metrics = [ef.aurc(), ef.selective_risk()]

    def compared(frame):
        return ef.compare(
            frame, metrics, between="system", resample=resample, test=test, correction="none"
        )

    together = compared(items)
    assert len(together) == 12
    for left, right in (("a", "b"), ("a", "c"), ("c", "d")):
        alone = compared(items.filter(pl.col("system").is_in([left, right])))
        mine = together.filter(left=left, right=right)
        assert_frame_equal(mine, alone, rel_tol=1e-9)


def test_a_baseline_stands_on_the_left_of_every_pair():
    three = pl.concat([BOTH, system("many", range(12))])
    every = compare(three, between="mode", correction="none")
    found = compare(three, between="mode", baseline="many")
    assert found["left"].unique().to_list() == ["many"]
    assert found["right"].unique().sort().to_list() == ["few", "zero"]
    turned = every.filter(right="zero", left="many")
    assert_frame_equal(found.filter(right="zero").drop("p_adjusted"), turned.drop("p_adjusted"))
    back = every.filter(left="few", right="many")
    assert found.filter(right="few")["delta"].to_list() == [-delta for delta in back["delta"]]


@pytest.mark.parametrize("baseline", ["none", 3])
def test_a_baseline_is_one_of_the_systems(baseline):
    with pytest.raises(ParameterError, match=r"is none of the systems \['few', 'zero'\]"):
        compare(BOTH, between="mode", baseline=baseline)
    with pytest.raises(ParameterError, match="baseline is a value of `between`"):
        compare(FEW, other=ZERO, baseline="few")
