"""What was made of shards, in a folder: each in a file of its own, found by what it was made of.

The name of a file is a digest of the bytes of the shard, of the definition of what is made, and of
the program (see `definitions`). So a file is never out of date: what differs in anything has
another name. It is written as soon as it is made, by the worker that made it, under a temporary
name, and takes its own in one step; two jobs that make the same write the same. It holds its own
name and a checksum, so that damage is a miss.
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import polars as pl

from evalframe.core.errors import InputError, OutputError, needing
from evalframe.core.remote import location
from evalframe.core.scan import reading
from evalframe.engine.definitions import digest, program

if TYPE_CHECKING:
    from evalframe.core.scan import File
    from evalframe.engine.makers import Maker
    from evalframe.engine.shards import Shard

Status: TypeAlias = Literal["reused", "made", "damaged"]

SETTLED = 2.0
"""Seconds after which another change of a file is sure to change its time, too."""

_WORD = 16
"""Bytes of a name, of a checksum, and of the number of rows."""


class Seen(NamedTuple):
    """A file when its content was hashed."""

    size: int
    changed: int
    content: str


class Kept(NamedTuple):
    """What became of a shard.

    Attributes:
        status: `reused` from the folder; `made`; `damaged`: made, since its file was damaged.
        content: The digest of what decides its rows.
        rows: The number of its rows.
        seconds: Time of work.
        seen: Its file, if size and time tell the content from now on.
    """

    status: Status
    content: str
    rows: int
    seconds: float
    seen: Seen | None


@dataclass(frozen=True)
class Shelf:
    """The part of a folder for one definition."""

    folder: Path
    kind: str

    @classmethod
    def of(cls, folder: Path, maker: Maker) -> Shelf:
        """The part for what this maker makes, in this process."""
        return cls(folder, digest([maker.definition, program()]))

    def file(self, content: str) -> Path:
        """The file of what was made of a shard."""
        name = digest([self.kind, content])
        return self.folder / name[:2] / f"{name}.state"

    def take(self, content: str) -> tuple[int, bytes] | None:
        """The rows of a shard and what was made of it, or None; InputError if that is damaged."""
        file = self.file(content)
        try:
            written = file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(f"{file} cannot be read ({error.strerror})") from error
        found = opened(file, written)
        with suppress(OSError):  # another user's, perhaps
            file.touch()  # it is in use, see `StateStore.sweep`
        return found

    def put(self, content: str, rows: int, made: bytes) -> None:
        """Keep what was made of a shard."""
        file = self.file(content)
        whole = bytes.fromhex(file.stem) + rows.to_bytes(_WORD) + made
        write(file, whole + _checksum(whole))

    def made(self, maker: Maker, shard: Shard, known: Seen | None) -> tuple[bytes, Kept]:
        """What is made of a shard, now or before.

        Args:
            maker: What makes it.
            shard: A shard of one file, with its recipe.
            known: The file when its content was hashed before, if its size and time are trusted.
        """
        start = time.perf_counter()
        (file,) = shard.files
        seen, is_settled = look(file, known)
        content = digest([seen.content, shard.recipe])
        status: Status = "reused"
        try:
            found = self.take(content)
        except InputError:
            found, status = None, "damaged"
        if found is None:
            status = "made" if status == "reused" else status
            found = maker.made(shard)
            if look(file, seen if is_settled else None)[0] != seen:
                raise InputError(
                    f"{shard} was changed while it was read; run again when nobody writes to it"
                )
            self.put(content, *found)
        rows, made = found
        seconds = time.perf_counter() - start
        return made, Kept(status, content, rows, seconds, seen if is_settled else None)


def look(file: File, known: Seen | None) -> tuple[Seen, bool]:
    """A file as it is now, and whether size and time tell its content from now on."""
    if file.version is not None:
        return Seen(0, 0, _content_of_table(file)), True
    with reading(file.name):
        status = file.path.stat()
        changed = getattr(status, "st_mtime_ns", 0)  # object stores tell none
        if known is not None and known[:2] == (status.st_size, changed):
            return known, True
        is_settled = changed > 0 and time.time() - changed / 1e9 > SETTLED
        with file.path.open("rb") as content:
            hashed = file_digest(content, "sha256").hexdigest()
    return Seen(status.st_size, changed, hashed), is_settled


def _content_of_table(file: File) -> str:
    """The digest of the files of a Delta table in a version; none of them is ever changed."""
    with needing("delta", "a Delta table"):
        from deltalake import DeltaTable
    table = DeltaTable(location(file.path), version=file.version)
    files = pl.DataFrame(table.get_add_actions(flatten=True)).select(
        "path", "size_bytes", "modification_time"
    )
    return digest([sorted(files.rows()), table.schema().to_json()])


def opened(file: Path, written: bytes) -> tuple[int, bytes]:
    """The rows of a shard and what was made of it, from the bytes of a file."""
    whole, checksum = written[:-_WORD], written[-_WORD:]
    if whole[:_WORD].hex() != file.stem or _checksum(whole) != checksum:
        raise InputError(f"{file} is damaged: its name or its checksum is another")
    return int.from_bytes(whole[_WORD : 2 * _WORD]), whole[2 * _WORD :]


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=_WORD).digest()


def write(file: Path, content: bytes) -> None:
    """Write a file of the store, which takes its name in one step.

    It is not forced to the disk: what a crash of the machine cuts off is noticed, and made anew.
    """
    folder = file.parent.parent
    unfinished = file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    if not folder.is_dir():
        raise OutputError(
            f"the state store {str(folder)!r} is not there; it must be a folder that all workers "
            "see"
        )
    try:
        file.parent.mkdir(exist_ok=True)
        unfinished.write_bytes(content)
        unfinished.replace(file)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        raise OutputError(
            f"cannot write into the state store {str(folder)!r} ({error.strerror}); make it "
            "writable, or make room, or choose another folder"
        ) from error
