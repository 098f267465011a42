"""The answer to one question of a batched prompt, by documented rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.survey.parsing.asides import without_reasoning
from evalframe.survey.parsing.characters import DASHES, QUOTES
from evalframe.survey.parsing.ladder import first_found, per_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.survey.parsing.ladder import Rule

_BESIDE = rf"[\s{QUOTES}*_`)\]]*"
_ON_LINE = rf"[^\S\n]*[{QUOTES}*_`)\]]*[^\S\n]*"
_SIGN = rf"(?:[:=]|[{DASHES}]+>?|→)"
_BRACKET = r"\[[^\[\]]*\]"
_BRACE = r"\{[^{}]*\}"
_LINE = rf"[^\n\[{{]+(?:{_BRACKET})?"
_HERE = rf"^{_ON_LINE}{_SIGN}{_ON_LINE}({_BRACKET}|{_BRACE}|{_LINE})"
_IN_TABLE = rf"^{_ON_LINE}(\|[^\n]*[0-9][^\n]*)"
_LIST = r"[^\p{L}\n\[{]*[0-9][^\p{L}\n\[{]*"
_PAIRS = r"(?:[^\n\[{]*\p{L}[^\n\[{]*[0-9][^\n\[{]*(?:\n|$))+"
_BELOW = (
    rf"^{_ON_LINE}{_SIGN}?{_ON_LINE}\n[\s*_`{QUOTES}#]*"
    rf"({_BRACKET}|{_BRACE}|{_LIST}|{_PAIRS})"
)
"""On the lines below the key: a bracket, a brace, a list, or lines with a pair each."""

_DECORATION = rf"\n(?:[-•]\s+)?[#*_ `({{\[{QUOTES}|]+"
_COUNTED = r"[0-9]+$"
_NUMBER_CELL = r"\|\s*[0-9.,]+\s*%?\s*(?:\||$)"
_TABLE_ROW = r"(?m)^([^\n]*\|[^\n]*)$"


def last_keyed(rows: pl.DataFrame, rules: Sequence[Rule]) -> pl.Series:
    """The last vector that stands behind the key and that a rule finds there.

    Args:
        rows: `text`, `key` (null for prompts of one question) and what the rules read.
        rules: For the text from the key to the end of its bracket, brace, line or block of lines.
    """
    asked = rows.with_columns(
        row=pl.int_range(pl.len()), text=without_reasoning(rows["text"])
    ).filter(pl.col("key").is_not_null())
    text, key = pl.col("text"), pl.col("key")
    parts = (
        asked.with_columns(header=text.str.extract(_TABLE_ROW), text=text.str.split(key))
        .explode("text")
        .with_columns(before=text.shift().over("row"))
    )
    behind = parts.filter(
        pl.col("before").is_not_null() & ~pl.col("before").str.contains(r"[\p{L}\p{N}_]$")
    )
    # The key of another question ends a block of lines, if both keys count the questions.
    begins = pl.concat_str(pl.lit("\n"), key.str.replace(_COUNTED, ""))
    block = (pl.lit("\n") + text.str.extract(_BELOW)).str.replace_all(_DECORATION, "\n")
    own = pl.when(key.str.contains(_COUNTED)).then(block.str.split(begins).list.first())
    headed = pl.when(~pl.col("header").str.contains(_NUMBER_CELL)).then("header")
    in_table = pl.concat_str(headed.fill_null(""), pl.lit("\n| "), key, text.str.extract(_IN_TABLE))
    answers = behind.with_columns(
        text=pl.coalesce(text.str.extract(_HERE), in_table, own, block)
    ).drop_nulls("text")
    found = first_found(answers.drop("row", "before", "header"), rules)
    vectors = answers.select("row", vector=found["predicted"]).drop_nulls()
    return per_row(vectors.unique("row", keep="last", maintain_order=True), len(rows))["vector"]
