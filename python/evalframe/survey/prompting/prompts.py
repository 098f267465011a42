"""Prompts that ask how the segments of a survey answered its questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.choices import ContextFormat, EvalType, Reasoning
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.typing import Frame
from evalframe.survey.prompting.configurations import N_INDIVIDUALS, PROMPTS, Settings, config_id
from evalframe.survey.prompting.selection import N_PARTICIPANTS, OF_SEGMENT, Participants, shuffled
from evalframe.survey.prompting.texts import (
    BUDGET,
    Tokens,
    counted,
    group_texts,
    item_texts,
    question_texts,
    room_of,
    system_tokens,
    with_context,
    with_texts,
)
from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.tables import Survey, as_distributions, like_survey

Questions: TypeAlias = Sequence[str] | Literal["all"]

_QUESTION = ["round", "question_id"]


@like_survey
def prompts(
    survey: Survey | Frame,
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
) -> pl.LazyFrame:
    """A prompt for each segment and each question, or batch of questions, that it answered.

    A prompt describes the group, can show its answers to other questions, then has the question
    with its lettered options and the format of the response, which `parse` reads. Context questions
    are taken from a pool in its order, without those that the prompt asks and those that the
    segment did not answer, until there are enough or the next one exceeds the token budget, less
    the system prompt, the prompt without context, and 256 tokens for the response, or 1,024 with
    reasoning. Ids, context and budget follow dtef-app 52d79c0; the texts are this package's own.

    Args:
        survey: As for `as_distributions`. A `Survey` has the texts of questions and options.
        segments: Their ids; all by default.
        questions: Ids of the questions to ask, in this order; all by default.
        batch_size: Questions of a prompt, 1 to 5.
        context: The pool of context questions: their ids in order, or all of the survey.
        context_count: Number of context questions; None for all that fit.
        context_format: `attribute-label` or `distribution-context` (lists; the second with context,
            which is then the default), `narrative`, `raw-survey`, `interview` or `first-person`.
        eval_type: `distribution`, `shift` (shows the answers of all), `synthetic-individual` (asks
            for letters of several members) or `individual-answer` (for those of one).
        reasoning: `standard`, or `cot` for reasoning before the answer.
        tokens: Four characters as one token, or a function from texts to their numbers of tokens.
        token_budget: Tokens of system prompt, prompt and response.
        n_individuals: Number of members that `synthetic-individual` asks for.
        temperature: Stored with the prompts.
        system: A system prompt instead of the usual one.
        participants: One row per participant, for prompts about each of them with
            `eval_type="individual-answer"`: `respondent_id`, columns named as the attributes of
            segments, and columns named as questions, with labels of options (null or empty without
            an answer). Formats are `attribute-label`, `raw-survey`, `interview` and `first-person`,
            which show their own answers to other questions.
        n_participants: Participants to draw from a segment, seeded by its id.
        seed: Takes the pool in a random order, the same for all prompts of a round.

    Returns:
        `prompt_id` (`QUESTION-SEGMENT`, or `batch-I-SEGMENT` of several questions) and `config_id`,
        which identify a row, `round`, `segment_id`, `respondent_id` (of participants, whose ids end
        the `prompt_id`; else null), `segment_attribute`, `sample_size`, `question_id`, `n_options`
        and `actual` (lists with an entry for each question; exploded together they have the shape
        of predictions), `context_count`, `context_ids`, `context_format`, `eval_type`, `reasoning`,
        `temperature`, `n_tokens` (of system prompt and prompt; above the budget if even the
        question does not fit), `system` and `prompt`, in the order of the survey's segments and the
        given questions. Lazy if the survey is a LazyFrame.

    Raises:
        ContractError: As for `as_distributions`, `shift` without sample sizes, or answers of
            participants that are not an option.
        ParameterError: An option outside its domain, or options that exclude each other.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> row = {"question_id": "Is it late?", "segment_id": "gender:male", "sample_size": 50}
        >>> survey = pl.DataFrame([{**row, "options": ["Yes", "No"], "actual": [60.0, 40.0]}])
        >>> print(ef.survey.prompts(survey)["prompt"].item())
        Group: Gender: male
        Surveyed: 50 respondents
        <BLANKLINE>
        Question to predict:
        Is it late?
          a. Yes
          b. No
        <BLANKLINE>
        Reply with the 2 percentages in brackets, separated by commas, and with nothing else.
    """
    settings = Settings.of(
        batch_size=batch_size,
        context_count=context_count,
        context_format=context_format,
        eval_type=eval_type,
        reasoning=reasoning,
        tokens=tokens,
        token_budget=token_budget,
        n_individuals=n_individuals,
        temperature=temperature,
        system=system,
        n_participants=n_participants,
        of_participants=participants is not None,
    )
    survey, people = with_participants(survey, participants)
    if people is not None:
        people.check_answers()
    plan = Plan.of(survey, people, settings, segments, questions, context, seed)
    return finished(plan, room_of(plan.batches, settings), settings).lazy()


def with_participants(
    survey: Survey | Frame, participants: Frame | None
) -> tuple[Survey, Participants | None]:
    """The survey and its participants."""
    survey = as_survey(survey)
    return survey, None if participants is None else Participants.of(survey, participants)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Prompts without their context, and the answers that can be shown as context."""

    survey: Survey
    batches: pl.DataFrame
    items: pl.DataFrame
    drawn_for: pl.DataFrame | None
    """The segments of participants."""

    @classmethod
    def of(
        cls,
        survey: Survey,
        people: Participants | None,
        settings: Settings,
        segments: Sequence[str] | None,
        questions: Sequence[str] | None,
        context: Questions,
        seed: int | None,
    ) -> Plan:
        """Choose segments, questions and the pool of context, and compute their texts."""
        drawn_for = None
        if people is not None:
            _pairs(survey, segments)  # refuses unknown segments
            survey, drawn_for = people.as_segments(segments, settings.n_participants)
            segments = None
        pool = _places(survey, context, seed)
        targets = _places(survey, "all" if questions is None else questions, None)
        pairs = _pairs(survey, segments)
        batches = _batches(pairs.join(targets, on=_QUESTION), settings)
        groups, questions_asked = group_texts(survey, settings), question_texts(survey, settings)
        items = item_texts(survey, pairs.join(pool, on=_QUESTION), settings)
        return cls(survey, with_texts(batches, groups, questions_asked, settings), items, drawn_for)


def _places(survey: Survey, names: Questions, seed: int | None) -> pl.DataFrame:
    """`round`, `question_id` and `place`: questions in the order of their use."""
    all_questions = survey.questions.select("round", "question_id")
    if names == "all":
        ordered = all_questions
    else:
        selected = pl.DataFrame({"question_id": [*names]}, schema={"question_id": pl.String})
        if len(unknown := selected.join(all_questions, on="question_id", how="anti")):
            raise UnknownNameError.of("question", unknown.item(0, 0), all_questions["question_id"])
        if selected["question_id"].is_duplicated().any():
            raise ParameterError("a question is named twice; name each once")
        ordered = selected.join(all_questions, on="question_id", maintain_order="left").select(
            _QUESTION
        )
    if seed is not None:
        rounds = ordered.partition_by("round", maintain_order=True)
        orders = (shuffled(range(len(part)), f"{seed}:{part['round'][0]}") for part in rounds)
        parts = [part[order] for part, order in zip(rounds, orders, strict=True)]
        ordered = pl.concat(parts) if parts else ordered
    return ordered.with_row_index("place")


def _pairs(survey: Survey, segments: Sequence[str] | None) -> pl.DataFrame:
    """The distributions of the segments, with the place of each segment."""
    rows = survey.segments.select("round", "segment_id").with_row_index("segment_place")
    if segments is not None:
        for name in {*segments} - {*rows["segment_id"]}:
            raise UnknownNameError.of("segment", name, rows["segment_id"])
        rows = rows.filter(pl.col("segment_id").is_in(segments))
    lists = as_distributions(survey, normalised=False)
    return lists.join(rows, on=["round", "segment_id"], maintain_order="left")


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
    single, several = pl.col("question_id").list.first(), pl.format("batch-{}", "batch")
    name = pl.when(alone).then(single).otherwise(several)
    return batches.with_columns(prompt_id=pl.format("{}-{}", name, "segment_id")).with_row_index(
        "row"
    )


def finished(plan: Plan, room: pl.Series | None, settings: Settings) -> pl.DataFrame:
    """The prompt table."""
    batches, drawn_for = with_context(plan.batches, plan.items, room, settings), plan.drawn_for
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
    n_tokens = counted(table["prompt"], settings.tokens) + system_tokens(settings)
    return table.with_columns(n_tokens=n_tokens).select(*PROMPTS)
