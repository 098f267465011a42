"""Jobs of the families that have a folder here: from flags to a job, and from a job to a report."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalframe.jobs.console import say, terminal_width
from evalframe.jobs.options import silent
from evalframe.jobs.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.jobs.parsing import Job


def run_flags(
    family: str,
    asked: Mapping[str, Any],
    *,
    original: str,
    files: Sequence[str],
    called: str,
    quiet: bool,
) -> None:
    """Run what the flags of a family's main command ask for, and print what it came to.

    Args:
        family: Whose command.
        asked: The flags that were given, as entries of a job file.
        original: The entry that says that items are files of the original program.
        files: Such files, which come before other items.
        called: What items are called, and the flag of such files.
        quiet: Print nothing.

    Raises:
        UsageError: Neither items nor such files are named, or no output.
    """
    document = {"family": family, **asked}
    if files:
        document |= {"items": [*files, *asked.get("items", ())], original: True}
    if "items" not in document:
        raise click.UsageError(f"name {called}")
    if "output" not in document:
        raise click.UsageError("name the result: -o OUT")
    run_job(parse(document), Path(), quiet=quiet)


def run_job(job: Job, folder: Path, *, quiet: bool) -> None:
    """Run a job and print what it came to.

    Args:
        job: What to run.
        folder: What relative names in it are relative to.
        quiet: Print nothing.
    """
    module = importlib.import_module(f"evalframe.jobs.{job.__struct_config__.tag}.run")
    outcome = module.run(job, folder=folder, progress=silent if quiet else None)
    if outcome.report.rejected:
        say(outcome.report, err=True)
    if not quiet:
        say(module.written(outcome, width=terminal_width()))
