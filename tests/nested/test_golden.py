"""Metrics of metrics against brute force over copied rows, in 50 digits."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import evalframe as ef
from evalframe.core.states import CLUSTER, States
from evalframe.core.tables import Keys
from evalframe.resample.independence import cluster_of
from evalframe.resample.levels import drawn_of, with_levels
from evalframe.resample.nested import contract
from evalframe.resample.pools import cluster_columns
from evalframe.resample.uncertainty import number_groups

UNORDERED = ("aurc_epochs_0", "random_06", "random_12", "random_33")
"""Cases whose units are in an order that draws change."""

FILES = ("means", "pass_at", "levels", "gaps", "curves", "weights", "units", "random")


@pytest.fixture(params=FILES)
def cases(request, golden):
    return [case for case in golden(f"nested/{request.param}") if not case.get("error")]


def close(value, expected, tolerance):
    if value is None or expected is None:
        return value is None and expected is None
    return abs(value - expected) <= tolerance


def by_group(table, case):
    for group in case["groups"]:
        by = case["by"]
        yield group, table if by is None else table.filter(pl.col(by) == group["group"])


def test_estimates_of_tables_and_expressions(cases, trees):
    for case in cases:
        rows, metric = pl.DataFrame(case["rows"]), trees(case["metric"]).alias("m")
        result = ef.evaluate(rows, metric, by=case["by"])
        for (group, row), (_, part) in zip(
            by_group(result, case), by_group(rows, case), strict=True
        ):
            expected = group["estimate"]
            assert close(row["estimate"].item(), expected, 1e-9), case["name"]
            assert close(part.select(metric).item(), expected, 1e-9), case["name"]
            assert row["n_units"].item() + row["n_units_missing"].item() == len(group["units"])


def test_errors_by_leaving_out_and_by_derivatives(cases, trees):
    for case in cases:
        rows = pl.DataFrame(case["rows"])
        metric = trees(case["metric"], fixed=case["fixed"]).alias("m")
        where = {"cluster": case["cluster"], "within": case["within"]}
        for method, key, tolerance in (
            (ef.Jackknife(**where), "jackknife_std_error", 1e-9),
            (ef.Linearized(**where), "linearised_std_error", 1e-6),
        ):
            if isinstance(method, ef.Linearized) and case["name"] in UNORDERED:
                with pytest.raises(ef.EvalframeError, match="that has no derivative"):
                    ef.evaluate(rows, metric, by=case["by"], resample=method)
                continue
            result = ef.evaluate(rows, metric, by=case["by"], resample=method)
            for group, row in by_group(result, case):
                assert close(row["std_error"].item(), group.get(key), tolerance), case["name"]


def test_replicates(cases, trees):
    for case in cases:
        rows = pl.DataFrame(case["rows"])
        metric = trees(case["metric"], fixed=case["fixed"])
        method = ef.Bootstrap(cluster=case["cluster"], within=case["within"])
        keys = Keys.of(case["by"])
        states = States.of(rows.lazy(), [metric.bound], keys, cluster_of(method)).collected()
        groups = states.groups()
        numbered = number_groups(states, groups)
        tables, on = cluster_columns(numbered.tables)
        numbered = with_levels(method, numbered.with_tables(tables), on)
        (drawn,) = drawn_of(numbered)
        assert drawn == ", ".join(case["drawn"][:1]) or (drawn == "rows" and not case["drawn"])
        ids = pl.DataFrame({on[-1]: case["clusters"]}).with_row_index(":number")
        ids = ids.with_columns(pl.col(":number").cast(pl.Int64))
        numbered = numbered.with_tables(
            [
                table.join(ids, on=on[-1]).drop(on).rename({":number": CLUSTER})
                for table in numbered.tables
            ]
        )
        values = contract(numbered, len(groups), len(ids)).values(np.array(case["weights"], float))
        order = range(1) if case["by"] is None else groups.to_series().to_list()
        names = [0] if case["by"] is None else [group["group"] for group in case["groups"]]
        for name, expected in zip(names, case["replicates"], strict=True):
            expected = np.array([np.nan if each is None else each for each in expected])
            found = values[0][:, list(order).index(name)]
            np.testing.assert_allclose(found, expected, atol=1e-9, err_msg=case["name"])


def test_mixed_designs_are_refused(golden, trees):
    messages = {"mixed": "a draw would mean two things", "apart_by_group": "begin anew in groups"}
    for case in golden("nested/refused"):
        rows, metric = pl.DataFrame(case["rows"]), trees(case["metric"], fixed=case["fixed"])
        for method in (ef.Bootstrap, ef.Jackknife, ef.Linearized):
            with pytest.raises(ef.EvalframeError, match=messages[case["error"]]):
                ef.evaluate(rows, metric, by=case["by"], resample=method(cluster=case["cluster"]))
