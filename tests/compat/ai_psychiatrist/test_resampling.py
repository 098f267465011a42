"""Intervals as the program gives them, where ours are null or refused."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.compat import ai_psychiatrist
from evalframe.core.errors import ParameterError

METHOD = ef.Bootstrap(cluster="person", n=10)
SPREAD = ("std_error", "lower", "upper")


def people(ids, losses):
    return pl.DataFrame(
        {"person": ids, "loss": losses, "confidence": 0.5},
        schema={"person": pl.Int64, "loss": pl.Float64, "confidence": pl.Float64},
    )


def test_the_interval_is_the_percentile_one():
    items = people([1, 2, 3, 4], [0.0, 0.5, 1.0, 1.0])
    percentile = ef.Bootstrap(cluster="person", n=10, interval="percentile")
    sound = ef.evaluate(items, ef.aurc(), resample=percentile)
    assert ai_psychiatrist.evaluate(items, ef.aurc(), resample=METHOD).equals(sound)


def test_no_rows_have_an_interval_of_zeros():
    row = ai_psychiatrist.evaluate(people([], []), ef.aurc(), resample=METHOD)
    assert row.select(*SPREAD, "n_clusters", "drop_rate").row(0) == (0.0, 0.0, 0.0, 0, 0.0)


@pytest.mark.parametrize(("loss", "expected"), [(0.25, 0.25), (None, 0.0)])
def test_a_single_cluster_is_the_point_twice(loss, expected):
    one = people([1, 1], [loss, loss])
    row = ai_psychiatrist.evaluate(one, ef.selective_risk(), resample=METHOD)
    assert row.select(*SPREAD, "n_clusters").row(0) == (0.0, expected, expected, 1)
    assert row["drop_rate"].item() == (loss is None)


def test_groups_of_a_single_cluster_beside_others():
    items = people([1, 1, 2, 3], [0.25, 0.75, 0.0, 1.0]).with_columns(mode=pl.Series([*"aabb"]))
    table = ai_psychiatrist.evaluate(items, ef.selective_risk(), by="mode", resample=METHOD)
    lone, two = table.select("lower", "upper", "n_clusters").rows()
    assert lone == (0.5, 0.5, 1)
    assert two[2] == 2
    assert two[0] < 0.5 < two[1]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [([7], (None, 0.0, 0.0, 0.0, 0, 1.0)), ([1], (0.5, 0.0, 0.5, 0.5, 1, 0.0))],
)
def test_two_tables_with_at_most_one_cluster_in_common(ids, expected):
    left, right = people([1, 2], [0.25, 0.75]), people(ids, [0.75])
    table = ai_psychiatrist.compare(left, ef.selective_risk(), other=right, resample=METHOD)
    shown = table.select("delta", *SPREAD, "n_clusters", "drop_rate")
    assert shown.row(0) == expected


def test_groups_of_one_table_need_clusters_in_common():
    apart = people([1, 2], [0.25, 0.75]).with_columns(mode=pl.Series([*"ab"]))
    with pytest.raises(ParameterError, match="share no cluster"):
        ai_psychiatrist.compare(apart, ef.selective_risk(), between="mode", resample=METHOD)
