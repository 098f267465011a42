"""Optimal, excess and achievable areas in every convention."""

from typing import get_args

import numpy as np
import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.selective.conventions import Convention, CoverageConvention

CONVENTIONS = get_args(Convention)


def frame(seed, *, levels=None):
    rng = np.random.default_rng(seed)
    rows = 30
    confidence = rng.random(rows) if levels is None else rng.integers(0, levels, rows) / levels
    loss = np.where(rng.random(rows) < 0.3, np.nan, rng.random(rows))
    made = pl.DataFrame({"loss": loss, "confidence": confidence})
    return made.with_columns(pl.col("loss").fill_nan(None))


def value(items, metric):
    return items.select(metric).item()


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("area", ["aurc", "augrc"])
def test_the_oracle_is_the_area_of_a_ranking_by_loss(area, convention):
    # With distinct losses the oracle has no plateaus, so it is the curve of its own ranking.
    items = frame(1)
    ranked = getattr(ef, area)("loss", -pl.col("loss"), convention=convention)
    optimal = getattr(ef, f"{area}_optimal")("loss", convention=convention)
    assert value(items, optimal) == pytest.approx(value(items, ranked), rel=1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("area", ["aurc", "augrc"])
def test_excess_and_gap_follow_from_area_and_optimum(area, convention):
    items = frame(2, levels=4)
    names = (area, f"{area}_optimal", f"e{area}", f"{area}_gap_pct")
    metrics = [
        getattr(ef, name)("loss", "confidence", convention=convention).alias(name) for name in names
    ]
    actual, optimal, excess, gap = items.select(metrics).row(0)
    assert excess == pytest.approx(actual - optimal, abs=1e-14)
    assert gap == pytest.approx(100 * excess / optimal, rel=1e-12)


@pytest.mark.parametrize("name", ["aurc", "aurc_optimal", "eaurc", "aurc_achievable"])
def test_total_is_predicted_times_coverage(name):
    items = frame(3, levels=5)
    total, predicted = (
        value(items, getattr(ef, name)("loss", "confidence", convention=convention))
        for convention in get_args(CoverageConvention)
    )
    assert total == pytest.approx(predicted * value(items, ef.coverage("loss")), rel=1e-12)


def test_coverage_among_predicted_items():
    items = pl.DataFrame({"loss": [0.0, 1.0, None, None], "confidence": [0.9, 0.8, 0.7, 0.6]})
    share = {"convention": "trapezoid_predicted"}
    assert value(items, ef.risk_at(1.0, **share)()) == 0.5
    assert value(items, ef.risk_at(1.0)()) is None
    assert value(items, ef.achieved_coverage_at(0.3, **share)()) == 0.5
    assert value(items, ef.coverage_at_risk(0.1, **share)()) == 0.5
    assert value(items, ef.aurc_at(1.0, **share)()) == value(items, ef.aurc_normalised())
    assert value(items, ef.augrc_at(1.0, **share)()) == value(items, ef.augrc_normalised())


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_undefined_is_null_but_for_the_area_over_no_coverage(convention):
    items = pl.DataFrame(
        {"loss": [None, None], "confidence": [0.9, 0.8]}, schema_overrides={"loss": pl.Float64}
    )
    names = ("aurc", "augrc", "aurc_optimal", "augrc_optimal", "eaurc", "eaugrc", "aurc_gap_pct")
    metrics = [
        getattr(ef, name)("loss", "confidence", convention=convention).alias(name) for name in names
    ]
    expected = 0.0 if convention == "trapezoid_total" else None
    assert items.select(metrics).row(0) == (expected,) * len(names)


def test_conventions_that_walk_item_by_item_have_no_hull_and_no_working_points():
    for function in (
        ef.aurc_achievable,
        ef.risk_at(0.5),
        ef.aurc_at(0.5),
        ef.coverage_at_risk(0.1),
    ):
        with pytest.raises(ParameterError, match="no form in convention 'rectangle_per_item'"):
            function(convention="rectangle_per_item")
