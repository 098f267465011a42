"""Ranks of models by PAS under a bootstrap."""

import numpy as np
import polars as pl
import pytest

import evalframe as ef
from evalframe.replication.agreement.studies import domain_scores, model_scores
from evalframe.resample.ranks import RANKS, rank_intervals, rank_sets, ranked
from replication.score_data import drawn, studied

METHOD = ef.Bootstrap(cluster="study_id", n=60, seed=5)
COLUMNS = ["rank", *RANKS, "tied_with_best", "margin_to_best"]


def constant(**shares):
    """Studies of models whose PAS hardly varies."""
    rng = np.random.default_rng(0)
    moved = {name: share + rng.normal(0.0, 0.005, 10) for name, share in shares.items()}
    return pl.concat(
        pl.DataFrame({"model": [name] * 10, "study_id": range(10), "pas": pas})
        for name, pas in moved.items()
    )


def test_models_far_apart_have_one_rank_each():
    found = model_scores(constant(a=0.2, b=0.8, c=0.5), resample=METHOD)
    assert found.columns[-8:] == ["n_clusters", *COLUMNS]
    assert found["model"].to_list() == ["a", "b", "c"]
    for name in ("rank", *RANKS):
        assert found[name].to_list() == [3, 1, 2], name
        assert found[name].dtype == pl.Int64
    assert found["tied_with_best"].to_list() == [False, True, False]


def test_equal_models_share_every_rank():
    studies = constant(a=0.5)
    both = pl.concat([studies, studies.with_columns(model=pl.lit("b"))])
    found = model_scores(both, resample=METHOD)
    assert found.select(COLUMNS[:-1]).rows() == [(1, 1, 1, 1, 2, True)] * 2


def test_ranks_are_those_of_naive_replicates():
    tests = studied(models=5)
    found = model_scores(tests, resample=METHOD)
    tables = drawn(METHOD, tests, ["study_id"])
    replicates = model_scores(tables, by=["replicate", "model"]).sort("replicate", "model")["pas"]
    values = replicates.to_numpy().reshape(-1, 5)
    points, board = found["pas"].to_numpy(), np.zeros(5, dtype=np.int64)
    lower, upper = rank_intervals(values, board, METHOD.level)
    least, most, _ = rank_sets(points, values, board, METHOD.level, found["n_clusters"].to_numpy())
    for name, expected in zip(
        ("rank", *RANKS), (ranked(points[None])[0], lower, upper, least, most), strict=True
    ):
        assert found[name].to_list() == expected.tolist(), name


def test_ranks_are_within_the_other_keys_and_domains():
    tests = studied(models=3, studies=8)
    two = pl.concat([tests.with_columns(heat=pl.lit(heat)) for heat in (0, 1)])
    whole = model_scores(tests, resample=METHOD).select("model", *COLUMNS)
    by_heat = model_scores(two, by=["heat", "model"], resample=METHOD)
    for heat in (0, 1):
        assert by_heat.filter(heat=heat).select("model", *COLUMNS).equals(whole)
    runs = model_scores(two, by=[pl.format("{}-{}", "model", "heat").alias("run")], resample=METHOD)
    assert sorted(runs["rank"]) == [1, 1, 3, 3, 5, 5]
    domains = domain_scores(tests, resample=METHOD)
    for (_,), part in domains.group_by("domain"):
        assert sorted(part["rank"]) == [1, 2, 3]
    alone = model_scores(tests, by=[], resample=METHOD)
    assert alone.select(COLUMNS[:-1]).row(0) == (1, 1, 1, 1, 1, True)


def test_nothing_is_certain_of_a_model_of_one_study_or_none():
    none = pl.DataFrame({"model": ["d"], "study_id": [0], "pas": [None]}, strict=False)
    studies = pl.concat([constant(a=0.2, b=0.8), constant(c=0.9)[:1], none], how="vertical_relaxed")
    found = model_scores(studies, resample=METHOD)
    assert found["rank"].to_list() == [3, 2, 1, None]
    assert found["rank_lower"].to_list()[2:] == [None, None]
    sets = found.select("rank_set_lower", "rank_set_upper", "tied_with_best").rows()
    assert sets == [(2, 3, False), (1, 2, True), (1, 3, True), (None, None, None)]


@pytest.mark.parametrize("interval", ["percentile", "basic", "normal", "bca"])
def test_ranks_do_not_hang_on_the_interval(interval):
    method = ef.Bootstrap(cluster="finding_id", n=40, seed=5, interval=interval)
    plain = ef.Bootstrap(cluster="finding_id", n=40, seed=5)
    found = [model_scores(studied(), resample=m).select(COLUMNS) for m in (method, plain)]
    assert found[0].equals(found[1])
