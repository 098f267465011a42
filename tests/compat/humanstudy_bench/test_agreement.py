"""Posteriors and PAS that HumanStudy-Bench published, and its repair of posteriors."""

import polars as pl
import pytest

from evalframe.compat import humanstudy_bench
from evalframe.replication.agreement.posteriors import human_prior_odds
from replication.golden import cases, lit, near, number, value

WAYS = ("pi_plus", "pi_minus", "pi_zero")


def test_golden_scalar_posteriors(golden):
    for case in cases(golden, "bayes_factor", "posterior_scalar_human_legacy"):
        odds = value(human_prior_odds(pl.lit(not case["inputs"]["is_significant"])))
        found = value(humanstudy_bench.posterior(lit(number(case["inputs"]["bf10"])), odds))
        assert found == near(case["expected"]), case["id"]


def test_golden_prior_repair(golden):
    for case in cases(golden, "bayes_factor", "pi_human_prior_fix"):
        significant = pl.lit(case["inputs"]["is_significant"])
        found = value(
            humanstudy_bench.prior_repair(lit(number(case["inputs"]["pi_human"])), significant)
        )
        wanted = None if isinstance(case["expected"], dict) else case["expected"]
        assert found == near(wanted), case["id"]


def test_the_repaired_pas_forgets_directions():
    columns = {"pas": [0.0, 0.7], "pi_human": [0.4, 0.9], "pi_agent": [None, 0.8]}
    tests = pl.DataFrame({**columns, "is_significant_human": [True, True]})
    assert tests.select(humanstudy_bench.repaired_pas()).to_series().to_list() == [0.5, 0.7]


@pytest.fixture(scope="module")
def human_tests(shared):
    return pl.read_parquet(shared / "data/replication/human_tests.parquet")


def test_published_human_posteriors(human_tests):
    split = humanstudy_bench.posterior_three_way("bf10", "direction", pl.col("prior_odds"))
    made = human_tests.filter(pl.col("bf10").is_not_null()).with_columns(split).unnest("posterior")
    for way in WAYS:
        gap = made.select((pl.col(way) - pl.col(f"pi_h_{way[3:]}")).abs().max()).item()
        assert gap < 1e-12, way


def test_published_pas_without_agents(human_tests):
    human, agent = ([f"{side}_{way[3:]}" for way in WAYS] for side in ("pi_h", "pi_a0"))
    known = human_tests.filter(pl.col("pas_no_agent").is_not_null())
    made = known.with_columns(humanstudy_bench.pas_three_way(human, agent).alias("pas"))
    repaired = (pl.col("pi_h_plus") + pl.col("pi_h_minus") - pl.col("pi_human_scalar")).abs() > 1e-6
    off = (pl.col("pas") - pl.col("pas_no_agent")).abs() > 1e-12
    assert made.filter(off).height == made.filter(off & repaired).height == 5
    agents = pl.col("pi_a0_plus") + pl.col("pi_a0_minus")
    two_way = humanstudy_bench.pas("pi_human_scalar", agents.replace(0.0, 0.5))
    gap = made.filter(off).select((two_way - pl.col("pas_no_agent")).abs().max()).item()
    assert gap < 1e-12
