"""Run a job of any family: check where it writes, let the family compute, write all or nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from evalframe.core import remote
from evalframe.core.errors import OutputError, ParameterError
from evalframe.core.files import check_within, together
from evalframe.core.progress import silent
from evalframe.jobs.console import refuse_silence, say, terminal_width
from evalframe.jobs.family import Family, Outcome, Place, family_of, reader_of
from evalframe.jobs.inputs import check_columns, has_logs, naming_columns, refuse_nothing
from evalframe.jobs.written import (
    SUFFIXES,
    check_holds,
    check_output,
    provenance,
    write_result,
    write_tables,
)

if TYPE_CHECKING:
    from evalframe.jobs.rows import Workers
    from evalframe.jobs.settings import OnInvalid, TableJob


def run_job(job: TableJob, folder: Path, *, into: Path | None = None, quiet: bool) -> int:
    """Run a job, print its result, and return the exit code of the command."""
    refuse_silence(quiet, job.output, job.report, getattr(job, "summary", None))
    with silent() if quiet else nullcontext():
        outcome = run(job, folder=folder, into=into)
    for warning in outcome.warnings:
        say(warning, err=True)
    if outcome.validation.rejected:
        say(outcome.validation, err=True)
    if not quiet:
        say(printed(outcome, width=terminal_width()))
    return outcome.code


def printed(outcome: Outcome, *, markdown: bool = False, width: int | None = None) -> str:
    """The main table as text."""
    return family_of(outcome.job).printed.value(
        outcome.result,
        outcome.keys,
        notes=[*outcome.notes, *outcome.told],
        markdown=markdown,
        level=outcome.job.shown_level,
        width=width,
        **outcome.shown,
    )


def run(
    job: TableJob,
    *,
    folder: Path = Path(),
    into: Path | None = None,
) -> Outcome:
    """Run a job; with an output, write it whole or leave what was there."""
    family, job = family_of(job), with_reader(job, folder)
    with _columns(job, family, folder), together(within=into):
        target = target_of(job.output, into or folder)
        page = _page(job, into or folder)
        all_tables = page is not None or (target is not None and target.is_folder)
        tables = family.tables.value
        rejects = check_targets(target, tables, job.on_invalid)
        targets = [] if target is None else target.files(tables)
        targets += [path for path in (rejects, page) if path is not None]
        summary = _summary(job, into or folder)
        with _workers(job, folder, into or folder) as workers:
            place = Place(folder, targets, rejects, all_tables, summary, workers)
            outcome = family.compute.value(job, place)
            refuse_nothing(outcome.validation, rejects)
            if workers is not None:
                told = outcome.inputs.rows.notes() or [_LOGS if has_logs(job) else _IDLE]
                outcome = replace(outcome, told=told)
            if page is not None:
                from evalframe.jobs.pages import write_report

                outcome = replace(outcome, tables=cache(outcome.tables))  # for the output, too
                write_report(outcome, page)
            if outcome.beside is not None:
                outcome.beside()
            if target is not None:
                _write(outcome, target)
    return outcome


_LOGS = "Logs are read by the engine, if there is one; their rows are computed by this process."
_IDLE = (
    "Inputs of this kind are read and computed by this process: no engine is used, nothing is kept."
)


@contextmanager
def _workers(job: TableJob, folder: Path, into: Path) -> Iterator[Workers | None]:
    """Who reads the records of a job while it runs; None if this process does in its own way."""
    if job.engine is None and job.state is None:
        yield None
        return
    from evalframe.engine.executors import OnExecutor
    from evalframe.engine.opening import on, opened
    from evalframe.engine.store import StateStore
    from evalframe.jobs.rows import Workers

    store = None
    if job.state is not None:
        check_within(path := path_of("state", job.state, into))
        store = StateStore(path)
    with nullcontext() if store is None else store.job():
        if job.engine is None:
            with ThreadPoolExecutor(1) as pool:
                yield Workers(OnExecutor(pool, "this process"), store)
            return
        scratch = None if job.scratch is None else folder / job.scratch
        with opened(on(job.engine, scratch=scratch)) as engine:
            yield Workers(engine, store)


def check(job: TableJob) -> str:
    """Validate the records of a job and return what was found, in words."""
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


def _page(job: TableJob, folder: Path) -> Path | None:
    """Path of the report, if the job asks for one and it can be written."""
    if job.report is None:
        return None
    from evalframe.jobs import pages

    check_within(path := path_of("report", job.report, folder))
    pages.check(path)
    return path


def _write(outcome: Outcome, target: Target) -> None:
    if target.is_folder:
        write_tables(outcome.tables(), target.path, provenance(outcome))
        return
    check_holds(target.path, outcome.result.schema)
    readable = partial(printed, outcome, markdown=True)
    write_result(outcome.result, target.path, provenance(outcome), readable=readable)


@dataclass(frozen=True, slots=True)
class Target:
    """Where the result of a job is written: a file for one table, or a folder for all."""

    path: Path
    is_folder: bool

    def files(self, tables: Sequence[str]) -> list[Path]:
        """The files that are written."""
        if not self.is_folder:
            return [self.path]
        return [self.path / f"{name}.parquet" for name in tables]


def target_of(output: str | None, folder: Path) -> Target | None:
    """The file or folder that the output of a job names, relative to `folder`.

    It is a folder if it is there as one, ends in a slash or has no extension.
    """
    if output is None:
        return None
    path = path_of("output", output, folder)
    is_there = not remote.is_remote(path) and os.path.isdir(path)  # noqa: PTH112 (Path raises if the name is too long)
    return Target(path, output.endswith(("/", os.sep)) or not path.suffix or is_there)


def path_of(entry: str, name: str, folder: Path) -> Path:
    """The path that an entry of a job names, if a file can have this name."""
    if not name.strip():
        raise ParameterError(f"the {entry} has no name; name a file or a folder")
    if "\0" in name:
        raise ParameterError(f"the {entry} cannot be named {name!r}; leave out the zero character")
    path = remote.path_of(name, folder)
    if not path.name.strip("."):  # `.` and `..` have names of their own
        path = Path(os.path.abspath(path))  # noqa: PTH100 (as given, links and all)
    if not path.name:
        raise ParameterError(f"the {entry} cannot be {name!r}; name a folder in it")
    return path


def check_targets(
    target: Target | None, tables: Sequence[str], on_invalid: OnInvalid
) -> Path | None:
    """Raise now if the outputs cannot be written later; return the file for rejected rows."""
    if target is not None:
        check_within(target.path)
        _check_target(target, tables)
    if on_invalid != "quarantine":
        return None
    if target is None:
        raise ParameterError(
            "on_invalid = 'quarantine' writes rejected rows beside the output; name an output "
            "(-o OUT)"
        )
    name = target.path.name if target.is_folder else target.path.stem
    rejects = target.path.with_name(f"{name}.rejected.parquet")
    check_output(rejects)
    return rejects


def _check_target(target: Target, tables: Sequence[str]) -> None:
    path, is_there = target.path, os.path.lexists(target.path)
    if target.is_folder and is_there and not path.is_dir():
        what = "a file, not a folder" if path.suffix else "a file without an extension"
        raise OutputError(
            f"{path.name} is {what}; name a folder, or a file with one of {', '.join(SUFFIXES)}"
        )
    if target.is_folder and not is_there:  # a file beside it can be written if it can be made
        check_output(path.with_name(f"{path.name}.parquet"))
        return
    for file in target.files(tables):
        check_output(file)
