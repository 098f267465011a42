"""Open tables of records lazily: Parquet, CSV, JSON lines, Arrow; files, globs, hive folders."""

from __future__ import annotations

import glob
import hashlib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_PARQUET = partial(pl.scan_parquet, glob=False)
_JSON_LINES = partial(pl.scan_ndjson, infer_schema_length=None)
_ARROW = partial(pl.scan_ipc, glob=False)


def _scan_csv(path: Path) -> pl.LazyFrame:
    """A CSV file, read through once.

    A column without a value becomes Null, not String, so that it joins other shards; and a line
    with too many fields is found, which Polars passes over where it reads some columns only.
    """
    table = pl.scan_csv(path, glob=False, infer_schema_length=None)
    empty = table.select(pl.all().is_null().all()).collect()
    return table.with_columns(pl.col(c.name).cast(pl.Null) for c in empty if c.all())


FORMATS: Mapping[str, tuple[str, Callable[[Path], pl.LazyFrame]]] = {
    ".parquet": ("Parquet", _PARQUET),
    ".csv": ("CSV", _scan_csv),
    ".jsonl": ("JSON lines", _JSON_LINES),
    ".ndjson": ("JSON lines", _JSON_LINES),
    ".arrow": ("Arrow IPC", _ARROW),
    ".ipc": ("Arrow IPC", _ARROW),
    ".feather": ("Arrow IPC", _ARROW),
}
_UNTYPED = ("CSV", "JSON lines")
"""Formats without a schema of their own: it is inferred from all rows, so numbers may widen."""


@dataclass(frozen=True)
class Source:
    """One file: its name as given (or below the folder given), where it is, what is in it."""

    name: str
    path: Path
    format: str
    scan: pl.LazyFrame
    schema: pl.Schema

    @classmethod
    def open(cls, name: str, path: Path) -> Source:
        """A file that exists, looked into just far enough to know its columns."""
        suffix = path.suffix.lower()
        if suffix not in FORMATS:
            raise InputError(f"{name}: unknown format {suffix!r}; known: {', '.join(FORMATS)}")
        if path.stat().st_size == 0:
            raise InputError(f"{name} is empty (0 bytes); was its writer interrupted?")
        format, scan = FORMATS[suffix]
        with reading(name, f"is it {format}, and whole?"):
            table = scan(path)
            return cls(name, path, format, table, table.collect_schema())

    def is_file(self, path: Path) -> bool:
        """Whether this is the file at `path`, whatever either is called."""
        return path.exists() and path.samefile(self.path)

    def describe(self, *, digest: bool = False) -> dict[str, Any]:
        """Name, size and rows, and the SHA-256 sum if asked for."""
        with reading(self.name):
            rows = self.scan.select(pl.len()).collect().item()
        found = {"name": self.name, "bytes": self.path.stat().st_size, "rows": rows}
        if digest:
            with self.path.open("rb") as file:
                found["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
        return found


def open_items(given: Sequence[str], folder: Path = Path()) -> tuple[pl.LazyFrame, list[Source]]:
    """The records of all files as one lazy table, and the files.

    Args:
        given: Files, globs (`shards/*.parquet`; `**` descends) or folders of Parquet files; folders
            named `key=value` on the way down become columns.
        folder: What relative names are relative to.

    Returns:
        The table, with the columns in the order of the first file, and one `Source` per file in
        the order given (those of a glob or folder by name).

    Raises:
        InputError: A file is missing, empty, damaged or of an unknown format, a glob matches
            nothing, or the columns of two files differ.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pl.DataFrame({"a": [1, 2]}).write_csv(f"{folder}/one.csv")
        ...     table, sources = open_items(["*.csv"], Path(folder))
        ...     [source.name for source in sources], table.collect()["a"].to_list()
        (['one.csv'], [1, 2])
    """
    tables: list[pl.LazyFrame] = []
    sources: list[Source] = []
    for name in given:
        if (folder / name).is_dir():
            files = _files_below(name, folder)
            with reading(name):
                tables.append(pl.scan_parquet(folder / name, hive_partitioning=True))
        else:
            files = [Source.open(file, folder / file) for file in _files(name, folder)]
            tables += [file.scan for file in files]
        sources += files
    _check_same_columns(sources)
    columns = tables[0].collect_schema().names()
    return pl.concat([table.select(columns) for table in tables], how="vertical_relaxed"), sources


@contextmanager
def reading(name: str, hint: str = "") -> Iterator[None]:
    """Turn what is said about unreadable bytes into an `InputError` that names the file."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{name} cannot be read ({reason})" + (hint and f"; {hint}")) from error


def _files(name: str, folder: Path) -> list[str]:
    if (folder / name).exists():
        return [name]
    if not glob.has_magic(name):
        raise InputError(f"no file or folder {name!r}")
    found = sorted(glob.glob(name, root_dir=folder, recursive=True))  # noqa: PTH207 (absolute too)
    files = [file for file in found if (folder / file).is_file()]
    if not files:
        raise InputError(f"no file matches {name!r}")
    return files


def _files_below(name: str, folder: Path) -> list[Source]:
    found = sorted((folder / name).rglob("*.parquet"))
    if not found:
        raise InputError(f"folder {name!r} holds no .parquet file; name other formats by a glob")
    return [Source.open(str(Path(name) / file.relative_to(folder / name)), file) for file in found]


def _check_same_columns(sources: Sequence[Source]) -> None:
    first = sources[0]
    for other in sources[1:]:
        for column in [*first.schema, *(set(other.schema) - set(first.schema))]:
            here, there = first.schema.get(column), other.schema.get(column)
            if here != there and not _widens(here, there, first, other):
                raise InputError(
                    f"the columns of the inputs differ: {column!r} is {_shown(here)} in "
                    f"{first.name} and {_shown(there)} in {other.name}; write them alike"
                )


def _widens(
    here: pl.DataType | None, there: pl.DataType | None, first: Source, other: Source
) -> bool:
    """Whether two dtypes are one number, seen by inference from different rows."""
    inferred = first.format in _UNTYPED or other.format in _UNTYPED
    return (
        inferred
        and here is not None
        and there is not None
        and all(dtype.is_numeric() or dtype == pl.Null for dtype in (here, there))
    )


def _shown(dtype: pl.DataType | None) -> str:
    return "missing" if dtype is None else str(dtype)
