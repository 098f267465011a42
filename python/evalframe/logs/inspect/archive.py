"""Members of a zip file that may be damaged or hostile, decoded in memory within limits.

The standard library knows no Zstandard before Python 3.14 and takes a third of a second to list
20,000 members; here the central directory is read by one loop, and members are found by the offset
it gives. Names are text and never paths. Sizes are claims, which are checked while decoding.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from evalframe.core.errors import InputError
from evalframe.logs.streams import CHUNK

LARGEST = 4 << 30
"""Bytes that a member may have."""
DENSEST, DENSE = 1_000, 64 << 20
"""A member of more bytes than the second may have this many for each that is stored."""

_ENTRY, _LENGTHS = struct.Struct("<8x2H4x3L3H8xL"), struct.Struct("<3H")
_ENTRY_SIZE, _LOCAL_SIZE = 46, 30
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ4x2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_MOST_COMMENT = 1 << 16
_FULL = 0xFFFFFFFF
_UNREADABLE = 0x61  # flags: encrypted, patched, strongly encrypted


class Member(NamedTuple):
    """A member, as the central directory describes it."""

    name: str
    is_encrypted: bool
    method: int
    crc: int
    stored: int
    size: int
    offset: int


class Archive:
    """A zip file; of members with the same name the last counts."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._file = path.open("rb")
        try:
            self.members = self._directory()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def chunks(self, name: str) -> Iterator[bytes]:
        """The bytes of a member in order; its size and checksum are checked at the end."""
        member = self.member(name)
        crc = size = 0
        for chunk in self._decoded(member):
            size += len(chunk)
            crc = zlib.crc32(chunk, crc)
            if size > member.size:
                break
            yield chunk
        if size != member.size or crc != member.crc:
            raise self._fault(member, "its size or checksum is wrong; copy the file again")

    def read(self, name: str) -> bytes:
        """A whole member."""
        return b"".join(self.chunks(name))

    def _decoded(self, member: Member) -> Iterator[bytes]:
        if member.is_encrypted:
            raise self._fault(member, "it is encrypted or patched; write the log without")
        if member.size > max(DENSE, DENSEST * member.stored) or member.size > LARGEST:
            raise self._fault(
                member,
                f"it would have {member.size:,} bytes from {member.stored:,}, more than a log has",
            )
        raw = self._raw(member)
        try:
            match member.method:
                case 0:
                    yield from raw
                case 8:
                    yield from _inflated(raw)
                case 93:
                    yield from _zstandard(b"".join(raw), member.size)
                case other:
                    raise self._fault(member, f"its method of compression, {other}, is unknown")
        except (zlib.error, OSError, ValueError) as error:
            raise self._fault(member, f"it cannot be decoded ({error})") from error

    def _raw(self, member: Member) -> Iterator[bytes]:
        self._file.seek(member.offset)
        local = self._file.read(_LOCAL_SIZE)
        known = local.startswith(b"PK\x03\x04") and len(local) == _LOCAL_SIZE
        name, extra = struct.unpack_from("<2H", local, 26) if known else (0, 0)
        if self._file.read(name).decode("utf-8", "replace") != member.name:
            raise self._fault(member, "it is not where the directory says; copy the file again")
        self._file.seek(extra, 1)
        left = member.stored
        while left and (chunk := self._file.read(min(left, CHUNK))):
            left -= len(chunk)
            yield chunk

    def _fault(self, member: Member, fault: str) -> InputError:
        return InputError(f"{self.name}: member {member.name!r:.200}: {fault}")

    def member(self, name: str) -> Member:
        """What the directory says of a member."""
        data, place = self._data, self.members[name]
        flags, method, crc, stored, size, called, extra, _, offset = _ENTRY.unpack_from(data, place)
        if _FULL in (stored, size, offset):
            begin = place + _ENTRY_SIZE + called
            size, stored, offset = _long(data[begin : begin + extra], size, stored, offset)
        return Member(
            name, bool(flags & _UNREADABLE), method, crc, stored, size, offset + self._shift
        )

    def _directory(self) -> dict[str, int]:
        """Where the directory describes each member; 20,000 take some 20 ms."""
        size, offset, self._shift = self._end()
        self._file.seek(offset + self._shift)
        data = self._data = self._file.read(size)
        members: dict[str, int] = {}
        place = 0
        while data.startswith(b"PK\x01\x02", place) and place + _ENTRY_SIZE <= len(data):
            name, extra, comment = _LENGTHS.unpack_from(data, place + 28)
            begin = place + _ENTRY_SIZE
            members[data[begin : begin + name].decode("utf-8", "replace")] = place
            place = begin + name + extra + comment
        if place != size:
            raise self._incomplete()
        return members

    def _end(self) -> tuple[int, int, int]:
        """Size and offset of the central directory, and how far all offsets are shifted."""
        length = self._file.seek(0, 2)
        self._file.seek(max(0, length - _MOST_COMMENT - _END.size))
        tail = self._file.read()
        place = tail.rfind(b"PK\x05\x06")
        if place < 0 or place + _END.size > len(tail):
            raise self._incomplete()
        *_, size, offset, _ = _END.unpack_from(tail, place)
        end = length - len(tail) + place
        locator = tail[max(0, place - _LOCATOR.size) : place]
        if len(locator) == _LOCATOR.size and locator.startswith(b"PK\x06\x07"):
            end = _LOCATOR.unpack(locator)[2]
            self._file.seek(min(end, length))
            record = self._file.read(_END64.size)
            if len(record) < _END64.size or record[:4] != b"PK\x06\x06":
                raise self._incomplete()
            *_, size, offset = _END64.unpack(record)
        shift = end - size - offset
        if shift < 0 or size > length:
            raise self._incomplete()
        return size, offset, shift

    def _incomplete(self) -> InputError:
        return InputError(
            f"{self.name}: the zip file has no complete directory at its end; was its writer "
            "interrupted, or the copy cut short? Copy it again, or recover it with Inspect"
        )


def _long(more: bytes, *values: int) -> list[int]:
    """Sizes and offset beyond 32 bits, from the extra field."""
    place = 0
    found = [*values]
    while place + 4 <= len(more):
        kind, length = struct.unpack_from("<2H", more, place)
        if kind == 1:
            known = more[place + 4 : place + 4 + length]
            longs = iter(struct.unpack(f"<{len(known) // 8}Q", known[: len(known) // 8 * 8]))
            found = [next(longs, value) if value == _FULL else value for value in found]
        place += 4 + length
    return found


def _inflated(raw: Iterator[bytes]) -> Iterator[bytes]:
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    for chunk in raw:
        rest = chunk
        while rest:
            yield decoder.decompress(rest, CHUNK)
            rest = decoder.unconsumed_tail
    yield decoder.flush()


def _zstandard(raw: bytes, size: int) -> Iterator[bytes]:
    """All frames of a member."""
    import pyarrow as pa

    if size <= CHUNK:
        yield pa.Codec("zstd").decompress(raw, size, asbytes=True)
        return
    with pa.input_stream(pa.BufferReader(raw), compression="zstd") as stream:
        while chunk := stream.read(CHUNK):
            yield chunk
