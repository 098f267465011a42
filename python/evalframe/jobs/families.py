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
    """Run the job of a command line, and print its result."""
    run_job(job, Path(), quiet=quiet)


def refuse_silence(quiet: bool, *outputs: str | None) -> None:
    """Raise if nothing is printed, and nothing is written.

    Raises:
        UsageError: Quiet, and without an output.
    """
    if quiet and not any(outputs):
        raise click.UsageError(
            "--quiet prints nothing, so name the result: -o OUT (output = in a job file)"
        )


def run_job(job: Job, folder: Path, *, into: Path | None = None, quiet: bool) -> None:
    """Run a job and print its result.

    Args:
        job: What to run.
        folder: What relative names in it are relative to.
        into: The folder that all must lie in that is written, if not anywhere.
        quiet: Print nothing.

    Raises:
        UsageError: Quiet, and without an output.
    """
    from evalframe.jobs.run import family_of, run

    refuse_silence(quiet, job.output, getattr(job, "summary", None))
    outcome = run(job, folder=folder, into=into, progress=silent if quiet else None)
    for warning in outcome.warnings:
        say(warning, err=True)
    if outcome.report.rejected:
        say(outcome.report, err=True)
    if not quiet:
        say(family_of(job).written(outcome, width=terminal_width()))


def check_asked(job: Job) -> None:
    """Check the records of a job against their contract, and print what is found."""
    from evalframe.jobs.run import check

    say(check(job))
