"""The functions that a job computes with: those of this package, or of HumanStudy-Bench."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.compat import humanstudy_bench
from evalframe.compat.humanstudy_bench.scores import SETTINGS
from evalframe.compat.humanstudy_bench.uncertainty import CHAIN
from evalframe.replication.agreement.scored_tests import Settings
from evalframe.replication.chain import Chain
from evalframe.replication.evidence import agreement_by

if TYPE_CHECKING:
    from evalframe.jobs.replication.job import ReplicationJob

_TYPE = ":test_type"


@dataclass(frozen=True)
class Implementation:
    """Functions of scores, the chain from statistics to them, and how scores are pooled."""

    room: Any
    chain: Chain
    settings: Settings


def implementation_of(job: ReplicationJob) -> Implementation:
    """The functions that a job computes with, and its settings."""
    original = job.rules == "reference"
    defaults = SETTINGS if original else Settings()
    settings = Settings(
        job.finding_rule or defaults.finding_rule,
        job.study_rule or defaults.study_rule,
        job.finding_key,
        job.missing or defaults.missing,
    )
    if original:
        return Implementation(humanstudy_bench, CHAIN, settings)
    return Implementation(ef.replication, Chain(), settings)


def with_evidence(tests: pl.LazyFrame, job: ReplicationJob) -> pl.DataFrame:
    """Add Bayes factors, posteriors, PAS, effects and n_eff to the tests, as far as possible."""
    implementation = implementation_of(job)
    if not job.results:
        table = implementation.room.with_evidence(
            tests,
            human_prior_odds=job.human_prior_odds,
            agent_prior_odds=job.agent_prior_odds,
            missing_agent=job.missing_agent,
        )
        evidence: pl.DataFrame = table.collect()
        return evidence
    # Results have posteriors and p-values. Tests of an unknown type get no effects.
    original = original_type()
    valid = pl.when(implementation.chain.kind_of(original).is_not_null()).then(original)
    hidden = tests.with_columns(valid.alias("test_type"), pl.col("test_type").alias(_TYPE))
    table = agreement_by(implementation.chain, hidden)
    return table.with_columns(test_type=_TYPE).drop(_TYPE).collect()


def original_type() -> pl.Expr:
    """Type of a test of evaluation results, where `wilcoxon` means Mann-Whitney."""
    name = pl.col("test_type").cast(pl.String)
    ranked = name.str.to_lowercase() == "wilcoxon"
    return pl.when(ranked).then(pl.lit("mannwhitneyu")).otherwise(name)
