"""Intervals from drawing participants, the random baseline, and standard errors."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.replication import inverse_variance_pas
from evalframe.replication.agreement.alignment import with_pas, with_posteriors
from evalframe.replication.agreement.ecs import ecs
from evalframe.replication.agreement.studies import domain_scores, model_scores, study_scores
from evalframe.replication.bayes_factors.table import with_bayes_factors
from evalframe.replication.effects.table import with_effect_sizes
from evalframe.replication.participants import replicates as draws_module
from evalframe.replication.participants.replicates import resampled_statistics
from evalframe.replication.participants.statistics import participant_statistics
from evalframe.replication.sample import sample_designs, sample_participants, sample_tests
from evalframe.replication.uncertainty.participants import (
    bootstrap_moments,
    participant_intervals,
    preferred_std_error,
    random_alignment,
)

KEYS = ["study_id", "sub_study_id", "finding_id", "test_id"]
SCORES = ["pas", "pas_normalised", "ecs"]
METHOD = ef.Bootstrap(cluster="participant_id", n=8, seed=2, interval="percentile")


@pytest.fixture(scope="module")
def responses():
    return sample_participants()


@pytest.fixture(scope="module")
def design():
    return sample_designs()


@pytest.fixture(scope="module")
def people():
    """The human side: statistics of both sides of one model, without the agent's."""
    tests = sample_tests()
    if "model" in tests.columns:
        tests = tests.filter(pl.col("model") == tests["model"].min()).drop("model")
    return tests.select(~pl.selectors.ends_with("_agent"))


@pytest.fixture(scope="module")
def drawn(responses, design, people):
    """The intervals of a level, each computed once."""

    @cache
    def of(level="model"):
        return participant_intervals(responses, design, people, resample=METHOD, level=level)

    return of


def finished(statistics, people):
    """Tests by the public functions, one after the other, both sides at once."""
    tests = statistics.join(people.drop("test_type"), on=KEYS, nulls_equal=True)
    return with_effect_sizes(with_pas(with_posteriors(with_bayes_factors(tests))))


@pytest.fixture(scope="module")
def whole(responses, design, people):
    return finished(participant_statistics(responses, design), people)


@pytest.fixture(scope="module")
def replicates(responses, design, people):
    return finished(pl.concat(resampled_statistics(responses, design, METHOD)), people)


def by_hand(tests, level, by):
    """Scores of finished tests."""
    of_pas = {"model": model_scores, "domain": domain_scores, "study": study_scores}[level]
    of_ecs = {"model": "overall"}.get(level, level)
    group = [*by, *([] if level == "model" else [f"{level}_id" if level == "study" else level])]
    pas = of_pas(tests, by=by).select(*group, *SCORES[:2])
    concordance = ecs(tests, of_ecs, by=by).select(*group, "ecs")
    return pas.join(concordance, on=group, nulls_equal=True).sort(group), group


@pytest.mark.parametrize("level", ["model", "domain", "study"])
def test_each_replicate_as_by_hand(whole, replicates, drawn, level):
    found = drawn(level)
    points, group = by_hand(whole, level, ["model"])
    assert_frame_equal(found.select(*group, *SCORES), points, rel_tol=1e-9, abs_tol=1e-9)
    each, _ = by_hand(replicates, level, ["replicate", "model"])
    naive = each.group_by(group).agg(
        *(pl.col(name).std().alias(f"{name}_std_error") for name in SCORES),
        *(pl.col(name).mean().alias(f"{name}_mean") for name in SCORES),
        *(pl.col(name).quantile(0.975, "linear").alias(f"{name}_upper") for name in SCORES),
        *((1 - pl.col(name).count() / METHOD.n).alias(f"{name}_drop_rate") for name in SCORES),
    )
    known = found.filter(pl.col("ecs").is_not_null())
    expected = known.select(*group, *SCORES).join(naive, on=group, maintain_order="left")
    for name in SCORES:
        bias = pl.col(f"{name}_mean") - pl.col(name)
        moved = (pl.col(f"{name}_upper") - bias).clip(-1.0, 1.0)
        expected = expected.with_columns(bias.alias(f"{name}_bias"), moved.alias(f"{name}_upper"))
    expected = expected.drop("^.*_mean$")
    assert len(expected)
    assert_frame_equal(known.select(expected.columns), expected, rel_tol=1e-9, abs_tol=1e-9)
    assert known["pas_std_error"].min() > 0


def test_percentile_intervals_stand_around_the_estimate(responses, design, people, drawn):
    method = replace(METHOD, interval="basic")
    moved, basic = drawn(), participant_intervals(responses, design, people, resample=method)
    for name in SCORES:
        bias, estimate = moved[f"{name}_bias"], moved[name]
        least = 0.0 if name == "pas" else -1.0
        assert bias.abs().min() > 0
        # A basic interval is the percentile interval reflected at the estimate.
        for end, other in (("lower", "upper"), ("upper", "lower")):
            percentile = 2 * estimate - basic[f"{name}_{other}"]
            expected = (percentile - bias).clip(least, 1.0)
            assert moved[f"{name}_{end}"].to_list() == pytest.approx(expected.to_list())
        assert (moved[f"{name}_lower"] <= estimate).all()
        assert (moved[f"{name}_upper"] >= estimate).all()


def test_participants_are_counted(responses, drawn):
    assert drawn("study")["n_clusters"].unique().to_list() == [60]
    studies = responses["study_id"].n_unique()
    assert drawn()["n_clusters"].unique().to_list() == [60 * studies]


def test_chunks_and_order_of_rows_do_not_matter(responses, design, people, drawn, monkeypatch):
    first = drawn()
    monkeypatch.setattr(draws_module, "_HELD", 5_000)
    shuffled = responses.sample(fraction=1.0, shuffle=True, seed=1)
    again = participant_intervals(shuffled, design, people, resample=METHOD)
    assert_frame_equal(first, again, rel_tol=1e-9, abs_tol=1e-9)


def test_posteriors_and_effects_of_people_may_be_given(responses, design, people, drawn):
    made = with_effect_sizes(
        with_posteriors(
            with_bayes_factors(people, "human").with_columns(
                log_bayes_factor_agent=pl.lit(None, pl.Float64)
            )
        )
    )
    given = made.select(*KEYS, "domain", "^pi_.*_human$", "pi_human", "effect_d_human")
    from_posteriors = participant_intervals(responses, design, given, resample=METHOD)
    assert_frame_equal(drawn(), from_posteriors, rel_tol=1e-9, abs_tol=1e-9)
    two_way = given.select(*KEYS, "pi_human")
    found = participant_intervals(responses, design, two_way, resample=METHOD)
    assert found["ecs"].null_count() == len(found)
    assert found["ecs_lower"].null_count() == len(found)
    assert found["pas"].null_count() == 0


def test_a_human_side_for_each_model_and_one_that_repeats(responses, design, people, drawn):
    once = drawn()
    models = responses.select("model").unique()
    each = people.join(models, how="cross")
    twice = pl.concat([each, each])
    assert_frame_equal(participant_intervals(responses, design, twice, resample=METHOD), once)
    other = pl.concat([people, people[:1].with_columns(stat_human=pl.lit(9.9))])
    with pytest.raises(ParameterError, match=r"a test twice, and not alike: study_id='"):
        participant_intervals(responses, design, other, resample=METHOD)


def test_without_keys_all_participants_are_one_model(responses, design, people, drawn):
    name = responses["model"][0]
    one = responses.filter(model=name).drop("model")
    alone = participant_intervals(one, design, people, resample=METHOD, by=None)
    named = drawn().filter(model=name)
    assert_frame_equal(alone, named.drop("model"), rel_tol=1e-9, abs_tol=1e-12)


def test_studies_feed_the_pooling_by_inverse_variance(drawn):
    pooled = drawn("study").group_by("model").agg(inverse_variance_pas(std_error="pas_std_error"))
    pooled = pooled.unnest("inverse_variance_pas")
    assert pooled["pas"].is_between(0.0, 1.0).all()
    assert pooled["std_error"].min() > 0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"level": "finding"}, ParameterError, r"level must be one of"),
        (
            {"resample": ef.Bootstrap(cluster="participant_id", interval="bca")},
            ParameterError,
            r"no BCa intervals",
        ),
        ({"resample": None}, ParameterError, r"resample must be ef.Bootstrap"),
        ({"resample": ef.Bootstrap(cluster="person")}, MissingColumnsError, r"person"),
        ({"by": "ecs"}, ParameterError, r"has a column 'ecs' of its own"),
        ({"by": ["model", "heat"]}, MissingColumnsError, r"heat"),
    ],
)
def test_refusals(responses, design, people, change, error, message):
    settings = {"resample": METHOD} | change
    with pytest.raises(error, match=message):
        participant_intervals(responses, design, people, **settings)


def test_refusals_of_tables(responses, design, people):
    with pytest.raises(ParameterError, match="no column 'domain'"):
        participant_intervals(
            responses, design, people.drop("domain"), resample=METHOD, level="domain"
        )
    with pytest.raises(MissingColumnsError, match="stat_human"):
        participant_intervals(responses, design, people.select(*KEYS, "test_type"), resample=METHOD)
    text = people.with_columns(stat_human=pl.col("stat_human").cast(pl.String))
    with pytest.raises(ContractError, match="stat_human"):
        participant_intervals(responses, design, text, resample=METHOD)


def test_random_alignment_is_of_the_pooled_participants(responses, design, people):
    found = random_alignment(responses, design, people, n=8, seed=3)
    assert found["metric"].to_list() == SCORES
    pooled = responses.with_columns(who=pl.concat_str("model", "participant_id", separator="\x1f"))
    method = ef.Bootstrap(cluster="who", n=8, seed=3)
    statistics = pl.concat(resampled_statistics(pooled, design, method, by=[]))
    drawn, _ = by_hand(finished(statistics, people), "model", ["replicate"])
    for row in found.iter_rows(named=True):
        values = drawn[row["metric"]].to_numpy()
        assert row["mean"] == pytest.approx(values.mean(), abs=1e-9)
        assert row["sd"] == pytest.approx(values.std(), abs=1e-9)
        for name, share in (("percentile_2_5", 2.5), ("median", 50), ("percentile_95", 95)):
            assert row[name] == pytest.approx(np.percentile(values, share), abs=1e-9)
        assert row["n_replicates"] == 8


def test_random_alignment_by_groups_and_studies(responses, design, people):
    two = pl.concat([responses.with_columns(heat=pl.lit(heat)) for heat in (0.0, 1.0)])
    found = random_alignment(two, design, people, by="heat", level="study", n=10)
    assert found.columns[:3] == ["heat", "study_id", "metric"]
    assert len(found) == 2 * responses["study_id"].n_unique() * 3
    halves = [found.filter(heat=heat).drop("heat") for heat in (0.0, 1.0)]
    assert_frame_equal(*halves, rel_tol=1e-9, abs_tol=1e-9)


def test_preferred_standard_errors():
    studies = pl.DataFrame(
        {
            "again": [0.1, None, float("nan"), None],
            "pas_std_error": [0.2, 0.2, None, None],
            "score_se": [0.3, 0.3, 0.3, None],
        }
    )
    found = studies.select(preferred_std_error("again", stored="score_se")).unnest(pl.all())
    assert found.rows() == [(0.1, "repeat"), (0.2, "bootstrap"), (0.3, "stored"), (None, None)]
    assert found.schema == {"std_error": pl.Float64, "se_method": pl.String}
    with pytest.raises(ParameterError, match="name a column of standard errors: repeat, boot"):
        preferred_std_error(bootstrap=None)


def test_bootstrap_moments_as_numpy_has_them():
    rng = np.random.default_rng(0)
    values = rng.normal(size=12)
    found = bootstrap_moments(pl.DataFrame({"x": values}), pl.col("x").median(), n=50, seed=9)
    drawn = np.random.RandomState(9).randint(0, 12, size=(50, 12))
    medians = np.median(values[drawn], axis=1)
    row = found.row(0, named=True)
    assert row["mean"] == pytest.approx(medians.mean(), abs=1e-12)
    assert row["std_error"] == pytest.approx(medians.std(ddof=1), abs=1e-12)
    assert row["n_replicates"] == 50


@pytest.mark.parametrize(
    ("room", "expected"),
    [(replication, (None, None, 0)), (humanstudy_bench, (0.0, 0.0, 0))],
)
def test_bootstrap_moments_of_nothing(room, expected):
    empty = pl.DataFrame({"x": []}, schema={"x": pl.Float64})
    assert room.bootstrap_moments(empty, pl.col("x").mean()).row(0) == expected


def test_bootstrap_moments_where_every_replicate_fails():
    table = pl.DataFrame({"k": ["a"] * 3 + ["b"] * 3, "x": [1.0, 2.0, 3.0] * 2})
    broken = pl.when(pl.col("k").first() == "a").then(pl.col("x").sum()).otherwise(float("inf"))
    found = humanstudy_bench.bootstrap_moments(table, broken, by="k", n=20)
    assert found["k"].to_list() == ["a", "b"]
    assert found.row(1)[1:] == (float("inf"), 0.0, 0)
    documented = bootstrap_moments(table, broken, by="k", n=20)
    assert documented.row(1)[1:] == (None, None, 0)
    assert documented.row(0)[1:] == found.row(0)[1:]


@pytest.mark.parametrize("interval", ["basic", "normal"])
def test_intervals_keep_to_the_range_of_the_scores(interval):
    data = Path(__file__).parents[2] / "data/replication_tests.parquet"
    tests = ef.replication.with_evidence(pl.read_parquet(data))
    method = ef.Bootstrap(cluster="study_id", n=100, interval=interval)
    found = ef.replication.ecs(tests, resample=method)
    assert found["ecs_upper"].max() == 1.0
    assert found["ecs_lower"].min() >= -1.0
