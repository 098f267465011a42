"""Posteriors from Bayes factors, and PAS of single tests."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.compat.humanstudy_bench import scores
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.replication.agreement.alignment import pas, pas_three_way, with_pas, with_posteriors
from evalframe.replication.agreement.posteriors import (
    clamped_fisher_z,
    fisher_z,
    pas_of_z,
    posterior,
    posterior_three_way,
    z_of_pas,
)
from evalframe.replication.agreement.scalings import (
    field_comparable_pas,
    human_ceiling,
    pas_above_chance,
    pas_ratio,
    pas_within_range,
)
from evalframe.replication.agreement.studies import DOMAINS, domain
from replication.golden import cases, lit, near, number, value

ROOMS = [replication, humanstudy_bench]

WAYS = ("pi_plus", "pi_minus", "pi_zero")


@pytest.mark.parametrize("room", ROOMS)
def test_golden_three_way_posteriors(golden, room):
    found = cases(golden, "bayes_factor", "posterior_3way")
    columns = {
        "bf10": [number(case["inputs"]["bf10"]) for case in found],
        "direction": [case["inputs"]["direction"] for case in found],
        "prior_odds": [case["inputs"]["prior_odds"] for case in found],
    }
    split = room.posterior_three_way("bf10", "direction", pl.col("prior_odds"))
    made = pl.DataFrame(columns, strict=False).select(split).unnest("posterior")
    for case, ways in zip(found, made.iter_rows(), strict=True):
        wanted = case["expected"]
        if room is replication and math.isnan(number(case["inputs"]["bf10"])):
            assert ways == (None, None, None)
        elif room is humanstudy_bench or wanted["pi_plus"] is not None:
            assert ways == tuple(near(wanted[way]) for way in WAYS), case["id"]
        else:  # an overflow of the original
            assert sum(ways) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("factor", "odds", "found"),
    [
        (1.0, 1.0, 0.5),
        (1e308, 10.0, 1.0),
        (math.inf, 10.0, 1.0),
        (0.0, 10.0, 0.0),
        (math.inf, 0.0, None),
        (math.nan, 1.0, None),
        (None, 1.0, None),
        (-1.0, 1.0, None),
        (1.0, -1.0, None),
        (5e-324, 1e-5, 0.0),
    ],
)
def test_posteriors_at_the_ends(factor, odds, found):
    assert value(posterior(lit(factor), lit(odds))) == found
    split = posterior_three_way(lit(factor), lit(1), lit(odds))
    ways = [value(split.struct.field(way)) for way in WAYS]
    assert ways == [None] * 3 if found is None else sum(ways) == pytest.approx(1.0)


@settings(max_examples=8, deadline=None)
@given(st.floats(-600, 600), st.floats(1e-3, 1e3))
def test_logarithms_give_the_same_posteriors(logarithm, odds):
    plain = value(posterior(lit(math.exp(logarithm)), odds))
    assert value(posterior(lit(logarithm), odds, scale="log")) == pytest.approx(plain, rel=1e-10)


def test_logarithms_beyond_all_floats():
    factors = pl.Series([-1e5, -800.0, 800.0, 1e5, math.inf, -math.inf])
    found = pl.select(posterior(pl.lit(factors), 10.0, scale="log")).to_series().to_list()
    assert found == [0.0, 0.0, 1.0, 1.0, 1.0, 0.0]


def test_a_null_direction_is_no_direction():
    assert value(posterior_three_way(lit(1), lit(None), 1.0).struct.field("pi_plus")) is None
    original = humanstudy_bench.posterior_three_way(lit(1), lit(None), 1.0)
    assert value(original.struct.field("pi_plus")) == 0.25


@pytest.mark.parametrize(
    "call",
    [
        lambda: posterior("bf", 1.0, scale="ln"),
        lambda: pas_three_way(human=["a", "b"]),
        lambda: with_posteriors(pl.DataFrame(), missing_agent="null"),
        lambda: with_pas(pl.DataFrame(), ways="both"),
    ],
)
def test_arguments_outside_their_domain(call):
    with pytest.raises(ParameterError, match=r"must be one of|three columns: plus, minus, zero"):
        call()


def test_golden_two_way_pas(golden):
    for case in cases(golden, "aggregate_pas", "pas_2way"):
        sides = [lit(number(case["inputs"][side])) for side in ("pi_h", "pi_a")]
        assert value(humanstudy_bench.pas(*sides)) == near(case["expected"]), case["id"]
        pi_h, pi_a = (number(case["inputs"][side]) for side in ("pi_h", "pi_a"))
        possible = 0 <= pi_h <= 1 and 0 <= pi_a <= 1
        wanted = pi_h * pi_a + (1 - pi_h) * (1 - pi_a) if possible else None
        assert value(pas(*sides)) == near(wanted)


@pytest.mark.parametrize("room", ROOMS)
def test_golden_three_way_pas(golden, room):
    for case in cases(golden, "aggregate_pas", "pas_3way"):
        sides = [[lit(case["inputs"][side].get(way)) for way in WAYS] for side in ("pi_h", "pi_a")]
        whole = all(len(case["inputs"][side]) == 3 for side in ("pi_h", "pi_a"))
        sums = [sum(case["inputs"][side].values()) for side in ("pi_h", "pi_a")]
        whole = whole and sums == pytest.approx([1.0, 1.0], abs=1e-6)
        wanted = case["expected"] if whole or room is humanstudy_bench else None
        assert value(room.pas_three_way(*sides)) == near(wanted), case["id"]


def test_pas_of_what_is_missing():
    missing, nan = lit(None), lit(math.nan)
    assert value(pas(missing, lit(0.5))) is None
    assert value(pas(nan, lit(0.5))) is None
    assert value(humanstudy_bench.pas(missing, lit(0.9))) == 0.5
    assert value(humanstudy_bench.pas(nan, lit(0.9))) == pytest.approx(0.9, abs=1e-5)
    assert value(pas_three_way([lit(1), lit(0), missing], [lit(1), lit(0), lit(0)])) is None
    original = humanstudy_bench.pas_three_way([lit(1), lit(0), missing], [lit(1), lit(0), lit(0)])
    assert value(original) == 1.0


def test_posteriors_that_do_not_sum_to_1_are_none():
    ones, half = [lit(1.0)] * 3, [lit(0.5), lit(0.0), lit(0.5)]
    assert value(pas_three_way(ones, ones)) is None
    assert value(pas_three_way(ones, half)) is None
    assert value(pas_three_way(half, ones)) is None
    assert value(humanstudy_bench.pas_three_way(ones, ones)) == 3.0
    assert value(human_ceiling(ones)) is None
    nearly = [lit(1.0 + 5e-10), lit(-5e-10), lit(0.0)]
    assert value(pas_three_way(nearly, nearly)) == 1.0
    off = [lit(0.5), lit(0.0), lit(0.5 + 2e-6)]
    assert value(pas_three_way(off, half)) is None
    assert value(pas(lit(1.0 + 1e-12), lit(1.0))) == 1.0
    assert value(pas(lit(1.0 + 1e-6), lit(1.0))) is None
    assert value(field_comparable_pas(lit(0.5), lit(0.9), lit(1.5))) == 0.5


def test_z_is_antisymmetric():
    shares = np.concatenate([[0.0, 1e-9, 5e-7, 0.25, 0.5], np.arange(1, 32) / 64])
    z = pl.DataFrame({"low": shares, "high": 1.0 - shares}).select(
        z_of_pas(pl.col("low")).alias("low"), z_of_pas(pl.col("high")).alias("high")
    )
    np.testing.assert_allclose(z["low"], -z["high"], rtol=1e-9)
    ends = z.head(1)
    assert ends["low"].item() == -ends["high"].item() == pytest.approx(-0.5 * math.log(1999999))


def test_structs_of_posteriors_are_taken_as_they_come():
    split = posterior_three_way(lit(4.0), lit(1), 1.0)
    assert value(pas_three_way(split, split)) == pytest.approx(0.79992**2 + 0.00008**2 + 0.04)


def test_golden_fisher_z(golden):
    functions = {"fisher_z_unclamped": fisher_z, "fisher_z_clamped": clamped_fisher_z}
    for family, function in functions.items():
        for case in cases(golden, "aggregate_pas", family):
            found = value(function(lit(number(case["inputs"]["r"]))))
            assert found == near(case["expected"]), case["id"]
    for case in cases(golden, "aggregate_pas", "fisher_z_inverse"):
        found = 2 * value(pas_of_z(lit(number(case["inputs"]["z"])))) - 1
        assert found == near(case["expected"]), case["id"]


def test_z_of_pas_is_the_arctanh_that_numpy_has():
    share = np.random.default_rng(1).beta(0.1, 0.1, 1000)
    clamped = np.clip(2 * share - 1, -1 + 1e-6, 1 - 1e-6)
    for function, tolerance in ((z_of_pas, 1e-9), (scores._z_of_pas, 1e-14)):
        found = pl.select(function(pl.lit(pl.Series(share)))).to_series().to_numpy()
        np.testing.assert_allclose(found, np.arctanh(clamped), rtol=tolerance, atol=1e-15)


def test_golden_scalings(golden):
    for family, function in (
        ("normalize_pas", pas_above_chance),
        ("normalize_test_score", pas_within_range),
    ):
        for case in cases(golden, "aggregate_pas", family):
            pi_human = case["inputs"]["pi_h"]
            three = isinstance(pi_human, dict)
            given_ = [lit(pi_human[way]) for way in WAYS] if three else lit(number(pi_human))
            found = value(function(lit(number(case["inputs"]["pas"])), given_))
            assert found == near(case["expected"]), case["id"]


def test_scalings_of_what_is_missing():
    for function in (pas_ratio, pas_within_range, pas_above_chance):
        for missing in (None, math.nan):
            assert value(function(lit(missing), lit(0.9))) is None, function
            assert value(function(lit(0.5), lit(missing))) is None, function
    assert value(human_ceiling([lit(0.5), lit(0.5), lit(0.0)])) == 0.5
    assert value(field_comparable_pas(lit(0.5), lit(0.9), [lit(0.2), lit(0.7), lit(0.1)])) == 0.7


def test_a_ceiling_below_chance_turns_the_sign_in_the_original_only():
    third = [lit(1 / 3)] * 3
    assert value(pas_ratio(lit(0.7), third)) is None
    assert value(humanstudy_bench.pas_ratio(lit(0.7), third)) == pytest.approx(-1.2)


BAYES = pl.DataFrame(
    {
        "bayes_factor_human": [0.1, 3.0, 1.0],
        "log_bayes_factor_agent": [0.0, None, math.inf],
        "direction_human": [1, -1, 1],
        "direction_agent": [1, 1, -1],
        "prior_odds_human": [None, 1.0, 1.0],
    },
    schema_overrides={"log_bayes_factor_agent": pl.Float64},
)


def test_tables_of_posteriors():
    found = with_posteriors(BAYES)
    assert found["pi_human"].to_list() == [0.5, 0.75, 0.5]
    assert found["pi_agent"].to_list() == [0.5, None, 1.0]
    assert found["pi_plus_agent"].to_list() == [0.49995, None, 0.0001]
    assert with_pas(found)["pas"].null_count() == 1
    assert with_pas(found, ways="two")["pas"].to_list() == [0.5, None, 0.5]


@pytest.mark.parametrize(
    ("fallback", "ways", "two_way"),
    [
        ("null_finding", (0.0, 0.0, 1.0), 0.0),
        ("uniform", (1 / 3, 1 / 3, 1 / 3), 2 / 3),
        ("half_null", (0.0, 0.0, 0.5), 0.0),
    ],
)
def test_what_stands_for_a_missing_agent(fallback, ways, two_way):
    found = with_posteriors(BAYES, missing_agent=fallback)
    row = found.row(1, named=True)
    assert tuple(row[f"{way}_agent"] for way in WAYS) == ways
    assert row["pi_agent"] == pytest.approx(two_way)
    assert found["pi_agent"][0] == 0.5


def test_tables_without_evidence():
    with pytest.raises(MissingColumnsError, match="needs column 'bayes_factor_agent'"):
        with_posteriors(BAYES.drop("log_bayes_factor_agent"))
    with pytest.raises(MissingColumnsError, match="'pi_agent', 'pi_human'"):
        with_pas(BAYES)
    with pytest.raises(MissingColumnsError, match="with_posteriors needs column 'nope'"):
        with_posteriors(BAYES, human_prior_odds="nope")


@pytest.mark.parametrize("name", ["bayes_factor_human", "direction_agent", "prior_odds_human"])
def test_evidence_must_be_numbers(name):
    text = BAYES.with_columns(pl.col(name).cast(pl.String))
    with pytest.raises(ParameterError, match=rf"with_posteriors: .*{name}.* must be numbers"):
        with_posteriors(text)
    with pytest.raises(ParameterError, match=r"with_posteriors: .*odds.* must be numbers"):
        with_posteriors(BAYES.with_columns(odds=pl.lit("10")), agent_prior_odds="odds")
    posteriors = with_posteriors(BAYES).with_columns(pl.col("pi_agent").cast(pl.String))
    with pytest.raises(ParameterError, match=r"with_pas: .*pi_agent.* must be numbers"):
        with_pas(posteriors, ways="two")


def test_a_missing_agent_by_the_originals_rules():
    found = humanstudy_bench.with_posteriors(BAYES)
    assert found["pi_agent"].to_list() == [0.5, 0.5, 1.0]
    assert value(humanstudy_bench.posterior(lit(-1.0), 1.0)) == -math.inf
    split = with_posteriors(BAYES, missing_agent="half_null")
    assert with_pas(split)["pas"][1] is None
    assert humanstudy_bench.with_pas(split)["pas"][1] == pytest.approx(0.125)


def test_domains_of_the_benchmark():
    studies = pl.DataFrame({"study_id": ["study_001", "study_008", "study_012", "other"]})
    found = studies.select(domain()).to_series().to_list()
    assert found == ["Cognition", "Social", "Strategic", None]
    assert len(DOMAINS) == 12
    names = studies["study_id"]
    for text in (names.cast(pl.Enum(names)), names.cast(pl.Categorical)):
        assert text.to_frame().select(domain()).to_series().to_list() == found
    numbers = pl.DataFrame({"study_id": [1, 2]}).select(domain()).to_series()
    assert (numbers.dtype, numbers.to_list()) == (pl.String, [None, None])
