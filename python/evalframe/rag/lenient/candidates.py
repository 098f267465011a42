"""Pairs of a text and an alias that the looser rules need not look at: too much is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.rag.lenient.normalising import not_ascii, run_together
from evalframe.rag.lenient.tokens import content, least
from evalframe.rag.matching import contains, once_each

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints

_EAST_ASIAN = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"


def is_eastern(aliases: pl.Series) -> Bools:
    """Normalised aliases with a Chinese, Japanese or Korean character."""
    flags = not_ascii(aliases)
    flags[flags] = aliases.filter(flags).str.contains(_EAST_ASIAN).to_numpy()
    return flags


def possible(
    plain: pl.Series, row: Ints, aliases: pl.Series, eastern: Bools, threshold: float
) -> Bools:
    """Whether a text may hold an alias, in order or not, as far as its parts tell.

    The parts of an eastern alias are its characters, and all must be there; those of others are
    their content tokens, of which there must be enough.

    Args:
        plain: Plain texts.
        row: The text of each alias.
        aliases: Normalised aliases.
        eastern: Those of them that are eastern.
        threshold: The share of content tokens that is enough.
    """
    import numpy as np

    tokens, token_pair = content(aliases.filter(~eastern))
    characters = aliases.filter(eastern).str.strip_chars(" ").str.extract_all(r"^.|.$")
    parts = pl.concat([tokens, characters.explode(empty_as_null=False)])
    pair = np.append(
        np.flatnonzero(~eastern)[token_pair],
        np.repeat(np.flatnonzero(eastern), characters.list.len().to_numpy()),
    )
    texts = once_each(plain, row, run_together)
    there = np.bincount(pair, contains(texts.gather(pair), parts), minlength=len(aliases))
    size = np.bincount(pair, minlength=len(aliases))
    enough = there >= np.where(eastern, size, least(size, threshold))
    kept: Bools = enough & (aliases != " ").to_numpy()
    return kept
