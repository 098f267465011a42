"""`evalframe demo`: the main command of each family, on the samples."""

from __future__ import annotations

import shlex
from pathlib import Path
from textwrap import fill

import click

from evalframe.core.errors import InputError, OutputError
from evalframe.jobs.console import say, terminal_width
from evalframe.jobs.rag.commands import rag
from evalframe.jobs.replication.commands import replication
from evalframe.jobs.selective.commands import selective
from evalframe.jobs.survey.commands import survey

_RESAMPLES = "2000"
_FAMILIES = {"selective": selective, "rag": rag, "survey": survey, "replication": replication}
_READING = {
    "selective": "AURC: the area under the loss of the most confident items over how many they "
    "are, lower is better; answering less lowers it, too, so read it beside Cmax, the share of "
    "items that is answered. risk@0.50: the mean loss (0 is right, 1 as wrong as can be) of the "
    "half of all items that is most confident.",
    "rag": "noise_rate: the share of the documents that does not hold the answer. accuracy: the "
    "share of responses with all parts of the answer. rejected: the share that says it cannot "
    "answer. dropped: responses without text. Look at how fast accuracy falls as noise rises.",
    "survey": "score: how alike the predicted and actual shares of the options are, 1 is the same, "
    "as a mean over segments. parsed: the share of responses with a distribution to read. Look at "
    "which models are above the baselines: uniform knows nothing, population-marginal knows what "
    "all people answered.",
    "replication": "PAS: do agents find an effect where humans do. ECS: is it as large. Look at "
    "both: who agrees on what there is may be wrong about how much.",
}
_NEXT = (
    "Next: your own files, by the commands above; `evalframe selective --help` and so on say what "
    "columns they need. README.md has the same in Python, and how to compare models and to add a "
    "metric."
)
_WIDTH = 100


@click.command()
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

    Shows each command, how to read what it prints, a table of it, and where the rest is written.
    """
    width = min(terminal_width() or _WIDTH, _WIDTH)
    for title, (family, *words) in commands(samples, output).items():
        say(f"\n{title}\n{'=' * len(title)}\n{fill(_READING[family], width)}\n")
        say(f"$ evalframe {family} {shlex.join(words)}\n")
        written = Path(words[words.index("-o") + 1])
        if family == "rag":  # four long tables: one is enough here
            _run(family, [*words, "-q"])
            say(_noise_robustness(written))
        else:
            _run(family, words)
        tables = f"{len([*written.glob('*.parquet')])} tables in {written}/"
        say(f"\nWritten: {tables if written.is_dir() else written}")
    say(f"\n{fill(_NEXT, width)}")


def _run(family: str, words: list[str]) -> None:
    _FAMILIES[family].main(words, f"evalframe {family}", standalone_mode=False)


def commands(samples: Path, output: Path) -> dict[str, list[str]]:
    """The words of each command, by what it shows.

    Args:
        samples: The folder of the samples.
        output: The folder for results, which is made.

    Raises:
        InputError: There are no samples.
        OutputError: The folder cannot be made.
    """
    tables = ("items", "rag_responses", "survey_responses", "survey", "replication_tests")
    items, responses, predictions, truth, tests = (
        str(samples / f"{name}.parquet") for name in tables
    )
    for path in (items, responses, predictions, truth, tests):
        if not Path(path).is_file():
            raise InputError(
                f"no samples in {samples}: {path} is not there; write them by `evalframe sample "
                f"{shlex.quote(str(samples))}`, or name their folder"
            )
    words = {
        "Selective prediction: is a system right where it is sure?": [
            *("selective", items, "--by", "mode"),
            *("--loss", "abs_norm", "--metrics", "aurc,coverage,risk_at_0.50"),
            *("-o", str(output / "selective.parquet")),
        ],
        "Retrieval-augmented generation: do answers survive documents that do not help?": [
            *("rag", responses, "-o", str(output / "rag")),
        ],
        "Survey distributions: do models know what segments of a population answer?": [
            *("survey", predictions, "--truth", truth, "-o", str(output / "survey")),
        ],
        "Replication: do agents behave as the humans of published studies did?": [
            *("replication", tests, "-o", str(output / "replication")),
        ],
    }
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {output}: {error.strerror or error}") from None
    return {title: [*each, "--bootstrap", _RESAMPLES] for title, each in words.items()}


def _noise_robustness(written: Path) -> str:
    """The first of the four tables that the command prints, for questions in English."""
    import polars as pl

    from evalframe.jobs.rag.job import KEYS
    from evalframe.jobs.rag.report import rates_report

    rates = pl.read_parquet(written / "rates.parquet")
    english = rates.filter(pl.col("dataset") == "en", pl.col("noise_rate") < 1)
    table = rates_report(english, KEYS, level=0.95, width=terminal_width())
    return f"{table}\nNot shown: questions in Chinese, and the three other abilities."
