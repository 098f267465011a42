"""`evalframe selective`: metrics of predictions that may abstain, and calibrators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evalframe.jobs.console import Family, say, terminal_width
from evalframe.jobs.families import check_asked, job_of, refuse_silence, run_asked
from evalframe.jobs.help import CALIBRATE_EPILOG, SELECTIVE_EPILOG
from evalframe.jobs.options import (
    COLUMNS,
    ON_BAD_ROWS,
    given,
    names,
    numbers,
    options,
    resampling,
    silent,
    with_bootstrap,
    with_columns,
)
from evalframe.jobs.selective.job import LOSSES, METRICS, RUN_FLAGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.jobs.parsing import Job


_ITEMS = options(
    names("--by", "Columns to group by."),
    names("--confidence", "Confidence columns, each evaluated.  [default: confidence]"),
    click.option(
        "--loss",
        metavar="NAME",
        help=f"{', '.join(LOSSES)}, or column:NAME for a column. abs_norm divides |prediction - "
        "label| by 3, for items rated 0 to 3 (PHQ-8); zero_one is for answers that are right or "
        "wrong.  [default: a column loss, else 1 minus a column correct, else zero_one for "
        "answers that are text, Boolean or only 0 and 1; with --from-run abs_norm]",
    ),
    click.option("--loss-scale", type=float, help="Divisor of abs_norm.  [default: 3]"),
    COLUMNS,
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
        "--calibration",
        metavar="C.json",
        help="Artifact of `evalframe calibrate`: evaluate the confidence `calibrated`, too; of run "
        "documents the variants that are calibrated.",
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


@click.group(cls=Family, main="evaluate")
def selective() -> None:
    """Selective prediction: metrics of predictions that may abstain, calibration."""


@selective.command(epilog=SELECTIVE_EPILOG)
@click.argument("items", nargs=-1)
@_ITEMS
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="The table of metrics (.parquet, .csv, .json, .jsonl, .md), or a folder for all tables.  "
    "[default: only printed]",
)
@names(
    "--metrics",
    "What to compute; see `evalframe metrics`. module:name is a metric of your own, from where you "
    f"are or installed; naming a module runs it.  [default: {', '.join(METRICS)}]",
)
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
def evaluate(quiet: bool, from_run: tuple[str, ...], **flags: Any) -> None:
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
    run_asked(_job(asked), quiet=quiet)


@selective.command(epilog=CALIBRATE_EPILOG)
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
    help="What to predict: the column correct, else prediction = label; |difference| <= 1; or "
    "1 - |difference| / 3.  "
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
@COLUMNS
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


@selective.command()
@click.argument("items", nargs=-1, required=True)
@_ITEMS
def validate(**flags: Any) -> None:
    """Check items against their contract; exit with 1 if one breaks it.

    ITEMS are files, globs or folders.
    """
    check_asked(_job(given(flags)))


def _run_documents(documents: Sequence[str], flags: dict[str, Any], quiet: bool) -> None:
    from evalframe.jobs.selective.from_run import evaluate_documents, report

    refuse_silence(quiet, flags.get("output"), flags.get("artifact"))
    evaluation = evaluate_documents(documents, flags, silent if quiet else None)
    if not quiet:
        say(report(evaluation, width=terminal_width()))


def _job(flags: dict[str, Any]) -> Job:
    """The job of the flags that were given."""
    rest = with_columns(with_bootstrap(flags), **_SHORT)
    if {"loss", "loss_scale"} & {*rest}:
        rest["loss"] = _loss(rest.pop("loss", "abs_norm"), rest.pop("loss_scale", None))
    return job_of("selective", rest, called="ITEMS, or --from-run RUN.json")


_SHORT = {name: name for name in ("prediction", "label", "participant", "item", "weight")}
"""Flags that name the column of a role."""


def _loss(text: str, scale: float | None) -> dict[str, Any]:
    kind, _, column = text.partition(":")
    named = {"column": column} if kind == "column" and column else {"name": text}
    return named if scale is None else {**named, "scale": scale}
