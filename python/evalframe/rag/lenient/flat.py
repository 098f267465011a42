"""The bytes of many texts at once, and texts made of bytes again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Change: TypeAlias = Callable[[bytearray], bytes | bytearray]

END = b"X"
"""What ends each text while it is changed: a capital, which no text in lower case has."""

# Texts taken at once: their bytes are gone over several times and should stay in the cache.
_BLOCK = 4096


def rewritten(texts: pl.Series, change: Change) -> pl.Series:
    """Texts in lower case with their bytes changed, thousands of texts at a time.

    Args:
        texts: Without nulls and capitals of ASCII.
        change: Makes other bytes of these; leaves each `END` in place. The same object
            says that nothing changes.
    """
    blocks = [_rewritten(texts[at : at + _BLOCK], change) for at in range(0, len(texts), _BLOCK)]
    return pl.concat(blocks) if blocks else texts


def deleted(texts: pl.Series, characters: bytes) -> pl.Series:
    """Texts in lower case without these characters of ASCII."""
    return rewritten(texts, lambda raw: raw.translate(None, characters))


def bytes_of(texts: pl.Series) -> bytearray:
    """The bytes of all texts, or of stretches of bytes, one after the other."""
    import numpy as np
    import pyarrow as pa

    array = texts.to_arrow().cast(pa.large_binary())
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    return bytearray(memoryview(data)[bounds[0] : bounds[-1]])


def digit(characters: Any) -> Any:
    """Bytes that are 0 to 9."""
    return (characters >= ord("0")) & (characters <= ord("9"))


def _rewritten(texts: pl.Series, change: Change) -> pl.Series:
    import numpy as np
    import pyarrow as pa

    ended = bytes_of(pl.select(pl.concat_str(texts, pl.lit(END.decode()))).to_series())
    raw = change(ended)
    if raw is ended:
        return texts
    ends = np.flatnonzero(np.frombuffer(raw, dtype=np.uint8) == ord(END))
    starts = np.append(0, ends - np.arange(len(ends)))
    data = pa.py_buffer(raw.translate(None, END))
    array = pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(starts), data)
    return pl.Series(pl.from_arrow(array))
