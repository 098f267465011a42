"""Odd inputs of metrics of metrics: constants as units, groups without a unit, wrong units."""

from __future__ import annotations

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import ParameterError


def test_a_mean_with_a_number_for_missing_values_is_the_same_on_all_ways():
    rows = pl.DataFrame({"g": ["a", "a", "b"], "x": [1.0, None, None]})
    filled = ef.mean("x", missing=0.5)
    assert rows.select(filled).item() == ef.evaluate(rows, filled)["estimate"].item() == 2 / 3
    assert rows.group_by("g").agg(filled).sort("g").rows() == [("a", 0.75), ("b", 0.5)]
    assert rows.head(0).select(filled).item() is None


def test_a_constant_can_be_a_unit():
    rows = pl.DataFrame({"u": [1, 1, 2], "x": [1.0, None, 3.0]})
    assert rows.select(ef.per(pl.lit(1), ef.mean("x"))).item() == 2.0
    both = ef.per(["u", pl.lit(1).alias("k")], ef.total("x"))
    assert rows.select(both).item() == ef.evaluate(rows, both)["estimate"].item() == 2.0


def test_a_group_without_a_unit_has_none_by_every_way():
    rows = pl.DataFrame({"g": [*"aabb"], "u": [1, 2, None, None], "x": [1.0, 2.0, 3.0, 4.0]})
    rows, metric = rows.with_row_index("row"), ef.per("u", ef.mean("x"))
    plain = ef.evaluate(rows, metric, by="g")
    drawn = ef.evaluate(rows, metric, by="g", resample=ef.Jackknife(cluster="row"))
    merged = ef.finish(
        ef.merge(*(ef.partial(half, metric, by="g") for half in (rows[:3], rows[3:])))
    )
    for result in (plain, drawn, merged):
        counts = result.select("n", "n_missing", "n_units", "n_units_missing").rows()
        assert counts == [(2, 0, 2, 0), (0, 2, 0, 0)]


def test_a_pool_without_a_unit_has_no_errors():
    units = [*"xxyy", None, None]  # groups of 4 and of 2 clusters are drawn apart
    rows = pl.DataFrame({"g": [*"aaaabb"], "u": units, "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    metric = ef.per("u", ef.mean("x"), fixed=True)
    resample = ef.Bootstrap(cluster="row", n=20)
    found = ef.evaluate(rows.with_row_index("row"), metric, by="g", resample=resample)
    assert found.select("g", "estimate", "n_units").rows() == [("a", 2.5, 2), ("b", None, 0)]
    assert found["std_error"].to_list()[1] is None


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (None, "expected a column name or a Polars expression, got None"),
        (3, "expected a column name or a Polars expression, got 3"),
        (pl.col("a", "b"), "several columns at once; list them"),
        (pl.col("^a.*$"), "several columns at once; list them"),
        ([], "needs the columns that name a unit"),
    ],
)
def test_what_is_no_unit_is_refused(unit, message):
    with pytest.raises(ParameterError, match=message):
        ef.per(unit, ef.mean("x"))


SIDES = pl.DataFrame(
    {
        "system": [*"aaaaaaaabbbbbbbb"],
        "task": [1, 1, 1, 2, 2, 2, 3, 3, 1, 1, 1, 2, 2, 2, 4, 4],
        "item": [0, 1, 2, 0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 3, 4],
        "score": [0.0, 0.5, 1.0, 1.0, 0.25, 0.0, 1.0, 0.5, 1.0, 0.0, 0.5, 0.5, 1.0, 1.0, 0.0, 0.5],
    }
)


def test_clusters_without_a_shared_unit_are_drawn_as_for_flat_metrics():
    nested, drawn = ef.per("task", ef.mean("score")), ef.Bootstrap(cluster="item", n=50)
    alone = ef.compare(SIDES, nested, between="system", resample=drawn)
    both = ef.compare(SIDES, [nested, ef.mean("score")], between="system", resample=drawn)
    numbers = pl.col("estimate_left", "estimate_right", "std_error", "lower", "upper", "p_value")
    assert alone.select(numbers).row(0) == both.select(numbers).row(0)
    assert alone["n_clusters"].to_list() == [5]


@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_sides_without_a_shared_unit_have_no_difference(test):
    apart = SIDES.with_columns(pl.col("task") + 10 * (pl.col("system") == "b"))
    drawn = ef.Bootstrap(cluster="item", n=20)
    metric = ef.per("task", ef.mean("score"))
    result = ef.compare(apart, metric, between="system", resample=drawn, test=test)
    assert result.select("estimate_left", "delta", "std_error").row(0) == (None, None, None)


def test_compare_refuses_what_evaluate_refuses():
    metric = ef.per("system", ef.mean("score"))
    with pytest.raises(ParameterError, match="'system' is a group key and a unit"):
        ef.compare(SIDES, metric, between="system", pair_on="item")
    metric, rows = ef.per("task", ef.mean("score")), ef.Linearized()
    with pytest.raises(ParameterError, match="say what is independent"):
        ef.compare(SIDES, metric, between="system", paired=False, resample=rows)


def test_shards_agree_on_the_type_of_a_unit():
    metric = ef.per("task", ef.mean("score"))
    shards = [SIDES[:8], SIDES[8:].with_columns(pl.col("task").cast(pl.String))]
    with pytest.raises(ParameterError, match="the unit of a metric is Int64 and String"):
        ef.merge(*(ef.partial(shard, metric) for shard in shards))
    shards[1] = shards[1].with_columns(task=pl.lit(None))
    merged = ef.finish(ef.merge(*(ef.partial(shard, metric) for shard in shards)))
    assert merged.select("n", "n_missing", "n_units").row(0) == (8, 8, 3)


def test_the_remedy_for_composite_units_can_be_typed():
    rows = pl.DataFrame({"a": [1, 1, 2], "b": [1, 1, 1], "c": ["x", "y", "x"], "v": [0.0, 1.0, 1]})
    metric = ef.per(["a", "b"], ef.mean("v"))
    with pytest.raises(ParameterError, match=r"ef\.per\(\['a', 'b', 'c'\], \.\.\.\)"):
        ef.evaluate(rows, metric, resample=ef.Jackknife(cluster="c"))


def test_comparisons_say_what_is_drawn_and_how_many_units_both_sides_use():
    rows = pl.DataFrame({"task": [*"aabbccddab"], "model": [*"xyxyxyxxxx"]})
    rows = rows.with_columns(score=pl.int_range(10) % 3)
    metrics = [ef.mean("score"), ef.per("task", ef.mean("score"))]
    found = ef.compare(rows, metrics, between="model", pair_on="task")
    assert found.select("metric", "n_units", "drawn").rows() == [
        ("mean", None, None),
        ("mean_per_task", 3, "task"),
    ]
    assert "drawn" not in ef.compare(rows, metrics[0], between="model", pair_on="task").columns
