"""The answer to one question of a batched prompt, by documented rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.survey.parsing.characters import DASHES, QUOTES
from evalframe.survey.parsing.ladder import first_found, per_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.survey.parsing.ladder import Rule

_BESIDE = rf"[\s{QUOTES}*_`)\]]*"
_BRACKET = r"\[[^\[\]]*\]"
_BRACE = r"\{[^{}]*\}"
_LINE = rf"[^\n\[{{]+(?:{_BRACKET})?"
_ANSWER = rf"^{_BESIDE}(?:[:=]|[{DASHES}]+>?|→){_BESIDE}({_BRACKET}|{_BRACE}|{_LINE})"


def last_keyed(rows: pl.DataFrame, rules: Sequence[Rule]) -> pl.Series:
    """The last vector that stands behind the key and that a rule finds there.

    Args:
        rows: `text`, `key` (null for prompts of one question) and what the rules read.
        rules: For the text from the key to the end of its bracket, brace or line.
    """
    asked = rows.with_columns(row=pl.int_range(pl.len())).filter(pl.col("key").is_not_null())
    parts = (
        asked.with_columns(text=pl.col("text").str.split(pl.col("key")))
        .explode("text")
        .with_columns(before=pl.col("text").shift().over("row"))
    )
    behind = parts.filter(
        pl.col("before").is_not_null() & ~pl.col("before").str.contains(r"[\p{L}\p{N}_]$")
    )
    answers = behind.with_columns(text=pl.col("text").str.extract(_ANSWER)).drop_nulls("text")
    found = first_found(answers.drop("row", "before"), rules)
    vectors = answers.select("row", vector=found["predicted"]).drop_nulls()
    return per_row(vectors.unique("row", keep="last", maintain_order=True), len(rows))["vector"]
