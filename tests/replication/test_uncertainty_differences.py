"""Differences of models: against naive bootstraps and ef.compare; size of the test; degenerate."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.replication.agreement.ecs import ecs, with_ecs_weights
from evalframe.replication.agreement.metrics import concordance_correlation, mean_pas
from evalframe.replication.agreement.studies import model_scores, study_scores
from evalframe.replication.uncertainty.differences import model_differences
from evalframe.resample import paired
from replication.score_data import drawn, studied

BY_STUDY = ef.Bootstrap(cluster="study_id", n=25, seed=5, interval="percentile")
BY_FINDING = ef.Bootstrap(cluster="finding_id", n=25, seed=5, interval="percentile")


@pytest.mark.parametrize(
    ("method", "cluster", "stratum"),
    [
        (BY_STUDY, ["study_id"], None),
        (BY_FINDING, ["sub_study_id", "finding_id"], "study_id"),
    ],
    ids=["study", "finding"],
)
def test_as_a_naive_bootstrap(method, cluster, stratum):
    tests = studied(studies=7)
    found = model_differences(tests, resample=method)
    assert found.select("metric", "left", "right").rows() == [
        (metric, left, right)
        for metric in ("pas", "ecs")
        for left, right in (("m0", "m1"), ("m0", "m2"), ("m1", "m2"))
    ]
    keys = ["replicate", "model"]
    whole = tests.with_columns(replicate=pl.lit(-1, pl.Int64))
    tables = pl.concat([whole, drawn(method, tests, cluster, stratum).select(whole.columns)])
    each = model_scores(tables, by=keys).join(ecs(tables, by=keys), on=keys, suffix="_of_ecs")
    for metric in ("pas", "ecs"):
        scores = each.sort(keys)[metric].to_numpy().reshape(-1, 3)
        deltas = np.stack(
            [scores[:, b] - scores[:, a] for a, b in ((0, 1), (0, 2), (1, 2))], axis=1
        )
        rows = found.filter(metric=metric)
        draws = deltas[1:]
        below, above = (draws <= 0).sum(axis=0), (draws >= 0).sum(axis=0)
        expected = {
            "delta": deltas[0],
            "std_error": np.nanstd(draws, axis=0, ddof=1),
            "lower": np.nanquantile(draws, 0.025, axis=0),
            "upper": np.nanquantile(draws, 0.975, axis=0),
            "p_value": np.minimum(2 * (np.minimum(below, above) + 1) / (len(draws) + 1), 1.0),
        }
        for name, values in expected.items():
            assert rows[name].to_list() == pytest.approx(values.tolist(), abs=1e-9), name


@pytest.mark.parametrize("interval", ["percentile", "bca"])
def test_as_compare_where_all_models_have_all_studies(interval):
    tests = studied(studies=12, missing=0.0)
    method = ef.Bootstrap(cluster="study_id", n=200, interval=interval)
    found = model_differences(tests, resample=method, correction="none")
    for frame, metric, name in (
        (study_scores(tests), mean_pas(), "pas"),
        (with_ecs_weights(tests), concordance_correlation(weight="ecs_weight"), "ecs"),
    ):
        long = ef.compare(frame, metric, between="model", resample=method, correction="none")
        ours = found.filter(metric=name).drop("metric")
        theirs = long.select(ours.columns)
        assert_frame_equal(ours, theirs, rel_tol=1e-8, abs_tol=1e-9)


def test_pairs_are_compared_over_the_studies_they_share():
    studies = pl.DataFrame(
        {
            "model": ["a"] * 4 + ["b"] * 4 + ["c"] * 4,
            "study_id": ["s1", "s2", "s3", "s4"] * 3,
            "pas": [0.1, 0.2, 0.3, 0.4, None, 0.4, 0.4, 0.9, 0.5, None, None, 0.7],
        }
    )
    found = model_differences(studies, resample=BY_STUDY)
    assert found.select("left", "right", "n_clusters").rows() == [
        ("a", "b", 3),
        ("a", "c", 2),
        ("b", "c", 1),
    ]
    assert found["estimate_left"].to_list() == pytest.approx([0.3, 0.25, 0.9])
    assert found["delta"].to_list() == pytest.approx([0.8 / 3, 0.35, -0.2])
    assert found["std_error"].is_null().to_list() == [False, False, True]
    assert found["p_value"].is_null().to_list() == [False, False, True]
    # Without a row it is as without a PAS.
    fewer = model_differences(studies.drop_nulls("pas"), resample=BY_STUDY)
    assert_frame_equal(fewer, found, rel_tol=1e-12)


def test_pairs_that_share_no_study():
    studies = pl.DataFrame(
        {"model": ["a", "a", "b", "b"], "study_id": ["s1", "s2", "s3", "s4"], "pas": [0.5] * 4}
    )
    row = model_differences(studies, resample=BY_STUDY).row(0, named=True)
    assert (row["n_clusters"], row["drop_rate"]) == (0, 1.0)
    assert [row[name] for name in ("delta", "p_value", "p_adjusted")] == [None] * 3


def test_a_pair_that_shares_one_study_has_no_spread_whatever_the_draws():
    studies = pl.DataFrame(
        {
            "model": ["a"] * 3 + ["b"] * 3 + ["c"] * 2,
            "study_id": ["s1", "s2", "s3"] * 2 + ["s1", "s4"],
            "pas": [0.1, 0.2, 0.3, 0.4, 0.6, 0.5, 0.9, 0.8],
        }
    )
    for stream in ("reference", "counter", "poisson"):
        method = ef.Bootstrap(cluster="study_id", n=25, draws=stream)
        ours = model_differences(studies, resample=method)
        theirs = ef.compare(studies, mean_pas(), between="model", resample=method)
        for found in (ours, theirs):
            assert found["n_clusters"].to_list() == [3, 1, 1]
            assert found["std_error"].is_null().to_list() == [False, True, True]


def test_equal_models_do_not_differ_by_rounding():
    tests = studied(models=1)
    twins = pl.concat([tests, tests.with_columns(model=pl.lit("twin"))])
    lacking = twins.filter((pl.col("model") == "m0") | (pl.col("study_id") != "s0"))
    for table in (twins, lacking):
        found = model_differences(table, resample=BY_STUDY)
        assert found["delta"].to_list() == [0.0, 0.0]
        assert found["p_value"].to_list() == [1.0, 1.0]
        assert found["std_error"].to_list() == [0.0, 0.0]


def test_groups_order_of_rows_and_chunks_of_pairs(monkeypatch):
    tests = pl.concat([studied(seed=seed).with_columns(heat=pl.lit(seed)) for seed in (1, 2)])
    both = model_differences(tests, by="heat", resample=BY_STUDY, correction="none")
    assert both.columns[:4] == ["heat", "metric", "left", "right"]
    alone = model_differences(studied(seed=2), resample=BY_STUDY, correction="none")
    second = both.filter(heat=2).drop("heat")
    assert_frame_equal(second, alone, rel_tol=1e-9, abs_tol=1e-12)
    monkeypatch.setattr(paired, "BATCH", 1)
    shuffled = tests.sample(fraction=1.0, shuffle=True, seed=3)
    again = model_differences(shuffled, by="heat", resample=BY_STUDY, correction="none")
    assert_frame_equal(again, both, rel_tol=1e-9, abs_tol=1e-9)


def test_corrections_are_over_all_pairs_and_scores():
    tests = studied()
    found = model_differences(tests, resample=BY_STUDY, correction="bonferroni")
    expected = [min(1.0, 6 * p) for p in found["p_value"]]
    assert found["p_adjusted"].to_list() == pytest.approx(expected)
    alone = model_differences(tests, metrics=["pas"], resample=BY_STUDY)
    ordered = sorted(alone["p_value"])
    holm = np.maximum.accumulate([min(1.0, p * (3 - k)) for k, p in enumerate(ordered)])
    assert sorted(alone["p_adjusted"]) == pytest.approx(holm.tolist())


def test_what_a_table_can_be_compared_by():
    tests = studied()
    for table, expected in (
        (tests, ["pas", "ecs"]),
        (tests.drop("effect_d_agent"), ["pas"]),
        (tests.drop("pas", "pi_human"), ["ecs"]),
    ):
        found = model_differences(table, resample=BY_STUDY)
        assert found["metric"].unique(maintain_order=True).to_list() == expected
    normalised = model_differences(tests, metrics=["pas_normalised"], resample=BY_STUDY)
    means = model_scores(tests)["pas_normalised"]
    assert normalised["estimate_left"][0] == pytest.approx(means[0])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"resample": "study_id"}, ParameterError, r"model_differences: resample must be"),
        ({"metrics": ["aurc"]}, ParameterError, r"metrics must be one of"),
        ({"correction": "hulm"}, ParameterError, r"Did you mean 'holm'"),
        ({"between": "modell"}, MissingColumnsError, r"modell"),
        ({"by": "delta"}, ParameterError, r"has a column 'delta' of its own"),
    ],
)
def test_refusals(settings, error, message):
    with pytest.raises(error, match=message):
        model_differences(studied(), **({"resample": BY_STUDY} | settings))


def test_a_comparison_needs_two_models_and_a_normalised_pas_posteriors():
    with pytest.raises(ParameterError, match=r"a comparison needs two models, found \['m0'\]"):
        model_differences(studied(models=1), resample=BY_STUDY)
    bare = studied().drop("pi_human")
    with pytest.raises(MissingColumnsError, match="pas_normalised"):
        model_differences(bare, metrics=["pas_normalised"], resample=BY_STUDY)


def test_type_one_error_is_near_nominal():
    simulations, studies = 400, 30
    rng = np.random.default_rng(11)
    hard = rng.normal(0.0, 0.8, (simulations, 1, studies))
    z = hard + rng.normal(0.0, 0.4, (simulations, 2, studies))
    table = pl.DataFrame(
        {
            "run": np.repeat(np.arange(simulations), 2 * studies),
            "model": (["a"] * studies + ["b"] * studies) * simulations,
            "study_id": [f"s{study:02}" for study in range(studies)] * 2 * simulations,
            "pas": (1 / (1 + np.exp(-z))).ravel(),
        }
    )
    method = ef.Bootstrap(cluster="study_id", n=499)
    found = model_differences(table, by="run", resample=method)
    # Three standard errors are 0.033; at 30 studies the bootstrap rejects a little too often.
    assert (found["p_value"] <= 0.05).mean() == pytest.approx(0.06, abs=0.035)
    # Pairing pays: the models share what is hard about a study.
    unpaired = model_scores(table, by=["run", "model"], resample=method)
    alone = unpaired.group_by("run").agg((pl.col("pas_std_error") ** 2).sum().sqrt())
    assert found["std_error"].mean() < 0.6 * alone["pas_std_error"].mean()
