"""Bounds that rounded sums reach."""

import itertools
import pickle

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import ParameterError


@pytest.mark.parametrize("plan", ["sorted", "levels"])
def test_a_risk_that_is_the_bound_is_admissible_in_any_order(plan):
    for losses in itertools.permutations([0.1, 0.2, 0.3]):
        items = pl.DataFrame({"loss": losses, "confidence": [0.5] * 3})
        metric = ef.coverage_at_risk(0.2)()
        assert items.select(metric).item() == 1.0
        assert ef.evaluate(items, metric, plan=plan)["estimate"].item() == 1.0


def test_a_coverage_that_is_the_bound_is_reached_whatever_the_weight():
    confidences = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
    items = pl.DataFrame({"loss": [0.0] * 2 + [1.0] * 8, "confidence": confidences})
    for weight in (0.3, 0.7, 1.1, 1 / 3):
        weighted = items.with_columns(weight=weight, person=pl.int_range(10) % 3)
        metric = ef.risk_at(0.2)(weight="weight")
        assert weighted.select(metric).item() == 0.0
        method = ef.Jackknife(cluster="person")
        assert ef.evaluate(weighted, metric, resample=method)["estimate"].item() == 0.0


ITEMS = pl.DataFrame(
    {
        "model": ["a", "a", "b", "b"],
        "loss": [0.0, 1.0, 1.0, 0.0],
        "confidence": [0.9, 0.2, 0.8, 0.1],
        "other": [0.1, 0.9, 0.1, 0.9],
        "weight": [1.0, 2.0, 3.0, 4.0],
    }
)
FACTORIES = [
    ef.risk_at,
    ef.achieved_coverage_at,
    ef.coverage_at_risk,
    ef.aurc_at,
    ef.augrc_at,
]


@pytest.mark.parametrize("factory", FACTORIES)
def test_a_parameter_and_columns_are_given_in_any_spelling(factory):
    made, called = factory(0.3), factory(0.3)()
    name = called.meta.output_name()
    assert made.meta.output_name() == name
    values = [
        ITEMS.group_by("model", maintain_order=True).agg(expr)[name].to_list()
        for expr in (made, called, factory(0.3, "loss", "confidence"), made("loss", "confidence"))
    ]
    assert all(each == values[0] for each in values)
    other = [
        factory(0.3, "loss", "other", weight="weight"),
        factory(0.3, confidence="other", weight="weight"),
        made("loss", "other", weight="weight"),
        made(confidence=pl.col("other"), weight="weight"),
    ]
    whole = [ITEMS.select(expr).item() for expr in other]
    assert whole == whole[:1] * 4
    # In the verbs it keeps the columns that it was given.
    asked = ef.evaluate(ITEMS, [other[0].alias("x"), factory(0.3), ef.aurc])
    assert asked["estimate"].to_list()[:2] == [whole[0], ITEMS.select(called).item()]
    assert ef.evaluate(ITEMS, other[0])["estimate"].item() == whole[0]
    assert ITEMS.select(pickle.loads(pickle.dumps(made))).item() == ITEMS.select(called).item()


def test_metrics_with_a_parameter_are_varied_and_bundled():
    named = ef.variant(ef.risk_at(0.5), name="halfway")
    assert ITEMS.select(named("loss", "confidence")).columns == ["halfway"]
    areas = ef.metric_set(ef.aurc, ef.risk_at(0.5), named)
    names = [expr.meta.output_name() for expr in areas("loss", "other")]
    assert names == ["aurc", "risk_at_0.50", "halfway"]
    assert ef.risk_at(0.5).preset == {"coverage": 0.5, "convention": "trapezoid_total"}


@pytest.mark.parametrize("factory", FACTORIES)
def test_the_parameter_comes_first(factory):
    with pytest.raises(ParameterError, match=r"must .* got 'loss'"):
        factory("loss", "confidence")
    told = "must be called: missing a required argument: '(coverage|risk)', as in .*at"
    with pytest.raises(ParameterError, match=told):
        ef.evaluate(ITEMS, factory)
