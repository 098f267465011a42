"""How prompts are made: the options, checked."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING

from evalframe.core.errors import Argument, ParameterError
from evalframe.core.rules import Rules, check_choice, check_rules
from evalframe.survey.prompting.config_ids import ContextFormat, EvalType, Reasoning
from evalframe.survey.prompting.participants import FORMATS
from evalframe.survey.prompting.wording import PERSONS, SYSTEMS, WORDINGS

if TYPE_CHECKING:
    from evalframe.survey.prompting.tokens import Tokens
    from evalframe.survey.prompting.wording import Wording

LARGEST_BATCH = 5

_WHOLE = {
    "batch_size": 1,
    "context_count": 0,
    "n_individuals": 1,
    "n_participants": 1,
    "token_budget": 0,
}
"""Options that are whole numbers, each with the least that it may be."""


@dataclass(frozen=True)
class Settings:
    """The options of `prompts` that do not choose rows, under the same names.

    Raises:
        ParameterError: An option lies outside its domain, or two do not go together.
        ParameterError: A format, type, mode or set of rules that there is none of.
    """

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
    rules: Rules
    of_participants: bool = False
    n_participants: int = 1

    def __post_init__(self) -> None:
        check_choice("context_format", self.context_format, ContextFormat)
        check_choice("eval_type", self.eval_type, EvalType)
        check_choice("reasoning", self.reasoning, Reasoning)
        check_rules(self.rules)
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
        if self.rules == "reference" and self.tokens != "characters":
            raise ParameterError(
                'the original counts characters, so that rules="reference" knows no other tokens;'
                " leave out one of the two"
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
        """How a group, or a participant, is shown."""
        return (PERSONS if self.of_participants else WORDINGS)[self.context_format]

    @property
    def own_system(self) -> bool:
        """Whether the system prompt is another than the usual one."""
        return self.system not in ("", SYSTEMS[self.eval_type])

    @property
    def reasoned(self) -> bool:
        """Whether reasoning comes before the answer."""
        return self.reasoning == "cot"


def _check_whole(name: str, value: object, least: int) -> None:
    """Check a number of things; None, where it is allowed, stands for all.

    Raises:
        ParameterError: It is no whole number, or too small.
    """
    if value is None and name == "context_count":
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ParameterError(f"{name} is {least} or more, and a whole number, got {value!r}")


def system_of(eval_type: str, system: str | None) -> str:
    """The system prompt."""
    return SYSTEMS.get(eval_type, "") if system is None else system
