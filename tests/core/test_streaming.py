"""Additive tables stream: no node of their physical plan falls back to memory."""

import inspect

import polars as pl
import pytest

from evalframe.core.metric import registered
from evalframe.core.per import Forest, leaves_of
from evalframe.core.states import share

ROWS = pl.LazyFrame(
    {
        "group": ["a"],
        "prediction": [1],
        "label": [1],
        "score": [1],
        "item_index": [0],
        "loss": [0.5],
        "confidence": [0.25],
        "correct": [1.0],
        "weight": [1.0],
    }
)
SELECTIVE = [metric for metric in registered().values() if metric.family == "selective"]


def physical_plan(lazy):
    plan = lazy.show_graph(engine="streaming", plan_stage="physical", raw_output=True)
    assert plan is not None
    return plan


def bind(metric, weight):
    given = {name: 0.5 for name, value in metric.params.items() if value is inspect.Parameter.empty}
    return metric.bind(weight=weight, params=given)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_additive_tables_stream(weight):
    for metric in SELECTIVE:
        for block in share(Forest.of(leaves_of(bind(metric, weight).bound))):
            rows = ROWS.select(pl.col("group").alias(":key0"), **block.columns)
            plan = physical_plan(block.of_rows(rows, [":key0"]))
            assert "in-memory-map" not in plan, metric.name


@pytest.mark.parametrize("name", ["coverage", "selective_risk", "generalized_risk"])
def test_expressions_of_plain_sums_stream(name):
    metric = bind(registered()[name], None)
    assert "in-memory-map" not in physical_plan(ROWS.group_by("group").agg(metric))
