"""States as bytes: what engines send, and what a store keeps.

The bytes are a Parquet file followed by its checksum. Parquet by itself reads most flipped bits
without an error, as other numbers.
"""

from __future__ import annotations

import io
from hashlib import blake2b
from pathlib import Path

import polars as pl

from evalframe.core.errors import InputError, naming

_CHECKSUM = 16
"""Bytes of the checksum, at the end."""


def packed(state: pl.DataFrame) -> bytes:
    """A state, as `unpacked` reads it."""
    file = io.BytesIO()
    state.write_parquet(file, compression="zstd", compression_level=1, statistics=False)
    data = file.getvalue()
    return data + _checksum(data)


def unpacked(data: bytes | Path) -> pl.DataFrame:
    """The state, exactly as it was packed; InputError if the bytes are no longer the same."""
    if isinstance(data, Path):
        with naming(str(data)):
            return unpacked(data.read_bytes())
    content, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    if _checksum(content) != checksum:
        raise InputError(
            f"{len(data):,} bytes are no state, or were cut off or changed: their checksum "
            "differs; make the state anew"
        )
    return pl.read_parquet(content)


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECKSUM).digest()
