"""Intervals of PAS and ECS: against naive bootstraps, evaluate, and degenerate tables."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import ParameterError
from evalframe.replication.agreement.ecs import ecs, with_ecs_weights
from evalframe.replication.agreement.metrics import concordance_correlation, mean_pas
from evalframe.replication.agreement.studies import domain_scores, model_scores, study_scores
from evalframe.resample import draws, replicates
from replication.score_data import drawn, studied

ROOMS = [replication, humanstudy_bench]

BY_STUDY = ef.Bootstrap(cluster="study_id", n=12, seed=5, interval="percentile")
BY_FINDING = ef.Bootstrap(cluster="finding_id", n=12, seed=5, interval="percentile")
FINDING = ["sub_study_id", "finding_id"]
NAIVE = {
    "study_id": (BY_STUDY, ["study_id"], None),
    "finding_id": (BY_FINDING, FINDING, "study_id"),
}


def check(found, scores, keys, names):
    """Against what the function without `resample` gives with `replicate` as a key."""
    naive = scores.group_by(keys).agg(
        *(pl.col(name).std().alias(f"{name}_std_error") for name in names),
        *(
            pl.col(name).quantile(share, "linear").alias(f"{name}_{end}")
            for name in names
            for end, share in (("lower", 0.025), ("upper", 0.975))
        ),
        *((1 - pl.col(name).count() / BY_STUDY.n).alias(f"{name}_drop_rate") for name in names),
    )
    expected = found.select(keys).join(naive, on=keys, how="left", maintain_order="left")
    assert_frame_equal(found.select(expected.columns), expected, rel_tol=1e-9, abs_tol=1e-9)


RULES = [
    {},
    {"study_rule": "mean_z"},
    {"study_rule": "weighted_mean", "finding_rule": "weighted_mean", "missing": "chance"},
    {"finding_rule": "mean"},
]
EACH = ["replicate", "model"]


@pytest.mark.parametrize("settings", range(4))
@pytest.mark.parametrize("room", range(2))
def test_pas_of_models_as_a_naive_bootstrap(settings, room):
    """Each rule in both rooms and by both clusters."""
    tests, rules = studied(), RULES[settings]
    method, columns, stratum = [*NAIVE.values()][(settings + room) % 2]
    found = ROOMS[room].model_scores(tests, resample=method, **rules)
    tables = drawn(method, tests, columns, stratum)
    scores = ROOMS[room].model_scores(tables, by=EACH, **rules)
    check(found, scores, ["model"], ["pas", "pas_normalised"])


def test_pas_of_domains_draws_studies_within_them():
    tests = studied(studies=7)
    found = domain_scores(tests, resample=BY_STUDY)
    scores = domain_scores(drawn(BY_STUDY, tests, ["study_id"], "domain"), by=EACH)
    check(found, scores, ["model", "domain"], ["pas", "pas_normalised"])
    assert found.filter(model="m0")["n_clusters"].to_list() == [4, 3]


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("cluster", NAIVE)
def test_ecs_as_a_naive_bootstrap(cluster, room):
    tests = studied()
    method, columns, stratum = NAIVE[cluster]
    found = room.ecs(tests, resample=method)
    scores = room.ecs(drawn(method, tests, columns, stratum), by=EACH)
    check(found, scores, ["model"], ["ecs", "pearson", "slope", "intercept"])


def test_ecs_of_domains_and_of_studies_as_naive_bootstraps():
    tests = studied()
    found = ecs(tests, "domain", resample=BY_STUDY)
    scores = ecs(drawn(BY_STUDY, tests, ["study_id"], "domain"), "domain", by=EACH)
    check(found, scores, ["model", "domain"], ["ecs", "slope"])
    found = ecs(tests, "study", resample=BY_FINDING)
    scores = ecs(drawn(BY_FINDING, tests, FINDING, "study_id"), "study", by=EACH)
    # A study of one finding has nothing that varies, and one of two tests no ECS.
    keys = ["model", "study_id"]
    free = tests.group_by("study_id").agg(pl.struct(FINDING).n_unique().alias("findings"))
    known = found.join(free.filter(pl.col("findings") > 1), on="study_id").drop("findings")
    known = known.filter(pl.col("ecs").is_not_null()).sort(keys)
    assert len(known)
    check(known, scores, keys, ["ecs", "pearson"])
    assert known["ecs_std_error"].null_count() == 0
    alone = found.join(known, on=keys, how="anti")
    assert alone["ecs_std_error"].null_count() == len(alone) > 0


@pytest.mark.parametrize(
    ("stream", "interval"),
    [
        *(("reference", interval) for interval in ("percentile", "basic", "normal", "bca")),
        ("counter", "bca"),
    ],
)
def test_pas_and_ecs_as_evaluate_gives_them(stream, interval):
    tests = studied(studies=12, missing=0.0)
    method = ef.Bootstrap(cluster="study_id", n=200, interval=interval, draws=stream, seed=1)
    ends = ["estimate", "std_error", "lower", "upper", "n_clusters"]
    studies = study_scores(tests)
    for frame, metric, found, name in (
        (studies, mean_pas(), model_scores(tests, resample=method), "pas"),
        (
            with_ecs_weights(tests),
            concordance_correlation(weight="ecs_weight"),
            ecs(tests, resample=method),
            "ecs",
        ),
    ):
        long = ef.evaluate(frame, metric, by="model", resample=method).lazy().collect().select(ends)
        mine = found.select(
            pl.col(name).alias("estimate"),
            *(pl.col(f"{name}_{end}").alias(end) for end in ends[1:4]),
            "n_clusters",
        )
        if stream == "reference":
            assert_frame_equal(mine, long, rel_tol=1e-9, abs_tol=1e-9)
        else:  # slots are hashed differently
            assert_frame_equal(mine, long, abs_tol=0.05)


def test_poisson_draws():
    alike = ef.Bootstrap(cluster="study_id", n=300, interval="percentile")
    method = replace(alike, draws="poisson")
    tests = studied(studies=30)
    ends = ["pas_std_error", "pas_lower", "pas_upper"]
    ours, theirs = (model_scores(tests, resample=each).select(ends) for each in (method, alike))
    assert_frame_equal(ours, theirs, abs_tol=0.02, rel_tol=0.3)


@pytest.mark.parametrize("method", [BY_STUDY, BY_FINDING], ids=["study", "finding"])
def test_seed_order_of_rows_and_chunks(method, monkeypatch):
    tests = studied()
    first = model_scores(tests, resample=method), ecs(tests, resample=method)
    monkeypatch.setattr(replicates, "CELLS", 100)
    shuffled = tests.sample(fraction=1.0, shuffle=True, seed=2)
    again = (
        model_scores(shuffled, resample=method),
        ecs(shuffled, resample=method),
    )
    for one, other in zip(first, again, strict=True):
        assert_frame_equal(one, other, rel_tol=1e-9, abs_tol=1e-9)
    other = ef.Bootstrap(cluster=method.cluster, n=25, seed=6, interval="percentile")
    moved = model_scores(tests, resample=other)
    assert (moved["pas_std_error"] != first[0]["pas_std_error"]).all()


def test_whole_weights_are_repeated_rows_and_zero_weights_none():
    tests = studied().with_columns(times=pl.int_range(pl.len()) % 3)
    repeated = tests.select(pl.all().repeat_by("times").explode(empty_as_null=False))
    for cluster in NAIVE:
        method = NAIVE[cluster][0]
        weighted = model_scores(tests, weight="times", resample=method)
        plain = model_scores(repeated, resample=method)
        names = [name for name in plain.columns if name.startswith(("pas", "n_clusters"))]
        assert_frame_equal(weighted.select(names), plain.select(names), rel_tol=1e-9)


def test_all_models_see_the_same_draws():
    tests = studied(models=1, missing=0.0)
    twins = pl.concat([tests, tests.with_columns(model=pl.lit("twin"))])
    found = model_scores(twins, resample=BY_STUDY)
    assert_frame_equal(found[:1].drop("model"), found[1:].drop("model"))
    fewer = twins.filter((pl.col("model") == "m0") | (pl.col("study_id") != "s0"))
    lacking = model_scores(fewer, resample=BY_STUDY)
    assert lacking["n_clusters"].to_list() == [6, 5]
    assert_frame_equal(found[:1], lacking[:1])
    assert lacking["pas_std_error"].null_count() == 0


def test_a_model_with_one_study_has_no_spread_and_may_be_missing_from_replicates():
    studies = pl.DataFrame(
        {
            "model": ["a"] * 3 + ["b"],
            "study_id": ["s1", "s2", "s3", "s1"],
            "pas": [0.2, 0.5, 0.8, 0.4],
        }
    )
    found = model_scores(studies, resample=ef.Bootstrap(cluster="study_id", n=500))
    assert found["pas_std_error"].is_null().to_list() == [False, True]
    assert found["pas_lower"].is_null().to_list() == [False, True]
    assert found["n_clusters"].to_list() == [3, 1]
    # That no draw of three hits one study of three has the chance (2/3)^3.
    assert found["pas_drop_rate"].to_list() == pytest.approx([0.0, 8 / 27], abs=0.06)


def test_studies_without_pas_and_models_without_any():
    studies = pl.DataFrame(
        {
            "model": ["a"] * 3 + ["b"] * 3,
            "study_id": ["s1", "s2", "s3"] * 2,
            "pas": [0.2, None, 0.8, None, None, float("nan")],
        }
    )
    found = model_scores(studies, resample=BY_STUDY)
    assert found["n_clusters"].to_list() == [2, 0]
    assert found.select("pas_lower", "pas_std_error", "pas").row(1) == (None, None, None)
    empty = studies.with_columns(effect_d_human=pl.lit(None), effect_d_agent=pl.lit(None))
    nothing = ecs(empty.with_columns(finding_id=pl.lit("F")), resample=BY_STUDY)
    assert nothing["ecs_std_error"].null_count() == 2
    assert nothing["n_clusters"].to_list() == [0, 0]


def test_draws_within_domains_serve_every_metric():
    tests = studied(studies=9)
    method = replace(BY_STUDY, within="domain")
    studies = study_scores(tests)
    found = ef.evaluate(studies, mean_pas(), by="model", resample=method)
    scores = model_scores(drawn(BY_STUDY, tests, ["study_id"], "domain"), by=EACH)
    named = {"estimate": "pas", "std_error": "pas_std_error", "drop_rate": "pas_drop_rate"}
    named |= {"lower": "pas_lower", "upper": "pas_upper"}
    check(found.rename(named), scores, ["model"], ["pas"])
    assert found["n_clusters"].to_list() == [9] * 3
    by_domain = ef.evaluate(studies, mean_pas(), by=["model", "domain"], resample=method)
    ours = domain_scores(tests, resample=BY_STUDY)
    for name in ("std_error", "lower", "upper"):
        assert by_domain[name].to_list() == pytest.approx(ours[f"pas_{name}"].to_list(), abs=1e-12)
    pairs = ef.compare(studies, mean_pas(), between="model", resample=method)
    assert pairs["n_clusters"].to_list() == [9] * 3
    assert pairs["std_error"].null_count() == 0


def test_who_is_alone_in_its_stratum_does_not_vary():
    method = ef.Bootstrap(cluster="study_id", within="study_id", n=20)
    with pytest.raises(ParameterError, match="at least two clusters"):
        ef.evaluate(study_scores(studied()), mean_pas(), by="model", resample=method)
    lone = study_scores(studied(studies=5)).with_columns(
        part=pl.when(pl.col("model") == "m0").then("study_id").otherwise("domain")
    )
    found = ef.evaluate(lone, mean_pas(), by="model", resample=replace(method, within="part"))
    assert found["std_error"].is_null().to_list() == [True, False, False]


def test_no_keys():
    tests = studied(models=1).drop("model")
    assert model_scores(tests, resample=BY_STUDY).columns[:5] == [
        "pas",
        "pas_std_error",
        "pas_lower",
        "pas_upper",
        "pas_drop_rate",
    ]
    assert ecs(tests, resample=BY_FINDING).height == 1


def test_effects_that_do_not_vary_within_a_replicate():
    tests = pl.DataFrame(
        {
            "study_id": ["s1"] * 3 + ["s2"] * 3,
            "finding_id": ["F1", "F2", "F3"] * 2,
            "effect_d_human": [0.1] * 3 + [0.7] * 3,
            "effect_d_agent": [0.2, 0.3, 0.4, 0.6, 0.8, 0.9],
        }
    )
    method = ef.Bootstrap(cluster="study_id", n=200, interval="percentile")
    found = ecs(tests, resample=method)
    # Half of the replicates hold one study, twice: concordance 0, and no correlation.
    assert found["ecs_lower"].item() == 0.0
    assert found["ecs_drop_rate"].item() == 0.0
    assert found["pearson_drop_rate"].item() == pytest.approx(0.5, abs=0.1)
    assert found["slope_drop_rate"].item() == found["pearson_drop_rate"].item()


def test_rounding_is_not_taken_for_variation():
    rng = np.random.default_rng(3)
    studies = 3
    human = np.repeat(rng.normal(0.3, 1.0, studies), 7)
    tests = pl.DataFrame(
        {
            "study_id": np.repeat(np.arange(studies), 7),
            "finding_id": [0, 0, 0, 1, 1, 2, 3] * studies,
            "effect_d_human": human,
            "effect_d_agent": human + rng.normal(0.0, 0.3, len(human)),
        }
    )
    method = ef.Bootstrap(cluster="study_id", n=300)
    found = ecs(tests, resample=method)
    # Only replicates of one study, drawn three times, have humans that do not vary.
    drawn = np.concatenate([*draws.bootstrap_weights(method, pl.Series([*"abc"])).chunks(300)])
    assert drawn.shape == (300, 3)
    alone = (drawn.max(axis=1) == studies).mean()
    assert found["slope_drop_rate"].item() == pytest.approx(alone, abs=1e-12)


def test_bca_of_a_domain_does_not_hang_on_other_domains():
    tests = studied(studies=16, missing=0.0)
    # Counter draws of a domain are a stream of its own.
    method = ef.Bootstrap(cluster="study_id", n=300, interval="bca", draws="counter")
    both = domain_scores(tests, resample=method).filter(domain="d0")
    alone = domain_scores(tests.filter(domain="d0"), resample=method)
    assert_frame_equal(both, alone, rel_tol=1e-12)
    both = ecs(tests, "domain", resample=method).filter(domain="d0")
    alone = ecs(tests.filter(domain="d0"), "domain", resample=method)
    assert_frame_equal(both, alone, rel_tol=1e-9, abs_tol=1e-12)


def test_large_effects_keep_their_digits():
    tests = studied(models=1)
    names = ["ecs_lower", "ecs_upper", "pearson_lower"]
    plain = ecs(tests, resample=BY_STUDY).select(names)
    moved = tests.with_columns(pl.col("effect_d_human", "effect_d_agent") + 2.0**20)
    assert_frame_equal(ecs(moved, resample=BY_STUDY).select(names), plain, rel_tol=1e-6)


def test_tests_without_a_study_are_missing_and_not_drawn():
    tests = studied(models=1)
    further = pl.concat([tests, tests[:4].with_columns(study_id=pl.lit(None, pl.String))])
    names = ["ecs", "ecs_lower", "n_clusters"]
    plain, more = (ecs(each, resample=BY_STUDY) for each in (tests, further))
    assert_frame_equal(more.select(names), plain.select(names))
    assert more["n_missing"].item() == plain["n_missing"].item() + 4


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda t: model_scores(t, resample=0.5), r"resample must be ef.Bootstrap"),
        (
            lambda t: model_scores(t, resample=ef.Bootstrap(cluster="participant_id")),
            r"cluster='study_id', or findings within their study.*got 'participant_id'",
        ),
        (
            lambda t: model_scores(study_scores(t), resample=BY_FINDING),
            r"needs a table of tests or findings, and this is one of studies",
        ),
        (lambda t: ecs(t, "study", resample=BY_STUDY), r"ECS of a study is of a single cluster"),
        (lambda t: ecs(t, "finding", resample=BY_FINDING), r"ECS of a finding is of a single"),
        (
            lambda t: model_scores(t.filter(study_id="s1"), resample=BY_STUDY),
            r"at least two clusters.* none has two \(first id: 's1'\)",
        ),
        (
            lambda t: model_scores(t.filter(study_id="s0"), resample=BY_FINDING),
            r"at least two clusters",
        ),
        (lambda t: model_scores(t[:0], resample=BY_STUDY), r"nothing to resample"),
        (
            lambda t: ecs(t, resample=replace(BY_STUDY, within="domain")),
            r"ecs: studies are drawn within the domains of the result.*leave out `within`",
        ),
        (
            lambda t: ef.evaluate(
                t, pl.col("pas").max(), resample=replace(BY_STUDY, within="domain")
            ),
            r"draws within 'domain' need metrics that declare a state",
        ),
        (
            lambda t: ef.finish(
                ef.partial(t, mean_pas(), cluster="study_id"),
                resample=replace(BY_STUDY, within="domain"),
            ),
            r"not what they are drawn within",
        ),
        (
            lambda t: model_scores(t.with_columns(study_id=pl.lit(None)), resample=BY_STUDY),
            r"nothing to resample: the table has no row of a study",
        ),
    ],
)
def test_refusals(ask, message):
    with pytest.raises(ParameterError, match=message):
        ask(studied()).collect()


def test_coverage_of_the_study_bootstrap_is_near_nominal():
    simulations, studies = 400, 30
    rng = np.random.default_rng(7)
    pas = rng.beta(6, 4, (simulations, studies))
    table = pl.DataFrame(
        {
            "run": np.repeat(np.arange(simulations), studies),
            "model": "m",  # runs are not ranked among each other
            "study_id": [f"s{study:02}" for study in range(studies)] * simulations,
            "pas": pas.ravel(),
        }
    )
    method = ef.Bootstrap(cluster="study_id", n=300, interval="bca")
    found = model_scores(table, by=["run", "model"], resample=method)
    covered = (found["pas_lower"] <= 0.6) & (found["pas_upper"] >= 0.6)
    # Three standard errors of 400 runs are 0.033; the interval is known to be short at 30 studies.
    assert covered.mean() == pytest.approx(0.94, abs=0.035)
    true = np.sqrt(0.6 * 0.4 / 11 / studies)
    assert found["pas_std_error"].mean() == pytest.approx(true, rel=0.05)
