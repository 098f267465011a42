"""Files of other programs, read with errors that name the fault and its location."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from evalframe.core.errors import InputError


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


_LONGEST, _FEW = 300, 1 << 16
_LITERALS = ("true", "false", "null", "NaN", "-Infinity", "Infinity")


def read_regular(path: Path) -> bytes:
    """The bytes of a file; OSError for a device or a pipe, which may never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "it is not a regular file; copy its content into one")
    return path.read_bytes()


@contextmanager
def damage_told(name: str, kind: str) -> Iterator[None]:
    """Turn errors and panics of Polars over a damaged file into an InputError.

    The block must read all that it needs, since a file can be damaged anywhere.

    >>> with damage_told("items.parquet", "Parquet"):
    ...     raise pl.exceptions.ComputeError("no footer")
    Traceback (most recent call last):
    evalframe.core.errors.InputError: cannot read items.parquet as Parquet: no footer
    """
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        why = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise InputError(f"cannot read {name} as {kind}: {why[:_LONGEST]}") from error


def check_parquet(source: Path | bytes, name: str, columns: Collection[str] | None = None) -> None:
    """Read the pages of some or all columns of a Parquet file, in bounded memory.

    Some damaged pages make Polars request so much memory that the process ends.
    """
    import pyarrow as pa
    from pyarrow import parquet

    stored = pa.BufferReader(source) if isinstance(source, bytes) else source
    try:
        with parquet.ParquetFile(stored) as file:
            names = file.schema_arrow.names
            selected = [name for name in names if columns is None or name in columns]
            many = file.metadata.num_rows > _FEW  # of fewer, threads take longer than the pages
            for _ in file.iter_batches(columns=selected, use_threads=many):
                pass
    except (pa.ArrowException, OSError, ValueError) as error:
        why = str(error).partition("\n")[0]
        raise InputError(f"cannot read {name} as Parquet: {why[:_LONGEST]}") from error


def decoded(data: bytes, name: str) -> Any:
    """JSON as the standard library reads it, with NaN and infinity; InputError if it is invalid.

    >>> decoded(b'{"mode": "few', "run.json")
    Traceback (most recent call last):
    evalframe.core.errors.InputError: run.json: Unterminated string starting at at line 1, column 10
    (byte 9 of 13): the file ends too early; was its writer interrupted?
    """
    if not data.strip():
        raise InputError(f"{name} is empty ({len(data)} bytes); was its writer interrupted?")
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}: {_described(error, len(data))}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: byte {error.start:,} is not UTF-8 text; is it JSON?") from None
    except ValueError:
        most = sys.get_int_max_str_digits()
        raise InputError(
            f"{name}: an integer has more than {most:,} digits, too many to be read; correct it"
        ) from None
    except RecursionError:
        raise InputError(f"{name}: nested too deeply to be read; is it the right file?") from None


def is_whole(text: str) -> bool:
    """True for a text without single surrogates, which no file can contain.

    >>> is_whole("Höhle"), is_whole("a" + chr(0xD800))
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _described(error: json.JSONDecodeError, size: int) -> str:
    text, place = error.doc, error.pos
    rest = text[place:].strip()
    ended = error.msg.startswith("Unterminated") or any(
        literal.startswith(rest) for literal in _LITERALS
    )
    byte = len(text[:place].encode("utf-8", "surrogatepass"))
    why = "the file ends too early; was its writer interrupted?" if ended else "is it JSON?"
    return (
        f"{error.msg} at line {error.lineno}, column {error.colno} "
        f"(byte {byte:,} of {size:,}): {why}"
    )
