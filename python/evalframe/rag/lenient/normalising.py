"""Text without what spelling and layout add to it: width, case, accents, punctuation, spaces."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from evalframe.rag.lenient.flat import END, deleted, digit, rewritten
from evalframe.rag.lenient.folding import Folding, depends, depends_without_marks
from evalframe.rag.matching import changed, replaced

if TYPE_CHECKING:
    from typing import Any

    from evalframe.core.segments import Bools, Ints

KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789.%+#"
"""What is kept of ASCII."""

CURLY = r"[\x{2018}\x{2019}]"
"""Apostrophes beyond ASCII."""

_APOSTROPHES, _COMMA = b"'`", b","
# What is not a letter or a number, as `str.isalnum` has it: the same for all of Unicode 14.
_PUNCTUATION = r"[^\p{L}\p{N}\x00-\x7f]"


def not_ascii(texts: pl.Series) -> Bools:
    """Texts with a character beyond ASCII."""
    return (texts.str.len_bytes() != texts.str.len_chars()).to_numpy()


def plain(texts: pl.Series) -> pl.Series:
    """Compatible characters made one (NFKC), in lower case."""
    return plain_of(texts, texts.str.to_lowercase())


def plain_of(texts: pl.Series, lower: pl.Series) -> pl.Series:
    """Plain texts of those that are there in lower case as well."""
    special = not_ascii(lower)
    if not special.any():
        return lower
    some, originals = lower.filter(special), texts.filter(special)
    return replaced(lower, special, _compatible().applied(some, _slowly_plain, originals))


def normalised(texts: pl.Series) -> pl.Series:
    r"""Plain texts as tokens, a space before and after each.

    A token is made of letters, digits, %, + and #, and of dots between digits. Accents and
    apostrophes are dropped, and so are commas between a digit and exactly three digits; whatever
    else there is separates tokens. Digits are 0 to 9.

    >>> normalised(pl.Series(["o'neill: $1,361,000.50 (u.s.)"])).to_list()
    [' oneill 1361000.50 u s ']
    """
    spaced = pl.select(pl.concat_str(pl.lit(" "), _bare(texts), pl.lit(" "))).to_series()
    return rewritten(spaced, _tokens)


def as_tokens(texts: pl.Series) -> pl.Series:
    """Texts of any kind as tokens, to be looked for in normalised ones; nothing is one space."""
    return normalised(plain(texts))


def run_together(texts: pl.Series) -> pl.Series:
    """Plain texts that contain every token of the normalised ones, if perhaps within others.

    This is much less work than to normalise.
    """
    return deleted(_bare(texts), _APOSTROPHES + _COMMA)


def _bare(texts: pl.Series) -> pl.Series:
    """Plain texts whose characters beyond ASCII are letters and numbers without accents."""
    return changed(texts, not_ascii(texts), lambda t: _unaccented().applied(t, _slowly_bare, t))


@cache
def _compatible() -> Folding:
    return Folding.of(_slowly_plain, depends)


@cache
def _unaccented() -> Folding:
    return Folding.of(_slowly_bare, depends_without_marks)


def _slowly_plain(texts: pl.Series) -> pl.Series:
    return texts.str.normalize("NFKC").str.to_lowercase()


def _slowly_bare(texts: pl.Series) -> pl.Series:
    bare = texts.str.normalize("NFD").str.replace_all(r"\p{Mn}", "").str.normalize("NFC")
    return bare.str.replace_all(CURLY, "'").str.replace_all(_PUNCTUATION, " ")


def _tokens(raw: bytearray) -> bytes:
    """The ASCII part of the rules."""
    import numpy as np

    commas = _thousands_commas(np.frombuffer(raw, dtype=np.uint8))
    np.frombuffer(raw, dtype=np.uint8)[commas] = _APOSTROPHES[0]
    text = np.frombuffer(raw.translate(_table(), _APOSTROPHES), dtype=np.uint8)
    text[_loose_dots(text)] = ord(" ")
    spaces = text == ord(" ")
    doubled = spaces[1:] & spaces[:-1]
    if doubled.any():
        text = text[np.append(True, ~doubled)]
    return text.tobytes()


@cache
def _table() -> bytes:
    """What becomes of each byte; those of characters beyond ASCII stay."""
    table = bytearray(b" " * 128 + bytes(range(128, 256)))
    for byte in KEPT + END:
        table[byte] = byte
    return bytes(table)


def _thousands_commas(text: Any) -> Ints:
    """Places of the commas between a digit and exactly three digits."""
    import numpy as np

    commas = np.flatnonzero(text == ord(","))
    last = len(text) - 1  # no digit
    near = [digit(text[np.minimum(commas + step, last)]) for step in (-1, 1, 2, 3, 4)]
    thousands: Ints = commas[near[0] & near[1] & near[2] & near[3] & ~near[4]]
    return thousands


def _loose_dots(text: Any) -> Ints:
    """Places of the dots that are not between two digits."""
    import numpy as np

    dots = np.flatnonzero(text == ord("."))
    loose: Ints = dots[~(digit(text[dots - 1]) & digit(text[dots + 1]))]
    return loose
