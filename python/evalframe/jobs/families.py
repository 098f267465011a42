"""Commands of the families: from flags to a job, and from a job to a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalframe.jobs.console import say, terminal_width
from evalframe.jobs.options import silent
from evalframe.jobs.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.jobs.parsing import Job


def job_of(
    family: str,
    asked: Mapping[str, Any],
    *,
    called: str,
    original: str | None = None,
    files: Sequence[str] = (),
) -> Job:
    """The job that flags ask for.

    Args:
        family: Whose command.
        asked: The flags that were given, as entries of a job file.
        called: What items are called, and the flag of files of the original program.
        original: The entry that says that items are such files.
        files: Such files, which come before other items.

    Raises:
        UsageError: Neither items nor such files are named.
    """
    document = {"family": family, **asked}
    if original is not None and files:
        document |= {"items": [*files, *asked.get("items", ())], original: True}
    if "items" not in document:
        raise click.UsageError(f"name {called}")
    return parse(document)


def run_asked(job: Job, *, quiet: bool) -> None:
    """Run the job that flags ask for, and print what it came to.

    Args:
        job: What to run.
        quiet: Print nothing.

    Raises:
        UsageError: No output is named.
    """
    if job.output is None:
        raise click.UsageError("name the result: -o OUT")
    run_job(job, Path(), quiet=quiet)


def run_job(job: Job, folder: Path, *, into: Path | None = None, quiet: bool) -> None:
    """Run a job and print what it came to.

    Args:
        job: What to run.
        folder: What relative names in it are relative to.
        into: The folder that all must lie in that is written, if not anywhere.
        quiet: Print nothing.
    """
    from evalframe.jobs.run import family_of, run

    outcome = run(job, folder=folder, into=into, progress=silent if quiet else None)
    for warning in outcome.warnings:
        say(warning, err=True)
    if outcome.report.rejected:
        say(outcome.report, err=True)
    if not quiet:
        say(family_of(job).written(outcome, width=terminal_width()))


def check_asked(job: Job) -> None:
    """Check the records of a job against their contract, and print what is found."""
    from evalframe.jobs.run import Place, family_of

    say(family_of(job).check(job, Place()))
