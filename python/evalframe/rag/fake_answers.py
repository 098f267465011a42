"""Responses that give a fake answer and no accepted one outside of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from evalframe.rag.matching import (
    UNKNOWN,
    Codes,
    Groups,
    changed,
    contains,
    expanded,
    holds,
    once_each,
)
from evalframe.rag.normalising import not_ascii

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints

Check: TypeAlias = Callable[[pl.Series, Groups], Codes]

# Masks are pairs of letters of a dead script, removed from all texts before. They stay the same in
# lower case and as tokens, are glued to nothing, and each stands for one fake answer.
_FIRST_LETTER, _LETTERS = 0x14400, 512
_ANY_LETTER = r"[\x{14400}-\x{145FF}]"
_ONLY_A_MASK = rf"^ *{_ANY_LETTER}{{2}} *$"


@dataclass(frozen=True, slots=True)
class Spelling:
    """The form in which texts are compared.

    `possible` (responses, row of each fake answer, fake answers) flags the pairs worth writing.
    """

    write: Callable[[pl.Series], pl.Series]
    possible: Callable[[pl.Series, Ints, pl.Series], Bools] | None = None


LOWER_CASE = Spelling(lambda texts: texts.str.to_lowercase())


def fake_answer_hits(
    frame: pl.DataFrame, check: Check, spellings: tuple[Spelling, ...] = (LOWER_CASE,)
) -> pl.Series:
    """True for responses that give a fake answer and no accepted one outside of it.

    The fake answers in a response are masked, the longest first, in it and in its aliases, from
    left to right. So an alias within a fake answer does not count: 70 in `170 seats`, if 170 is the
    fake one. One around it counts: New York City, if New York is fake. One that shares only a part
    with each fake answer does not: York City in `New York City`.

    A later spelling is for responses without a fake answer in the earlier ones. The result is null
    if the response or the list of fake answers is null, or if unknown answers decide; it is False
    for a list without fake answers.
    """
    valid = frame["response"].is_not_null() & frame["fake_answers"].is_not_null()
    verdicts = pl.select(pl.when(valid).then(pl.lit(value=False))).to_series()
    left = np.flatnonzero(valid.to_numpy())
    for spelling in spellings:
        rows = frame.select("response", "answers", "fake_answers").gather(left)
        fakes = _in_response(rows, spelling)
        hits = np.unique(fakes["row"].to_numpy())
        if len(hits):
            fakes = fakes.with_columns(row=pl.col("row").rle_id())
            verdicts.scatter(left[hits], _falls(rows.gather(hits), fakes, spelling, check))
        left = np.delete(left, hits)
    return verdicts


def _in_response(rows: pl.DataFrame, spelling: Spelling) -> pl.DataFrame:
    """Row, text and rank within its row of each fake answer, the longest first."""
    fakes = rows["fake_answers"]
    row = np.repeat(np.arange(len(rows)), fakes.list.len().to_numpy())
    texts = fakes.explode(empty_as_null=False)
    selected = (texts.str.strip_chars() != "").fill_null(value=False).to_numpy()
    row, texts = row[selected], texts.filter(selected)
    if spelling.possible is not None:
        selected = spelling.possible(rows["response"], row, texts)
        row, texts = row[selected], texts.filter(selected)
    written = _written(texts, spelling)
    responses = once_each(rows["response"], row, lambda some: _written(some, spelling))
    hit = contains(responses, written) & (written.str.strip_chars() != "").to_numpy()
    size = pl.col("fake").str.len_bytes()
    return (
        pl.DataFrame({"row": row, "fake": written})
        .filter(hit)
        .sort("row", size, descending=[False, True], maintain_order=True)
        .with_columns(place=pl.int_range(pl.len()).over("row"))
    )


def _falls(rows: pl.DataFrame, fakes: pl.DataFrame, spelling: Spelling, check: Check) -> pl.Series:
    """True if no accepted answer is outside of the fake ones."""
    golds = Groups.of(rows["answers"].fill_null(pl.Series([[]], dtype=rows["answers"].dtype)))
    texts = _written(rows["response"], spelling)
    aliases = _written(golds.aliases.fill_null(""), spelling)
    for (rank,), some in fakes.group_by("place", maintain_order=True):
        has_fake = np.zeros(len(rows), dtype=np.bool_)
        has_fake[some["row"].to_numpy()] = True
        fake = expanded(some["fake"], has_fake)
        texts = _masked(texts, fake, _mask(rank))
        aliases = _masked(aliases, fake.gather(golds.row), _mask(rank))
    aliases = aliases.set(aliases.str.contains(_ONLY_A_MASK), _mask(_LETTERS**2 - 1))
    codes = check(texts, replace(golds, aliases=aliases))
    right = holds(codes > 0, golds.row_starts)
    unknown = holds(codes == UNKNOWN, golds.row_starts) | rows["answers"].is_null().to_numpy()
    return pl.Series(~right).set(pl.Series(unknown & ~right), None)


def _written(texts: pl.Series, spelling: Spelling) -> pl.Series:
    """Texts in the compared form, without the letters of masks."""
    special = not_ascii(texts)
    bare = changed(texts, special, lambda some: some.str.replace_all(_ANY_LETTER, "\ufffd"))
    return spelling.write(bare)


def _mask(number: int) -> str:
    return f" {''.join(chr(_FIRST_LETTER + part) for part in divmod(number, _LETTERS))} "


def _masked(texts: pl.Series, parts: pl.Series, mask: str) -> pl.Series:
    """Texts with a mask for each occurrence of their part; unchanged if that is null."""
    pairs = pl.DataFrame({"text": texts, "part": parts})
    cut = pl.col("text").str.split(pl.col("part")).list.join(mask)
    return pairs.select(pl.when(pl.col("part").is_null()).then("text").otherwise(cut)).to_series()
