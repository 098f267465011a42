"""What the original's token budget measures: its own texts, of which only the lengths matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.survey.prompting.tokens import utf16_units
from evalframe.survey.scoring import rounded

if TYPE_CHECKING:
    from evalframe.survey.surveys.tables import Survey

SYSTEM_TOKENS = 111
"""Of its usual system prompt, which it takes for all types of evaluation."""

_CORE, _ATTRIBUTE, _ITEM = 280, 4, 32
"""UTF-16 units of its placeholder for a prompt, of a line for an attribute, and of an answer that
is shown, each without what is filled in."""

_SEGMENT = ["round", "segment_id"]
_KEYS = [*_SEGMENT, "question_id"]


def core_tokens(survey: Survey) -> pl.DataFrame:
    """`round`, `segment_id` and the tokens of the placeholder for any prompt in `core`."""
    line = utf16_units("attribute") + utf16_units("value") + _ATTRIBUTE
    lines = survey.segment_attributes.group_by(_SEGMENT).agg(lines=line.sum() + pl.len() - 1)
    size = pl.col("sample_size").cast(pl.String).fill_null("undefined").str.len_chars()
    units = size.cast(pl.Int64) + pl.col("lines").fill_null(0).cast(pl.Int64) + _CORE
    joined = survey.segments.join(lines, on=_SEGMENT, how="left", maintain_order="left")
    return joined.select(*_SEGMENT, core=_tokens(units))


def item_tokens(survey: Survey) -> pl.DataFrame:
    """`round`, `segment_id`, `question_id` and the tokens of the answer as context in `cost`."""
    percent = rounded("percent", 1).cast(pl.String).str.len_chars().cast(pl.Int64) + 1
    label = (utf16_units("option_label") + 2).fill_null(0)
    answers = survey.responses.group_by(_KEYS, maintain_order=True).agg(
        units=(percent + label).sum() + 2 * (pl.len().cast(pl.Int64) - 1)
    )
    asked = survey.questions.select("round", "question_id", text=utf16_units("question_text"))
    joined = answers.join(asked, on=["round", "question_id"], maintain_order="left")
    return joined.select(*_KEYS, cost=_tokens(pl.col("units") + pl.col("text") + _ITEM))


def _tokens(units: pl.Expr) -> pl.Expr:
    """Four units to one, rounded up."""
    return units.add(3).floordiv(4)
