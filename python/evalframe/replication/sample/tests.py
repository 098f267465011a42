"""The tests of the sample: statistics of people and of three models."""

from __future__ import annotations

import polars as pl

from evalframe.core.samples import SampleFile
from evalframe.replication.contract import KEYS
from evalframe.replication.participants.statistics import participant_statistics
from evalframe.replication.sample.responses import (
    sample_designs,
    sample_participants,
    sample_people,
)
from evalframe.replication.sample.studies import STUDIES

_DECIMALS = 4


def sample_tests(*, seed: int = 0) -> pl.DataFrame:
    """One row per model and test: the statistics of the people, and of those that the model plays.

    They are those of `participant_statistics`, rounded to four decimals, so that sums in another
    order give the same.

    Args:
        seed: Non-negative integer.

    Returns:
        `model`, the keys, `domain`, `test_type`, `test_weight` and `finding_weight` (1),
        `prior_odds_human` (10; 0.1 for findings of no effect) and
        `prior_odds_agent` (1), then the statistics of both sides. Sorted by model, in the order of
        the studies.

    Raises:
        ParameterError: A negative seed.

    Example:
        >>> tests = sample_tests()
        >>> tests.select("model", "study_id", "test_id", "stat_human", "stat_agent").row(0)
        ('harbor-7b', 'lantern-queue', 'patience', 1.7404, -0.9791)
    """
    design = sample_designs()
    human = participant_statistics(sample_people(seed=seed).lazy(), design, by=None, side="human")
    agent = participant_statistics(sample_participants(seed=seed).lazy(), design)
    facts = [
        (study.domain, 10.0 if test.effect else 0.1) for study in STUDIES for test in study.tests
    ]
    known = design.select(KEYS).with_columns(
        pl.Series("domain", [domain for domain, _ in facts]),
        pl.Series("prior_odds_human", [odds for _, odds in facts]),
    )
    on = list(KEYS)
    joined = (
        known.lazy()
        .with_row_index(":order")
        .join(human, on=on)
        .join(agent.drop("test_type"), on=on)
        .sort("model", ":order")
    )
    statistics = pl.col("^(stat|n1|n2|df1|df2|n_total|k|n|p0|a|b|c|d)_(human|agent)$")
    one = pl.lit(1.0)
    return joined.select(
        "model",
        *KEYS,
        "domain",
        "test_type",
        one.alias("test_weight"),
        one.alias("finding_weight"),
        "prior_odds_human",
        one.alias("prior_odds_agent"),
        statistics.round(_DECIMALS),
        pl.col("^(independent|direction|n_missing)_(human|agent)$"),
    ).collect()


def sample_files(*, seed: int = 0) -> list[SampleFile]:
    """The sample as files: tests of both sides, responses of participants, and their design.

    Args:
        seed: Non-negative integer.

    Raises:
        ParameterError: A negative seed.

    Example:
        >>> [file.name for file in sample_files()][:2]
        ['replication_tests.parquet', 'replication_responses.parquet']
    """
    call = f"evalframe.replication.sample.{{}}(seed={seed})"
    return [
        SampleFile(
            name="replication_tests.parquet",
            row="one test of an invented finding: people, and those whom a simulated model plays",
            generator=call.format("sample_tests"),
            seed=seed,
            content=sample_tests(seed=seed),
        ),
        SampleFile(
            name="replication_responses.parquet",
            row="the response of one participant, played by a simulated model, to one test",
            generator=call.format("sample_participants"),
            seed=seed,
            content=sample_participants(seed=seed),
        ),
        SampleFile(
            name="replication_designs.parquet",
            row="one test: how responses become its statistic",
            generator="evalframe.replication.sample.sample_designs()",
            seed=seed,
            content=sample_designs(),
        ),
    ]
