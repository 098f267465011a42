"""The command line. It only builds a job; polars is loaded by the commands, not by `--help`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evalframe.jobs.console import (
    INTERRUPTED,
    Program,
    end_at_once,
    prepare,
    say,
    silence,
    terminal_width,
)
from evalframe.jobs.families import run_job
from evalframe.jobs.help import CALIBRATE_EPILOG, EPILOG, SELECTIVE_EPILOG
from evalframe.jobs.options import (
    ON_BAD_ROWS,
    given,
    names,
    numbers,
    options,
    resampling,
    silent,
    with_bootstrap,
)
from evalframe.jobs.parsing import load, parse
from evalframe.jobs.rag.commands import rag
from evalframe.jobs.replication.commands import replication
from evalframe.jobs.selective.job import LOSSES, METRICS, RUN_FLAGS, SelectiveJob
from evalframe.jobs.survey.commands import survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.jobs.parsing import Job

Command = TypeVar("Command", bound=Callable[..., Any])

ROWS = 60
"""Rows printed at most of a result that is also written."""


def main() -> None:
    """The `evalframe` program."""
    prepare()
    try:
        cli(prog_name="evalframe")
    except SystemExit as ended:
        if ended.code == INTERRUPTED:  # threads of Polars may still be at work, and would abort
            end_at_once(INTERRUPTED)
        raise
    except OSError as error:  # from printing help, which no command does
        silence(sys.stdout)
        sys.exit(f"error: cannot print ({error.strerror})")


@click.group(cls=Program, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="evalframe", message="evalframe %(version)s")
def cli() -> None:
    """Evaluation metrics over tables of per-item records.

    Reads Parquet, CSV, JSON lines and Arrow files, computes the metrics of a family per group, with
    cluster bootstrap intervals if asked for, and writes tables. Reads run documents of
    ai-psychiatrist, prediction files of RGB, surveys and run results of DTEF, and evaluation
    results of HumanStudy-Bench, too, and writes the artifacts of the first.
    """


_RECORDS = options(
    names("--by", "Columns to group by."),
    names("--confidence", "Confidence columns, each evaluated.  [default: confidence]"),
    click.option(
        "--loss",
        metavar="NAME",
        help=f"{', '.join(LOSSES)}, or column:NAME for a column. The default divides "
        "|prediction - label| by 3, for items rated 0 to 3 (PHQ-8); answers that are right or "
        "wrong want zero_one.  [default: abs_norm]",
    ),
    click.option("--loss-scale", type=float, help="Divisor, for abs_norm only.  [default: 3]"),
    click.option("--prediction", metavar="COLUMN", help="Null abstains.  [default: prediction]"),
    click.option("--label", metavar="COLUMN", help="The truth.  [default: label]"),
    click.option("--participant", metavar="COLUMN", help="[default: participant_id]"),
    click.option("--item", metavar="COLUMN", help="[default: item]"),
    click.option("--weight", metavar="COLUMN", help="Of each row.  [default: 1]"),
    names(
        "--key",
        "Columns that identify a row, '' for no check of duplicates.  [default: --by, "
        "participant and item, the last two as far as the table has them]",
    ),
)

_RUN_DOCUMENTS = options(
    click.option(
        "--from-run",
        multiple=True,
        metavar="RUN.json",
        help="Evaluate run documents of ai-psychiatrist, one or two, as it does; further ones "
        "follow as ITEMS. A table of items with their signals will do, too.",
    ),
    click.option(
        "--mode", multiple=True, metavar="M", help="Mode of the run; once, or for each run."
    ),
    click.option(
        "--calibration", metavar="C.json", help="Artifact for variants that are calibrated."
    ),
    click.option(
        "--intersection-only",
        is_flag=True,
        help="Let two runs have different participants, and evaluate those in both.",
    ),
    click.option("--artifact", metavar="OUT.json", help="Write ai-psychiatrist's artifact."),
    click.option(
        "--rules",
        type=click.Choice(["reference", "documented"]),
        help="Of run documents: what the original computes, or what is sound.  [default: "
        "reference]",
    ),
)


@cli.command(epilog=SELECTIVE_EPILOG)
@click.argument("items", nargs=-1)
@_RECORDS
@click.option("-o", "--output", metavar="FILE", help=".parquet, .csv, .json, .jsonl, .md")
@names("--metrics", f"What to compute; see `evalframe metrics`.  [default: {', '.join(METRICS)}]")
@click.option(
    "--coverage-grid",
    type=numbers,
    metavar="A,B,...",
    help="Coverages of risk_at.  [default: 0.1,...,0.9]",
)
@click.option("--area-coverage", type=float, help="Of aurc_at and augrc_at.  [default: 0.5]")
@click.option(
    "--convention",
    metavar="NAME",
    help="Of every metric that has one; of the default metrics those it does not define are left "
    "out.  [default: trapezoid_total]",
)
@resampling("the participant")
@ON_BAD_ROWS
@_RUN_DOCUMENTS
@click.option("--quiet", "-q", is_flag=True, help="Print neither result nor progress.")
def selective(quiet: bool, from_run: tuple[str, ...], **flags: Any) -> None:
    """Score predictions that may abstain, per group.

    ITEMS are files, globs or folders: one row per item of a participant, with prediction, label and
    confidence. Of a folder all .parquet files below it are read, hidden ones excepted; folders in
    it that are named key=value become columns of text, so that model=001 stays 001.

    With --from-run, run documents of ai-psychiatrist are evaluated as it does, and so are tables
    like those of `read_run`, in which nobody is listed who failed. --confidence then names
    variants: all, default (llm,total_evidence), or some between commas. --loss is abs or abs_norm,
    10,000 resamples are the default and --bootstrap 0 means none. Of the other flags
    --coverage-grid, --area-coverage, --seed, -o and --quiet apply.
    """
    asked = given(flags)
    if from_run:
        _run_documents([*from_run, *asked.pop("items", ())], asked, quiet)
        return
    if misplaced := [f"--{name.replace('_', '-')}" for name in RUN_FLAGS if name in asked]:
        raise click.UsageError(f"{', '.join(misplaced)} without --from-run RUN.json")
    if "items" not in asked:
        raise click.UsageError("name ITEMS, or --from-run RUN.json")
    if "output" not in asked:
        raise click.UsageError("name the result: -o FILE")
    _run(parse(_document(asked)), Path(), quiet)


@cli.command(epilog=CALIBRATE_EPILOG)
@click.argument("items", nargs=-1)
@click.option("--from-run", multiple=True, metavar="RUN.json", help="A run document to train on.")
@click.option("--mode", metavar="M", help="Mode of the run.")
@click.option(
    "--method",
    required=True,
    type=click.Choice(["temperature", "platt", "logistic", "isotonic", "verbalized"]),
    help="verbalized is a temperature of stated confidence from 1 to 5; all others need --features",
)
@names("--features", "Signals to train on; all methods but logistic take one.")
@click.option(
    "--target",
    type=click.Choice(["correctness", "near_correct", "loss"]),
    help="What to predict: prediction = label, |difference| <= 1, or 1 - |difference| / 3.  "
    "[default: correctness]",
)
@click.option(
    "--rules",
    type=click.Choice(["documented", "reference"]),
    help="documented finds the optimum and refuses items that lack a signal; reference does as "
    "the original, by a grid and with its defaults.  [default: documented]",
)
@click.option("--folds", type=int, help="Judge it out of sample, too, by so many folds.")
@click.option("--cluster", metavar="COLUMN", help="Never split.  [default: participant_id]")
@click.option("--seed", type=int, help="Of the folds.  [default: 42]")
@click.option("-o", "--output", metavar="C.json", required=True, help="The artifact.")
@click.option("--quiet", "-q", is_flag=True, help="Print no summary.")
def calibrate(quiet: bool, from_run: tuple[str, ...], **flags: Any) -> None:
    """Train a calibrator of confidence and write its artifact, for `selective --calibration`.

    ITEMS are files, globs or folders with a row per item: prediction, label and the signals. With
    --from-run a run document of ai-psychiatrist is read instead. Trained on predicted items.
    """
    from evalframe.jobs.selective.calibrate import calibrate, summary

    trained = calibrate(from_run, given(flags))
    if not quiet:
        say(summary(trained, flags["output"]))


cli.add_command(rag)
cli.add_command(survey)
cli.add_command(replication)


@cli.command("run")
@click.argument("job", type=click.Path(path_type=Path))
@click.option("--quiet", "-q", is_flag=True, help="Print neither result nor progress.")
def run_file(job: Path, quiet: bool) -> None:
    """Run a job from a TOML file, which says what the flags of its family's command say.

    Relative paths in the file are relative to its folder.
    """
    _run(load(job), job.parent, quiet)


@cli.command("validate")
@click.argument("items", nargs=-1, required=True)
@_RECORDS
def validate_items(**flags: Any) -> None:
    """Check selective records against their contract; exit with 1 if a row breaks it."""
    from evalframe.jobs.inputs import open_items
    from evalframe.jobs.selective.records import check

    job = parse(_document(given(flags)))
    assert isinstance(job, SelectiveJob)
    items, _ = open_items(job.items)
    say(check(job, items, None))


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--participants", type=int, default=60, show_default=True, help="Of the selective tables."
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--overwrite", is_flag=True, help="Replace other files of the same names.")
def sample(folder: Path, participants: int, seed: int, overwrite: bool) -> None:
    """Write samples of all families, the same for the same seed, into FOLDER."""
    from evalframe.jobs.samples import write_samples

    for path in write_samples(folder, participants=participants, seed=seed, overwrite=overwrite):
        say(path)


@cli.command()
@click.argument("samples", type=click.Path(path_type=Path), default="data")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="results",
    show_default=True,
    help="The folder for the tables.",
)
def demo(samples: Path, output: Path) -> None:
    """Run the main command of each family on the samples in SAMPLES, by default data.

    Shows each command and what it prints.
    """
    from evalframe.jobs.demo import commands

    for title, words in commands(samples, output).items():
        say(f"\n{title}\n{'=' * len(title)}\n$ evalframe {shlex.join(words)}\n")
        cli.commands[words[0]].main(words[1:], f"evalframe {words[0]}", standalone_mode=False)


@cli.command()
@click.option("--family", help="Only those of one family.")
def metrics(family: str | None) -> None:
    """List the metrics: name, family, direction, range and roles."""
    from evalframe.jobs.selective.metrics import catalogue

    rows = catalogue(family)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        say("  ".join(cells).rstrip())


def _run(job: Job, folder: Path, quiet: bool) -> None:
    if not isinstance(job, SelectiveJob):
        run_job(job, folder, quiet=quiet)
        return
    from evalframe.jobs.selective.metrics import has_default_convention
    from evalframe.jobs.selective.run import run
    from evalframe.report.table import render

    outcome = run(job, folder=folder, progress=silent if quiet else None)
    if outcome.left_out:
        names = ", ".join(outcome.left_out)
        say(f"not defined in the convention {job.convention}, left out: {names}", err=True)
    if outcome.report.rejected:
        say(outcome.report, err=True)
    if quiet:
        return
    notes = [] if has_default_convention(job) else [f"Convention: {job.convention}."]
    limit = None if job.output is None else ROWS
    if limit is not None and outcome.result.height > limit:
        notes.append(f"All rows are in {job.output}.")
    level = job.bootstrap.level if job.bootstrap else None
    say(render(outcome.result, level=level, width=terminal_width(), limit=limit, notes=notes))


def _run_documents(documents: Sequence[str], flags: dict[str, Any], quiet: bool) -> None:
    from evalframe.jobs.selective.from_run import evaluate_documents, report

    evaluation = evaluate_documents(documents, flags, silent if quiet else None)
    if not quiet:
        say(report(evaluation, width=terminal_width()))


def _document(flags: dict[str, Any]) -> dict[str, Any]:
    """The flags that were given, as the job file that says the same."""
    rest = with_bootstrap(flags)
    columns = ("prediction", "label", "participant", "item", "weight")
    document: dict[str, Any] = {
        "family": "selective",
        "columns": {name: rest.pop(name) for name in columns if name in rest},
        "loss": _loss(rest.pop("loss", "abs_norm"), rest.pop("loss_scale", None)),
    }
    return document | rest


def _loss(text: str, scale: float | None) -> dict[str, Any]:
    kind, _, column = text.partition(":")
    named = {"column": column} if kind == "column" and column else {"name": text}
    return named if scale is None else {**named, "scale": scale}
