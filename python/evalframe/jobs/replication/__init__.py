"""Jobs of the replication family: its descriptor, and the fields of its jobs and commands."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

from evalframe.core.choices import FindingKey, FindingRule, Missing, MissingAgent, Rules, StudyRule
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.jobs.family import Demo, Family, Lazy
from evalframe.jobs.flags import Flag
from evalframe.jobs.settings import TableJob

PARTICIPANT = "participant"
"""The cluster that is drawn from the responses of participants."""

CLUSTERS = {"study": "study_id", "finding": "finding_id", PARTICIPANT: "participant_id"}
"""The columns that names of clusters stand for."""


class ReplicationJob(TableJob, frozen=True, kw_only=True, tag_field="family", tag="replication"):
    """A job of the replication family."""

    defaults: ClassVar = {
        "cluster": "study; or finding (within its study), or participant",
        "engine": "this process, as always with --participants",
        "key": "--by, study_id, sub_study_id, finding_id and test_id, those in the table",
    }

    participants: Annotated[
        str | None,
        Flag(
            "Compute the agent side from responses of participants: files, globs or folders.",
            "RESPONSES",
        ),
    ] = None
    design: Annotated[
        str | None, Flag("How responses become statistics; a row per test.", "DESIGN")
    ] = None
    rules: Annotated[Rules, Flag("What is sound, or what the original computes.")] = "documented"
    finding_rule: Annotated[
        FindingRule | None,
        Flag("From tests to findings.", default="fisher_z; mean_z by the original's rules"),
    ] = None
    study_rule: Annotated[
        StudyRule | None,
        Flag("From findings to studies.", default="mean; mean_z by the original's rules"),
    ] = None
    finding_key: Annotated[
        FindingKey, Flag("Whether findings are told apart by sub-study, too.")
    ] = "composite"
    missing: Annotated[
        Missing | None,
        Flag(
            "Findings and studies without a usable test: left out, or 0.5.",
            default="skip; chance by the original's rules",
        ),
    ] = None
    human_prior_odds: Annotated[
        float, Flag("Of an effect, where a test has no prior_odds_human.", "ODDS")
    ] = 10.0
    agent_prior_odds: Annotated[float, Flag("Likewise, prior_odds_agent.", "ODDS")] = 1.0
    missing_agent: Annotated[
        MissingAgent,
        Flag("What stands for an agent without a statistic; the last three are the original's."),
    ] = "skip"
    by: Annotated[
        tuple[str, ...] | None,
        Flag("Columns to group by.", default="model, if the table has it"),
    ] = None
    summary: Annotated[
        str | None,
        Flag("Write the files that the original writes, too.", "FOLDER", checks=False),
    ] = None

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
    def results(self) -> bool:
        """True if the items are evaluation results of the original."""
        return self.reader == "results"

    @property
    def cluster(self) -> str | None:
        """The name of what is drawn, if anything is."""
        if self.bootstrap is None:
            return None
        cluster = self.bootstrap.cluster or "study"
        names = {column: name for name, column in CLUSTERS.items()}
        return names.get(cluster, cluster)


FAMILY = Family(
    name="replication",
    subject="Replication",
    row="one statistical test, of humans and of an agent",
    title="Replication of human studies by agents: PAS and ECS, from test to model.",
    main="scores",
    items="TESTS",
    job=ReplicationJob,
    metrics=Lazy("evalframe.jobs.replication.outputs:METRICS"),
    compute=Lazy("evalframe.jobs.replication.run:compute"),
    check=Lazy("evalframe.jobs.replication.run:check"),
    printed=Lazy("evalframe.jobs.replication.printed:printed_models"),
    roles=Lazy("evalframe.jobs.replication.inputs:ROLES"),
    tables=Lazy("evalframe.jobs.replication.outputs:TABLES"),
    sample=Lazy("evalframe.replication.sample:sample_files"),
    reader="results",
    drawn="study_id",
    shown=("models", "tests", "studies", "ecs", "differences"),
    demo=Demo(
        question="Do agents behave as the humans of published studies did?",
        reading="PAS: do agents find an effect where humans do. ECS: is it as large. Look at "
        "both: who agrees on what there is may be wrong about how much.",
        words=("{replication_tests}",),
        output="replication",
    ),
)
