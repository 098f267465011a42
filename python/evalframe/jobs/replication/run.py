"""Run a job of the replication family: open, validate, compute, write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import polars as pl

import evalframe as ef
from evalframe.core.contract import Report, validate
from evalframe.jobs.outputs import write_result, write_tables
from evalframe.jobs.paths import reading
from evalframe.jobs.provenance import provenance
from evalframe.jobs.replication.evidence import with_evidence
from evalframe.jobs.replication.inputs import groups_of, open_tests
from evalframe.jobs.replication.job import CLUSTERS, PARTICIPANT
from evalframe.jobs.replication.outputs import TABLES, Scores
from evalframe.jobs.replication.participants import check_responses, drawn_scores, with_agents
from evalframe.jobs.replication.report import as_given, models_report, notes_of
from evalframe.jobs.replication.rules import contract_of, told_types, unknown_types
from evalframe.jobs.replication.summary import check_summary, write_summary
from evalframe.jobs.targets import check_targets, set_apart, target_of, targets_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.jobs.replication.inputs import Opened
    from evalframe.jobs.replication.job import ReplicationJob
    from evalframe.jobs.targets import Target
    from evalframe.resample.methods import Progress


@dataclass(frozen=True)
class Outcome:
    """What a job came to.

    Attributes:
        job: The job.
        by: What its tests are grouped by.
        models: The table of models.
        report: What the validation found.
        notes: What a reader should know beside the numbers.
        provenance: What a Parquet output carries in its metadata.
    """

    job: ReplicationJob
    by: Sequence[str]
    models: pl.DataFrame
    report: Report
    notes: Sequence[str]
    provenance: dict[str, Any]


def run(job: ReplicationJob, *, folder: Path = Path(), progress: Progress | None = None) -> Outcome:
    """Run a job; with an output, write it whole or leave what was there.

    Args:
        job: What to run.
        folder: What relative names in the job are relative to.
        progress: Called as replicates are done; by default long runs report on a terminal.

    Raises:
        InputError: An input cannot be read.
        OutputError: The output cannot be written; said before anything is computed.
        ContractError: The tests or the responses break their contract.
        MissingColumnsError: A table lacks a column that the job needs.

    Example:
        >>> import tempfile
        >>> from evalframe.jobs.parsing import parse
        >>> from evalframe.replication.sample import sample_tests
        >>> job = parse({"family": "replication", "items": ["tests.parquet"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sample_tests().write_parquet(f"{folder}/tests.parquet")
        ...     outcome = run(job, folder=Path(folder))
        >>> outcome.models["model"].to_list(), outcome.report.rejected
        (['lantern-13b', 'quill-70b', 'harbor-7b'], 0)
    """
    target = target_of(job.output, folder)
    rejects = check_targets(target, TABLES, job.on_invalid)
    with set_apart(rejects) as temporary:
        return _run(job, folder, progress, target, rejects, temporary)


def _run(
    job: ReplicationJob,
    folder: Path,
    progress: Progress | None,
    target: Target | None,
    rejects: Path | None,
    temporary: Path | None,
) -> Outcome:
    """Run a job, with rejected rows in a temporary file."""
    targets = targets_of(target, TABLES) + ([] if rejects is None else [rejects])
    opened = open_tests(job, folder, targets)
    by = groups_of(job, opened)
    if job.summary is not None:
        check_summary(folder / job.summary, opened, by)
    with reading(", ".join(job.items)):
        if opened.responses is not None and opened.design is not None:
            check_responses(opened.responses, opened.design, by)
        made = _made(job, opened, by, temporary)
    resample = _resample(job, progress)
    drawn = None
    if resample is not None and job.cluster == PARTICIPANT:
        drawn = partial(drawn_scores, opened=opened, by=by, job=job, resample=resample)
    scores = Scores(made.tests, by, job, resample, drawn)
    models = scores.models()
    report = replace(made.report, quarantine=rejects)
    record = provenance(
        job, [], opened.describe(), {"rows": report.rows, "rejected": report.rejected}
    )
    outcome = Outcome(job, by, models, report, [*notes_of(scores, models), *made.notes], record)
    if job.summary is not None:
        write_summary(made.tests, folder / job.summary, opened, by, job)
    if target is None:
        return outcome
    if not target.is_folder:
        write_result(models, target.path, record, readable=lambda: written(outcome, markdown=True))
    else:
        write_tables(scores.tables(), target.path, record)
    return outcome


def written(outcome: Outcome, *, markdown: bool = False, width: int | None = None) -> str:
    """The models for a reader."""
    bootstrap = outcome.job.bootstrap
    return models_report(
        outcome.models,
        outcome.by,
        notes=outcome.notes,
        markdown=markdown,
        level=bootstrap.level if bootstrap else None,
        width=width,
    )


class _Made(NamedTuple):
    """Tests with their evidence.

    Attributes:
        tests: The tests.
        report: What the validation found.
        notes: What a reader should know of them.
    """

    tests: pl.DataFrame
    report: Report
    notes: Sequence[str]


def _made(job: ReplicationJob, opened: Opened, by: Sequence[str], temporary: Path | None) -> _Made:
    """The tests of a job, those set aside that nothing can be made of.

    Raises:
        ContractError: A test is impossible, and is not to be set aside.
    """
    contract = contract_of(opened, by, job)
    report = validate(opened.tests, contract, on_invalid=job.on_invalid, quarantine=temporary)
    tests, notes = _both_sides(opened, report.valid, by)
    given = [*as_given(tests.collect_schema()), *_without_effects(tests, job)]
    return _Made(_with_domains(with_evidence(tests, job)), report, [*given, *notes])


def _without_effects(tests: pl.LazyFrame, job: ReplicationJob) -> list[str]:
    """What a reader should know of tests of unknown types, which only results may have."""
    unknown = unknown_types(tests) if job.results else pl.DataFrame()
    if unknown.is_empty():
        return []
    return [f"Effects: none are computed for tests of unknown types: {told_types(unknown)}."]


def _both_sides(
    opened: Opened, tests: pl.LazyFrame, by: Sequence[str]
) -> tuple[pl.LazyFrame, list[str]]:
    """The tests with both sides, and what a reader should know of them."""
    if opened.responses is None or opened.design is None:
        return tests, []
    joined = with_agents(tests, opened.responses, opened.design, by)
    if not joined.without_humans:
        return joined.tests, []
    return joined.tests, [
        "Left out: tests of the responses that the table of tests lacks: "
        f"{joined.without_humans:,}."
    ]


def _with_domains(tests: pl.DataFrame) -> pl.DataFrame:
    """The tests with the domains of the benchmark's studies, if there are no others."""
    known = ef.replication.domain(pl.col("study_id").cast(pl.String))
    return tests if "domain" in tests.columns else tests.with_columns(known)


def _resample(job: ReplicationJob, progress: Progress | None) -> ef.Bootstrap | None:
    if job.bootstrap is None:
        return None
    cluster = CLUSTERS.get(str(job.cluster), job.cluster)
    asked = msgspec.structs.asdict(job.bootstrap) | {"cluster": cluster, "progress": progress}
    return ef.Bootstrap(**asked)
