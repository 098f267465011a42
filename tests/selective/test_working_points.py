"""Bounds that rounded sums reach."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

import evalframe as ef


@pytest.mark.parametrize("plan", ["sorted", "levels"])
def test_a_risk_that_is_the_bound_is_admissible_in_any_order(plan):
    for losses in itertools.permutations([0.1, 0.2, 0.3]):
        items = pl.DataFrame({"loss": losses, "confidence": [0.5] * 3})
        metric = ef.coverage_at_risk(0.2)()
        assert items.select(metric).item() == 1.0
        assert ef.evaluate(items, metric, plan=plan).collect()["estimate"].item() == 1.0


def test_a_coverage_that_is_the_bound_is_reached_whatever_the_weight():
    confidences = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    items = pl.DataFrame({"loss": [0.0] * 2 + [1.0] * 8, "confidence": confidences})
    for weight in (0.3, 0.7, 1.1, 1 / 3):
        weighted = items.with_columns(weight=weight, person=pl.int_range(10) % 3)
        metric = ef.risk_at(0.2)(weight="weight")
        assert weighted.select(metric).item() == 0.0
        method = ef.Jackknife(cluster="person")
        assert ef.evaluate(weighted, metric, resample=method).collect()["estimate"].item() == 0.0
