"""Responses in free text as distributions."""

from evalframe.survey.parsing.parse import Rules, parse

__all__ = ["Rules", "parse"]
