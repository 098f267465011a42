"""Draws and file descriptions that the samples of all families share."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalframe.core.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.segments import Floats


def content_hash(frame: pl.DataFrame) -> str:
    """The SHA-256 of a table's content, independent of file format, compression and library.

    It is the hash of the JSON text `[[name, dtype, [value, ...]], ...]`, a list per column, as
    Python writes it without spaces. The order of rows and columns counts.

    >>> import polars as pl
    >>> content_hash(pl.DataFrame({"a": [1, None]}))[:16]
    '2315b96b7edace9a'
    """
    columns = [[column.name, str(column.dtype), column.to_list()] for column in frame]
    return hashlib.sha256(json.dumps(columns, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class SampleFile:
    """A file of a sample: name, meaning of a row, the call that creates it, seed and content."""

    name: str
    row: str
    generator: str
    seed: int
    content: pl.DataFrame | bytes

    def encoded(self) -> bytes:
        """The bytes of the file; tables as Parquet."""
        if isinstance(self.content, bytes):
            return self.content
        buffer = io.BytesIO()
        self.content.write_parquet(buffer)
        return buffer.getvalue()

    def entry(self) -> dict[str, Any]:
        """The entry of a manifest."""
        if isinstance(self.content, bytes):
            shape, content_sha256 = {}, hashlib.sha256(self.content).hexdigest()
        else:
            schema = {column: str(dtype) for column, dtype in self.content.schema.items()}
            shape = {"rows": self.content.height, "schema": schema}
            content_sha256 = content_hash(self.content)
        return {
            "file": self.name,
            "row": self.row,
            **shape,
            "seed": self.seed,
            "generator": self.generator,
            "content_sha256": content_sha256,
        }


def check_size(size: int, seed: int, *, of: str) -> None:
    """Raise ParameterError for an empty sample or a seed that numpy rejects."""
    if size < 1:
        raise ParameterError(f"{of} is {size}; a sample needs at least one.")
    if not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed is {seed!r}; choose an integer from 0.")


def unit_draws(units: int, seed: int | list[int], shape: tuple[int, ...]) -> Floats:
    """Draws of mean 0 and variance 1, shaped quantity, unit and the rest of the shape.

    Each is `2 (U1 + U2 + U3) - 3`, which IEEE arithmetic defines to the last bit. A unit's draws
    are adjacent in the stream, so that later units do not change them.
    """
    import numpy as np

    first, second, third = np.moveaxis(
        np.random.Generator(np.random.PCG64(seed)).random((units, *shape, 3)), -1, 0
    )
    return np.moveaxis(2 * (first + second + third) - 3, 1, 0)
