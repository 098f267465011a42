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
