"""The sample of the replication family."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.contract import validate
from evalframe.core.errors import ParameterError
from evalframe.core.samples import content_hash
from evalframe.replication.agreement.alignment import with_pas, with_posteriors
from evalframe.replication.bayes_factors.table import with_bayes_factors
from evalframe.replication.contract import (
    KEYS,
    designs_contract,
    missing_tests,
    replication_contract,
    responses_contract,
)
from evalframe.replication.effects.table import with_effect_sizes
from evalframe.replication.participants.rows import unmatched_responses
from evalframe.replication.participants.statistics import participant_statistics
from evalframe.replication.sample import (
    MODELS,
    sample_designs,
    sample_files,
    sample_participants,
    sample_tests,
)


def test_content_is_the_same_everywhere():
    hashes = [content_hash(file.content)[:12] for file in sample_files()]
    assert hashes == ["1e69d1af881d", "1291827f9a93", "c96d8c600c9f"]
    other = [content_hash(file.content)[:12] for file in sample_files(seed=1)]
    assert [a == b for a, b in zip(hashes, other, strict=True)] == [False, False, True]


def test_the_tables_obey_their_contracts():
    assert validate(sample_tests(), replication_contract()).rejected == 0
    responses = sample_participants()
    assert validate(responses, responses_contract(value_2="value_2")).rejected == 0
    assert validate(sample_designs(), designs_contract()).rejected == 0
    assert missing_tests(sample_tests()).is_empty()
    assert unmatched_responses(responses, sample_designs()).is_empty()
    assert 0 < responses["value"].null_count() < len(responses) / 20


def test_tests_come_from_responses():
    tests = sample_tests()
    made = participant_statistics(sample_participants(), sample_designs())
    joined = tests.select("model", *KEYS).join(made, on=["model", *KEYS], maintain_order="left")
    agent = [name for name in made.columns if name.endswith("_agent")]
    assert_frame_equal(joined.select(agent), tests.select(agent), abs_tol=5.1e-5)
    assert tests["stat_agent"].null_count() == tests["stat_human"].null_count() == 0
    assert tests["domain"].n_unique() == 3
    assert tests["model"].unique(maintain_order=True).to_list() == sorted(MODELS)


def test_models_differ_as_they_are_said_to():
    scored = with_pas(with_posteriors(with_bayes_factors(with_effect_sizes(sample_tests()))))
    means = scored.group_by("model").agg(
        pl.col("pas").mean(),
        pl.col("effect_d_agent").abs().mean().alias("size"),
        pl.col("effect_d_human").abs().mean().alias("human"),
        pl.col("pas").null_count().alias("missing"),
    )
    found = {row["model"]: row for row in means.iter_rows(named=True)}
    at_random, exaggerating, alike = (found[name] for name in sorted(MODELS))
    assert at_random["missing"] == 0
    assert at_random["pas"] < alike["pas"]
    assert at_random["pas"] < exaggerating["pas"]
    assert exaggerating["size"] > 1.4 * exaggerating["human"]
    assert alike["size"] == pytest.approx(alike["human"], rel=0.25)


@pytest.mark.parametrize("seed", [-1, "a", None, 1.5])
def test_a_seed_that_is_none_is_refused(seed):
    for sample in (sample_files, sample_tests, sample_participants):
        with pytest.raises(ParameterError, match=f"seed is {seed!r}; choose an integer"):
            sample(seed=seed)
