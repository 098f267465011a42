"""Options of prompts."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from evalframe.core.errors import Argument, ParameterError
from evalframe.core.rules import check_choice
from evalframe.survey.prompting.configurations import ContextFormat, EvalType, Reasoning
from evalframe.survey.prompting.participants import FORMATS
from evalframe.survey.prompting.wording import PERSONS, SYSTEMS, WORDINGS, Wording

if TYPE_CHECKING:
    from evalframe.survey.prompting.tokens import Tokens


LARGEST_BATCH = 5

_WHOLE = {
    "batch_size": 1,
    "context_count": 0,
    "n_individuals": 1,
    "n_participants": 1,
    "token_budget": 0,
}
"""Options that are whole numbers, with their minimum."""


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
            _check_whole(name, getattr(self, name), least)
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

    @property
    def reasoned(self) -> bool:
        """True if reasoning comes before the answer."""
        return self.reasoning == "cot"


def _check_whole(name: str, value: object, least: int) -> None:
    """Raise ParameterError unless a value is a whole number and large enough."""
    if value is None and name == "context_count":
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ParameterError(f"{name} is {least} or more, and a whole number, got {value!r}")
