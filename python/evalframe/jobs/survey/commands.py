"""`evalframe survey prompts`, `baselines`, and `validate` of a survey alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import click
import msgspec

from evalframe.core.choices import ContextFormat, EvalType, Reasoning, Rules
from evalframe.jobs.console import refuse_silence, say, terminal_width
from evalframe.jobs.family import help_texts
from evalframe.jobs.flags import Flag, command
from evalframe.jobs.settings import Columns
from evalframe.jobs.survey.job import ANSWERS, BASELINES, METRIC, USUAL, MetricName


class Descriptions(msgspec.Struct, kw_only=True):
    """Flags of commands that read a survey alone."""

    survey: tuple[str, ...]
    answers: ANSWERS = ()
    questions_from: Annotated[
        str | None,
        Flag(
            "A table with the texts and options of questions that the survey's table lacks: "
            "question_id, and any of round, question_text, question_order, options.",
            "FILE",
        ),
    ] = None
    segments_from: Annotated[
        str | None,
        Flag(
            "Likewise of segments: segment_id, and any of round, segment_label, segment_value.",
            "FILE",
        ),
    ] = None
    columns: Columns = {}


class Prompts(Descriptions, kw_only=True):
    """Flags of `evalframe survey prompts`."""

    segments: Annotated[tuple[str, ...] | None, Flag("Segments to ask about.", default="all")] = (
        None
    )
    questions: Annotated[
        tuple[str, ...] | None, Flag("Questions to ask, in this order.", default="all")
    ] = None
    batch_size: Annotated[int, Flag("Questions of a prompt, 1 to 5.")] = 1
    context: Annotated[
        tuple[str, ...] | None,
        Flag(
            "Pool of questions whose answers prompts show, in this order.",
            default="all of the survey",
        ),
    ] = None
    context_count: Annotated[
        Literal["all"] | int,
        Flag("How many to show, or all that fit into the token budget: all.", "N"),
    ] = 0
    context_format: Annotated[
        ContextFormat | None,
        Flag("", default="attribute-label without context, distribution-context with it"),
    ] = None
    eval_type: Annotated[
        EvalType,
        Flag("shift shows the answers of all; the others ask for letters of members."),
    ] = "distribution"
    reasoning: Annotated[Reasoning, Flag("cot asks for reasoning before the answer.")] = "standard"
    token_budget: Annotated[
        int, Flag("Tokens of system prompt, prompt and response, four characters each.")
    ] = 4096
    n_individuals: Annotated[
        int, Flag("Members that synthetic-individual asks for.", name="individuals")
    ] = 20
    participants: Annotated[
        str | None,
        Flag(
            "Ask about each participant, with --eval-type individual-answer: a table with a row "
            "for each, respondent_id, and columns called as the attributes of segments and as the "
            "questions.",
            "FILE",
        ),
    ] = None
    n_participants: Annotated[int, Flag("How many of a segment to draw, seeded by its id.")] = 20
    temperature: Annotated[float, Flag("Stored with the prompts.")] = 0.3
    system: Annotated[str | None, Flag("A system prompt instead of the usual one.", "TEXT")] = None
    seed: Annotated[int | None, Flag("Takes the pool in random order.", default="as it stands")] = (
        None
    )
    rules: Annotated[Rules, Flag("Of the token budget, of batches, and of what prompts show.")] = (
        "documented"
    )
    blueprints: Annotated[
        str | None, Flag("Write a table with a row per configuration, too.", "FILE")
    ] = None
    output: Annotated[str, Flag(".parquet or .jsonl", "FILE")]


class Baselines(Descriptions, kw_only=True):
    """Flags of `evalframe survey baselines`."""

    kinds: Annotated[
        tuple[str, ...] | None,
        Flag(
            f"Any of {', '.join(BASELINES)}.",
            default=f"{','.join(USUAL)}, and prior_round with --prior",
        ),
    ] = None
    prior: Annotated[
        tuple[str, ...],
        Flag(
            "The rounds before, for prior_round, oldest first.",
            "SURVEY",
            default="those of SURVEY, in order",
            repeated=True,
        ),
    ] = ()
    permutations: Annotated[
        int | None,
        Flag("Permute segments so often, for an interval of the permutation baseline.", "N"),
    ] = None
    metric: Annotated[MetricName, Flag("As for `evalframe survey`.", "NAME")] = METRIC
    rules: Annotated[Rules, Flag("Likewise.")] = "documented"
    seed: Annotated[int, Flag("Of dirichlet and --permutations.")] = 42
    output: Annotated[
        str | None, Flag("The scores, a row per pair.", "FILE", default="only printed")
    ] = None


def _prompts(flags: dict[str, Any], quiet: bool) -> None:
    from evalframe.jobs.survey.prompting import summary, write_survey_prompts

    written = write_survey_prompts(flags)
    if not quiet:
        say(summary(written, flags["output"], width=terminal_width()))


def _baselines(flags: dict[str, Any], quiet: bool) -> None:
    from evalframe.jobs.survey.baselines import report, score_baselines

    refuse_silence(quiet, flags.get("output"))
    scored = score_baselines(flags)
    if not quiet:
        say(report(scored, flags.get("output"), width=terminal_width()))


prompts = command("prompts", Prompts, _prompts, texts=help_texts("survey"))
baselines = command("baselines", Baselines, _baselines, texts=help_texts("survey"))


def validate_surveys(flags: dict[str, Any]) -> bool:
    """Check surveys if no flag is for predictions, and return True then."""
    if flags.keys() - {"items", "columns", "answers"}:
        return False
    from evalframe.jobs.survey.surveys import checked

    settings = {name: flags[name] for name in ("columns", "answers") if name in flags}
    message, is_usable = checked(flags.get("items", ()), **settings)
    say(message)
    if not is_usable:
        click.get_current_context().exit(1)
    return True
