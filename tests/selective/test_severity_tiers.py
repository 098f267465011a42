"""Tiers of severity of total scores."""

import math

import polars as pl
import pytest

from evalframe.selective.total_score import TIERS, is_mdd, severity_tier, severity_tier_accuracy


def test_golden_tiers(golden):
    cases = pl.DataFrame(golden("selective/total_score_binary")["severity_tiers"])
    assert len(cases) == 12
    made = cases.select(severity_tier("total").alias("tier"), is_mdd("total"))
    assert made["tier"].cast(pl.String).to_list() == cases["tier"].to_list()
    assert made["tier"].to_physical().to_list() == cases["tier_index"].to_list()
    assert made["is_mdd"].to_list() == cases["is_mdd"].to_list()


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Null])
def test_no_total_has_no_tier(dtype):
    none = [None, math.nan] if dtype == pl.Float64 else [None]
    made = pl.DataFrame({"total": none}, schema={"total": dtype}).select(severity_tier(), is_mdd())
    assert made.rows() == [(None, None)] * len(none)


def test_tiers_compare_in_their_order_and_end_at_their_bounds():
    totals = pl.DataFrame({"total": [19.5, 4.0, 4.5, -math.inf, math.inf]})
    tiers = totals.select(severity_tier()).to_series()
    assert tiers.to_list() == ["SEVERE", "MINIMAL", "MILD", "MINIMAL", "SEVERE"]
    assert tiers.unique().sort().to_list() == [TIERS[0], TIERS[1], TIERS[4]]


def test_tier_accuracy_is_among_predicted_totals():
    totals = pl.DataFrame(
        {"prediction": [4, 9, 14, None, 24], "label": [0, 10, 10, 0, 20], "w": [1, 2, 1, 9, 0]}
    )
    assert totals.select(severity_tier_accuracy()).item() == 0.75
    assert totals.select(severity_tier_accuracy(weight="w")).item() == 0.5
    assert totals.filter(pl.col("prediction") < 0).select(severity_tier_accuracy()).item() is None
