"""Jobs on any table or log: the verbs `evaluate` and its kin, as one family; their fields."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from evalframe.core.errors import ParameterError
from evalframe.jobs.family import Demo, Family, Lazy
from evalframe.jobs.flags import Flag
from evalframe.jobs.settings import TableJob

TASK, SAMPLE, SCORER, SCORE_NAME = "task", "sample_id", "scorer", "score_name"
KEYS = ("log", TASK, "model", SCORER, SCORE_NAME, SAMPLE, "epoch")
"""Columns of logs that together identify a row, as far as a table has them."""

METRICS = ("mean:score",)
"""The metrics of a job that names none."""

Entry: TypeAlias = str | dict[str, Any]
_REDUCERS = re.compile(r"mean|max|(?:pass_at|at_least)_[1-9]\d*")


class RecordsJob(TableJob, frozen=True, kw_only=True):
    """What jobs on records have in common, whatever they do with them."""

    defaults: ClassVar = {
        "cluster": SAMPLE,
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
            "The number of a unit of --per, from the column of a mean: mean, max, pass_at_K or "
            "at_least_K (1 if K rows are 1 or more, else 0).",
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.metrics:
            raise ParameterError("metrics is empty; a job needs at least one")
        if not _REDUCERS.fullmatch(self.reduce):
            raise ParameterError(
                f"reduce is {self.reduce!r}; choose mean, max, pass_at_K or at_least_K with a "
                "whole number K from 1"
            )
        if self.reduce != "mean" and not self.per:
            raise ParameterError("reduce is of units; name them, such as --per sample_id")
        if twice := {*self.per} & {*self.macro}:
            raise ParameterError(f"{min(twice)} is both in per and in macro; name it in one")


class EvaluateJob(RecordsJob, frozen=True, kw_only=True, tag_field="family", tag="items"):
    """A job of `evalframe evaluate`."""

    verb: Literal["evaluate"] = "evaluate"


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
    report=Lazy("evalframe.jobs.items.run:report"),
    roles=Lazy("evalframe.jobs.items.records:roles"),
    tables=Lazy("evalframe.jobs.items.run:TABLES"),
    sample=Lazy("evalframe.jobs.items.sample:sample_files"),
    shortcuts=("evaluate",),
    demo=Demo(
        question="Which system is better, and is that certain?",
        reading="mean_score_per_sample_id: the mean over the samples of the share of epochs that "
        "are right. Samples are drawn, since their epochs are alike.",
        words=("{answers}", "--by", "model,task", "--per", SAMPLE),
        output="items",
    ),
)
