"""What a reader of another program's files gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Read:
    """Records that were read from files.

    Attributes:
        table: The records.
        files: Path of each file, and how many of the records are from it.
        dropped: Reasons why files were left out, and the number of files for each.
        beside: Further tables from the same files, by name.
    """

    table: pl.LazyFrame
    files: Sequence[tuple[str, int]]
    dropped: Mapping[str, int] = field(default_factory=dict)
    beside: Mapping[str, Any] = field(default_factory=dict)


class Reader(Protocol):
    """Reads files of one format, with the options that it has a name for."""

    def __call__(self, paths: Sequence[Path], **options: Any) -> Read:
        """Read files, globs and folders."""
