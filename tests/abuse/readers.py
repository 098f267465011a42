"""Readers of files: a small sound document, how it is read, and what it says in truth.

The truth is told by the standard library alone: rows as the document has them. Where it fails, the
document is none of its kind, and the reader must refuse it. A reader may refuse more than that.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abuse.mutations import TEXT, VALUES

if TYPE_CHECKING:
    from abuse.mutations import Document


@dataclass(frozen=True)
class Reader:
    """A reader of one kind of file.

    Attributes:
        name: Of the file; the settings of some are in it.
        document: A sound file.
        read: Its rows, as the package reads them.
        truth: The same from its bytes, by the standard library.
        mutations: What is done to it.
        share: Of the damaged files of the reader, which may read several kinds.
        is_needed: Whether nothing can be read without it.
    """

    name: str
    document: Callable[[], bytes]
    read: Callable[[Path], Any]
    truth: Callable[[bytes], Any]
    mutations: tuple[Document, ...] = (*TEXT, *VALUES, *VALUES, *VALUES)
    share: float = 1.0
    is_needed: bool = True


def as_parquet(table):
    """The file that a table is written as."""
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()
