"""`evalframe rag`: the rates of responses, and the documents that they are asked from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evalframe.jobs.console import Family, say
from evalframe.jobs.families import check_asked, job_of, run_asked
from evalframe.jobs.help import RAG_DOCUMENTS_EPILOG, RAG_EPILOG
from evalframe.jobs.options import (
    COLUMNS,
    ON_BAD_ROWS,
    given,
    names,
    numbers,
    options,
    resampling,
    with_bootstrap,
    with_columns,
)
from evalframe.jobs.rag.job import (
    ANSWER_TEXTS,
    DROPPED,
    FLAT_ANSWERS,
    KEYS,
    MODES,
    RATE_INTERVALS,
)

if TYPE_CHECKING:
    from evalframe.jobs.parsing import Job

_ANSWERS = options(
    click.option(
        "--answers",
        type=click.Choice(ANSWER_TEXTS),
        help="What answers in text are: one alias, or JSON.  [default: JSON where all of a text is "
        "an answer in JSON, else one alias]",
    ),
    click.option(
        "--flat-answers",
        type=click.Choice(FLAT_ANSWERS),
        help="What a flat list of texts as answer is: parts, all of them required, or aliases, any "
        "of which suffices.  [default: parts]",
    ),
    click.option(
        "--language",
        metavar="FILE",
        help="A TOML file with the phrases of a language beside English and Chinese: rejections, "
        "errors, and perhaps inability, absence, other_errors, negations, template, system.",
    ),
)
_RESPONSES = options(
    click.option(
        "--from-rgb",
        multiple=True,
        metavar="FOLDER",
        help="Read prediction files of RGB: a folder, files or globs.",
    ),
    click.option("--instances", metavar="FILE", help="Where the answers are, if not in RESPONSES."),
    click.option(
        "--prompts",
        metavar="FILE",
        help="The prompts that RESPONSES answer, from `evalframe rag documents`; RESPONSES then "
        "need no more than id (of the prompt) and response, and model if there are several.",
    ),
    _ANSWERS,
    names("--by", f"Columns to group by.  [default: {', '.join(KEYS)}, as there are]"),
    click.option(
        "--mode",
        type=click.Choice(MODES),
        help="How to label.  [default: strict, or the labels that the table has]",
    ),
    click.option(
        "--dropped",
        type=click.Choice(DROPPED),
        help="What responses without a label are.  [default: excluded]",
    ),
    click.option(
        "--intervals",
        type=click.Choice(RATE_INTERVALS),
        help="Of the rates, without --bootstrap.  [default: wilson]",
    ),
    COLUMNS,
    click.option("--weight", metavar="COLUMN", help="Of each row.  [default: 1]"),
    names(
        "--key",
        "Columns that identify a row, '' for no check of duplicates.  [default: --by and id]",
    ),
)


@click.group(cls=Family, main="rates")
def rag() -> None:
    """Robustness of retrieval-augmented generation: rates of responses, prompts."""


@rag.command(epilog=RAG_EPILOG)
@click.argument("items", nargs=-1, metavar="[RESPONSES]...")
@_RESPONSES
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="The table of rates (.parquet, .csv, .json, .jsonl, .md), or a folder for all tables.  "
    "[default: only printed]",
)
@resampling("the question: dataset and id")
@ON_BAD_ROWS
@click.option("--quiet", "-q", is_flag=True, help="Print neither result nor progress.")
def rates(quiet: bool, from_rgb: tuple[str, ...], **flags: Any) -> None:
    """Rate responses to questions with documents, by model, data set and noise.

    RESPONSES are files, globs or folders: one row per response, with dataset, response, answers
    (or --instances), and as far as there are model, id, noise_rate, passage_num,
    correct_passage_rate, evaluation (a judge's text). With --prompts id and response are enough.
    Printed are the four abilities: robustness to noise, rejection where there is nothing but noise,
    integration of several documents, and robustness to documents that are wrong.
    """
    run_asked(_job(from_rgb, with_bootstrap(given(flags), "level")), quiet=quiet)


@rag.command()
@click.argument("items", nargs=-1, metavar="[RESPONSES]...")
@_RESPONSES
def validate(from_rgb: tuple[str, ...], **flags: Any) -> None:
    """Check responses against their contract; exit with 1 if one breaks it."""
    check_asked(_job(from_rgb, given(flags)))


@rag.command(epilog=RAG_DOCUMENTS_EPILOG)
@click.argument("instances", nargs=-1, required=True)
@click.option(
    "--noise",
    type=numbers,
    default="0",
    show_default=True,
    metavar="A,B,...",
    help="Share of noise among the documents; several give a prompt for each.",
)
@click.option("--passages", type=int, default=5, show_default=True, help="Documents in a prompt.")
@click.option(
    "--correct",
    type=float,
    default=0.0,
    show_default=True,
    help="Share of right documents, in counterfactual data sets only.",
)
@click.option(
    "--order",
    type=click.Choice(["original", "seeded"]),
    default="original",
    show_default=True,
    help="original takes the documents that RGB takes; seeded draws them by data set and id.",
)
@click.option("--seed", type=int, default=2333, show_default=True)
@_ANSWERS
@COLUMNS
@click.option("-o", "--output", metavar="FILE", required=True, help=".parquet or .jsonl")
@click.option("--quiet", "-q", is_flag=True, help="Print no summary.")
def documents(quiet: bool, instances: tuple[str, ...], **flags: Any) -> None:
    """Choose the documents of each question and write the prompts.

    INSTANCES are files, globs or folders: one row per question, with dataset, id, query, answers,
    positive and negative (lists of documents), and positive_wrong for counterfactual data sets; or
    data files of RGB, which end in .json.
    """
    from evalframe.jobs.rag.documents import summary, write_documents

    prompts = write_documents(instances, **flags)
    if not quiet:
        say(summary(prompts, flags["output"]))


def _job(from_rgb: tuple[str, ...], asked: dict[str, Any]) -> Job:
    called = "RESPONSES, or --from-rgb FOLDER"
    asked = with_columns(asked, weight="weight")
    return job_of("rag", asked, called=called, original="rgb", files=from_rgb)
