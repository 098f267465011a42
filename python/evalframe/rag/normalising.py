"""Text without case, width, accents, punctuation and extra spaces.

Normal forms of Unicode are slow, so texts are changed as one array of bytes, thousands at a time.
Most characters beyond ASCII are replaced by a table (`_Folding`). A character is hard if its
neighbours matter or if its replacement is longer; only texts with such a character take the slow
way, through Polars.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from evalframe.rag.matching import changed, not_ascii, replaced

if TYPE_CHECKING:
    from evalframe.core.segments import Bools


Change: TypeAlias = Callable[[bytearray], bytes | bytearray]
ChangeTexts: TypeAlias = Callable[[pl.Series], pl.Series]

KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789.%+#"
"""The characters of ASCII in tokens."""

CURLY = r"[\x{2018}\x{2019}]"
"""Apostrophes beyond ASCII."""

_APOSTROPHES, _COMMA = b"'`", b","
# Neither a letter nor a number, as in `str.isalnum`: equal for all of Unicode 14.
_PUNCTUATION = r"[^\p{L}\p{N}\x00-\x7f]"

_END = b"X"  # ends each text while it is changed; texts in lower case have no capitals
_TABLE = bytes(byte if byte > 127 or byte in KEPT + _END else ord(" ") for byte in range(256))
"""The replacement of each byte; bytes of characters beyond ASCII stay."""

_BLOCK = 4096  # texts at once: their bytes are read several times and should stay in the cache

_KNOWN = 0x20000  # code points in a table; those beyond are hard
_SAME, _OTHER, _HARD = 0, 1, 2
_NOTHING = 0xFF  # in no text
_SURROGATES = range(0xD800, 0xE000)
_JAMO = range(0x1100, 0x1200)  # consonants and vowels that form Hangul syllables


def plain(texts: pl.Series) -> pl.Series:
    """Texts in NFKC and lower case."""
    return plain_of(texts, texts.str.to_lowercase())


def plain_of(texts: pl.Series, lower: pl.Series) -> pl.Series:
    """Plain texts of those that exist in lower case as well."""
    special = not_ascii(lower)
    if not special.any():
        return lower
    some, originals = lower.filter(special), texts.filter(special)
    return replaced(lower, special, _compatible().applied(some, _slowly_plain, originals))


def normalised(texts: pl.Series) -> pl.Series:
    """Plain texts as tokens, with a space before and after each.

    A token has letters, digits, %, + and #, and dots between digits. Accents, apostrophes and
    commas between a digit and exactly three digits are dropped; everything else separates tokens.
    Digits are 0 to 9.

    >>> normalised(pl.Series(["o'neill: $1,361,000.50 (u.s.)"])).to_list()
    [' oneill 1361000.50 u s ']
    """
    spaced = pl.select(pl.concat_str(pl.lit(" "), _bare(texts), pl.lit(" "))).to_series()
    return _rewritten(spaced, _tokens)


def as_tokens(texts: pl.Series) -> pl.Series:
    """Texts of any kind as tokens, to search for in normalised ones; empty ones are a space."""
    return normalised(plain(texts))


def run_together(texts: pl.Series) -> pl.Series:
    """Plain texts that contain each token of the normalised ones, perhaps within others."""
    return deleted(_bare(texts), _APOSTROPHES + _COMMA)


def _bare(texts: pl.Series) -> pl.Series:
    """Plain texts whose characters beyond ASCII are letters and numbers without accents."""
    return changed(texts, not_ascii(texts), lambda t: _unaccented().applied(t, _slowly_bare, t))


def deleted(texts: pl.Series, characters: bytes) -> pl.Series:
    """Texts in lower case without these characters of ASCII."""
    return _rewritten(texts, lambda raw: raw.translate(None, characters))


def bytes_of(texts: pl.Series) -> bytearray:
    """The bytes of all texts, or of binary values, one after the other."""
    array = texts.to_arrow().cast(pa.large_binary())
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return bytearray(memoryview(data)[bounds[0] : bounds[-1]])


def digit(characters: Any) -> Any:
    """True for bytes 0 to 9."""
    return (characters >= ord("0")) & (characters <= ord("9"))


@cache
def _compatible() -> _Folding:
    return _Folding.of(_slowly_plain, _depends)


@cache
def _unaccented() -> _Folding:
    return _Folding.of(_slowly_bare, _depends_without_marks)


def _slowly_plain(texts: pl.Series) -> pl.Series:
    return texts.str.normalize("NFKC").str.to_lowercase()


def _slowly_bare(texts: pl.Series) -> pl.Series:
    bare = texts.str.normalize("NFD").str.replace_all(r"\p{Mn}", "").str.normalize("NFC")
    return bare.str.replace_all(CURLY, "'").str.replace_all(_PUNCTUATION, " ")


def _tokens(raw: bytearray) -> bytes:
    """The rules for ASCII."""
    text = np.frombuffer(raw, dtype=np.uint8)
    # Commas between a digit and exactly three digits are dropped as apostrophes are.
    commas = np.flatnonzero(text == ord(","))
    last = len(text) - 1  # no digit
    near = [digit(text[np.minimum(commas + step, last)]) for step in (-1, 1, 2, 3, 4)]
    text[commas[near[0] & near[1] & near[2] & near[3] & ~near[4]]] = _APOSTROPHES[0]
    text = np.frombuffer(raw.translate(_TABLE, _APOSTROPHES), dtype=np.uint8)
    # Dots that are not between two digits are spaces.
    dots = np.flatnonzero(text == ord("."))
    text[dots[~(digit(text[dots - 1]) & digit(text[dots + 1]))]] = ord(" ")
    spaces = text == ord(" ")
    doubled = spaces[1:] & spaces[:-1]
    if doubled.any():
        text = text[np.append(True, ~doubled)]
    return text.tobytes()


def _rewritten(texts: pl.Series, change: Change) -> pl.Series:
    """Texts in lower case with changed bytes; `change` keeps each `_END`."""
    blocks = [
        _block_rewritten(texts[at : at + _BLOCK], change) for at in range(0, len(texts), _BLOCK)
    ]
    return pl.concat(blocks) if blocks else texts


def _block_rewritten(texts: pl.Series, change: Change) -> pl.Series:
    ended = bytes_of(pl.select(pl.concat_str(texts, pl.lit(_END.decode()))).to_series())
    raw = change(ended)
    if raw is ended:
        return texts
    ends = np.flatnonzero(np.frombuffer(raw, dtype=np.uint8) == ord(_END))
    starts = np.append(0, ends - np.arange(len(ends)))
    data = pa.py_buffer(raw.translate(None, _END))
    array = pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(starts), data)
    return pl.Series(pl.from_arrow(array))


@dataclass(frozen=True, slots=True, eq=False)
class _Folding:
    """For each code point whether it stays, has other bytes (up to four), or is hard."""

    kinds: Any
    bytes_: Any

    @classmethod
    def of(cls, change: ChangeTexts, hard: Callable[[str], bool]) -> _Folding:
        """A table of a change of single characters; `hard` says if neighbours matter."""
        codes = [code for code in range(0x80, _KNOWN) if code not in _SURROGATES]
        before = pl.Series([chr(code) for code in codes])
        after = change(before)
        kinds = np.full(_KNOWN + 1, _HARD, dtype=np.uint8)
        bytes_ = np.full((_KNOWN, 4), _NOTHING, dtype=np.uint8)
        kinds[codes] = np.where((before != after).to_numpy(), _OTHER, _SAME)
        fits = (after.str.len_bytes() <= before.str.len_bytes()).to_numpy()
        for code, old, new, fit in zip(codes, before, after, fits, strict=True):
            if not fit or hard(old) or (old != new and any(hard(c) for c in new)):
                kinds[code] = _HARD
            elif old != new:
                raw = new.encode()
                bytes_[code, : len(raw)] = list(raw)
        return cls(kinds, bytes_)

    def applied(self, texts: pl.Series, slow: ChangeTexts, originals: pl.Series) -> pl.Series:
        """Texts folded; those with a hard character from their originals in the slow way."""
        flags = [np.zeros(0, dtype=np.bool_)]

        def fold(raw: bytearray) -> bytearray:
            hard = np.zeros(raw.count(_END), dtype=np.bool_)
            flags.append(hard)
            return self._folded(raw, hard)

        folded = _rewritten(texts, fold)
        hard = np.concatenate(flags)
        return replaced(folded, hard, slow(originals.filter(hard))) if hard.any() else folded

    def _folded(self, raw: bytearray, hard: Bools) -> bytearray:
        """The bytes folded; texts with a hard character are flagged."""
        text = np.frombuffer(raw, dtype=np.uint8)
        # The leads of all characters but ASCII and those from U+5000 to U+9FFF, all of them Han.
        at = np.flatnonzero((text >= 0xC2) & (text - np.uint8(0xE5) > 4))
        if not len(at):
            return raw
        code, size = _decoded(text, at)
        kind = self.kinds[np.minimum(code, _KNOWN)]
        other, neighbours = np.flatnonzero(kind == _OTHER), kind == _HARD
        if neighbours.any():
            hard[np.searchsorted(np.flatnonzero(text == ord(_END)), at[neighbours])] = True
        if not len(other):
            return raw
        at, code, size = at[other], code[other], size[other]
        for step in range(4):
            inside = size > step
            text[at[inside] + step] = self.bytes_[code[inside], step]
        return raw.translate(None, bytes([_NOTHING]))


def _depends(character: str) -> bool:
    """True if neighbours matter for normal forms or lower case: marks, Hangul, the sigma."""
    return (
        unicodedata.category(character) in ("Mn", "Mc", "Me")
        or ord(character) in _JAMO
        or character in "\u03c2\u03c3"
    )


def _depends_without_marks(character: str) -> bool:
    """True if neighbours matter once nonspacing marks are dropped."""
    return unicodedata.category(character) in ("Mc", "Me") or ord(character) in _JAMO


def _decoded(text: Any, at: Any) -> tuple[Any, Any]:
    """The code points and sizes of the characters that begin at these positions."""
    lead = text[at].astype(np.int32)
    code = (lead & 0x1F) << 6 | (text[at + 1] & 0x3F)
    size = np.full(len(at), 2, dtype=np.uint8)
    wide = np.flatnonzero(lead >= 0xE0)
    if len(wide):
        size[wide] = 3
        code[wide] = (code[wide] & 0x3FF) << 6 | (text[at[wide] + 2] & 0x3F)
        widest = wide[lead[wide] >= 0xF0]
        size[widest] = 4
        code[widest] = (code[widest] & 0x7FFF) << 6 | (text[at[widest] + 3] & 0x3F)
    return code, size
