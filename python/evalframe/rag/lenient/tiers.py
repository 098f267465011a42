"""What a response says of itself: phrases of rejections and of flagged errors, by tier."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from evalframe.rag.datasets import is_chinese
from evalframe.rag.lenient.flat import deleted
from evalframe.rag.lenient.normalising import CURLY, not_ascii
from evalframe.rag.lenient.phrases import (
    ERROR_TIERS,
    ERRORS,
    LONG_NEGATION,
    NEGATIONS,
    REJECTION_TIERS,
)
from evalframe.rag.matching import changed, expanded
from evalframe.rag.strict import FACTUAL_ERRORS, REJECTIONS, holds_any

if TYPE_CHECKING:
    from collections.abc import Sequence

REJECTION, ERROR = "rejection", "error"

_TIERS = {
    **{f"{REJECTION}_{tier}": phrases for tier, phrases in enumerate(REJECTION_TIERS, 1)},
    **{f"{ERROR}_{tier}": phrases for tier, phrases in enumerate(ERROR_TIERS, 1)},
}
_CANONICAL = {f"{REJECTION}_1": REJECTIONS, f"{ERROR}_1": FACTUAL_ERRORS}
_ANY_PHRASE = "|".join(
    re.escape(phrase).replace(r"\ ", r"\s+") for phrases in _TIERS.values() for phrase in phrases
)
# The longest word of each phrase: without spaces the search is several times faster.
_ANY_WORD = "|".join(sorted({max(p.split(" "), key=len) for t in _TIERS.values() for p in t}))
_ANY_CHINESE = "|".join(p for t in _TIERS.values() for p in t if not p.isascii())
_WHITE = b" \t\n\v\f\r"
_OTHER_WHITE = r"[\x{85}\x{1680}\x{2028}\x{2029}]"
_MORE_THAN_A_SPACE = r"\s\s+|[^\S ]"
_BEFORE, _BETWEEN = 12, 9
"""Characters before a phrase in which a negation stands, and most between the long one and it."""


def phrases_said(plain: pl.Series, strict: pl.Series, dataset: pl.Series) -> pl.DataFrame:
    """The first phrase of each tier that each response holds, null for none.

    White space within a phrase may be of any kind and length. The responses of Chinese data sets
    are searched a second time without white space; a phrase counts if it does in either text.

    Args:
        plain: The responses, plain.
        strict: The responses as the strict rules read them; canonical phrases may stand there, too.
        dataset: The names of their data sets.

    Returns:
        Columns `rejection_1` to `rejection_3`, `error_1` and `error_2`.
    """
    chinese = pl.select(is_chinese(pl.lit(dataset))).to_series().to_numpy()
    closed = expanded(_closed_up(plain.filter(chinese)), chinese)
    frame = pl.DataFrame({"text": plain, "closed": closed, "strict": strict})
    canonical = holds_any((*REJECTIONS, *FACTUAL_ERRORS), "strict")
    # Most responses are spared the look for each phrase, and many the one for all of them.
    either = pl.col("closed").str.contains(_ANY_CHINESE).fill_null(value=False) | canonical
    hit = plain.str.contains(_ANY_WORD).to_numpy()
    hit[hit] = _straight(plain.filter(hit)).str.contains(_ANY_PHRASE).to_numpy()
    hit |= frame.select(either).to_series().to_numpy()
    hits = frame.filter(hit).with_row_index("row")
    hits = hits.with_columns(_straight(hits["text"]).str.replace_all(_MORE_THAN_A_SPACE, " "))
    said = hits.select(
        "row",
        **{
            name: pl.coalesce(
                _first(["text", "closed"], phrases), _first(["strict"], _CANONICAL.get(name, ()))
            )
            for name, phrases in _TIERS.items()
        },
    )
    flagged = hits.filter(said[f"{ERROR}_2"].is_not_null())
    closed_ones = flagged.filter(pl.col("closed").is_not_null()).select("row", text="closed")
    meant = _not_taken_back(pl.concat([flagged.select("row", "text"), closed_ones]))
    said = said.drop(f"{ERROR}_2").join(meant, on="row", how="left", maintain_order="left")
    return pl.DataFrame([expanded(column, hit) for column in said.drop("row")])


def _straight(texts: pl.Series) -> pl.Series:
    """Texts with straight apostrophes."""
    return changed(texts, not_ascii(texts), lambda some: some.str.replace_all(CURLY, "'"))


def _closed_up(texts: pl.Series) -> pl.Series:
    """Texts without white space."""
    return deleted(texts.str.replace_all(_OTHER_WHITE, " "), _WHITE)


def _first(columns: Sequence[str], phrases: Sequence[str]) -> pl.Expr:
    """The first of the phrases, in their order, that one of the texts contains."""
    found = (
        pl.when(pl.any_horizontal(pl.col(columns).str.contains(p, literal=True))).then(pl.lit(p))
        for p in phrases
    )
    return pl.coalesce(*found, pl.lit(None, pl.String))


def _not_taken_back(texts: pl.DataFrame) -> pl.DataFrame:
    """The first phrase of `ERRORS` of which some occurrence is not directly negated, by row.

    Args:
        texts: Columns row and text; a row may have several texts.
    """
    text = pl.col("text")
    before = text.cast(pl.Binary).bin.slice(0, pl.col("place")).cast(pl.String)
    long_ago = before.str.tail(_BETWEEN + len(LONG_NEGATION))
    negated = before.str.tail(_BEFORE).str.contains_any([*NEGATIONS]) | long_ago.str.contains(
        LONG_NEGATION, literal=True
    )
    order = pl.col("phrase").replace_strict(ERRORS, range(len(ERRORS)), return_dtype=pl.Int64)
    occurrences = texts.select(
        "row",
        "text",
        phrase=text.str.extract_many([*ERRORS], overlapping=True),
        place=text.str.find_many([*ERRORS], overlapping=True),
    ).explode("phrase", "place")
    return (
        occurrences.filter(~negated)
        .group_by("row")
        .agg(pl.col("phrase").sort_by(order).first().alias(f"{ERROR}_2"))
    )
