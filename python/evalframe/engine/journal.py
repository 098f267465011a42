"""What the last run over a store saw, so that the next one says what has changed.

It decides no result: a journal that is lost or damaged, as its last line, a checksum, tells, makes
everything reused, or new.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl

from evalframe.engine.definitions import program
from evalframe.engine.shelf import Kept, Seen, write

REPORT = {
    "shard": pl.String(),
    "status": pl.Enum(["reused", "new", "changed", "outdated", "damaged", "gone"]),
    "rows": pl.Int64(),
    "seconds": pl.Float64(),
}


@dataclass(frozen=True)
class Journal:
    """What the last run of a definition saw.

    Attributes:
        file: Where it is written.
        program: The versions of the program that ran.
        shards: By name the content, and the file if its size and time tell its content.
    """

    file: Path
    program: Mapping[str, str]
    shards: Mapping[str, tuple[str, Seen | None]]

    @classmethod
    def read(cls, file: Path) -> Journal:
        """The journal of a file; empty if there is none, or another one than expected."""
        try:
            text, _, checksum = file.read_bytes().rpartition(b"\n")
            if checksum != _checksum(text):
                return cls(file, program(), {})
            written = json.loads(text)
            shards = {
                name: (content, None if seen is None else Seen(*seen))
                for name, (content, seen) in written["shards"].items()
            }
            return cls(file, written["program"], shards)
        except OSError:
            return cls(file, program(), {})

    def write(self, names: Sequence[str], kept: Sequence[Kept]) -> None:
        """Replace it by what a run saw."""
        shards = {name: (each.content, each.seen) for name, each in zip(names, kept, strict=True)}
        text = json.dumps({"program": program(), "shards": shards}).encode()
        write(self.file, text + b"\n" + _checksum(text))

    def seen(self, name: str) -> Seen | None:
        """The file of a shard as it was seen."""
        return self.shards.get(name, (None, None))[1]

    def report(self, names: Sequence[str], kept: Sequence[Kept]) -> pl.DataFrame:
        """What a run did, beside what was there before."""
        rows: list[tuple[Any, ...]] = [
            (name, self._status(name, each), each.rows, each.seconds)
            for name, each in zip(names, kept, strict=True)
        ]
        rows += [(name, "gone", None, None) for name in self.shards.keys() - {*names}]
        return pl.DataFrame(rows, schema=REPORT, orient="row")

    def _status(self, name: str, kept: Kept) -> str:
        if kept.status != "made":
            return kept.status
        before = self.shards.get(name)
        if before is None:
            return "new"
        if before[0] != kept.content:
            return "changed"
        return "new" if self.program == program() else "outdated"


def _checksum(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).hexdigest().encode()
