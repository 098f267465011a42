"""Arguments that are one of a few texts, first of all the two rule sets."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from evalframe.core.errors import ParameterError, did_you_mean

Rules: TypeAlias = Literal["documented", "reference"]
"""What a method's documentation says, made sound; or what the original computes, bug for bug."""


def check_rules(rules: Any) -> None:
    """Raise where there are no such rules.

    Raises:
        ParameterError: It names those that there are.

    >>> check_rules("documentd")
    Traceback (most recent call last):
    evalframe.core.errors.ParameterError: rules must be one of ['documented', 'reference'], got
    'documentd'. Did you mean 'documented'?
    """
    check_choice("rules", rules, Rules)


def check_choice(name: str, value: Any, known: Any, *, optional: bool = False) -> None:
    """Raise ParameterError unless the value is one of the choices of a `Literal`."""
    if optional and value is None:
        return
    texts = [*get_args(known)]
    if not isinstance(value, str) or value not in texts:
        hint = did_you_mean(str(value), texts)
        raise ParameterError(f"{name} must be one of {texts}, got {value!r}.{hint}")
