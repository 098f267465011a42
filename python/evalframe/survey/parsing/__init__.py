"""Responses in free text as distributions."""

from evalframe.survey.parsing.parse import parse

__all__ = ["parse"]
