"""Occurrences that are glued to their neighbours: 70 in 170, March 1 in March 15."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.rag.lenient.normalising import bytes_of

if TYPE_CHECKING:
    from evalframe.core.segments import Bools, Ints


def stands_free(texts: pl.Series, parts: pl.Series) -> Bools:
    """Whether some occurrence of each part in its text is glued to no neighbour.

    Glued are a digit to a digit, also across one dot or comma, and a letter to a letter, of ASCII.
    Parts are not empty.
    """
    import numpy as np

    places = pl.select(texts.str.find_many(pl.concat_list(parts), overlapping=True)).to_series()
    counts = places.list.len().to_numpy()
    owner = np.repeat(np.arange(len(texts)), counts)
    # Two line ends before and after each text, so that every occurrence has all its neighbours.
    framed = pl.select(pl.concat_str(pl.lit("\n\n"), texts, pl.lit("\n\n"))).to_series()
    sizes = framed.str.len_bytes().to_numpy().astype(np.int64)
    first = (np.cumsum(sizes) - sizes + 2)[owner] + places.explode(empty_as_null=False).to_numpy()
    last = first + parts.str.len_bytes().to_numpy().astype(np.int64)[owner] - 1
    text = np.frombuffer(bytes_of(framed), dtype=np.uint8)
    free = ~_glued(text, first, -1) & ~_glued(text, last, 1)
    found = np.zeros(len(texts), dtype=np.bool_)
    found[owner[free]] = True
    return found


def _glued(text: Any, place: Ints, step: int) -> Bools:
    """Whether the character at each place belongs with the one or two a step away."""
    here, near, far = text[place], text[place + step], text[place + 2 * step]
    point = (near == ord(".")) | (near == ord(","))
    numbers = _digit(here) & (_digit(near) | (point & _digit(far)))
    words = _letter(here) & _letter(near)
    glued: Bools = numbers | words
    return glued


def _digit(characters: Any) -> Any:
    return (characters >= ord("0")) & (characters <= ord("9"))


def _letter(characters: Any) -> Any:
    small = characters | 0x20
    return (small >= ord("a")) & (small <= ord("z"))
