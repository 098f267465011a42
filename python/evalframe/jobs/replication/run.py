"""What a job of the replication family computes: open, validate, make evidence, score."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

import evalframe as ef
from evalframe.core.contract import Report, validate
from evalframe.jobs.family import Outcome, Place
from evalframe.jobs.outputs import provenance
from evalframe.jobs.paths import reading
from evalframe.jobs.replication.evidence import as_original, with_evidence
from evalframe.jobs.replication.inputs import groups_of, open_tests
from evalframe.jobs.replication.job import CLUSTERS, PARTICIPANT
from evalframe.jobs.replication.outputs import Scores, absent_tests
from evalframe.jobs.replication.participants import check_responses, drawn_scores, with_agents
from evalframe.jobs.replication.report import (
    as_given,
    models_report,
    notes_of,
    told_absent,
    told_directions,
)
from evalframe.jobs.replication.rules import contract_of, told_types, unknown_types
from evalframe.jobs.replication.summary import check_summary, write_summary
from evalframe.replication.agreement.directions import agents_where_humans_tell

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalframe.jobs.replication.inputs import Tests
    from evalframe.jobs.replication.job import ReplicationJob
    from evalframe.resample.methods import Progress


def compute(job: ReplicationJob, place: Place, progress: Progress | None) -> Outcome:
    """Make the evidence of the tests of a job, and score the models."""
    opened = open_tests(job, place.folder, place.targets)
    by = groups_of(job, opened)
    if place.summary is not None:
        check_summary(place.summary, opened, by)
    with reading(", ".join(job.items)):
        if opened.responses is not None and opened.design is not None:
            check_responses(opened.responses, opened.design, by)
        made = _made(job, opened, by, place.rejects)
    resample = _resample(job, progress)
    drawn = None
    if resample is not None and job.cluster == PARTICIPANT:
        drawn = partial(drawn_scores, opened=opened, by=by, job=job, resample=resample)
    scores = Scores(made.tests, by, job, resample, drawn)
    models = scores.models()
    beside = None
    if place.summary is not None:
        beside = partial(write_summary, made.tests, place.summary, opened, by, job)
    return Outcome(
        job,
        by,
        models,
        made.report,
        provenance(job, [], opened.describe(digest=job.hash_inputs), made.report.describe()),
        scores.tables,
        notes=[*notes_of(scores, models), *made.notes],
        beside=beside,
    )


def check(job: ReplicationJob, place: Place) -> str:
    """What is found in tests that keep their contract, and which of them some models lack.

    Raises:
        ContractError: They do not.
        InputError: An input cannot be read.
        MissingColumnsError: There is nothing to make a PAS from.
    """
    opened = open_tests(job, place.folder, place.targets)
    by = groups_of(job, opened)
    with reading(", ".join(job.items)):
        report = validate(opened.table, contract_of(opened, by, job))
        tests = with_evidence(report.valid, job)
        absent = absent_tests(opened.table, by)
    return "\n".join([str(report), *told_directions(tests), *told_absent(absent)])


def written(outcome: Outcome, *, markdown: bool = False, width: int | None = None) -> str:
    """The models for a reader."""
    return models_report(
        outcome.result,
        outcome.keys,
        notes=outcome.notes,
        markdown=markdown,
        level=outcome.job.shown_level,
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


def _made(job: ReplicationJob, opened: Tests, by: Sequence[str], temporary: Path | None) -> _Made:
    """The tests of a job, those set aside that nothing can be made of.

    Raises:
        ContractError: A test is impossible, and is not to be set aside.
    """
    contract = contract_of(opened, by, job)
    report = validate(opened.table, contract, on_invalid=job.on_invalid, quarantine=temporary)
    tests, notes = _both_sides(opened, report.valid, by)
    if opened.responses is not None and job.rules == "documented":
        tests = agents_where_humans_tell(tests)
    given = [*as_given(tests.collect_schema()), *_without_effects(tests, job)]
    return _Made(_with_domains(with_evidence(tests, job)), report, [*given, *notes])


def _without_effects(tests: pl.LazyFrame, job: ReplicationJob) -> list[str]:
    """What a reader should know of tests of unknown types, which only results may have."""
    read = tests.with_columns(test_type=as_original()) if job.results else tests
    unknown = unknown_types(read, job.rules) if job.results else pl.DataFrame()
    if unknown.is_empty():
        return []
    return [f"Effects: none are computed for tests of unknown types: {told_types(unknown)}."]


def _both_sides(
    opened: Tests, tests: pl.LazyFrame, by: Sequence[str]
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
    return job.bootstrap.method(CLUSTERS[str(job.cluster)], progress)
