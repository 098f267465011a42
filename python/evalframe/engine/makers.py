"""What a store keeps of shards: a maker says what it is, makes it of one, and adds it up."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import polars as pl

from evalframe.core.scan import reading
from evalframe.core.state import N_MISSING, N
from evalframe.core.state_checks import BLOCK
from evalframe.core.state_files import packed, unpacked
from evalframe.core.state_tables import merged, state_table
from evalframe.core.states import States
from evalframe.engine.definitions import definition, digest

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.core.tables import Keys
    from evalframe.engine.shards import Shard

_LENGTH = 8
"""Bytes that say how long what follows is."""


class Maker(Protocol):
    """What is made of a shard, and how it adds up. It travels to workers.

    Attributes:
        definition: The digest of all that decides what is made beside the rows: see `definitions`.
    """

    @property
    def definition(self) -> str:
        """See above. Workers compute it again, to find out if they would make something else."""

    def made(self, shard: Shard) -> tuple[int, bytes]:
        """The number of rows of the shard, and what is made of it."""

    def added(self, parts: Iterable[bytes]) -> bytes:
        """The sum of what was made of several shards."""


@dataclass(frozen=True)
class OfStates:
    """Makes states of metrics."""

    metrics: Sequence[AnyBound]
    keys: Keys
    cluster: pl.Expr | None

    @property
    def definition(self) -> str:
        """See `Maker`."""
        return definition(self.metrics, self.keys, self.cluster)

    def made(self, shard: Shard) -> tuple[int, bytes]:
        """See `Maker`. Each row is in each block, used or missing, so the first one counts all."""
        states = States.of(shard.scan(), self.metrics, self.keys, self.cluster)
        state = state_table(states).collect()
        counts = pl.col(f":{N}") + pl.col(f":{N_MISSING}")
        rows = state.filter(pl.col(BLOCK).to_physical() == 0).select(counts.sum()).item()
        return int(rows), packed(state)

    def added(self, parts: Iterable[bytes]) -> bytes:
        """See `Maker`."""
        first, *others = parts
        return packed(merged(unpacked(part) for part in (first, *others))) if others else first


@dataclass(frozen=True)
class OfRows:
    """Makes the rows of shards themselves, which are kept apart when they are added.

    Attributes:
        what: Their name.
    """

    what: str

    @property
    def definition(self) -> str:
        """See `Maker`. Plans say what the rows are."""
        return digest(["rows", self.what])

    def made(self, shard: Shard) -> tuple[int, bytes]:
        """See `Maker`."""
        file = io.BytesIO()
        with reading(shard.name, "is it whole?"):
            rows = shard.scan().collect()
        rows.write_ipc(file)
        written = file.getvalue()
        return len(rows), len(written).to_bytes(_LENGTH) + written

    def added(self, parts: Iterable[bytes]) -> bytes:
        """See `Maker`."""
        return b"".join(parts)


def frames_of(parts: bytes) -> list[pl.DataFrame]:
    """The frames of several shards, each behind its length."""
    frames, start = [], 0
    while start < len(parts):
        first = start + _LENGTH
        start = first + int.from_bytes(parts[start:first])
        frames.append(pl.read_ipc(parts[first:start]))
    return frames
