"""The laws of design section 1, and bounds and shifts, for every registered metric."""

from __future__ import annotations

import itertools
import math
from typing import get_args

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalframe as ef
from evalframe.core.metric import make, registered
from evalframe.selective.areas import Convention
from evalframe.testing import check_laws, laws

PARAMS = {
    "coverage": (0.05, 0.3, 0.5, 1.0),
    "risk": (0.3,),
    "convention": get_args(Convention),
}
JUMPS = ("risk_at", "achieved_coverage_at", "coverage_at_risk")


def every(weight=None, *, jumps=True):
    """All metrics with all parameters, as one list of expressions."""
    exprs = []
    for name, metric in registered().items():
        if metric.family == "user" or (name in JUMPS and not jumps):
            continue
        for values in itertools.product(*(PARAMS[param] for param in metric.params)):
            params = dict(zip(metric.params, values, strict=True))
            alias = " ".join([name, *map(str, values)])
            exprs.append(make(name, weight=weight, params=params, alias=alias))
    return exprs


# Eighths and halves add up exactly, so that no route sees another side of a threshold.
EIGHTHS = st.integers(0, 16).map(lambda eighths: eighths / 8)
LOSSES = st.one_of(st.none(), EIGHTHS, EIGHTHS, st.just(math.nan))
CONFIDENCES = st.sampled_from(
    [0.1, 0.1, 0.5, 0.5, 0.9, 1.0, 0.0, -0.0, -3.0, math.inf, -math.inf, math.nan, None]
)


@st.composite
def frames(draw, losses=LOSSES, confidences=CONFIDENCES, weights=None, size=(1, 40)):
    columns = {
        "model": st.sampled_from(["a", "a", "a", "b", None]),
        "person": st.one_of(st.integers(0, 6), st.none()),
        "prediction": st.one_of(st.integers(0, 3), st.none()),
        "loss": losses,
        "confidence": confidences,
        "weight": weights or st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 3.0]),
    }
    rows = draw(st.lists(st.tuples(*columns.values()), min_size=size[0], max_size=size[1]))
    types = [pl.String, pl.Int64, pl.Int64, pl.Float64, pl.Float64, pl.Float64]
    return pl.DataFrame(rows, schema=dict(zip(columns, types, strict=True)), orient="row")


KEYS = st.sampled_from([None, "model", ["model", "person"]])
EXACT = frames()
ROUGH = frames(
    losses=st.one_of(st.none(), st.floats(0, 1e3)),
    confidences=st.floats(-1e3, 1e3),
    weights=st.floats(0.01, 10),
)


def examples(number):
    return settings(max_examples=number, deadline=None)


@examples(8)
@given(EXACT, KEYS, st.sampled_from([None, "weight"]))
def test_expressions_equal_tables(frame, by, weight):
    laws.expressions_equal_tables(every(weight), frame, by=by)


@examples(12)
@given(EXACT, KEYS, st.sampled_from([None, "weight"]))
def test_shards_add_up(frame, by, weight):
    laws.shards_add_up(every(weight), frame, by=by)


@examples(20)
@given(EXACT, KEYS)
def test_integer_weights_repeat_rows(frame, by):
    laws.integer_weights_repeat_rows(every(), frame, by=by)


@examples(20)
@given(EXACT, KEYS, st.sampled_from([None, "weight"]))
def test_zero_weights_remove_rows(frame, by, weight):
    laws.zero_weights_remove_rows(every(weight), frame, by=by)


@examples(15)
@given(EXACT, KEYS, st.sampled_from([None, "weight"]))
def test_row_order_does_not_matter(frame, by, weight):
    laws.row_order_does_not_matter(every(weight), frame, by=by)


@examples(12)
@given(EXACT, st.sampled_from([None, "model"]), st.sampled_from([None, "person"]))
def test_clusters_add_up(frame, by, cluster):
    laws.clusters_add_up(every(), frame, by=by, cluster=cluster)


@examples(8)
@given(EXACT, st.sampled_from([None, "model"]), st.sampled_from([None, "person"]))
def test_replicates_resample_rows(frame, by, cluster):
    laws.replicates_resample_rows(every(), frame, by=by, cluster=cluster, n=10)


@examples(3)
@given(ROUGH, st.sampled_from([None, "model"]), st.sampled_from([None, "weight"]))
def test_laws_of_smooth_metrics_on_any_numbers(frame, by, weight):
    check_laws(every(weight, jumps=False), frame, by=by, cluster="person", rtol=1e-11)
