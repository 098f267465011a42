"""Jobs on any table or log: the verbs `evaluate` and its kin, as one family; their fields."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from evalframe.core.errors import ParameterError
from evalframe.jobs.family import Demo, Family, Lazy, Verb
from evalframe.jobs.flags import Flag
from evalframe.jobs.settings import Bootstrap, TableJob

TASK, SAMPLE, SCORER, SCORE_NAME = "task", "sample_id", "scorer", "score_name"
KEYS = ("log", TASK, "model", SCORER, SCORE_NAME, SAMPLE, "epoch")
"""Columns of logs that together identify a row, as far as a table has them."""

METRICS = ("mean:score",)
"""The metrics of a job that names none."""

_RULE = re.compile(r"\s*regression\s*>\s*(\d*\.?\d+(?:[eE][-+]?\d+)?)\s*")
"""A gate, with its margin."""

# The choices of `compare` and `rank`, which load polars.
Best: TypeAlias = Literal["highest", "lowest"]
Correction: TypeAlias = Literal["holm", "bonferroni", "none"]
Test: TypeAlias = Literal["bootstrap", "permutation"]

Entry: TypeAlias = str | dict[str, Any]
_REDUCERS = re.compile(r"mean|max|mode|(?:pass_at|at_least)_[1-9]\d*")


class RecordsJob(TableJob, frozen=True, kw_only=True):
    """What jobs on records have in common, whatever they do with them."""

    defaults: ClassVar = {
        "cluster": SAMPLE,
        "interval": "expanded_bca",
        "key": f"--by and, of tables with a column {SAMPLE}, those of {', '.join(KEYS)} that they "
        "have",
    }

    metrics: Annotated[
        tuple[Entry, ...],
        Flag(
            "METRIC[:COLUMN][,KEY=VALUE]: a name as in `evalframe metrics`, with the column that "
            "it reads and its parameters, such as mean:score or pass_at:correct,k=5; "
            "module:name[:COLUMN] is a metric of your own, and a column alone its mean.",
            "A,B,...",
            also="metric",
            checks=False,
        ),
    ] = METRICS
    by: Annotated[tuple[str, ...], Flag("Columns to group by.")] = ()
    per: Annotated[
        tuple[str, ...],
        Flag(
            f"Columns that name a unit, such as {SAMPLE} for the epochs of a sample: the metric of "
            "each unit, then their mean.",
            default="each row counts",
        ),
    ] = ()
    reduce: Annotated[
        str,
        Flag(
            "The number of a unit of --per, from the column of a mean: mean, max, mode, "
            "pass_at_K or at_least_K (1 if K rows are 1 or more, else 0).",
            "HOW",
            checks=False,
        ),
    ] = "mean"
    macro: Annotated[
        tuple[str, ...],
        Flag("Columns that name a larger unit, such as task: all of these weigh alike."),
    ] = ()
    scorer: Annotated[
        tuple[str, ...],
        Flag("Only the rows of these scorers.", default="all, each in groups of its own"),
    ] = ()
    score_name: Annotated[
        tuple[str, ...], Flag("Only the rows of these scores.", default="all, likewise")
    ] = ()

    extra: Annotated[
        tuple[str, ...],
        Flag("Columns of logs that cost more to read: confidence, explanation, logprob, ..."),
    ] = ()
    metadata: Annotated[
        tuple[str, ...], Flag("Metadata of the samples of logs, as columns metadata_NAME.")
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.metrics:
            raise ParameterError("metrics is empty; a job needs at least one")
        if not _REDUCERS.fullmatch(self.reduce):
            raise ParameterError(
                f"reduce is {self.reduce!r}; choose mean, max, mode, pass_at_K or at_least_K "
                "with a whole number K from 1"
            )
        if self.reduce != "mean" and not self.per:
            raise ParameterError("reduce is of units; name them, such as --per sample_id")
        if twice := {*self.per} & {*self.macro}:
            raise ParameterError(f"{min(twice)} is both in per and in macro; name it in one")

    def drawn(self) -> str | None:
        """The column of what is drawn together; None if nothing is."""
        return None if self.bootstrap is None else self.bootstrap.cluster or SAMPLE


class EvaluateJob(RecordsJob, frozen=True, kw_only=True, tag_field="family", tag="items"):
    """A job of `evalframe evaluate`."""

    verb: Literal["evaluate"] = "evaluate"


class Thousand(Bootstrap, frozen=True, forbid_unknown_fields=True):
    """Resampling of comparisons, which need it."""

    n: Annotated[int, Flag("Number of cluster resamples.", name="bootstrap")] = 1000


class SystemsJob(RecordsJob, frozen=True, kw_only=True):
    """What jobs that compare systems have in common."""

    between: Annotated[str, Flag("The column of the systems, such as model.", "COLUMN")]
    best: Annotated[
        Best | None,
        Flag("Which end is the best.", default="as the metric says; a mean does not", checks=False),
    ] = None
    bootstrap: Annotated[Thousand, Flag("", checks=False)] = Thousand()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.between in self.by:
            raise ParameterError(
                f"{self.between} is both in by and in between; systems are compared within groups"
            )


class CompareJob(SystemsJob, frozen=True, kw_only=True, tag_field="family", tag="items"):
    """A job of `evalframe compare`."""

    defaults: ClassVar = {**RecordsJob.defaults, "interval": "expanded"}

    verb: Literal["compare"] = "compare"
    baseline: Annotated[
        str | None, Flag("Compare all others with this system.", "SYSTEM", default="all pairs")
    ] = None
    unpaired: Annotated[
        bool, Flag("The systems have different items or people, each resampled by itself.")
    ] = False
    test: Annotated[Test, Flag("How p-values are made.", checks=False)] = "bootstrap"
    correction: Annotated[
        Correction,
        Flag("Of p-values for their number: of all groups, metrics and pairs.", checks=False),
    ] = "holm"
    disagreements: Annotated[
        int,
        Flag(
            "Also list the items on which two systems differ, so many of each pair; a folder as "
            "output has all.",
            "N",
            default="none",
            checks=False,
        ),
    ] = 0
    fail_if: Annotated[
        str | None,
        Flag(
            "A gate, 'regression > MARGIN': how much worse than --baseline a system may be.",
            "RULE",
            checks=False,
        ),
    ] = None
    summary: Annotated[
        str | None,
        Flag("Write what is printed as Markdown, for a pull request.", "OUT.md", checks=False),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.disagreements < 0:
            raise ParameterError(f"disagreements is {self.disagreements}; choose 0 or more")
        if self.disagreements and self.unpaired:
            raise ParameterError("unpaired systems have no items in common to disagree on")
        if self.fail_if is not None:
            if not _RULE.fullmatch(self.fail_if):
                raise ParameterError(
                    f"fail_if is {self.fail_if!r}; write 'regression > MARGIN', such as "
                    "'regression > 0.02'"
                )
            if self.baseline is None:
                raise ParameterError(
                    "fail_if needs a system to compare with; name it (--baseline SYSTEM)"
                )

    @property
    def margin(self) -> float | None:
        """How much worse a system may be than the baseline, if that decides."""
        match = None if self.fail_if is None else _RULE.fullmatch(self.fail_if)
        return None if match is None else float(match[1])


class RankJob(SystemsJob, frozen=True, kw_only=True, tag_field="family", tag="items"):
    """A job of `evalframe rank`."""

    correction: Annotated[
        Literal["holm", "bonferroni", "max_t", "none"],
        Flag("Of p-values for the number of pairs; max_t by the joint draws.", checks=False),
    ] = "holm"
    verb: Literal["rank"] = "rank"


class PartialJob(RecordsJob, frozen=True, kw_only=True, tag_field="family", tag="items"):
    """A job of `evalframe partial`."""

    unused: ClassVar = ("bootstrap", "report")
    defaults: ClassVar = {**RecordsJob.defaults, "cluster": "none: finish cannot resample"}

    verb: Literal["partial"] = "partial"
    cluster: Annotated[
        str | None, Flag("Keep the sums of each of these apart, to be resampled.", "COLUMN")
    ] = None

    def drawn(self) -> str | None:
        """The column of what will be drawn together."""
        return self.cluster


class StatesJob(TableJob, frozen=True, kw_only=True):
    """What jobs on states have in common: these are no records, and say what they are of."""

    unused: ClassVar[tuple[str, ...]] = (
        *("reader", "key", "columns", "on_invalid"),
        *("engine", "state", "scratch"),
    )

    metrics: Annotated[
        tuple[str, ...],
        Flag("Metrics of your own that the states are of, module:name.", also="metric"),
    ] = ()


class FinishJob(StatesJob, frozen=True, kw_only=True, tag_field="family", tag="items"):
    """A job of `evalframe finish`."""

    defaults: ClassVar = {"cluster": "that of the states", "interval": "expanded_bca"}

    verb: Literal["finish"] = "finish"


class MergeJob(StatesJob, frozen=True, kw_only=True, tag_field="family", tag="items"):
    """A job of `evalframe merge`."""

    unused: ClassVar = (*StatesJob.unused, "bootstrap", "report")

    verb: Literal["merge"] = "merge"


class RetractJob(StatesJob, frozen=True, kw_only=True, tag_field="family", tag="items"):
    """A job of `evalframe retract`: of two states the first without the second."""

    unused: ClassVar = (*StatesJob.unused, "bootstrap", "report")

    verb: Literal["retract"] = "retract"


FAMILY = Family(
    name="items",
    subject="Any table or log",
    row="one answer of one system to one item, with a score",
    title="Any table or log: metrics by group, comparisons, ranks, shards.",
    main="evaluate",
    items="LOGS",
    job=EvaluateJob,
    metrics=Lazy("evalframe.jobs.items.records:STANDARD"),
    compute=Lazy("evalframe.jobs.items.run:evaluate"),
    check=Lazy("evalframe.jobs.items.run:check"),
    printed=Lazy("evalframe.jobs.items.run:printed"),
    roles=Lazy("evalframe.jobs.items.records:roles"),
    tables=Lazy("evalframe.jobs.items.run:TABLES"),
    reader="logs",
    sample=Lazy("evalframe.jobs.items.sample:sample_files"),
    verbs={
        "compare": Verb(
            CompareJob,
            Lazy("evalframe.jobs.items.compare:compare"),
            Lazy("evalframe.jobs.items.compare:TABLES"),
        ),
        "rank": Verb(
            RankJob, Lazy("evalframe.jobs.items.run:rank"), Lazy("evalframe.jobs.items.run:RANKS")
        ),
        "partial": Verb(
            PartialJob,
            Lazy("evalframe.jobs.items.run:shard"),
            Lazy("evalframe.jobs.items.run:STATES"),
        ),
        "merge": Verb(
            MergeJob,
            Lazy("evalframe.jobs.items.run:merge"),
            Lazy("evalframe.jobs.items.run:STATES"),
        ),
        "retract": Verb(
            RetractJob,
            Lazy("evalframe.jobs.items.run:retract"),
            Lazy("evalframe.jobs.items.run:STATES"),
        ),
        "finish": Verb(
            FinishJob,
            Lazy("evalframe.jobs.items.run:finish"),
            Lazy("evalframe.jobs.items.run:TABLES"),
        ),
    },
    shortcuts=("evaluate", "compare", "rank", "partial", "merge", "retract", "finish"),
    drawn=SAMPLE,
    demo=Demo(
        question="Which system is better, and is that certain?",
        reading="mean_of_score_per_sample_id: the mean over the samples of the share of epochs "
        "that are right. Samples are drawn, since their epochs are alike.",
        words=("{answers}", "--by", "model,task", "--per", SAMPLE),
        output="items",
    ),
)
