"""Prompts as dtef-app 52d79c0 chooses their context; the texts are those of `evalframe.survey`.

| | evalframe.survey | dtef |
|---|---|---|
| room for context | of the texts of the prompt | of the program's texts, with a placeholder for \
the question |
| tokens for the response | 256, or 1,024 with reasoning | 256 |
| a token budget of 0 | no room | the usual budget |
| formats with a token budget | all | `distribution-context` |
| context of `raw-survey`, `interview`, `first-person` | of groups or participants | of \
participants |
| a last batch of one question | has the id of the question | is a batch |
| answers of participants that are not an option | refused | left out |

For a context level of the program cut the pool to that many questions: a question within the pool
then has one less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from evalframe.core.choices import ContextFormat, EvalType, Reasoning
from evalframe.core.typing import Frame
from evalframe.survey.prompting.configurations import N_INDIVIDUALS, Settings
from evalframe.survey.prompting.prompts import Plan, Questions, finished, with_participants
from evalframe.survey.prompting.selection import FORMATS, N_PARTICIPANTS
from evalframe.survey.prompting.texts import (
    BUDGET,
    RESERVES,
    available_tokens,
    system_tokens,
    utf16_units,
)
from evalframe.survey.scoring import rounded
from evalframe.survey.surveys.tables import Survey, like_survey

_SYSTEM_TOKENS = 111
"""Of its usual system prompt, for all types of evaluation."""

_CORE, _ATTRIBUTE, _ITEM = 280, 4, 32
"""UTF-16 units of its placeholder for a prompt, of a line for an attribute, and of a shown answer,
each without the fields."""

_SEGMENT = ["round", "segment_id"]
_KEYS = [*_SEGMENT, "question_id"]


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
    token_budget: int = BUDGET,
    n_individuals: int = N_INDIVIDUALS,
    temperature: float = 0.3,
    system: str | None = None,
    participants: Frame | None = None,
    n_participants: int = N_PARTICIPANTS,
    seed: int | None = None,
) -> pl.LazyFrame:
    """Prompts with the context that the program would choose; it counts characters as tokens."""
    settings = Settings.of(
        batch_size=batch_size,
        context_count=context_count,
        context_format=context_format,
        eval_type=eval_type,
        reasoning=reasoning,
        tokens="characters",
        token_budget=token_budget,
        n_individuals=n_individuals,
        temperature=temperature,
        system=system,
        n_participants=n_participants,
        of_participants=participants is not None,
    )
    plan = Plan.of(
        *with_participants(survey, participants), settings, segments, questions, context, seed
    )
    plan = replace(plan, batches=_batches(plan, settings), items=_items(plan, settings))
    has_budget = settings.context_format == "distribution-context"
    return finished(plan, _room(plan, settings) if has_budget else None, settings).lazy()


def _batches(plan: Plan, settings: Settings) -> pl.DataFrame:
    """The prompts with the program's ids, and the tokens of the placeholder in `core`."""
    batches = plan.batches.join(_core_tokens(plan.survey), on=_SEGMENT, maintain_order="left")
    if settings.batch_size == 1:
        return batches
    return batches.with_columns(prompt_id=pl.format("batch-{}-{}", "batch", "segment_id"))


def _items(plan: Plan, settings: Settings) -> pl.DataFrame:
    """The answers that can be shown, with the tokens of the program's text."""
    costs = _item_tokens(plan.survey)
    items = plan.items.drop("cost").join(costs, on=_KEYS, maintain_order="left")
    only_participants = settings.context_format in FORMATS and not settings.of_participants
    return items.clear() if only_participants else items


def _room(plan: Plan, settings: Settings) -> pl.Series:
    """The tokens that are left for context in each prompt."""
    tokens = available_tokens(
        pl.lit(system_tokens(settings) if settings.own_system else _SYSTEM_TOKENS),
        pl.lit(plan.batches["core"]),
        budget=settings.token_budget or BUDGET,
        reserve=RESERVES["standard"],
    )
    return pl.select(tokens).to_series()


def _core_tokens(survey: Survey) -> pl.DataFrame:
    """`round`, `segment_id` and the tokens of the placeholder for any prompt in `core`."""
    line = utf16_units("attribute") + utf16_units("value") + _ATTRIBUTE
    lines = survey.segment_attributes.group_by(_SEGMENT).agg(lines=line.sum() + pl.len() - 1)
    size = pl.col("sample_size").cast(pl.String).fill_null("undefined").str.len_chars()
    units = size.cast(pl.Int64) + pl.col("lines").fill_null(0).cast(pl.Int64) + _CORE
    joined = survey.segments.join(lines, on=_SEGMENT, how="left", maintain_order="left")
    return joined.select(*_SEGMENT, core=_tokens(units))


def _item_tokens(survey: Survey) -> pl.DataFrame:
    """`round`, `segment_id`, `question_id` and the tokens of the answer as context in `cost`."""
    percent = rounded("percent", 1).cast(pl.String).str.len_chars().cast(pl.Int64) + 1
    label = (utf16_units("option_label") + 2).fill_null(0)
    answers = survey.responses.group_by(_KEYS, maintain_order=True).agg(
        units=(percent + label).sum() + 2 * (pl.len().cast(pl.Int64) - 1)
    )
    questions = survey.questions.select("round", "question_id", text=utf16_units("question_text"))
    joined = answers.join(questions, on=["round", "question_id"], maintain_order="left")
    return joined.select(*_KEYS, cost=_tokens(pl.col("units") + pl.col("text") + _ITEM))


def _tokens(units: pl.Expr) -> pl.Expr:
    """Four units to one, rounded up."""
    return units.add(3).floordiv(4)
