"""What a job makes of its tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.replication.bridge import kind_of
from evalframe.replication.evidence import with_agreement

if TYPE_CHECKING:
    from evalframe.jobs.replication.job import ReplicationJob

_TYPE = ":test_type"


def with_evidence(tests: pl.LazyFrame, job: ReplicationJob) -> pl.DataFrame:
    """The tests with Bayes factors, posteriors, PAS, effects and n_eff, as far as can be made.

    Args:
        tests: The tests.
        job: Says by which rules, and with which prior odds.

    Raises:
        MissingColumnsError: There is no PAS, and nothing to make it from.
        ContractError: A test is impossible.
        UnknownNameError: A test type is not known.
    """
    if job.results:
        return _of_results(tests, job)
    made = ef.replication.with_evidence(
        tests,
        human_prior_odds=job.human_prior_odds,
        agent_prior_odds=job.agent_prior_odds,
        missing_agent=job.missing_agent,
        rules=job.rules,
    )
    return made.collect()


def _of_results(tests: pl.LazyFrame, job: ReplicationJob) -> pl.DataFrame:
    """The same of results, which report statistics as text, and p-values beside posteriors.

    A type that is not known costs a test its effects, as a type that is missing does. In them
    `wilcoxon` is the test that it is to the original.
    """
    read = as_original()
    known = pl.when(kind_of(read, job.rules).is_not_null()).then(read)
    hidden = tests.with_columns(known.alias("test_type"), pl.col("test_type").alias(_TYPE))
    made = with_agreement(hidden, rules=job.rules).with_columns(test_type=_TYPE).drop(_TYPE)
    return made.collect()


def as_original() -> pl.Expr:
    """Types of tests of results, where `wilcoxon` is the name of another."""
    name = pl.col("test_type").cast(pl.String)
    ranked = name.str.to_lowercase() == "wilcoxon"
    return pl.when(ranked).then(pl.lit("mannwhitneyu")).otherwise(name)
