"""What `evalframe survey` does with surveys alone: prompts, baselines."""

from __future__ import annotations

from typing import Any, Literal

import click

from evalframe.jobs.console import say, terminal_width
from evalframe.jobs.families import refuse_silence
from evalframe.jobs.help import SURVEY_BASELINES_EPILOG, SURVEY_PROMPTS_EPILOG
from evalframe.jobs.options import COLUMNS, given, names, options
from evalframe.jobs.survey.job import BASELINES, METRIC, METRIC_NAMES, RULES, USUAL

CONTEXT_FORMATS = (
    "attribute-label",
    "distribution-context",
    "narrative",
    "raw-survey",
    "interview",
    "first-person",
)
EVAL_TYPES = ("distribution", "shift", "synthetic-individual", "individual-answer")
REASONING = ("standard", "cot")


def _count(text: str) -> int | Literal["all"]:
    return "all" if text == "all" else int(text)


ANSWERS = names(
    "--answers",
    "Columns that hold answers: with question_id one for each option, in order; without it one for "
    "each question, in a table of respondents (respondent_id and weight if there are; segments are "
    "segment_id, or the values of all other columns).",
)

_DESCRIPTIONS = options(
    ANSWERS,
    click.option(
        "--questions-from",
        metavar="FILE",
        help="A table with the texts and options of questions that the survey's table lacks: "
        "question_id, and any of round, question_text, question_order, options.",
    ),
    click.option(
        "--segments-from",
        metavar="FILE",
        help="Likewise of segments: segment_id, and any of round, segment_label, segment_value.",
    ),
    COLUMNS,
)


@click.command(epilog=SURVEY_PROMPTS_EPILOG)
@click.argument("survey", nargs=-1, required=True)
@_DESCRIPTIONS
@names("--segments", "Segments to ask about.  [default: all]")
@names("--questions", "Questions to ask, in this order.  [default: all]")
@click.option(
    "--batch-size", type=int, default=1, show_default=True, help="Questions of a prompt, 1 to 5."
)
@names(
    "--context",
    "Pool of questions whose answers prompts show, in this order.  [default: all of the survey]",
)
@click.option(
    "--context-count",
    type=_count,
    default="0",
    show_default=True,
    metavar="N",
    help="How many to show, or all that fit into the token budget: all.",
)
@click.option(
    "--context-format",
    type=click.Choice(CONTEXT_FORMATS),
    help="[default: attribute-label without context, distribution-context with it]",
)
@click.option(
    "--eval-type",
    type=click.Choice(EVAL_TYPES),
    default="distribution",
    show_default=True,
    help="shift shows the answers of all; the others ask for letters of members.",
)
@click.option(
    "--reasoning",
    type=click.Choice(REASONING),
    default="standard",
    show_default=True,
    help="cot asks for reasoning before the answer.",
)
@click.option(
    "--token-budget",
    type=int,
    default=4096,
    show_default=True,
    help="Tokens of system prompt, prompt and response, four characters each.",
)
@click.option(
    "--individuals",
    "n_individuals",
    type=int,
    default=20,
    show_default=True,
    help="Members that synthetic-individual asks for.",
)
@click.option(
    "--participants",
    metavar="FILE",
    help="Ask about each participant, with --eval-type individual-answer: a table with a row for "
    "each, respondent_id, and columns called as the attributes of segments and as the questions.",
)
@click.option(
    "--n-participants",
    type=int,
    default=20,
    show_default=True,
    help="How many of a segment to draw, seeded by its id.",
)
@click.option(
    "--temperature", type=float, default=0.3, show_default=True, help="Stored with the prompts."
)
@click.option("--system", metavar="TEXT", help="A system prompt instead of the usual one.")
@click.option("--seed", type=int, help="Takes the pool in random order.  [default: as it stands]")
@click.option(
    "--rules",
    type=click.Choice(RULES),
    default="documented",
    show_default=True,
    help="Of the token budget, of batches, and of what prompts show.",
)
@click.option(
    "--blueprints", metavar="FILE", help="Write a table with a row per configuration, too."
)
@click.option("-o", "--output", metavar="FILE", required=True, help=".parquet or .jsonl")
@click.option("--quiet", "-q", is_flag=True, help="Print no summary.")
def prompts(quiet: bool, **flags: Any) -> None:
    """Write a prompt for each segment and question of a survey.

    SURVEY are files, globs or folders: a long table (question_id, segment_id, option_index, share
    or percent), a table of distributions (question_id, segment_id, actual), or survey documents of
    the original (.json). `evalframe survey RESPONSES --prompts FILE` ranks what comes back.
    """
    from evalframe.jobs.survey.prompting import summary, write_survey_prompts

    written = write_survey_prompts(given(flags))
    if not quiet:
        say(summary(written, flags["output"], width=terminal_width()))


@click.command(epilog=SURVEY_BASELINES_EPILOG)
@click.argument("survey", nargs=-1, required=True)
@_DESCRIPTIONS
@names(
    "--kinds",
    f"Any of {', '.join(BASELINES)}.  [default: {','.join(USUAL)}, and prior_round with --prior]",
)
@click.option(
    "--prior",
    multiple=True,
    metavar="SURVEY",
    help="The rounds before, for prior_round, oldest first.  [default: those of SURVEY, in order]",
)
@click.option(
    "--permutations",
    type=int,
    metavar="N",
    help="Permute segments so often, for an interval of the permutation baseline.",
)
@click.option(
    "--metric",
    type=click.Choice(METRIC_NAMES),
    metavar="NAME",
    default=METRIC,
    show_default=True,
    help="As for `evalframe survey`.",
)
@click.option(
    "--rules", type=click.Choice(RULES), default="documented", show_default=True, help="Likewise."
)
@click.option(
    "--seed", type=int, default=42, show_default=True, help="Of dirichlet and --permutations."
)
@click.option(
    "-o", "--output", metavar="FILE", help="The scores, a row per pair.  [default: only printed]"
)
@click.option("--quiet", "-q", is_flag=True, help="Print no summary.")
def baselines(quiet: bool, **flags: Any) -> None:
    """Score baselines on every question and segment of a survey.

    SURVEY is as for `evalframe survey prompts`. Written to FILE is a row per baseline, segment and
    question, with its score, which `evalframe survey` ranks as it stands. Printed is the mean over
    all pairs, and the mean of the means of segments, as leaderboards have it.
    """
    from evalframe.jobs.survey.baselines import report, score_baselines

    refuse_silence(quiet, flags["output"])
    scored = score_baselines(given(flags))
    if not quiet:
        say(report(scored, flags["output"], width=terminal_width()))
