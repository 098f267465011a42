"""From what a table of tests holds to the PAS and the effects of each test, by hand."""

import math

import polars as pl
import pytest

from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    ParameterError,
    UnknownNameError,
)
from evalframe.replication.evidence import with_evidence
from evalframe.replication.sample import sample_tests

ROOMS = [replication, humanstudy_bench]

TESTS = sample_tests()
MADE = ["log_bayes_factor_human", "bayes_factor_agent", "pi_human", "pi_agent", "pas"]
WAYS = [f"pi_{way}_{side}" for side in ("human", "agent") for way in ("plus", "minus", "zero")]
EFFECTS = ["effect_d_human", "effect_d_agent", "std_error_agent", "n_eff"]


def made(room=replication, **columns):
    return room.with_evidence(pl.DataFrame(columns))


@pytest.mark.parametrize("room", ROOMS)
def test_statistics_go_the_whole_way(room):
    factors = room.with_bayes_factors(TESTS)
    posteriors = room.with_posteriors(factors)
    expected = room.with_effect_sizes(room.with_pas(posteriors))
    found = room.with_evidence(TESTS.lazy()).collect()
    assert found.columns == expected.columns
    assert found.select(TESTS.columns).equals(TESTS)
    for name in (*MADE, *WAYS, *EFFECTS):
        assert found[name].to_list() == pytest.approx(expected[name].to_list(), nan_ok=True)


def test_one_statistic_by_hand():
    # 7 heads of 7: integral of p^7 is 1/8, over 1/2^7 is 16; 7 of 14: B(8, 8) 2^14.
    found = made(test_type=["binomial"], k_human=[7], n_human=[7], k_agent=[7], n_agent=[14])
    agent = math.factorial(7) ** 2 / math.factorial(15) * 2**14
    assert found["bayes_factor_human"].item() == pytest.approx(16)
    assert found["bayes_factor_agent"].item() == pytest.approx(agent)
    human, agent = 160 / 161, agent / (1 + agent)
    assert found["pi_human"].item() == pytest.approx(human)
    assert found["pi_agent"].item() == pytest.approx(agent)
    # All heads go up, and half of them neither up nor down.
    assert found.select("direction_human", "direction_agent", "is_two_way").row(0) == (1, 0, False)
    assert found["pas"].item() == pytest.approx(human * agent / 2 + (1 - human) * (1 - agent))
    assert found.select("effect_size_human", "effect_size_agent", "n_eff").row(0) == (1.0, 0.5, 14)


@pytest.mark.parametrize("room", ROOMS)
def test_bayes_factors_alone(room):
    # Odds 10 * 0.3 and 1 * 4: posteriors 3/4 and 4/5.
    found = made(room, bayes_factor_human=[0.3], log_bayes_factor_agent=[math.log(4)])
    assert found["log_bayes_factor_human"].item() == pytest.approx(math.log(0.3))
    assert found["bayes_factor_agent"].item() == pytest.approx(4)
    assert found.select("pi_human", "pi_agent").row(0) == pytest.approx((0.75, 0.8))
    assert found["pas"].item() == pytest.approx(0.75 * 0.8 + 0.25 * 0.2)
    assert "effect_d_human" not in found.columns
    assert "n_eff" not in found.columns


def test_prior_odds_of_the_call_and_of_the_table():
    tests = pl.DataFrame(
        {
            "bayes_factor_human": [1.0, 1.0],
            "bayes_factor_agent": [1.0, 1.0],
            "prior_odds_human": [4.0, None],
        }
    )
    found = with_evidence(tests, human_prior_odds=1, agent_prior_odds=3)
    assert found["pi_human"].to_list() == pytest.approx([0.8, 0.5])
    assert found["pi_agent"].to_list() == pytest.approx([0.75, 0.75])


@pytest.mark.parametrize("room", ROOMS)
def test_posteriors_alone(room):
    two = made(room, pi_human=[0.75, None], pi_agent=[0.8, 0.8])
    assert two["pas"].to_list()[0] == pytest.approx(0.65, abs=1e-5)
    ways = {name: [share] for name, share in zip(WAYS, (0.5, 0.25, 0.25, 0.5, 0.5, 0), strict=True)}
    three = made(room, **ways)
    assert three["pas"].item() == pytest.approx(0.5 * 0.5 + 0.25 * 0.5)
    assert three.columns == [*WAYS, "pas", "is_two_way"]


def test_a_posterior_that_is_missing_makes_no_pas():
    assert made(pi_human=[None, math.nan], pi_agent=[0.8, 0.8])["pas"].to_list() == [None, None]


@pytest.mark.parametrize("room", ROOMS)
def test_pas_alone(room):
    tests = pl.DataFrame({"pas": [0.5, None]})
    assert room.with_evidence(tests).equals(tests)


def test_pas_with_types_and_effects():
    found = made(pas=[0.5], test_type=["t-test"], effect_size_human=[0.5], effect_size_agent=[0.2])
    assert found.select("pas", "effect_d_human", "effect_d_agent").row(0) == (0.5, 0.5, 0.2)
    assert "pi_human" not in found.columns


def test_what_a_row_has_stays_and_the_rest_is_made():
    found = made(
        test_type=["binomial"] * 5,
        k_human=[7] * 5,
        n_human=[7] * 5,
        k_agent=[7] * 5,
        n_agent=[7] * 5,
        bayes_factor_agent=[None, 4.0, None, None, math.nan],
        pi_human=[None, None, 0.5, math.nan, None],
        pas=[None, None, None, 0.125, math.nan],
    )
    assert found["bayes_factor_agent"].to_list() == pytest.approx([16, 4, 16, 16, 16])
    human, agent = 160 / 161, 16 / 17
    ways = 0.9999**2 + 0.0001**2
    assert found["pi_human"].to_list() == pytest.approx([human, human, 0.5, human, human])
    assert found["pi_agent"].to_list() == pytest.approx([agent, 0.8, agent, agent, agent])
    plain = human * agent * ways + (1 - human) * (1 - agent)
    given = human * 0.8 * ways + (1 - human) * 0.2
    half = 0.5 * agent * ways + 0.5 * (1 - agent)
    assert found["pas"].to_list() == pytest.approx([plain, given, half, 0.125, plain])
    assert found["is_two_way"].to_list() == [False, False, False, None, False]
    factors = found.select("bayes_factor_agent", "log_bayes_factor_agent")
    assert factors[:, 1].to_list() == pytest.approx(factors[:, 0].log().to_list())


def test_directions_make_three_ways():
    found = made(
        bayes_factor_human=[0.3, 0.3],
        bayes_factor_agent=[4.0, 4.0],
        direction_human=[1, 1],
        direction_agent=[1, -1],
    )
    assert {*WAYS} <= {*found.columns}
    assert found["pas"][0] > found["pas"][1]


def test_agents_that_are_missing():
    tests = pl.DataFrame({"bayes_factor_human": [1.0], "direction_human": [1]})
    told = "nothing says what came out on the agent side: a table of tests needs 'pas', or of both"
    with pytest.raises(MissingColumnsError, match=told):
        with_evidence(tests)
    found = with_evidence(tests, missing_agent="uniform")
    assert found["pas"].item() == pytest.approx(1 / 3)
    assert not {"log_bayes_factor_agent", "direction_agent"} & {*found.columns}
    some = with_evidence(tests.with_columns(bayes_factor_agent=pl.lit(None)))
    assert some["pas"].to_list() == [None]


def test_bayes_factors_on_either_scale():
    log, ratio = [math.log(4), None, math.nan, None], [None, 4.0, 4.0, math.nan]
    found = made(
        bayes_factor_human=ratio,
        log_bayes_factor_human=log,
        log_bayes_factor_agent=[0.0] * 4,
    )
    for name, value in (("bayes_factor_human", 4), ("log_bayes_factor_human", math.log(4))):
        assert found[name].to_list() == pytest.approx([value, value, value, None])
    assert found["pi_human"].to_list() == pytest.approx([40 / 41] * 3 + [None])


@pytest.mark.parametrize("name", ["pas", "pi_human", "pi_plus_agent", "bayes_factor_agent"])
def test_columns_that_hold_no_numbers(name):
    tests = TESTS.with_columns(pl.lit("high").alias(name))
    with pytest.raises(ParameterError, match=f"{name}.* must be numbers, but is String"):
        with_evidence(tests)


def test_humans_that_are_missing():
    with pytest.raises(MissingColumnsError, match="on the human side"):
        made(pi_agent=[0.5])
    with pytest.raises(MissingColumnsError, match="on the human side"):
        with_evidence(pl.DataFrame({"bayes_factor_agent": [1.0]}), missing_agent="uniform")


def test_tests_that_are_impossible_or_unknown():
    tests = {"k_human": [8], "n_human": [7], "k_agent": [7], "n_agent": [7]}
    with pytest.raises(ContractError, match="k is a whole number from 0 to n"):
        made(test_type=["binomial"], **tests)
    made(humanstudy_bench, test_type=["binomial"], **tests)
    for room in ROOMS:
        with pytest.raises(UnknownNameError, match=r"binomail.*Did you mean 'binomial'"):
            made(room, test_type=["binomail"], **tests)
    with pytest.raises(MissingColumnsError, match="needs column 'test_type'"):
        made(**tests)
    assert made(pas=[0.5], **tests)["pas"].item() == 0.5


def test_eager_in_eager_out_and_lazy_in_lazy_out():
    for room in ROOMS:
        some = TESTS.filter(test_type="t-test")
        for frame, kind in ((some, pl.DataFrame), (some.lazy(), pl.LazyFrame)):
            tests = room.with_evidence(frame)
            assert isinstance(tests, kind)
            for name in ("finding_scores", "study_scores", "model_scores", "ecs", "with_pas"):
                assert isinstance(getattr(room, name)(tests), kind), name
