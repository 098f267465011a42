"""Aliases whose words stand close together in a text, in whatever order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints

STOP_WORDS = (
    *("a", "an", "the", "of", "and", "in", "on", "at", "to"),
    *("is", "was", "were", "are", "for", "by", "with", "from"),
)
"""Words that say nothing about an answer."""

_NO_TOKENS = pl.Series(["", *STOP_WORDS])
_CLOSE = 1e-9


def overlap(texts: pl.Series, aliases: pl.Series, threshold: float, slack: int) -> Bools:
    """Whether some window of each text holds enough of its alias.

    The window is as many consecutive content tokens as the alias has, and `slack` more. It must
    hold at least the share `threshold` of the alias's tokens, repeated ones as often, and all that
    contain a digit. Aliases of fewer than two content tokens are never found.

    Args:
        texts: Normalised texts.
        aliases: Normalised aliases, one for each text.
        threshold: Share of the alias's tokens, above 0, at most 1.
        slack: Tokens between those of the alias.
    """
    import numpy as np

    asked, pair = content(aliases)
    size = np.bincount(pair, minlength=len(aliases))
    needed = least(size, threshold)
    digit = asked.str.contains("[0-9]").to_numpy()
    found: Bools = size >= 2
    chosen = np.flatnonzero(found)
    if not len(chosen):
        return found
    rank = np.cumsum(found) - 1
    kept = found[pair]
    tokens = pl.DataFrame({"pair": rank[pair[kept]], "token": asked.filter(kept)})
    tokens = tokens.with_columns(digit=digit[kept])
    found[chosen] = _within_a_window(
        texts.gather(chosen), tokens, size[chosen] + slack, needed[chosen]
    )
    return found


def content(texts: pl.Series) -> tuple[pl.Series, Ints]:
    """The content tokens of normalised texts, and the text of each."""
    import numpy as np

    split = texts.str.split(" ")
    tokens = split.explode(empty_as_null=False)
    owner = np.repeat(np.arange(len(texts)), split.list.len().to_numpy())
    kept = ~tokens.is_in(_NO_TOKENS.implode())
    return tokens.filter(kept), owner[kept.to_numpy()]


def least(size: Ints, threshold: float) -> Ints:
    """How many of so many tokens are a share of at least the threshold."""
    import numpy as np

    needed: Ints = np.ceil(threshold * size - _CLOSE).astype(np.int64)
    return needed


def _within_a_window(texts: pl.Series, asked: pl.DataFrame, width: Ints, needed: Ints) -> Bools:
    """Whether a window of each text holds enough of the tokens asked for.

    A token asked for c times counts at most c times: of its occurrences in a window, the last c.
    So an occurrence counts in the windows that reach it but not the c-th occurrence after it. These
    begin at consecutive places; the sweep adds it at the first and takes it away after the last.
    """
    import numpy as np

    said, owner = content(texts)
    place = np.arange(len(said)) - np.searchsorted(owner, owner)
    wanted = asked.group_by("pair", "token").agg(pl.len().alias("count"), pl.col("digit").first())
    events = (
        pl.DataFrame({"pair": owner, "place": place, "token": said})
        .join(wanted, on=["pair", "token"])
        .sort("pair", "token", "place")
    )
    pair, place, count, digit = (
        events[name].to_numpy().astype(np.int64) for name in ("pair", "place", "count", "digit")
    )
    token = events.select(pl.struct("pair", "token").rle_id()).to_series().to_numpy()
    after = np.minimum(np.arange(len(events)) + count, len(events) - 1)
    followed = (token[after] == token) & (np.arange(len(events)) + count < len(events))
    first = np.maximum(place - width[pair] + 1, 0)
    last = np.where(followed, np.minimum(place, place[after] - width[pair]), place)
    counts = last >= first
    sign = np.repeat([1, -1], counts.sum())
    pair, digit = np.tile(pair[counts], 2), np.tile(digit[counts], 2) * sign
    # At the same place those that end come first, so that no sum is ever too high.
    order = np.lexsort((sign, np.append(first[counts], last[counts] + 1), pair))
    pair, matched = pair[order], np.cumsum(sign[order])
    digits = np.bincount(asked["pair"], asked["digit"].to_numpy(), minlength=len(texts))
    enough = (matched >= needed[pair]) & (np.cumsum(digit[order]) >= digits[pair])
    found = np.zeros(len(texts), dtype=np.bool_)
    found[pair[enough]] = True
    return found
