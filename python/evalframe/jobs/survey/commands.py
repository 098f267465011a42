"""`evalframe survey`: leaderboards of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evalframe.jobs.console import Family, say
from evalframe.jobs.families import check_asked, job_of, run_asked
from evalframe.jobs.help import SURVEY_EPILOG
from evalframe.jobs.options import (
    COLUMNS,
    ON_BAD_ROWS,
    given,
    names,
    options,
    resampling,
    with_bootstrap,
)
from evalframe.jobs.survey.job import (
    AMOUNTS,
    BASELINES,
    METRIC,
    METRIC_NAMES,
    RULES,
    USUAL,
    VERSIONS,
    WEIGHTINGS,
)
from evalframe.jobs.survey.survey_commands import ANSWERS, baselines, prompts

if TYPE_CHECKING:
    from evalframe.jobs.parsing import Job


def _amount(text: str) -> int | str:
    """An amount of context: a number, or one of the words."""
    if text.isdecimal():
        return int(text)
    if text not in AMOUNTS:
        raise click.BadParameter(f"{text!r} is none of {', '.join(AMOUNTS)}, and no number")
    return text


_PREDICTIONS = options(
    click.option(
        "--truth",
        metavar="SURVEY",
        help="The survey: a file, glob or folder of tables or of the original's JSON documents.  "
        "[default: the column 'actual' of the predictions]",
    ),
    ANSWERS,
    click.option(
        "--prompts",
        metavar="FILE",
        help="The prompts that PREDICTIONS answer, from `evalframe survey prompts`; PREDICTIONS "
        "then need no more than id (of the prompt) and response, and model if there are several.",
    ),
    click.option(
        "--from-runs",
        multiple=True,
        metavar="FOLDER",
        help="Read run results of the original: a folder, files or globs of JSON.",
    ),
    click.option(
        "--versions",
        type=click.Choice(VERSIONS),
        help="Of run results, all or the latest of each config.  [default: all]",
    ),
    click.option("--experiments", is_flag=True, help="Count run results of experiments, too."),
    click.option(
        "--metric",
        type=click.Choice(METRIC_NAMES),
        metavar="NAME",
        help=f"{', '.join(METRIC_NAMES[:5])}; or js-divergence, cosine, earth-mover.  [default: "
        f"the scores that the table has, else {METRIC}]",
    ),
    click.option(
        "--rules",
        type=click.Choice(RULES),
        help="Of reading, scoring and ranking: what is sound, or what the original computes.  "
        "[default: documented]",
    ),
    click.option(
        "--weighting",
        type=click.Choice(WEIGHTINGS),
        help="What counts alike, or by its respondents, overall and in categories.  [default: "
        "segment]",
    ),
    click.option(
        "--context",
        type=_amount,
        metavar="AMOUNT",
        help=f"Which context_count counts where segments were asked with several: "
        f"{', '.join(AMOUNTS)}, or a number. --by context_count has a leaderboard for each.  "
        "[default: highest]",
    ),
    names(
        "--by",
        "Columns to group by; each group has leaderboards of its own. Results have columns like "
        "round themselves, so that a group by round is called by_round.",
    ),
    names(
        "--baselines",
        f"Scored beside the models: {', '.join(BASELINES)}; '' for none.  [default: "
        f"{','.join(USUAL)}, if there is a survey]",
    ),
    names(
        "--key",
        "Columns that identify a row, '' for no check of duplicates.  [default: model, round, "
        "segment_id, question_id, context_count, temperature, run_id and --by, as there are]",
    ),
    COLUMNS,
)


@click.group(cls=Family, main="leaderboards")
def survey() -> None:
    """Answers of demographic segments: leaderboards of predictions, prompts, baselines."""


@survey.command(epilog=SURVEY_EPILOG)
@click.argument("items", nargs=-1, metavar="[PREDICTIONS]...")
@_PREDICTIONS
@click.option(
    "--summary", metavar="OUT.json", help="Write the summary of run results as the original."
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="The overall leaderboard (.parquet, .csv, .json, .jsonl, .md), or a folder for all "
    "tables.  [default: only printed]",
)
@resampling("segment_id")
@ON_BAD_ROWS
@click.option("--quiet", "-q", is_flag=True, help="Print neither result nor progress.")
def leaderboards(quiet: bool, from_runs: tuple[str, ...], **flags: Any) -> None:
    """Rank models by how well they predict the answers of segments to a survey.

    PREDICTIONS are files, globs or folders: one row per model, segment and question, with model,
    segment_id, question_id, and response (text), predicted (a list of shares) or score; and as far
    as there are round, context_count, temperature, run_id, n_options and status. With --prompts id
    and response are enough. They are joined with the survey on round (where both have it), segment
    and question.

    Shares, of predictions and of surveys, may also have a row for each option (option_index or
    option_label, and predicted, actual, share, percent or count, as numbers or as texts such as
    45%), or a column for each; a survey may have a row for each respondent. See --answers. What is
    then assumed is printed.

    A question or segment that the survey does not have, a duplicate, shares that are no
    distribution or another number of options is an error, or set aside by --on-invalid quarantine.
    Faults of the survey are errors always.
    """
    run_asked(_job(from_runs, with_bootstrap(given(flags))), quiet=quiet)


@survey.command()
@click.argument("items", nargs=-1, metavar="[SURVEY or PREDICTIONS]...")
@_PREDICTIONS
def validate(from_runs: tuple[str, ...], **flags: Any) -> None:
    """Check surveys, or with --truth predictions; exit with 1 if one cannot be used.

    Survey documents (.json) are checked by the rules of the original, tables against their
    contract. Conflicts are what the original accepts and tables cannot hold, such as a question
    that a segment answers twice.
    """
    asked = given(flags)
    if from_runs or asked.keys() - {"items", "columns", "answers"}:
        check_asked(_job(from_runs, asked))
        return
    from evalframe.jobs.survey.validating import checked

    settings = {name: asked[name] for name in ("columns", "answers") if name in asked}
    told, is_usable = checked(asked.get("items", ()), **settings)
    say(told)
    click.get_current_context().exit(0 if is_usable else 1)


for command in (prompts, baselines):
    survey.add_command(command)


def _job(from_runs: tuple[str, ...], asked: dict[str, Any]) -> Job:
    called = "PREDICTIONS, or --from-runs FOLDER"
    return job_of("survey", asked, called=called, original="runs", files=from_runs)
