"""Arguments with a few choices."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from evalframe.core.errors import ParameterError, did_you_mean

Rules: TypeAlias = Literal["documented", "reference"]
"""Sound numbers, or those of the original program; jobs choose between them."""


def check_choice(name: str, value: Any, literal: Any, *, optional: bool = False) -> None:
    """Raise ParameterError unless the value is one of the choices of a `Literal`."""
    if optional and value is None:
        return
    choices = [*get_args(literal)]
    if not isinstance(value, str) or value not in choices:
        hint = did_you_mean(str(value), choices)
        raise ParameterError(f"{name} must be one of {choices}, got {value!r}.{hint}")
