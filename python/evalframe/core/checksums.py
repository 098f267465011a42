"""Parquet files with a checksum: the format reads many a flipped bit as another number.

The checksum is a text in the metadata, of all bytes of the file with zeros in its own place.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from evalframe.core.errors import InputError

_KEY, _SIZE = "evalframe:checksum", 32
UNSEALED = {_KEY: "0" * _SIZE}
"""Metadata of a file that is about to be sealed."""

_BEFORE = _KEY.encode() + b"\x18" + bytes([_SIZE])
"""What stands before the text in a file: its name, its type, its length."""

_MARK, _END, _CHUNK = b"PAR1", 8, 1 << 20


def seal(path: Path) -> None:
    """Put the checksum into a file that was written with the metadata `UNSEALED`."""
    with path.open("rb+") as file:
        place = _place(file)
        assert place is not None
        checksum = _checksum(file, place)
        file.seek(place)
        file.write(checksum)


def check_sealed(path: Path, name: str) -> None:
    """Raise InputError if a file has a checksum of other bytes than its own."""
    with path.open("rb") as file:
        place = _place(file)
        if place is None:
            return
        checksum = _checksum(file, place)
        file.seek(place)
        if file.read(_SIZE) != checksum:
            raise InputError(
                f"{name} was changed since it was written: its checksum differs; make it anew"
            )


def _place(file: BinaryIO) -> int | None:
    """Where the checksum stands; None if there is none."""
    size = file.seek(0, os.SEEK_END)
    if size < _END:
        return None
    file.seek(-_END, os.SEEK_END)
    end = file.read()
    length = int.from_bytes(end[: -len(_MARK)], "little")
    if not end.endswith(_MARK) or length > size - _END:
        return None
    start = file.seek(size - _END - length)
    place = file.read(length).rfind(_BEFORE)
    return None if place < 0 else start + place + len(_BEFORE)


def _checksum(file: BinaryIO, place: int) -> bytes:
    total = blake2b(digest_size=_SIZE // 2)
    for part in _parts(file, place):
        total.update(part)
    return total.hexdigest().encode()


def _parts(file: BinaryIO, place: int) -> Iterator[bytes]:
    left = file.seek(0) + place
    while left and (part := file.read(min(left, _CHUNK))):
        left -= len(part)
        yield part
    yield b"0" * _SIZE
    file.seek(place + _SIZE)
    while part := file.read(_CHUNK):
        yield part
