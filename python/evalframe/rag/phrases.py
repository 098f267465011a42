"""Phrases of rejections and of flagged errors in responses, by tier."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import polars as pl

from evalframe.rag.contract import is_chinese
from evalframe.rag.matching import changed, expanded, holds_any, not_ascii
from evalframe.rag.normalising import CURLY, deleted, plain

if TYPE_CHECKING:
    from evalframe.rag.languages import Phrases


REJECTION, ERROR = "rejection", "error"

_WHITE = b" \t\n\v\f\r"
_OTHER_WHITE = r"[\x{85}\x{1680}\x{2028}\x{2029}]"
_MORE_THAN_A_SPACE = r"\s\s+|[^\S ]"
_BEFORE, _BETWEEN = 12, 9
"""Characters before a phrase that can contain a negation, and most after a longer negation."""


@dataclass(frozen=True)
class _Search:
    """Phrases as they are searched for; the last three fields are regular expressions."""

    tiers: Mapping[str, Mapping[str, str]]  # as written, by the form that responses are compared to
    canonical: Mapping[str, tuple[str, ...]]  # those of the first tiers, as written
    negations: tuple[str, ...]  # in the compared form
    any_phrase: str
    any_word: str  # the longest word of each: without spaces the search is much faster
    any_other: str  # those beyond ASCII

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, phrases: Phrases) -> _Search:
        """The search for these phrases."""
        kinds = {REJECTION: phrases.rejections, ERROR: phrases.errors}
        tiers = {
            f"{kind}_{number}": dict(zip(_compared(tier), tier, strict=True))
            for kind, each in kinds.items()
            for number, tier in enumerate(each, 1)
        }
        every = [phrase for tier in tiers.values() for phrase in tier]
        words = {max(re.split("[ ']", phrase), key=len) for phrase in every}
        return cls(
            tiers=tiers,
            canonical={f"{kind}_1": each[0] for kind, each in kinds.items()},
            negations=_compared(phrases.negations),
            any_phrase="|".join(re.escape(p).replace(r"\ ", r"\s+") for p in every),
            any_word="|".join(map(re.escape, sorted(words))),
            any_other="|".join(re.escape(p) for p in every if not p.isascii()),
        )


def _compared(phrases: Sequence[str]) -> tuple[str, ...]:
    """Phrases in the form that responses are compared to: plain, with single spaces."""
    texts = _straight(plain(pl.Series(phrases, dtype=pl.String)))
    return tuple(texts.str.replace_all(r"\s+", " "))


def phrases_said(
    plain: pl.Series, strict: pl.Series, dataset: pl.Series, phrases: Phrases
) -> pl.DataFrame:
    """The first phrase of each tier in each response, null for none.

    White space within a phrase can be of any kind and length. Responses of Chinese data sets are
    searched a second time without white space. `strict` are the responses as the strict rules
    read them; canonical phrases count there too. Columns: `rejection_1` to `rejection_3`, `error_1`
    and `error_2`.
    """
    search = _Search.of(phrases)
    chinese = pl.select(is_chinese(pl.lit(dataset))).to_series().to_numpy()
    spaced = plain.filter(chinese).str.replace_all(_OTHER_WHITE, " ")
    closed = expanded(deleted(spaced, _WHITE), chinese)
    frame = pl.DataFrame({"text": plain, "closed": closed, "strict": strict})
    canonical = holds_any([p for tier in search.canonical.values() for p in tier], "strict")
    # Cheap searches first: few responses are searched for all phrases, fewer for each one.
    either = pl.col("closed").str.contains(search.any_other).fill_null(value=False) | canonical
    hit = plain.str.contains(search.any_word).to_numpy()
    hit[hit] = _straight(plain.filter(hit)).str.contains(search.any_phrase).to_numpy()
    hit |= frame.select(either).to_series().to_numpy()
    hits = frame.filter(hit).with_row_index("row")
    hits = hits.with_columns(_straight(hits["text"]).str.replace_all(_MORE_THAN_A_SPACE, " "))
    first = hits.select(
        "row",
        **{
            name: pl.coalesce(
                _first(["text", "closed"], tier),
                _first(["strict"], {phrase: phrase for phrase in search.canonical.get(name, ())}),
            )
            for name, tier in search.tiers.items()
        },
    )
    flagged = hits.filter(first[f"{ERROR}_2"].is_not_null())
    closed_ones = flagged.filter(pl.col("closed").is_not_null()).select("row", text="closed")
    errors = _not_taken_back(pl.concat([flagged.select("row", "text"), closed_ones]), search)
    first = first.drop(f"{ERROR}_2").join(errors, on="row", how="left", maintain_order="left")
    return pl.DataFrame([expanded(column, hit) for column in first.drop("row")])


def _straight(texts: pl.Series) -> pl.Series:
    """Texts with straight apostrophes."""
    return changed(texts, not_ascii(texts), lambda some: some.str.replace_all(CURLY, "'"))


def _first(columns: Sequence[str], phrases: Mapping[str, str]) -> pl.Expr:
    """The first of the phrases, in their order, that one of the texts contains."""
    matches = (
        pl.when(pl.any_horizontal(pl.col(columns).str.contains(compared, literal=True))).then(
            pl.lit(written)
        )
        for compared, written in phrases.items()
    )
    return pl.coalesce(*matches, pl.lit(None, pl.String))


def _not_taken_back(texts: pl.DataFrame, search: _Search) -> pl.DataFrame:
    """The first error of tier 2 with an occurrence that is not negated, by row.

    A row can have several texts.
    """
    text, errors = pl.col("text"), search.tiers[f"{ERROR}_2"]
    before = text.cast(pl.Binary).bin.slice(0, pl.col("place")).cast(pl.String)
    negated = pl.any_horizontal(
        before.str.tail(max(_BEFORE, _BETWEEN + len(negation))).str.contains(negation, literal=True)
        for negation in search.negations
    )
    order = pl.col("phrase").replace_strict([*errors], range(len(errors)), return_dtype=pl.Int64)
    occurrences = texts.select(
        "row",
        "text",
        phrase=text.str.extract_many([*errors], overlapping=True),
        place=text.str.find_many([*errors], overlapping=True),
    ).explode("phrase", "place")
    return (
        occurrences.filter(~negated)
        .group_by("row")
        .agg(pl.col("phrase").sort_by(order).first().alias(f"{ERROR}_2"))
        .with_columns(pl.col(f"{ERROR}_2").replace_strict(errors, return_dtype=pl.String))
    )
