"""Rows to where the others of their group are: split into buckets by tasks, joined by others.

A task writes one file, which holds its rows bucket by bucket; a task of the next stage reads its
bucket from all files. Bucket numbers follow from the text of the keys, so they are the same on all
workers. A task that is repeated replaces its file by one of the same rows.
"""

from __future__ import annotations

import io
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
import polars as pl

from evalframe.core.tables import matched
from evalframe.engine.protocol import Engine, EngineError
from evalframe.resample.draws import stable_hash, uniform_draws

if TYPE_CHECKING:
    from evalframe.core.segments import Ints
    from evalframe.engine.shards import Shard

_NUMBER = ":number"
_BETWEEN = "\x1f"
_OFFSET = np.dtype("<i8")
_SIZE = _OFFSET.itemsize


class Numbered(NamedTuple):
    """A shard and a number, which names the file that its task writes."""

    number: int
    shard: Shard

    def __str__(self) -> str:
        """The name of the shard."""
        return str(self.shard)


@contextmanager
def folder_of(engine: Engine) -> Iterator[Path]:
    """A new folder that all workers see, for files between tasks, removed at the end."""
    if engine.scratch is None:
        raise EngineError(
            f"rows must go from worker to worker, and no folder is known that all workers of "
            f"{engine.name} see; name one: ef.engine.on(engine, scratch=...)"
        )
    folder = Path(tempfile.mkdtemp(prefix="shuffle-", dir=engine.scratch))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def buckets_of(table: pl.DataFrame, keys: Sequence[str], buckets: int) -> Ints:
    """The bucket of each row, the same for equal keys wherever their rows lie.

    Examples:
        >>> import polars as pl
        >>> rows = pl.DataFrame({"model": ["a", "b", "a"]})
        >>> buckets_of(rows, ["model"], 8).tolist()
        [4, 2, 4]
    """
    # Different keys of one text would only share a bucket, whose groups are told apart later.
    if not keys:
        return np.zeros(len(table), dtype=np.int64)
    rows = table.select(keys)
    groups = rows.unique()
    texts = groups.select(
        pl.concat_str([_text(key, groups.schema[key]) for key in keys], separator=_BETWEEN)
    ).to_series()
    # Hashes of short texts have many bits in common, so they are mixed once more.
    numbers = (uniform_draws(0, 0, 1, stable_hash(texts))[0] * buckets).astype(np.int64)
    known = groups.with_columns(pl.Series(_NUMBER, numbers))
    return matched(rows, known, keys, "left")[_NUMBER].to_numpy()


def _text(key: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(key)
    if dtype.is_float():
        column = column + 0.0  # -0.0 is 0.0
    elif dtype == pl.Binary:
        column = column.bin.encode("hex")
    elif dtype.is_nested():
        column = pl.struct(column).struct.json_encode()
    return column.cast(pl.String).fill_null("")


def split(table: pl.DataFrame, numbers: Ints, buckets: int) -> list[pl.DataFrame]:
    """The rows of each bucket, in their order."""
    # numpy sorts short integers by radix.
    order = np.argsort(numbers.astype(np.uint16 if buckets <= 1 << 16 else np.int64), kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=buckets)).tolist()
    rows = table[order]
    return [rows[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def split_by_group(table: pl.DataFrame, keys: Sequence[str], buckets: int) -> list[pl.DataFrame]:
    """The rows of each of so many buckets; all rows of equal keys are in one, in their order.

    Examples:
        >>> import polars as pl
        >>> rows = pl.DataFrame({"model": ["a", "b", "a"], "loss": [1, 2, 3]})
        >>> [part["loss"].to_list() for part in split_by_group(rows, ["model"], 8) if len(part)]
        [[2], [1, 3]]
    """
    return split(table, buckets_of(table, keys, buckets), buckets)


@contextmanager
def appearing(path: Path) -> Iterator[BinaryIO]:
    """A file of a scratch folder, not worth a sync to the disk, which appears when complete."""
    unfinished = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_buckets(path: Path, batches: Iterable[Sequence[pl.DataFrame]]) -> Path:
    """Write batches of rows, each split into the same buckets; the file appears when complete."""
    # The content of each bucket of each batch as an Arrow stream, then their offsets, then how many
    # there are.
    offsets = [0]
    with appearing(path) as file:
        for batch in batches:
            for rows in batch:
                if len(rows):
                    content = io.BytesIO()
                    rows.write_ipc_stream(content, compression="lz4")
                    file.write(content.getbuffer())
                offsets.append(file.tell())
        file.write(np.array([*offsets, len(offsets)], dtype=_OFFSET).tobytes())
    return path


def read_bucket(paths: Iterable[Path], bucket: int, buckets: int) -> Iterator[pl.DataFrame]:
    """The rows of one of so many buckets, file by file; files without any are left out."""
    for path in paths:
        with path.open("rb") as file:
            end = file.seek(-_SIZE, os.SEEK_END)
            (count,) = _numbers(file, end, 1)
            for place in range(bucket, count - 1, buckets):
                first, last = _numbers(file, end - (count - place) * _SIZE, 2)
                if first < last:
                    file.seek(first)
                    yield pl.read_ipc_stream(io.BytesIO(file.read(last - first)))


def _numbers(file: io.BufferedReader, start: int, count: int) -> list[int]:
    file.seek(start)
    numbers: list[int] = np.frombuffer(file.read(count * _SIZE), dtype=_OFFSET).tolist()
    return numbers


def in_chunks(parts: Iterable[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """Frames in order, small ones put together until they have so many rows."""
    waiting: list[pl.DataFrame] = []
    for part in parts:
        waiting.append(part)
        if sum(map(len, waiting)) >= rows:
            yield pl.concat(waiting)
            waiting = []
    if waiting:
        yield pl.concat(waiting)
