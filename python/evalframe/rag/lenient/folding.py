"""Characters beyond ASCII replaced by a table, for what needs no look at their neighbours.

Normal forms of Unicode are slow, and the most frequent characters fare the same in any text. A
character is hard if its neighbours matter or if what replaces it is longer; texts with such a
character take the slow way.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evalframe.rag.lenient.flat import END, rewritten
from evalframe.rag.matching import replaced

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from evalframe.core.segments import Bools

_KNOWN = 0x20000
"""Code points in a table; those beyond are hard."""

_SAME, _OTHER, _HARD = 0, 1, 2
_NOTHING = 0xFF  # no byte of any text
_SURROGATES = range(0xD800, 0xE000)
# Consonants and vowels of Hangul that make up syllables.
_JAMO = range(0x1100, 0x1200)


@dataclass(frozen=True, slots=True, eq=False)
class Folding:
    """What becomes of each character.

    Args:
        kinds: For each code point whether it stays, is another, or is hard.
        bytes_: The bytes of the others, filled up to four.
    """

    kinds: Any
    bytes_: Any

    @classmethod
    def of(cls, change: Callable[[pl.Series], pl.Series], hard: Callable[[str], bool]) -> Folding:
        """A table of what a change makes of each character alone.

        Args:
            change: The slow way.
            hard: Whether the neighbours of a character matter, before or after the change.
        """
        import numpy as np

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

    def applied(
        self, texts: pl.Series, slow: Callable[[pl.Series], pl.Series], originals: pl.Series
    ) -> pl.Series:
        """Texts folded; those with a hard character made in the slow way.

        Args:
            texts: In lower case.
            slow: The slow way.
            originals: What the slow way starts from.
        """
        import numpy as np

        flags = [np.zeros(0, dtype=np.bool_)]

        def fold(raw: bytearray) -> bytearray:
            hard = np.zeros(raw.count(END), dtype=np.bool_)
            flags.append(hard)
            return self._folded(raw, hard)

        folded = rewritten(texts, fold)
        hard = np.concatenate(flags)
        return replaced(folded, hard, slow(originals.filter(hard))) if hard.any() else folded

    def _folded(self, raw: bytearray, hard: Bools) -> bytearray:
        """The bytes folded; the texts with a hard character are flagged."""
        import numpy as np

        text = np.frombuffer(raw, dtype=np.uint8)
        # The leads of all characters but ASCII and those from U+5000 to U+9FFF, all of them Han.
        at = np.flatnonzero((text >= 0xC2) & (text - np.uint8(0xE5) > 4))
        if not len(at):
            return raw
        code, size = _decoded(text, at)
        kind = self.kinds[np.minimum(code, _KNOWN)]
        other, neighbours = np.flatnonzero(kind == _OTHER), kind == _HARD
        if neighbours.any():
            hard[np.searchsorted(np.flatnonzero(text == ord(END)), at[neighbours])] = True
        if not len(other):
            return raw
        at, code, size = at[other], code[other], size[other]
        for step in range(4):
            inside = size > step
            text[at[inside] + step] = self.bytes_[code[inside], step]
        return raw.translate(None, bytes([_NOTHING]))


def depends(character: str) -> bool:
    """Whether neighbours matter for normal forms or lower case: marks, Hangul, the Greek sigma."""
    return (
        unicodedata.category(character) in ("Mn", "Mc", "Me")
        or ord(character) in _JAMO
        or character in "\u03c2\u03c3"
    )


def depends_without_marks(character: str) -> bool:
    """Whether neighbours matter once the marks that take no space are dropped."""
    return unicodedata.category(character) in ("Mc", "Me") or ord(character) in _JAMO


def _decoded(text: Any, at: Any) -> tuple[Any, Any]:
    """The code points of the characters that begin at these places, and their bytes."""
    import numpy as np

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
