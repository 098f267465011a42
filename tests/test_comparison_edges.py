"""Comparisons of which little is left: one cluster, one system, no difference."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import ParameterError


def test_a_pair_with_one_shared_cluster_is_no_test():
    rows = {"g": ["lone"] * 2, "mode": ["a", "b"], "person": [1, 1], "loss": [0.0, 1.0]}
    many = {
        "g": ["many"] * 6,
        "mode": ["a"] * 3 + ["b"] * 3,
        "person": [1, 2, 3] * 2,
        "loss": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
    }
    both = pl.concat([pl.DataFrame(rows), pl.DataFrame(many)])
    for test in ("bootstrap", "permutation"):
        made = ef.compare(
            both, ef.selective_risk(), between="mode", pair_on="person", by="g", test=test
        )
        lone, other = made.rows(named=True)
        assert (lone["p_value"], lone["p_adjusted"], lone["n_clusters"]) == (None, None, 1)
        assert other["p_adjusted"] == other["p_value"]


def test_an_undefined_difference_is_no_test():
    rows = pl.DataFrame(
        {
            "mode": ["a"] * 40 + ["b"] * 40,
            "person": [*range(40)] * 2,
            "loss": [None] * 21 + [0.9] * 19 + [0.1] * 40,
            "confidence": [0.5] * 80,
        }
    )
    metrics = [ef.risk_at(0.5)(), ef.selective_risk()]
    made = ef.compare(rows, metrics, between="mode", pair_on="person")
    undefined, defined = made.rows(named=True)
    assert (undefined["delta"], undefined["p_value"], undefined["p_adjusted"]) == (None,) * 3
    assert defined["p_adjusted"] == defined["p_value"]


def test_a_group_with_a_single_system_is_told_of():
    rows = {
        "g": ["u"] * 4 + ["v"] * 2,
        "m": ["x", "x", "y", "y", "x", "x"],
        "person": [1, 2] * 3,
        "loss": [0.0, 1.0, 1.0, 1.0, 0.0, 0.0],
    }
    with pytest.warns(UserWarning, match="single system are not compared: 1, such as v"):
        made = ef.compare(
            pl.DataFrame(rows), ef.selective_risk(), between="m", pair_on="person", by="g"
        )
    assert made["g"].to_list() == ["u"]


def test_groups_that_each_hold_one_system():
    rows = pl.DataFrame({"m": ["x", "y"], "person": [1, 1], "loss": [0.0, 1.0]})
    with pytest.raises(ParameterError, match="two systems in each group, of whose keys"):
        ef.compare(rows, ef.selective_risk(), between="m", pair_on="person", by="m").collect()


def test_names_that_begin_with_a_colon_are_taken():
    rows = pl.DataFrame({":level": [1, 2], "loss": [0.0, 1.0], "confidence": [0.5, 0.6]})
    with pytest.raises(ParameterError, match="rename the key ':level'"):
        ef.partial(rows, ef.aurc(), by=":level")
