"""The laws of metrics of metrics, over generated trees of one to three levels."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.testing.laws import check_laws, clusters_add_up, replicates_copy_units

SEEDS = range(6)


def rows_of(seed, *, rows=40):
    """Hard rows: ties, nulls, units of one row; numbers add up exactly."""
    rng = random.Random(seed)
    return pl.DataFrame(
        [
            {
                "g": rng.choice("ab"),
                "u0": rng.choice([None, 1, 2, 3]),
                "u1": rng.choice(["x", "y", None]),
                "u2": rng.choice([0.5, 1.5, float("nan")]),
                "c": rng.randrange(7),
                "score": rng.choice([None, 0.0, 0.25, 0.5, 1.0]),
                "loss": rng.choice([0.0, 0.125, 0.5, 1.0]),
                "confidence": rng.choice([0.25, 0.5, 0.75, None]),
                "correct": rng.choice([0, 1, None]),
                "size": rng.choice([1.0, 2.0, 4.0]),
            }
            for _ in range(rows)
        ],
        schema_overrides={"u2": pl.Float64, "score": pl.Float64, "correct": pl.Int64},
    )


def tree(seed):
    """A random tree of at most three levels."""
    rng = random.Random(seed)

    def leaf():
        return rng.choice(
            [
                ef.mean("score"),
                ef.mean("score", weight="size"),
                ef.mean("score", missing=0.5),
                ef.total("loss"),
                ef.pass_at(k=2),
                ef.spread("loss"),
                ef.deviation("score"),
                ef.aurc(),
            ]
        )

    def node(level):
        inner = node(level + 1) if level < 2 and rng.random() < 0.5 else leaf()
        weight = rng.choice([None, None, "size", ef.total("size")])
        unit = rng.choice([f"u{level}", [f"u{level}", "c"] if level == 2 else f"u{level}"])
        if rng.random() < 0.3:
            columns = {"loss": ef.mean("loss"), "confidence": ef.mean("confidence")}
            return ef.per(unit, **columns, weight=weight, then=ef.aurc())
        then = rng.choice([None, None, ef.mean(missing=0.0), ef.spread(), ef.deviation()])
        return ef.per(unit, inner, weight=weight, then=then)

    return node(0).alias("m")


@pytest.mark.parametrize("seed", SEEDS)
def test_all_laws_of_any_tree(seed):
    rows, metric = rows_of(seed), tree(seed)
    units = ["u0", "u1"]
    drawn = rows.with_columns(pl.struct(units).rank("dense").alias("unit"))
    drawn = drawn.filter(pl.col("u0").is_not_null())
    by = "g" if seed % 2 else None
    check_laws(metric, rows, by=by, cluster="c")
    for law in (clusters_add_up, replicates_copy_units):
        law(metric, rows, by=by)
        law(metric, drawn, by=by, cluster="u0")


@pytest.mark.parametrize("seed", SEEDS)
def test_one_unit_is_the_metric_and_rows_as_units_are_the_metric_over_them(seed):
    rows = rows_of(seed).with_columns(one=pl.lit(1)).with_row_index("row")
    flat = [ef.aurc(), ef.mean("score"), ef.pass_at(k=2), ef.spread("loss")]
    for metric in flat:
        both = rows.select(metric.alias("flat"), ef.per("one", metric).alias("unit"))
        assert both["unit"].item() == pytest.approx(both["flat"].item(), abs=1e-12)
    by_row = ef.per("row", loss=ef.mean("loss"), confidence=ef.mean("confidence"), then=ef.aurc())
    assert rows.select(by_row).item() == pytest.approx(rows.select(ef.aurc()).item(), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_means_weighted_by_their_rows_are_the_mean_in_every_replicate(seed):
    rows = rows_of(seed).filter(pl.col("u0").is_not_null(), pl.col("score").is_not_null())
    rows = rows.with_columns(one=pl.lit(1.0))
    micro = ef.per("u0", ef.mean("score"), weight=ef.total("one")).alias("micro")
    fixed = ef.per("u0", ef.mean("score"), weight=ef.total("one"), fixed=True).alias("micro")
    for cluster, metric in (("c", fixed), ("u0", micro)):
        method = ef.Bootstrap(cluster=cluster, n=50)
        result = ef.evaluate(rows, [ef.mean("score"), metric], resample=method)
        numbers = result.select("estimate", "std_error", "lower", "upper")
        for value, other in zip(*numbers.rows(), strict=True):
            assert value == pytest.approx(other, abs=1e-12)


def test_the_order_and_types_of_units_never_matter():
    rows = rows_of(3)
    rows = rows.with_columns(c=pl.int_range(pl.len()).over("u0", "u1"))
    metric = ef.per("u0", ef.per("u1", ef.mean("score"), fixed=True), fixed=True)
    method = ef.Bootstrap(cluster="c", n=100)
    expected = ef.evaluate(rows, metric, by="g", resample=method)
    text = rows.with_columns(pl.col("u0").cast(pl.String).cast(pl.Categorical))
    for other in (rows.reverse(), text, rows.with_columns(pl.col("u0") * -1)):
        found = ef.evaluate(other, metric, by="g", resample=method)
        assert_frame_equal(found, expected, abs_tol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_another_group_leaves_results_as_they_are_or_raises(seed):
    rows, metric = rows_of(seed), tree(seed)
    for cluster in ("c", "u0"):
        method = ef.Bootstrap(cluster=cluster, n=20)
        known = rows.filter(pl.col(cluster).is_not_null())
        try:
            alone = ef.evaluate(known.filter(g="a"), metric, by="g", resample=method)
            both = ef.evaluate(known, metric, by="g", resample=method)
        except ParameterError:
            continue
        same = alone["drawn"][0] == both.filter(g="a")["drawn"][0]
        assert same
        assert_frame_equal(alone, both.filter(g="a"), abs_tol=1e-12)


def test_finer_clusters_change_what_is_drawn_and_no_estimate():
    rows = pl.DataFrame(
        {
            "task": ["a"] * 4 + ["b"] * 3,
            "item": range(7),
            "score": [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0],
        }
    )
    metric = ef.per("task", ef.mean("score"))
    by_task = ef.evaluate(rows, metric, resample=ef.Bootstrap(cluster="task", n=50))
    by_item = ef.evaluate(rows, metric, resample=ef.Bootstrap(cluster="item", n=50))
    assert (by_task["drawn"].item(), by_item["drawn"].item()) == ("task", "rows")
    assert by_task["estimate"].item() == by_item["estimate"].item()
    assert by_task["unit_drop_rate"].item() == 0.0
    mixed = rows.with_columns(item=pl.when(task="a").then(0).otherwise("item"))
    for method in (ef.Bootstrap, ef.Jackknife, ef.Linearized):
        with pytest.raises(ParameterError, match="a draw would mean two things"):
            ef.evaluate(mixed, metric, resample=method(cluster="item"))
    sides = pl.concat([mixed.with_columns(model=pl.lit(model)) for model in "xy"])
    with pytest.raises(ParameterError, match="a draw would mean two things"):
        ef.compare(sides, metric, between="model", pair_on="item")


def test_errors_of_a_mean_of_drawn_units_are_the_textbook_s():
    scores = [0.5, 0.25, 1.0, 0.75, 0.0]
    rows = pl.DataFrame({"unit": [*range(5)] * 2, "score": scores * 2})
    expected = np.std(scores, ddof=1) / np.sqrt(5)
    for method in (ef.Jackknife(cluster="unit"), ef.Linearized(cluster="unit")):
        result = ef.evaluate(rows, ef.per("unit", ef.mean("score")), resample=method)
        assert result["std_error"].item() == pytest.approx(expected, abs=1e-9)


def test_errors_of_fixed_tasks_add_up_over_strata():
    rng = np.random.default_rng(0)
    rows = pl.DataFrame(
        {"task": np.repeat(["a", "b", "c"], [3, 5, 9]), "item": range(17), "score": rng.random(17)}
    )
    tasks = rows.group_by("task").agg(pl.col("score").var(), n=pl.len())
    expected = ((tasks["score"] / tasks["n"]).sum() / 9) ** 0.5
    metric = ef.per("task", ef.mean("score"))
    for method in (ef.Jackknife, ef.Linearized):
        result = ef.evaluate(rows, metric, resample=method(cluster="item", within="task"))
        assert result["std_error"].item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("test", "cluster"), [("bootstrap", "u0"), ("permutation", "c")])
def test_equal_sides_differ_by_nothing_and_swapped_sides_negate(test, cluster):
    rows = rows_of(5).filter(pl.col("u0").is_not_null())
    other = rows.with_columns(pl.col("score") * 0.5 + 0.25, pl.col("loss").reverse())
    metrics = [
        ef.per("u0", ef.mean("score")),
        ef.per("u0", ef.per("u1", ef.mean("loss"), then=ef.spread())),
        ef.mean("score"),
    ]
    options = {"resample": ef.Bootstrap(cluster=cluster, n=50), "test": test}
    same = ef.compare(rows, metrics, other=rows, **options)
    assert same["delta"].to_list() == [0.0] * 3
    there = ef.compare(rows, metrics, other=other, **options)
    back = ef.compare(other, metrics, other=rows, **options)
    assert_frame_equal(there.select("std_error"), back.select("std_error"), abs_tol=1e-12)
    assert_frame_equal(there.select("delta"), back.select(-pl.col("delta")), abs_tol=1e-12)


def test_sides_are_compared_on_the_units_that_both_have():
    left = pl.DataFrame({"task": [*"aabb"], "item": [1, 2, 1, 2], "score": [1.0, 1, 0, 0]})
    right = pl.DataFrame({"task": [*"aacc"], "item": [1, 2, 1, 2], "score": [0.5, 0.5, 0, 0]})
    metric = ef.per("task", ef.mean("score"))
    result = ef.compare(left, metric, other=right, resample=ef.Bootstrap(cluster="item", n=20))
    assert result.select("estimate_left", "estimate_right", "delta").row(0) == (1.0, 0.5, -0.5)


def test_an_absent_unit_never_contributes():
    rows = pl.DataFrame(
        {
            "unit": ["a", "a", "b"],
            "loss": [0.5, 0.5, 1.0],
            "confidence": [0.5, 0.25, 0.5],
            "weight": [1.0, 1.0, 0.0],
        }
    )
    # Over no row aurc is 0: unit b, whose row weighs nothing, must not be in the mean.
    metric = ef.per("unit", ef.aurc())
    assert ef.evaluate(rows, metric, weight="weight")["estimate"].item() == 0.5
    assert rows.filter(unit="a").select(metric).item() == 0.5


def test_pairs_are_compared_as_if_alone():
    rng = np.random.default_rng(0)
    rows = [(s, u, p) for s in "abcd" for u in range(5) for p in range(6) if rng.random() < 0.8]
    tests = pl.DataFrame(rows, schema=["system", "unit", "person"], orient="row")
    tests = tests.with_columns(score=pl.Series(rng.random(len(rows))))
    # Only b lacks a unit: its pairs have other units than those of the others, which share all.
    tests = tests.filter((pl.col("system") != "b") | (pl.col("unit") != 2))
    metric, method = ef.per("unit", ef.mean("score")), ef.Bootstrap(cluster="person", n=40)
    found = ef.compare(tests, metric, between="system", resample=method, correction="none")
    for row in found.iter_slices(1):
        two = tests.filter(pl.col("system").is_in([row["left"].item(), row["right"].item()]))
        alone = ef.compare(two, metric, between="system", resample=method, correction="none")
        assert_frame_equal(row, alone, rel_tol=1e-12)
