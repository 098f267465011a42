"""Participants drawn anew: a replicate is a weight."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.replication.participants import replicates
from evalframe.replication.participants.replicates import resampled_statistics
from evalframe.replication.participants.statistics import participant_statistics
from evalframe.resample import draws
from evalframe.resample.strata import strata_of, stratified_weights
from replication.participant_data import CASES, KEYS, design_of, keyed, responses_of

DRAWS = ("reference", "counter", "poisson")


def bootstrap(n=12, **more):
    return ef.Bootstrap(cluster="participant_id", n=n, **more)  # type: ignore[arg-type]


def all_of(responses, method, **more):
    studies = responses["study_id"].n_unique()
    return pl.concat(resampled_statistics(responses, design_of(studies), method, **more))  # type: ignore[arg-type]


def weights_of(responses, method, side="agent"):
    """How often each participant of each study is drawn, one column for each replicate."""
    strata = strata_of(method, responses, [], "study_id", "participant_id")
    chunks = stratified_weights(method, strata, None if side == "agent" else side).chunks(5)
    drawn = np.concatenate([np.asarray(chunk) for chunk in chunks])
    members = strata.members.drop(":stratum_size")
    columns = {str(i): row[members[":slot"].to_numpy()] for i, row in enumerate(drawn)}
    return members.with_columns(pl.Series(name, values) for name, values in columns.items())


@pytest.mark.parametrize(
    ("draws", "coarse"), [("reference", True), ("counter", False), ("poisson", True)]
)
def test_a_replicate_is_a_weight(draws, coarse, monkeypatch):
    monkeypatch.setattr(replicates, "_HELD", 1000)  # several chunks
    rng = np.random.default_rng(3)
    responses = pl.concat(
        [
            responses_of(rng, 11, coarse=coarse),
            responses_of(rng, 19, studies=2, coarse=coarse).filter(study_id="s2"),
        ]
    )
    responses = responses.with_columns(
        value=pl.when(pl.int_range(pl.len()) % 17 > 0).then("value")  # some are missing
    )
    method = bootstrap(n=3, draws=draws)
    found = all_of(responses, method, by=None)
    assert found["replicate"].to_list() == [i for i in range(3) for _ in range(2 * len(CASES))]
    weighted = responses.join(weights_of(responses, method), on=["study_id", "participant_id"])
    for i, (_, one) in enumerate(found.group_by("replicate", maintain_order=True)):
        whole = participant_statistics(weighted, design_of(2), by=None, weight=str(i))
        assert_frame_equal(
            one.drop("replicate"), whole.drop("n_missing_agent"), rel_tol=1e-9, abs_tol=1e-12
        )


@pytest.mark.parametrize("draws", DRAWS)
def test_studies_and_sides_are_drawn_apart(draws):
    responses = responses_of(np.random.default_rng(0), 200, studies=2)
    method = bootstrap(draws=draws, n=8)
    agent, human = (weights_of(responses, method, side) for side in ("agent", "human"))
    one, two = (
        table.sort("participant_id").filter(study_id=study).select(map(str, range(8))).to_numpy()
        for table, study in ((agent, "s1"), (agent, "s2"))
    )
    other = human.sort("participant_id").filter(study_id="s1").select(map(str, range(8))).to_numpy()
    if draws != "poisson":
        assert (one.sum(axis=0) == 200).all()
    assert abs(np.corrcoef(one.ravel(), two.ravel())[0, 1]) < 0.1
    assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.1
    assert abs(np.corrcoef(one[:, 0], one[:, 1])[0, 1]) < 0.2


@pytest.mark.parametrize("draws", ["counter", "poisson"])
def test_draws_of_a_study_are_its_own(draws):
    responses = responses_of(np.random.default_rng(0), 9, studies=2)
    method = bootstrap(draws=draws)
    alone = all_of(responses.filter(study_id="s1"), method, by=None)
    together = all_of(responses, method, by=None).filter(study_id="s1")
    assert_frame_equal(alone, together)


def test_one_study_has_the_draws_of_any_bootstrap():
    responses = responses_of(np.random.default_rng(0), 9)
    method = bootstrap(n=4)
    drawn = next(draws.bootstrap_weights(method, pl.Series(range(9))).chunks(4))
    found = weights_of(responses, method).sort("participant_id").select(map(str, range(4)))
    assert np.array_equal(found.to_numpy().T, drawn)


@pytest.mark.parametrize("draws", DRAWS)
def test_models_share_their_draws(draws):
    responses = responses_of(np.random.default_rng(0), 9, studies=2)
    twins = pl.concat(responses.with_columns(model=pl.lit(name)) for name in "ba")
    found = all_of(twins, bootstrap(draws=draws))
    assert found.columns[:3] == ["replicate", "model", "study_id"]
    left, right = (found.filter(model=name).drop("model") for name in "ab")
    assert_frame_equal(left, right)
    keys = found.select("replicate", "model", *KEYS)
    assert keys.equals(keys.sort(keys.columns))


def test_rows_and_columns_in_any_order():
    responses = responses_of(np.random.default_rng(0), 9, studies=2)
    shuffled = responses.sample(fraction=1, shuffle=True, seed=3)
    left, right = (all_of(frame, bootstrap(), by=None) for frame in (responses, shuffled))
    assert_frame_equal(left, right, rel_tol=1e-9, abs_tol=1e-12)


def test_a_test_without_a_valid_response_stays():
    nothing = pl.when(pl.col("test_id") != "anova").then("value")
    responses = responses_of(np.random.default_rng(0), 9).with_columns(value=nothing)
    found = all_of(responses, bootstrap(), by=None).filter(test_id="anova")
    assert found.select("stat_agent", "n_total_agent").unique().rows() == [(None, 0.0)]


def test_equal_measures_have_no_variance_in_any_replicate():
    people = 12
    values = [0.1, 0.2, 0.3, 0.7, 1e5 + 0.1, 0.6] * 2
    responses = pl.DataFrame(
        {
            **keyed("one"),
            "participant_id": range(people),
            "condition": pl.Series([None] * people, dtype=pl.String),
            "value": values,
        }
    )
    design = design_of(cases={"one": CASES["one"]}).with_columns(null_value=0.0)
    method = bootstrap(n=2000, draws="poisson")
    drawn = weights_of(responses, method).sort("participant_id").drop("study_id", "participant_id")
    counted = drawn.drop(":slot").to_numpy()
    kinds = np.array(
        [len({v for v, w in zip(values, column, strict=True) if w}) for column in counted.T]
    )
    found = pl.concat(resampled_statistics(responses, design, method, by=None))
    assert (found["stat_agent"].is_null().to_numpy() == (kinds < 2)).all()


def test_what_cannot_be_drawn_is_refused():
    responses = responses_of(np.random.default_rng(0), 9)
    with pytest.raises(ParameterError, match="null or NaN ids"):
        all_of(responses.with_columns(participant_id=None), bootstrap(), by=None)
    with pytest.raises(ParameterError, match="at least two clusters"):
        all_of(responses.filter(participant_id=1), bootstrap(), by=None)
    with pytest.raises(ParameterError, match=r"resampled by ef\.Bootstrap"):
        resampled_statistics(responses, design_of(), ef.Jackknife(cluster="participant_id"))  # type: ignore[arg-type]


@pytest.mark.parametrize("by", [None, "model"])
def test_without_responses_there_is_one_empty_table(by):
    responses = responses_of(np.random.default_rng(0), 9).with_columns(model=pl.lit("a"))
    some = all_of(responses, bootstrap(), by=by)
    elsewhere = responses.with_columns(study_id=pl.lit("s9"))
    for nobody in (responses.head(0), elsewhere):
        tables = list(resampled_statistics(nobody, design_of(), bootstrap(), by=by))
        assert len(tables) == 1
        assert_frame_equal(tables[0], some.head(0))
