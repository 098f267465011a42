"""The command line. It only builds a job; polars is loaded by the commands, not by `--help`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from evalframe.jobs.console import INTERRUPTED, Program, end_at_once, prepare, say, silence
from evalframe.jobs.demo import demo
from evalframe.jobs.families import run_job
from evalframe.jobs.help import EPILOG
from evalframe.jobs.parsing import load
from evalframe.jobs.rag.commands import rag
from evalframe.jobs.replication.commands import replication
from evalframe.jobs.selective.commands import selective
from evalframe.jobs.survey.commands import survey


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


for family in (selective, rag, survey, replication):
    cli.add_command(family)
cli.add_command(demo)
for name in ("calibrate", "validate"):  # once there was one family only
    cli.add_command(selective.commands[name], name)


@cli.command("run")
@click.argument("job", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output-folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="For what the job writes.  [default: the folder of JOB]",
)
@click.option("--quiet", "-q", is_flag=True, help="Print neither result nor progress.")
def run_file(job: Path, output_folder: Path | None, quiet: bool) -> None:
    """Run a job from a TOML file, which says what the flags of its family's command say.

    Relative paths in the file are relative to its folder. What the job writes must lie in that
    folder, or below it, or in DIR, to which the names of its outputs are relative then: whoever
    runs a job decides where it may write.
    """
    run_job(load(job), job.parent, into=output_folder or job.parent, quiet=quiet)


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
@click.argument("topic", required=False)
def explain(topic: str | None) -> None:
    """Print a reference text, or the documentation of a public name; without TOPIC list them."""
    import evalframe as ef

    say(str(ef.explain(topic)).rstrip())


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
