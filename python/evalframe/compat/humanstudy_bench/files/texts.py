"""Texts that can be written, unlike those with half of a character (a lone surrogate)."""

from __future__ import annotations

from evalframe.core.documents import is_whole
from evalframe.core.errors import ParameterError


def check_text(name: str, value: object) -> None:
    """Raise where an argument is no text that can be written.

    Raises:
        ParameterError: It is no text, or has half of a character.
    """
    if not isinstance(value, str):
        raise ParameterError(f"{name} must be a text, but is {value!r}")
    if not is_whole(value):
        raise ParameterError(
            f"{name} has half of a character (a lone surrogate): {value!a}; correct the text"
        )
