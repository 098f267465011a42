"""What a response says of itself: phrases of rejections and of flagged errors, by tier."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from evalframe.rag.datasets import is_chinese
from evalframe.rag.lenient.normalising import CURLY, not_ascii
from evalframe.rag.lenient.phrases import (
    ERROR_TIERS,
    ERRORS,
    LONG_NEGATION,
    NEGATIONS,
    REJECTION_TIERS,
)
from evalframe.rag.matching import changed
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
_WORDS = {max(p.split(" "), key=len) for phrases in _TIERS.values() for p in phrases}
_ANY_WORD = "|".join(sorted(_WORDS))
_MORE_THAN_A_SPACE = r"\s\s+|[^\S ]"
_BEFORE, _BETWEEN = 12, 9
"""Characters before a phrase in which a negation stands, and most between the long one and it."""


def phrases_said(plain: pl.Series, strict: pl.Series, dataset: pl.Series) -> pl.DataFrame:
    """The first phrase of each tier that each response holds, null for none.

    White space within a phrase may be of any kind and length. In Chinese data sets it may also
    stand before and after characters beyond ASCII.

    Args:
        plain: The responses, plain.
        strict: The responses as the strict rules read them; canonical phrases may stand there, too.
        dataset: The names of their data sets.

    Returns:
        Columns `rejection_1` to `rejection_3`, `error_1` and `error_2`.
    """
    import numpy as np

    chinese = pl.select(is_chinese(pl.lit(dataset))).to_series().to_numpy()
    texts = changed(changed(plain, not_ascii(plain), _straight), chinese, _closed_up)
    frame = pl.DataFrame({"text": texts, "strict": strict})
    # Most responses are spared the look for each phrase, and many the one for all of them.
    hit = texts.str.contains(_ANY_WORD).to_numpy()
    hit[hit] = texts.filter(hit).str.contains(_ANY_PHRASE).to_numpy()
    canonical = holds_any((*REJECTIONS, *FACTUAL_ERRORS), "strict")
    hit |= frame.select(canonical).to_series().to_numpy()
    hits = frame.filter(hit).with_columns(
        pl.col("text").str.replace_all(_MORE_THAN_A_SPACE, " "), row=pl.int_range(pl.len())
    )
    said = hits.select(
        "row",
        **{
            name: pl.coalesce(_first("text", phrases), _first("strict", _CANONICAL.get(name, ())))
            for name, phrases in _TIERS.items()
        },
    )
    meant = _not_taken_back(hits.filter(said[f"{ERROR}_2"].is_not_null()))
    said = said.drop(f"{ERROR}_2").join(meant, on="row", how="left", maintain_order="left")
    place = pl.Series(np.cumsum(hit) - 1).set(pl.Series(~hit), None)
    return said.drop("row").select(pl.all().gather(place))


def _straight(texts: pl.Series) -> pl.Series:
    return texts.str.replace_all(CURLY, "'")


def _closed_up(texts: pl.Series) -> pl.Series:
    """Texts without the white space before and after characters beyond ASCII.

    Chinese phrases are found as if there were no white space at all, English ones as before.
    """
    before = texts.str.replace_all(r"\s+([^\x00-\x7f])", "${1}")
    return before.str.replace_all(r"([^\x00-\x7f])\s+", "${1}")


def _first(column: str, phrases: Sequence[str]) -> pl.Expr:
    """The first of the phrases, in their order, that the text contains."""
    text = pl.col(column)
    found = (pl.when(text.str.contains(p, literal=True)).then(pl.lit(p)) for p in phrases)
    return pl.coalesce(*found, pl.lit(None, pl.String))


def _not_taken_back(texts: pl.DataFrame) -> pl.DataFrame:
    """The first phrase of `ERRORS` of which some occurrence is not directly negated, by row."""
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
