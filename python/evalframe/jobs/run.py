"""Run a job of any family: check where it writes, let the family compute, write all or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from evalframe.core.files import check_within, together
from evalframe.jobs.columns import check_columns, naming_columns
from evalframe.jobs.console import refuse_silence, say, terminal_width
from evalframe.jobs.family import Family, Outcome, Place, family_of
from evalframe.jobs.outputs import (
    Target,
    check_holds,
    check_targets,
    path_of,
    target_of,
    write_result,
    write_tables,
)
from evalframe.jobs.readers import reader_of

if TYPE_CHECKING:
    from evalframe.jobs.settings import TableJob
    from evalframe.resample.methods import Progress


def run_job(job: TableJob, folder: Path, *, into: Path | None = None, quiet: bool) -> None:
    """Run a job and print its result."""
    refuse_silence(quiet, job.output, getattr(job, "summary", None))
    outcome = run(job, folder=folder, into=into, progress=silent if quiet else None)
    for warning in outcome.warnings:
        say(warning, err=True)
    if outcome.report.rejected:
        say(outcome.report, err=True)
    if not quiet:
        say(family_of(job).report.value(outcome, width=terminal_width()))


def silent(done: int, total: int) -> None:
    """Replaces the progress that long resampling reports on a terminal."""


def run(
    job: TableJob,
    *,
    folder: Path = Path(),
    into: Path | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run a job; with an output, write it whole or leave what was there."""
    family, job = family_of(job), with_reader(job, folder)
    with _columns(job, family, folder), together(within=into):
        target = target_of(job.output, into or folder)
        all_tables = target is not None and target.is_folder
        tables = family.tables.value
        rejects = check_targets(target, tables, job.on_invalid)
        targets = [] if target is None else target.files(tables)
        targets += [] if rejects is None else [rejects]
        place = Place(folder, targets, rejects, all_tables, _summary(job, into or folder))
        outcome = family.compute.value(job, place, progress)
        if outcome.beside is not None:
            outcome.beside()
        if target is not None:
            _write(outcome, target, family)
    return outcome


def check(job: TableJob) -> str:
    """Validate the records of a job and return a report."""
    family, job = family_of(job), with_reader(job, Path())
    with _columns(job, family, Path()):
        return family.check.value(job, Place())


def with_reader(job: TableJob, folder: Path) -> TableJob:
    """The job with the reader of its items, if these are JSON of a format that is recognised."""
    kind = None if job.reader else reader_of(job.items, folder)
    return msgspec.structs.replace(job, reader=kind) if kind else job


@contextmanager
def _columns(job: TableJob, family: Family, folder: Path) -> Iterator[None]:
    """Check the columns that a job names, and name them in errors."""
    known = family.roles.value
    roles = known(job, folder) if callable(known) else known
    check_columns(job.columns, roles)
    with naming_columns(job.columns, roles):
        yield


def _summary(job: TableJob, folder: Path) -> Path | None:
    """Path of the files that some families write in addition, if the job asks for them."""
    name: str | None = getattr(job, "summary", None)
    if name is None:
        return None
    path = path_of("summary", name, folder)
    check_within(path)
    return path


def _write(outcome: Outcome, target: Target, family: Family) -> None:
    if target.is_folder:
        write_tables(outcome.tables(), target.path, outcome.provenance)
        return
    check_holds(target.path, outcome.result.schema)
    write_result(
        outcome.result,
        target.path,
        outcome.provenance,
        readable=lambda: family.report.value(outcome, markdown=True),
    )
