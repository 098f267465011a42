"""PAS of the published benchmark, recomputed from its findings, studies and human tests."""

import polars as pl
import pytest

from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.replication.agreement.directions import with_directions
from evalframe.replication.agreement.metrics import mean_pas
from evalframe.replication.agreement.studies import model_scores, study_scores

ROOMS = [replication, humanstudy_bench]


@pytest.fixture(scope="module")
def published(shared):
    folder = shared / "data/replication"
    names = {"config": "model", "pas_raw": "pas", "finding_score": "pas"}
    read = {
        name: pl.read_parquet(folder / f"published_{name}.parquet")
        for name in ("findings", "studies", "benchmark")
    }
    mixed = read["benchmark"].filter("is_mixed")["config"]
    read["benchmark"] = read["benchmark"].drop("model")
    made = {name: frame.rename(names, strict=False) for name, frame in read.items()}
    return made | {"mixed": mixed.to_list()}


def gaps(made, wanted, keys):
    joined = made.join(wanted, on=keys, suffix="_published").drop_nulls("pas_published")
    return joined.select((pl.col("pas") - pl.col("pas_published")).abs()).to_series()


def test_published_models_are_means_of_studies(published):
    found = gaps(model_scores(published["studies"]), published["benchmark"], ["model"])
    assert len(found) == 61
    assert found.max() < 1e-12


@pytest.mark.parametrize("room", ROOMS)
def test_published_studies_are_means_of_z(published, room):
    single = published["findings"].filter(
        ~pl.col("model").is_in(published["mixed"]),
        pl.col("study_id").is_in([f"study_{number:03}" for number in (3, 4, 5, 7, 11)]),
    )
    made = room.study_scores(single, rule="mean_z")
    found = gaps(made, published["studies"], ["model", "study_id"])
    assert len(found) == 285
    assert found.max() < 1e-12
    plain = gaps(study_scores(single), published["studies"], ["model", "study_id"])
    assert plain.max() == pytest.approx(0.43, abs=0.01)


def test_published_mixed_models_are_arithmetic_means(published):
    mixed = published["findings"].filter(pl.col("model").is_in(published["mixed"]))
    # Two studies count a finding once for each of its sub-studies; another counts all tests alike.
    study, finding, tests = pl.col("study_id"), pl.col("finding_id"), pl.col("n_tests")
    times = (
        pl.when(study.is_in(["study_002", "study_008"]) & (finding == "F1"))
        .then(3)
        .when((study == "study_008") & (finding == "F2"))
        .then(2)
        .when(study == "study_010")
        .then(tests)
        .otherwise(1)
    )
    counted = mixed.with_columns(times.alias("times"))
    made = study_scores(counted, weight="times")
    found = gaps(made, published["studies"], ["model", "study_id"])
    assert len(found) == 48
    assert found.max() < 1e-12
    models = gaps(model_scores(made), published["benchmark"], ["model"])
    assert models.max() < 1e-12


def test_published_mixed_studies_are_those_without_agents(published, shared):
    human = pl.read_parquet(shared / "data/replication/human_tests.parquet")
    tests = human.filter(pl.col("study_id") != "study_009").with_columns(pas="pas_no_agent")
    composite = ["study_002", "study_004", "study_008"]
    by_study = pl.concat(
        [
            study_scores(part, rule="weighted_mean", finding_rule="weighted_mean", finding_key=key)
            for key, part in (
                ("composite", tests.filter(pl.col("study_id").is_in(composite))),
                ("finding_id", tests.filter(~pl.col("study_id").is_in([*composite, "study_010"]))),
            )
        ]
    ).select("study_id", "pas")
    ten = tests.filter(study_id="study_010").select("study_id", mean_pas().alias("pas")).unique()
    alone = pl.concat([by_study, ten])
    mixed = published["studies"].filter(pl.col("model").is_in(published["mixed"]))
    cells = mixed.join(alone, on="study_id", suffix="_alone")
    same = (cells["pas"] - cells["pas_alone"]).abs() < 1e-12
    assert (same.sum(), len(cells)) == (35, 44)


def test_published_directions_are_those_of_signed_statistics_but_for_three(shared):
    human = pl.read_parquet(shared / "data/replication/human_tests.parquet")
    types = {"t_jzs": "t-test", "r_jzs": "pearson", "mannwhitney_jzs": "mannwhitneyu"}
    types |= {"binomial_beta11": "binomial", "anova_jzs": "anova", "chi2_bic": "chi-square"}
    tests = human.lazy().select(
        "study_id",
        test_type=pl.col("bf_family").replace_strict(types, default=None),
        **{f"{name}_human": name for name in ("stat", "n1", "n2", "p0", "direction")},
    )
    derived = with_directions(tests.drop("direction_human"), ["human"]).collect()
    assert derived["direction_human"].count() == 60
    given = with_directions(tests, ["human"]).collect()
    assert given["direction_human"].equals(human["direction"].cast(pl.Float64))
    # Two t are stored without their sign; a share below its p0 is said to be above it.
    conflicts = given.filter("has_direction_conflict")
    assert conflicts.select("study_id", "test_type", "direction_human").rows() == [
        ("study_002", "t-test", -1.0),
        ("study_007", "t-test", -1.0),
        ("study_009", "binomial", 1.0),
    ]
