"""Prompts that ask how the segments of a survey answered its questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import Argument, ParameterError, UnknownNameError
from evalframe.survey.prompting.config_ids import N_INDIVIDUALS, config_id
from evalframe.survey.prompting.context import with_context
from evalframe.survey.prompting.participants import (
    N_PARTICIPANTS,
    OF_SEGMENT,
    of_participants,
)
from evalframe.survey.prompting.sampling import shuffled
from evalframe.survey.prompting.settings import Settings, system_of
from evalframe.survey.prompting.texts import group_texts, item_texts, question_texts, with_texts
from evalframe.survey.prompting.tokens import BUDGET, counted
from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.tables import as_distributions, like_survey

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.survey.prompting.config_ids import ContextFormat, EvalType, Reasoning
    from evalframe.survey.prompting.tokens import Tokens
    from evalframe.survey.surveys.tables import AnySurvey, Survey

Questions: TypeAlias = Sequence[str] | Literal["all"]

PROMPTS = {
    "prompt_id": pl.String(),
    "config_id": pl.String(),
    "round": pl.String(),
    "segment_id": pl.String(),
    "respondent_id": pl.String(),
    "segment_attribute": pl.String(),
    "sample_size": pl.Int64(),
    "question_id": pl.List(pl.String()),
    "n_options": pl.List(pl.Int64()),
    "actual": pl.List(pl.List(pl.Float64())),
    "context_count": pl.Int64(),
    "context_ids": pl.List(pl.String()),
    "context_format": pl.String(),
    "eval_type": pl.String(),
    "reasoning": pl.String(),
    "temperature": pl.Float64(),
    "n_tokens": pl.Int64(),
    "system": pl.String(),
    "prompt": pl.String(),
}
"""The columns of the prompt table."""


@like_survey
def prompts(
    survey: AnySurvey,
    *,
    segments: Sequence[str] | None = None,
    questions: Sequence[str] | None = None,
    batch_size: int = 1,
    context: Questions = "all",
    context_count: int | None = 0,
    context_format: ContextFormat | None = None,
    eval_type: EvalType = "distribution",
    reasoning: Reasoning = "standard",
    tokens: Tokens = "characters",
    token_budget: int = BUDGET,
    n_individuals: int = N_INDIVIDUALS,
    temperature: float = 0.3,
    system: str | None = None,
    participants: Frame | None = None,
    n_participants: int = N_PARTICIPANTS,
    seed: int | None = None,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """A prompt for each segment and each question, or batch of questions, that it answered.

    A prompt describes the group, shows what it answered to other questions if asked to, then the
    question with its lettered options, and says how to respond. `parse` reads what comes back.

    Context questions are taken from a pool in its order, without those that the prompt asks and
    those that the segment did not answer. As many as asked for are taken, as long as they fit: the
    first that exceeds the token budget is the end. Left for context is the budget less the system
    prompt, the prompt without context, and 256 tokens for the response, or 1,024 with reasoning.
    By the reference rules it is always 256, the lengths of the original's texts are measured, in
    which one of fixed length stands for the question, a budget of 0 is the usual one, and formats
    other than `distribution-context` have no budget. A last batch of one question is a batch then,
    and `raw-survey`, `interview` and `first-person` show no answers but of participants.

    Args:
        survey: As for `as_distributions`. A `Survey` has the texts of questions and options.
        segments: Their ids; all by default.
        questions: Ids of the questions to ask, in this order, such as those of `curate`; all by
            default.
        batch_size: Questions of a prompt, 1 to 5.
        context: The pool of context questions: their ids in order, or all of the survey.
        context_count: How many to show; None for all that fit. For a level of the original program
            cut the pool to that many, too: a question within it has one less then.
        context_format: `attribute-label` or `distribution-context` (lists; the second with context,
            which is then the default), `narrative`, `raw-survey`, `interview` or `first-person`.
        eval_type: `distribution`, `shift` (shows the answers of all), `synthetic-individual` (asks
            for letters of several members) or `individual-answer` (for those of one).
        reasoning: `standard`, or `cot` for reasoning before the answer.
        tokens: What counts tokens: four characters as one, or a function from a column of texts to
            their numbers of tokens.
        token_budget: Tokens of system prompt, prompt and response.
        n_individuals: How many members `synthetic-individual` asks for.
        temperature: Stored with the prompts.
        system: A system prompt instead of the usual one.
        participants: One row per participant, for prompts about each of them with
            `eval_type="individual-answer"`: `respondent_id`, columns called as the attributes of
            segments, and columns called as questions, with labels of options (null or empty where
            there is no answer). Shown are their own answers to other questions, `attribute-label`,
            `raw-survey`, `interview` or `first-person`.
        n_participants: How many participants of a segment to draw, seeded by the segment's id.
        seed: Takes the pool in a random order, the same for all prompts of a round.
        rules: Of the token budget, and of what is called a batch.

    Returns:
        `prompt_id` (`QUESTION-SEGMENT`, or `batch-I-SEGMENT` for several questions), `config_id`
        (with `prompt_id` it identifies a row), `round`, `segment_id`, `respondent_id` (null but of
        participants, whose ids end the `prompt_id`), `segment_attribute`,
        `sample_size`, `question_id`, `n_options` and `actual` (lists with an entry for each
        question, in the shape of predictions once they are exploded together), `context_count`,
        `context_ids`, `context_format`, `eval_type`, `reasoning`, `temperature`, `n_tokens` (of
        system prompt and prompt; above the budget where even the question does not fit), `system`
        and `prompt`. Segments in the order of the survey, questions as asked for.

    Raises:
        ContractError: As for `as_distributions`, `shift` without sample sizes, or answers of
            participants that are no option.
        ParameterError: An option outside its domain, or options that do not go together.
        UnknownNameError: A segment or question that there is none of.

    References:
        Ids, context and budget follow dtef-app 52d79c0; the texts are this package's own.

    Example:
        >>> survey = pl.DataFrame(
        ...     {
        ...         "question_id": ["Is it hot?", "Is it late?"],
        ...         "segment_id": ["gender:male"] * 2,
        ...         "sample_size": [50] * 2,
        ...         "options": [["Yes", "No"]] * 2,
        ...         "actual": [[60.0, 40.0], [30.0, 70.0]],
        ...     }
        ... )
        >>> asked = prompts(survey, questions=["Is it late?"], context_count=1)
        >>> asked["config_id"].item(), asked["context_ids"].to_list()
        ('dtef-survey-gender:male-c1', [['Is it hot?']])
        >>> print(asked["prompt"].item())
        Group: Gender: male
        Surveyed: 50 respondents
        <BLANKLINE>
        What this group answered to other questions of the survey:
        <BLANKLINE>
        Q: "Is it hot?"
        The answers:
          a. Yes: 60.0%
          b. No: 40.0%
        <BLANKLINE>
        Question to predict:
        Is it late?
          a. Yes
          b. No
        <BLANKLINE>
        Reply with the 2 percentages in brackets, separated by commas, and with nothing else.
    """
    settings = Settings(
        batch_size=batch_size,
        context_count=context_count,
        context_format=context_format
        or _usual_format(context_count, of_participants=participants is not None),
        eval_type=eval_type,
        reasoning=reasoning,
        tokens=tokens,
        token_budget=token_budget,
        n_individuals=n_individuals,
        temperature=temperature,
        system=system_of(eval_type, system),
        rules=rules,
        of_participants=participants is not None,
        n_participants=n_participants,
    )
    if settings.context_format == "attribute-label" and context_count != 0:
        raise ParameterError(
            Argument("context_format", "attribute-label"),
            " shows no context; leave it out, or ",
            Argument("context_count"),
        )
    survey = as_survey(survey)
    drawn_for = None
    if participants is not None:
        _pairs(survey, segments)  # refuses unknown segments
        survey, drawn_for = of_participants(
            survey, participants, segments=segments, n=n_participants, rules=rules
        )
        segments = None
    pool = _places(survey, context, seed)
    asked = _places(survey, "all" if questions is None else questions, None)
    pairs = _pairs(survey, segments)
    batches = _batches(pairs.join(asked, on=_QUESTION), settings)
    batches = with_texts(
        batches, group_texts(survey, settings), question_texts(survey, settings), settings
    )
    items = item_texts(survey, pairs.join(pool, on=_QUESTION), settings)
    return _finished(with_context(batches, items, settings), settings, drawn_for).lazy()


def _usual_format(context_count: int | None, *, of_participants: bool) -> ContextFormat:
    if context_count == 0:
        return "attribute-label"
    return "interview" if of_participants else "distribution-context"


_QUESTION = ["round", "question_id"]


def _places(survey: Survey, names: Questions, seed: int | None) -> pl.DataFrame:
    """`round`, `question_id` and `place`: questions in the order in which they are taken.

    Raises:
        UnknownNameError: There is no such question.
        ParameterError: One is named twice.
    """
    known = survey.questions.select("round", "question_id")
    if names == "all":
        places = known
    else:
        given = pl.DataFrame({"question_id": [*names]}, schema={"question_id": pl.String})
        if len(unknown := given.join(known, on="question_id", how="anti")):
            raise UnknownNameError.of("question", unknown.item(0, 0), known["question_id"])
        if given["question_id"].is_duplicated().any():
            raise ParameterError("a question is named twice; name each once")
        places = given.join(known, on="question_id", maintain_order="left").select(_QUESTION)
    if seed is not None:
        rounds = places.partition_by("round", maintain_order=True)
        orders = (shuffled(range(len(part)), f"{seed}:{part['round'][0]}") for part in rounds)
        parts = [part[order] for part, order in zip(rounds, orders, strict=True)]
        places = pl.concat(parts) if parts else places
    return places.with_row_index("place")


def _pairs(survey: Survey, segments: Sequence[str] | None) -> pl.DataFrame:
    """The distributions of the segments, with the place of each segment.

    Raises:
        UnknownNameError: There is no such segment.
    """
    known = survey.segments.select("round", "segment_id").with_row_index("segment_place")
    if segments is not None:
        for name in {*segments} - {*known["segment_id"]}:
            raise UnknownNameError.of("segment", name, known["segment_id"])
        known = known.filter(pl.col("segment_id").is_in(segments))
    lists = as_distributions(survey, normalised=False)
    return lists.join(known, on=["round", "segment_id"], maintain_order="left")


def _batches(pairs: pl.DataFrame, settings: Settings) -> pl.DataFrame:
    """One row per prompt, with the lists of its questions."""
    segment = ["round", "segment_id"]
    ordered = pairs.sort("segment_place", "place")
    number = pl.int_range(pl.len()).over(segment) // settings.batch_size
    batches = (
        ordered.with_columns(batch=number)
        .group_by(*segment, "batch", maintain_order=True)
        .agg(
            pl.col("segment_attribute").first(),
            pl.col("sample_size").max(),
            "question_id",
            "n_options",
            pl.col("actual") / pl.col("actual").list.sum(),
        )
    )
    alone = pl.col("question_id").list.len() == 1
    if settings.rules == "reference":  # which calls the last one question of batches a batch, too
        alone = pl.lit(settings.batch_size == 1)
    single, several = pl.col("question_id").list.first(), pl.format("batch-{}", "batch")
    name = pl.when(alone).then(single).otherwise(several)
    return batches.with_columns(prompt_id=pl.format("{}-{}", name, "segment_id")).with_row_index(
        "row"
    )


def _finished(
    batches: pl.DataFrame, settings: Settings, drawn_for: pl.DataFrame | None
) -> pl.DataFrame:
    """All columns of the prompt table, with the segments that participants were drawn for."""
    ending = ""
    if drawn_for is None:
        batches = batches.with_columns(respondent_id=pl.lit(None, pl.String))
    else:
        ending = "-individual"
        joined = batches.join(drawn_for, on=["round", "segment_id"], maintain_order="left")
        batches = joined.with_columns(segment_id=OF_SEGMENT)
    most = pl.col("context_count").max().over("round", "segment_id")
    table = batches.with_columns(
        config_id(
            context_count=most,
            context_format=settings.context_format,
            eval_type=settings.eval_type,
            reasoning=settings.reasoning,
            batch_size=settings.batch_size,
            n_individuals=settings.n_individuals,
        )
        + ending,
        context_format=pl.lit(settings.context_format),
        eval_type=pl.lit(settings.eval_type),
        reasoning=pl.lit(settings.reasoning),
        temperature=pl.lit(settings.temperature, pl.Float64),
        system=pl.lit(settings.system),
    )
    own = counted(table["prompt"], settings.tokens)
    system = counted(pl.Series([settings.system]), settings.tokens).item()
    return table.with_columns(n_tokens=own + system).select(*PROMPTS)
