"""A job of the replication family as data: what to read, what to compute, where to write."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, get_args

from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.rules import Rules
from evalframe.jobs.settings import TableJob

FindingRule: TypeAlias = Literal["fisher_z", "mean_z", "weighted_mean", "mean"]
StudyRule: TypeAlias = Literal["mean", "mean_z", "weighted_mean"]
FindingKey: TypeAlias = Literal["composite", "finding_id"]
Missing: TypeAlias = Literal["skip", "chance"]
MissingAgent: TypeAlias = Literal["skip", "null_finding", "uniform", "half_null"]

RULES: tuple[str, ...] = get_args(Rules)
FINDING_RULES: tuple[str, ...] = get_args(FindingRule)
STUDY_RULES: tuple[str, ...] = get_args(StudyRule)
FINDING_KEYS: tuple[str, ...] = get_args(FindingKey)
MISSING: tuple[str, ...] = get_args(Missing)
MISSING_AGENT: tuple[str, ...] = get_args(MissingAgent)

PARTICIPANT = "participant"
"""The cluster that is drawn from the responses of participants."""

CLUSTERS = {"study": "study_id", "finding": "finding_id", PARTICIPANT: "participant_id"}
"""The columns that names of clusters stand for."""


class ReplicationJob(TableJob, frozen=True, kw_only=True, tag_field="family", tag="replication"):
    """One run of the replication family: everything that decides the numbers, and the output.

    Attributes:
        items: Tables of tests, as files, globs or folders; with `results` evaluation results.
        results: Whether the items are evaluation results of the original, in JSON.
        participants: Responses, from which the statistics of the agents are computed.
        design: How these become statistics: a table with a row per test.
        output: A file for the table of models, or a folder for all tables.
        rules: `documented`, or `reference` for the original's numbers.
        finding_rule: How tests become findings; by default that of the rules.
        study_rule: How findings become studies; by default that of the rules.
        finding_key: Whether findings are told apart by sub-study too.
        missing: What findings and studies without a usable test have: nothing, or 0.5; by default
            that of the rules.
        human_prior_odds: Prior odds of an effect in humans, where the table has none.
        agent_prior_odds: The same of agents.
        missing_agent: What stands for an agent without a Bayes factor.
        by: Columns to group by; by default `model`, if the table has it.
        key: Columns that identify a row; by default `by` and those that name a test.
        columns: Which columns play which roles, where they are not called so.
        summary: A folder for the files that the original would write.
        bootstrap: Resampling of studies, findings, participants or a column, or none.
        on_invalid: What happens to tests that break the contract. Faults of the responses and of
            their design are errors always.
        hash_inputs: Whether the provenance holds SHA-256 sums of the inputs.
    """

    results: bool = False
    participants: str | None = None
    design: str | None = None
    rules: Rules = "documented"
    finding_rule: FindingRule | None = None
    study_rule: StudyRule | None = None
    finding_key: FindingKey = "composite"
    missing: Missing | None = None
    human_prior_odds: float = 10.0
    agent_prior_odds: float = 1.0
    missing_agent: MissingAgent = "skip"
    by: tuple[str, ...] | None = None
    summary: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("human_prior_odds", "agent_prior_odds"):
            if not 0 < getattr(self, name) < math.inf:
                raise ParameterError(
                    f"{name} must be above 0 and finite, got {getattr(self, name)}; 1 is even"
                )
        if (self.participants is None) != (self.design is None):
            raise ParameterError(
                "participants and design go together: responses, and how they become statistics"
            )
        if self.participants is not None and self.results:
            raise ParameterError(
                "evaluation results hold their statistics; leave out the participants"
            )
        if self.bootstrap is None:
            return
        if self.cluster not in CLUSTERS:
            raise UnknownNameError.of("cluster", str(self.bootstrap.cluster), CLUSTERS)
        if self.cluster == PARTICIPANT and self.participants is None:
            raise ParameterError(
                "the cluster participant is drawn from responses; name them as participants, and "
                "their design"
            )
        if self.cluster == PARTICIPANT and self.missing_agent != "skip":
            raise ParameterError(
                f"missing_agent = {self.missing_agent!r} does not go with the cluster participant, "
                "which draws agents that have responses; leave one of them out"
            )

    @property
    def cluster(self) -> str | None:
        """The name of what is drawn, if anything is."""
        if self.bootstrap is None:
            return None
        given = self.bootstrap.cluster or "study"
        names = {column: name for name, column in CLUSTERS.items()}
        return names.get(given, given)
