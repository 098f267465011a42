"""The prompt table, ids of configurations, and the checked options of `prompts`."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.choices import ContextFormat, EvalType, Reasoning, check_choice
from evalframe.core.errors import Argument, MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey.prompting.selection import FORMATS
from evalframe.survey.prompting.wording import PERSONS, SYSTEMS, WORDINGS, Wording

if TYPE_CHECKING:
    from evalframe.survey.prompting.texts import Tokens


N_INDIVIDUALS = 20
"""Default number of individuals."""

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

_COUNTED = ("attribute-label", "distribution-context")
"""Formats whose configurations have the number of context questions in their id."""

_EVAL_TYPES = {
    "distribution": "",
    "shift": "-shift",
    "synthetic-individual": "-synth",
    "individual-answer": "-indiv",
}
"""Endings of ids."""

LARGEST_BATCH = 5
"""Most questions of a prompt."""

_WHOLE = {
    "batch_size": 1,
    "context_count": 0,
    "n_individuals": 1,
    "n_participants": 1,
    "token_budget": 0,
}
"""Options that are whole numbers, with their minimum."""


def config_id(
    round: IntoExpr = "round",
    segment_id: IntoExpr = "segment_id",
    *,
    context_count: IntoExpr = "context_count",
    context_format: ContextFormat = "attribute-label",
    eval_type: EvalType = "distribution",
    reasoning: Reasoning = "standard",
    batch_size: int = 1,
    n_individuals: int = N_INDIVIDUALS,
) -> pl.Expr:
    """The id of a configuration: `dtef-ROUND-SEGMENT`, then each setting that is not the default.

    Args:
        round: The round, that is, the id of the survey.
        segment_id: The segment.
        context_count: The most context questions of any prompt of the configuration.
        context_format: The format of the group, as in `prompts`.
        eval_type: The kind of answer, as in `prompts`.
        reasoning: `cot` for reasoning before the answer.
        batch_size: Questions of a prompt.
        n_individuals: Number of individuals.

    Returns:
        `config_id` (String) as in dtef-app 52d79c0, null if a part is null.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> config = pl.DataFrame({"round": "GD4", "segment_id": "gender:male", "context_count": 5})
        >>> config.select(ef.survey.config_id(reasoning="cot", batch_size=3)).item()
        'dtef-GD4-gender:male-c5-cot-b3'
    """
    check_choice("context_format", context_format, ContextFormat)
    check_choice("eval_type", eval_type, EvalType)
    check_choice("reasoning", reasoning, Reasoning)
    count = as_expr(context_count).cast(pl.Int64)
    if context_format in _COUNTED:
        known_count = pl.when(count.is_not_null()).then(pl.lit(""))
        context = pl.when(count > 0).then(pl.format("-c{}", count)).otherwise(known_count)
    else:
        context = pl.lit(f"-{context_format.replace('-', '')}")
    suffix = _EVAL_TYPES[eval_type]
    if eval_type == "synthetic-individual" and n_individuals != N_INDIVIDUALS:
        suffix += str(n_individuals)
    suffix += "-cot" if reasoning == "cot" else ""
    suffix += f"-b{batch_size}" if batch_size > 1 else ""
    id_ = pl.format("dtef-{}-{}{}{}", as_expr(round), as_expr(segment_id), context, pl.lit(suffix))
    return id_.alias("config_id")


@like_input
def blueprints(prompts: Frame) -> pl.LazyFrame:
    """One row per configuration: a round and a segment, with all its prompts.

    Args:
        prompts: Result of `prompts`.

    Returns:
        `config_id`, `round`, `segment_id`, `prompt_ids`, `n_questions` (of each prompt, as lists),
        `context_count` (the maximum of its prompts), `context_ids` (of the first such prompt) and
        `temperature`. In the order of the prompts. Lazy if the prompts are.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import blueprints
        >>> from evalframe.survey import prompts
        >>> survey = {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[60.0, 40.0]]}
        >>> blueprints(prompts(pl.DataFrame(survey))).select("config_id", "n_questions").row(0)
        ('dtef-survey-gender:male', [1])
    """
    lazy = with_all_columns(prompts, "blueprints")
    count = pl.col("context_count")
    return lazy.group_by("config_id", "round", "segment_id", maintain_order=True).agg(
        prompt_ids="prompt_id",
        n_questions=pl.col("question_id").list.len().cast(pl.Int64),
        context_count=count.max(),
        context_ids=pl.col("context_ids").get(count.arg_max()),
        temperature=pl.col("temperature").first(),
    )


def with_all_columns(prompts: Frame, needed_by: str) -> pl.LazyFrame:
    """The prompt table; MissingColumnsError if it lacks a column."""
    lazy = prompts.lazy()
    columns = lazy.collect_schema().names()
    if missing := PROMPTS.keys() - {*columns}:
        raise MissingColumnsError.of(needed_by, missing, columns)
    return lazy


@dataclass(frozen=True)
class Settings:
    """The options of `prompts` that do not choose rows, checked."""

    batch_size: int
    context_count: int | None
    context_format: ContextFormat
    eval_type: EvalType
    reasoning: Reasoning
    tokens: Tokens
    token_budget: int
    n_individuals: int
    temperature: float
    system: str
    n_participants: int
    of_participants: bool

    @classmethod
    def of(
        cls,
        *,
        context_count: int | None,
        context_format: ContextFormat | None,
        eval_type: EvalType,
        system: str | None,
        of_participants: bool,
        **others: Any,
    ) -> Settings:
        """The options with the defaults that depend on others."""
        usual: ContextFormat = "interview" if of_participants else "distribution-context"
        if context_count == 0:
            usual = "attribute-label"
        elif context_format == "attribute-label":
            raise ParameterError(
                Argument("context_format", "attribute-label"),
                " shows no context; leave it out, or ",
                Argument("context_count"),
            )
        return cls(
            context_count=context_count,
            context_format=context_format or usual,
            eval_type=eval_type,
            system=SYSTEMS.get(eval_type, "") if system is None else system,
            of_participants=of_participants,
            **others,
        )

    def __post_init__(self) -> None:
        check_choice("context_format", self.context_format, ContextFormat)
        check_choice("eval_type", self.eval_type, EvalType)
        check_choice("reasoning", self.reasoning, Reasoning)
        for name, least in _WHOLE.items():
            value: object = getattr(self, name)
            if value is None and name == "context_count":
                continue
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                message = f"{name} is {least} or more, and a whole number, got {value!r}"
                raise ParameterError(message)
        if self.batch_size > LARGEST_BATCH:
            raise ParameterError(f"batch_size is 1 to {LARGEST_BATCH}, got {self.batch_size!r}")
        if self.batch_size > 1 and self.eval_type == "individual-answer":
            raise ParameterError(
                "individual-answer prompts have one question each, since a response with its letter"
                " and probabilities does not say which question it answers; leave out ",
                Argument("batch_size"),
            )
        if self.of_participants:
            self._check_participants()
        temperature: object = self.temperature
        if not (isinstance(temperature, Real) and 0 <= float(temperature) < inf):
            raise ParameterError(f"temperature is a number of 0 or more, got {temperature!r}")

    def _check_participants(self) -> None:
        if self.eval_type != "individual-answer":
            raise ParameterError(
                "prompts about participants ask for the answer of one; name ",
                Argument("eval_type", "individual-answer"),
            )
        if self.context_format not in FORMATS:
            raise ParameterError(
                f"context_format={self.context_format!r} shows what groups answered; of"
                f" participants it is one of {', '.join(FORMATS)}"
            )

    @property
    def words(self) -> Wording:
        """The texts of the format."""
        return (PERSONS if self.of_participants else WORDINGS)[self.context_format]

    @property
    def own_system(self) -> bool:
        """True if the system prompt is not the usual one."""
        return self.system not in ("", SYSTEMS[self.eval_type])
