"""Responses that fall for a fake answer: it is there, and no accepted one is outside of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evalframe.rag.matching import UNKNOWN, Groups, contains, holds

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from evalframe.core.segments import Bools, Ints
    from evalframe.rag.matching import Codes

    Check: TypeAlias = Callable[[pl.Series, Groups], Codes]
    Spelling: TypeAlias = Callable[[pl.Series], pl.Series]

_MASK, _NOWHERE = " \0fake\0 ", "\0\0"


def lower_case(texts: pl.Series) -> pl.Series:
    """The spelling in which fake answers are looked for first."""
    return texts.str.to_lowercase()


def fake_answer_hits(
    frame: pl.DataFrame, check: Check, spellings: tuple[Spelling, ...] = (lower_case,)
) -> pl.Series:
    """Whether each response falls for a fake answer.

    Fake answers are taken out of the response and out of the aliases. So an alias counts unless it
    lies within a fake answer: 70 does not in `170 seats` if 170 is the fake one, but New York City
    does if New York is.

    Args:
        frame: Columns response, answers and fake_answers (List(String)).
        check: The answer check: a code for each group of texts, positive where an alias is found.
        spellings: How responses, fake answers and aliases are written; a later one is for the
            responses in which no fake answer was found before.

    Returns:
        Null where the response or the fake answers are null, or where the answers, a group or an
        alias are and the verdict depends on them. Empty fake answers are in no response.
    """
    import numpy as np

    known = frame["response"].is_not_null() & frame["fake_answers"].is_not_null()
    verdicts = pl.select(pl.when(known).then(pl.lit(value=False))).to_series()
    left = np.flatnonzero(known.to_numpy())
    for spell in spellings:
        rows = frame.select("response", "answers", "fake_answers").gather(left)
        found, hit = _falls(rows, spell, check)
        verdicts.scatter(left[found], hit.filter(found))
        left = left[~found]
    return verdicts


def _falls(rows: pl.DataFrame, spell: Spelling, check: Check) -> tuple[Bools, pl.Series]:
    """Whether a fake answer is found, and whether no accepted answer is outside of it."""
    import numpy as np

    golds = Groups.of(rows["answers"].fill_null(pl.Series([[]], dtype=rows["answers"].dtype)))
    texts, aliases = spell(rows["response"]), spell(golds.aliases.fill_null(""))
    found = np.zeros(len(rows), dtype=np.bool_)
    for fake in _by_place(rows["fake_answers"].list.drop_nulls(), spell):
        found |= contains(texts, fake)
        texts, aliases = _masked(texts, fake), _masked(aliases, fake.gather(golds.row))
    aliases = aliases.replace(_MASK, _NOWHERE)
    codes = check(texts, replace(golds, aliases=aliases))
    right = holds(codes > 0, golds.row_starts)
    unknown = holds(codes == UNKNOWN, golds.row_starts) | rows["answers"].is_null().to_numpy()
    return found, pl.Series(~right).set(pl.Series(unknown & ~right), None)


def _by_place(fakes: pl.Series, spell: Spelling) -> list[pl.Series]:
    """The first fake answer of each row, the second, ...: null where there are no more."""
    import numpy as np

    sizes: Ints = fakes.list.len().to_numpy().astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    written = spell(fakes.explode(empty_as_null=False))
    written = written.set(written.str.strip_chars() == "", None)
    count = int(sizes.max(initial=0))
    return [
        written.gather(pl.Series(starts + place).set(pl.Series(place >= sizes), None))
        for place in range(count)
    ]


def _masked(texts: pl.Series, parts: pl.Series) -> pl.Series:
    """Texts with a mask for each occurrence of their part; unchanged where that is null."""
    pairs = pl.DataFrame({"text": texts, "part": parts})
    cut = pl.col("text").str.split(pl.col("part")).list.join(_MASK)
    return pairs.select(pl.when(pl.col("part").is_null()).then("text").otherwise(cut)).to_series()
