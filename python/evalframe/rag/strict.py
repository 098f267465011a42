"""Strict labels of a whole column of responses, by the rules of RGB."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.rag.datasets import is_chinese
from evalframe.rag.fake_answers import fake_answer_hits
from evalframe.rag.matching import UNKNOWN, Groups, contains, holds, labels_of

if TYPE_CHECKING:
    from evalframe.rag.languages import Phrases
    from evalframe.rag.matching import Codes


def strict_labels(rows: pl.Series, phrases: Phrases) -> pl.Series:
    """Label, factlabel and, with fake answers, their hits, by the first tiers of the phrases.

    `rows` are structs of dataset, answers, response and perhaps fake_answers.
    """
    frame = rows.struct.unnest()
    frame = frame.with_columns(without_spaces(frame)).with_columns(
        rejected=holds_any(phrases.rejections[0]),
        factlabel=holds_any(phrases.errors[0]).cast(pl.Int8),
    )
    rejected = frame["rejected"].fill_null(value=False).to_numpy()
    is_searched = (~frame["rejected"] & frame["answers"].is_not_null()).fill_null(value=False)
    searched = frame.filter(is_searched)
    groups = Groups.of(searched["answers"])
    codes = _found(searched["response"], groups)
    labels = labels_of(codes, groups, is_searched.to_numpy(), rejected)
    columns = {"label": labels, "factlabel": frame["factlabel"]}
    if "fake_answers" in frame.columns:
        columns["fake_answer_hit"] = fake_answer_hits(frame, _found)
    return pl.DataFrame(columns).to_struct("label")


def without_spaces(frame: pl.DataFrame) -> pl.Expr:
    """The response, without spaces in Chinese data sets; null without a data set."""
    chinese = is_chinese(pl.col("dataset"))
    stripped = pl.col("response").str.replace_all(" ", "", literal=True)
    if not frame.select(chinese.any()).item():  # common, and cheaper
        return pl.when(pl.col("dataset").is_not_null()).then("response").alias("response")
    return pl.when(chinese).then(stripped).when(~chinese).then("response").alias("response")


def holds_any(phrases: Sequence[str], text: str = "response") -> pl.Expr:
    """True if the text contains one of the phrases as written."""
    return pl.any_horizontal(pl.col(text).str.contains(p, literal=True) for p in phrases)


def _found(texts: pl.Series, groups: Groups) -> Codes:
    """1 or 0 for each group: 1 if its text contains an alias, both in lower case."""
    import numpy as np

    lower = texts.str.to_lowercase()
    hits = contains(lower.gather(groups.row), groups.aliases.str.to_lowercase())
    codes = holds(hits, groups.group_starts).astype(np.int8)
    codes[groups.unknown] = UNKNOWN
    return codes
