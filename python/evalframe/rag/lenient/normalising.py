"""Text without what spelling and layout add to it: width, case, accents, punctuation, spaces."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from evalframe.rag.matching import changed

if TYPE_CHECKING:
    from typing import Any

    from evalframe.core.segments import Bools, Ints

KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789.%+#"
"""What is kept of ASCII."""

CURLY = r"[\x{2018}\x{2019}]"
"""Apostrophes beyond ASCII."""

# Texts taken at once: their bytes are gone over a dozen times and should stay in the cache.
_BLOCK = 4096

_DELETED, _END = b"'`", b"X"
# What is not a letter or a number, as `str.isalnum` has it: the same for all of Unicode 14.
_PUNCTUATION = r"[^\p{L}\p{N}\x00-\x7f]"
# All other characters have no accents to drop; dropping costs more than this look.
_PERHAPS_ACCENTED = r"[^\p{Han}\p{P}\x00-\x7f]"


def not_ascii(texts: pl.Series) -> Bools:
    """Texts with a character beyond ASCII."""
    return (texts.str.len_bytes() != texts.str.len_chars()).to_numpy()


def plain(texts: pl.Series) -> pl.Series:
    """Compatible characters made one (NFKC), in lower case."""
    return changed(texts, not_ascii(texts), _compatible).str.to_lowercase()


def normalised(texts: pl.Series) -> pl.Series:
    r"""Plain texts as tokens, a space before and after each, then a line end.

    A token is made of letters, digits, %, + and #, and of dots between digits. Accents and
    apostrophes are dropped, and so are commas between a digit and exactly three digits; whatever
    else there is separates tokens. Digits are 0 to 9.

    >>> normalised(pl.Series(["o'neill: $1,361,000.50 (u.s.)"])).to_list()
    [' oneill 1361000.50 u s \n']
    """
    bare = changed(texts, not_ascii(texts), _unaccented)
    blocks = [_tokens(bare[start : start + _BLOCK]) for start in range(0, len(bare), _BLOCK)]
    return pl.concat(blocks) if blocks else bare


def as_tokens(texts: pl.Series) -> pl.Series:
    """Texts of any kind as tokens, to be looked for in normalised ones; nothing is one space."""
    return normalised(plain(texts)).str.head(-1)


def _compatible(texts: pl.Series) -> pl.Series:
    return texts.str.normalize("NFKC")


def _unaccented(texts: pl.Series) -> pl.Series:
    """Texts whose characters beyond ASCII are letters and numbers without accents."""
    accented = texts.str.contains(_PERHAPS_ACCENTED).to_numpy()
    bare = changed(texts, accented, _without_marks)
    return bare.str.replace_all(CURLY, "'").str.replace_all(_PUNCTUATION, " ")


def _without_marks(texts: pl.Series) -> pl.Series:
    return texts.str.normalize("NFD").str.replace_all(r"\p{Mn}", "").str.normalize("NFC")


def _tokens(texts: pl.Series) -> pl.Series:
    """The ASCII part of the rules, on the bytes of all texts at once.

    A capital X, which no text in lower case has, ends each; it becomes the line end.
    """
    import numpy as np
    import pyarrow as pa

    ended = pl.select(pl.concat_str(pl.lit(" "), texts, pl.lit(" X"))).to_series()
    raw = bytes_of(ended)
    commas = _thousands_commas(np.frombuffer(raw, dtype=np.uint8))
    np.frombuffer(raw, dtype=np.uint8)[commas] = _DELETED[0]
    text = np.frombuffer(raw.translate(_table(), _DELETED), dtype=np.uint8)
    text[_loose_dots(text)] = ord(" ")
    spaces = text == ord(" ")
    doubled = spaces[1:] & spaces[:-1]
    if doubled.any():
        text = text[np.append(True, ~doubled)]
    ends = np.append(0, np.flatnonzero(text == ord("\n")) + 1)
    return _strings(pa.py_buffer(text.data), ends)


def bytes_of(texts: pl.Series) -> bytearray:
    """The bytes of all texts, one after the other."""
    import numpy as np
    import pyarrow as pa

    array = texts.to_arrow().cast(pa.large_string())
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return bytearray(memoryview(data)[bounds[0] : bounds[-1]])


def _strings(data: Any, starts: Ints) -> pl.Series:
    """Consecutive stretches of these bytes as texts."""
    import pyarrow as pa

    array = pa.LargeStringArray.from_buffers(len(starts) - 1, pa.py_buffer(starts), data)
    return pl.Series(pl.from_arrow(array))


@cache
def _table() -> bytes:
    """What becomes of each byte; those of characters beyond ASCII stay."""
    table = bytearray(b" " * 128 + bytes(range(128, 256)))
    for byte in KEPT:
        table[byte] = byte
    table[_END[0]] = ord("\n")
    return bytes(table)


def _thousands_commas(text: Any) -> Ints:
    """Places of the commas between a digit and exactly three digits."""
    import numpy as np

    commas = np.flatnonzero(text == ord(","))
    last = len(text) - 1  # no digit
    near = [_digit(text[np.minimum(commas + step, last)]) for step in (-1, 1, 2, 3, 4)]
    return commas[near[0] & near[1] & near[2] & near[3] & ~near[4]]


def _loose_dots(text: Any) -> Ints:
    """Places of the dots that are not between two digits."""
    import numpy as np

    dots = np.flatnonzero(text == ord("."))
    return dots[~(_digit(text[dots - 1]) & _digit(text[dots + 1]))]


def _digit(characters: Any) -> Bools:
    digits: Bools = (characters >= ord("0")) & (characters <= ord("9"))
    return digits
