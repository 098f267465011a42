"""Occurrences that are glued to their neighbours: 70 in 170, March 1 in March 15."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.rag.lenient.flat import bytes_of, digit

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints


def stands_free(texts: pl.Series, parts: pl.Series) -> Bools:
    """Whether some occurrence of each part in its text is glued to no neighbour.

    Glued are a digit to a digit, also across one dot or comma, and a letter to a letter, of ASCII.
    Parts are not empty and occur.
    """
    import numpy as np

    pairs = pl.DataFrame({"text": texts, "part": parts})
    first = pairs.select(pl.col("text").str.find(pl.col("part"), literal=True)).to_series()
    found = _free(texts, parts, first.to_numpy())
    # Few parts are glued where they occur first: only for these are all occurrences looked up.
    glued = np.flatnonzero(~found)
    texts, parts = texts.gather(glued), parts.gather(glued)
    places = pl.select(texts.str.find_many(pl.concat_list(parts), overlapping=True)).to_series()
    owner = np.repeat(np.arange(len(glued)), places.list.len().to_numpy())
    free = _free(
        texts.gather(owner), parts.gather(owner), places.explode(empty_as_null=False).to_numpy()
    )
    found[glued[owner[free]]] = True
    return found


def _free(texts: pl.Series, parts: pl.Series, places: Ints) -> Bools:
    """Whether the occurrence of each part at this place of its text is glued to no neighbour."""
    import numpy as np

    frame = pl.DataFrame(
        {"text": texts.cast(pl.Binary), "start": pl.Series(places), "size": parts.str.len_bytes()}
    ).cast({"start": pl.Int64, "size": pl.Int64})
    before = pl.min_horizontal("start", 2)
    around = pl.col("text").bin.slice(pl.col("start") - before, before + pl.col("size") + 2)
    # Two line ends before and after each, so that every occurrence has all its neighbours.
    cut = frame.select(
        around=pl.lit(b"\n\n") + around + pl.lit(b"\n\n"), offset=before + 2, size="size"
    )
    windows, offset, size = cut.get_columns()
    sizes = windows.bin.size().to_numpy().astype(np.int64)
    first = np.cumsum(sizes) - sizes + offset.to_numpy()
    text = np.frombuffer(bytes_of(windows), dtype=np.uint8)
    return ~_glued(text, first, -1) & ~_glued(text, first + size.to_numpy() - 1, 1)


def _glued(text: Any, place: Ints, step: int) -> Bools:
    """Whether the character at each place belongs with the one or two a step away."""
    here, near, far = text[place], text[place + step], text[place + 2 * step]
    point = (near == ord(".")) | (near == ord(","))
    numbers = digit(here) & (digit(near) | (point & digit(far)))
    words = _letter(here) & _letter(near)
    glued: Bools = numbers | words
    return glued


def _letter(characters: Any) -> Any:
    small = characters | 0x20
    return (small >= ord("a")) & (small <= ord("z"))
