"""Tables that lie in files: found by name, opened lazily, and read as one.

A name is a file, a glob, a folder (of Parquet files, with `key=value` folders as columns of text),
a Delta table, or a URL of an object store.
"""

from __future__ import annotations

import glob
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import groupby
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from urllib.parse import unquote

import polars as pl

from evalframe.core.checksums import check_sealed
from evalframe.core.documents import check_parquet, decoded
from evalframe.core.errors import InputError, needing
from evalframe.core.remote import RemotePath, is_remote, location, path_of

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_VERSION = re.compile(r"@v(\d+)$")


@dataclass(frozen=True)
class File:
    """A file to be read as a table.

    Attributes:
        name: Its name as given, or below the folder given, for messages and the provenance.
        keys: Columns of text that folders named `key=value` below the folder given stand for.
        rows: Number of its records, or how to count them.
        columns: Its columns; None if its format has fixed ones.
        version: That of a Delta table, so that all queries read the same; None for other formats.
    """

    name: str
    path: Path
    keys: tuple[tuple[str, str | None], ...] = ()
    rows: int | Callable[[], int] = 0
    columns: tuple[str, ...] | None = None
    version: int | None = None

    @classmethod
    def at(cls, path: str | Path, rows: int, columns: tuple[str, ...]) -> File:
        """A file that is called by its name only."""
        return cls(Path(path).name, Path(path), (), rows, columns)

    def describe(self, *, digest: bool = False) -> dict[str, Any]:
        """Name, size and rows of the file, and its SHA-256 sum if asked for."""
        with reading(self.name):
            rows = self.rows if isinstance(self.rows, int) else self.rows()
            if self.version is not None:
                return {"name": self.name, "version": self.version, "rows": rows}
            described = {"name": self.name, "bytes": self.path.stat().st_size, "rows": rows}
            if digest:
                with self.path.open("rb") as content:
                    described["sha256"] = hashlib.file_digest(content, "sha256").hexdigest()
        return described


def scan(source: str | Path) -> pl.LazyFrame:
    """The tables of a file, glob, folder, Delta table or URL as one."""
    return open_files(find([str(source)]))[0]


def find(names: Sequence[str], folder: Path = Path()) -> list[File]:
    """The files of these names, without looking into them."""
    files: list[File] = []
    for name in names:
        with reading(name):
            files += _find(name, folder)
    return files


def _find(name: str, folder: Path) -> list[File]:
    path = path_of(name, folder)
    if (table := _delta(name, folder)) is not None:
        return [table]
    if not path.is_dir():
        return [File(each, path_of(each, folder)) for each in by_name(name, folder)]
    inside = _files_below(path)
    shards = [each for each in inside if each.suffix.lower() == ".parquet"]
    if not shards:
        raise InputError(f"folder {name!r} holds no .parquet file; name other formats by a glob")
    return [File(location(PurePath(name, each)), path / each, _keys(each)) for each in shards]


def matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """True if a glob matches a path, both in parts; `**` is any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        rest = pattern[1:] or ("*",)
        return any(matches(parts[k:], rest) for k in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and matches(parts[1:], pattern[1:])


@contextmanager
def reading(name: str, hint: str = "") -> Iterator[None]:
    """Turn what is said about unreadable bytes into an `InputError` that names the file."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        text = (error.strerror if isinstance(error, OSError) else None) or str(error)
        reason = text.partition("\n")[0]
        raise InputError(f"{name} cannot be read ({reason})" + (hint and f"; {hint}")) from error


_PARQUET = partial(pl.scan_parquet, glob=False, hive_partitioning=False)
_ARROW = partial(pl.scan_ipc, glob=False)


def _scan_json_lines(path: Path, texts: Collection[str] = ()) -> pl.LazyFrame:
    """JSON lines; what is not text in a column of texts becomes its JSON.

    Columns are in the order of the first line, which Polars loses; others follow by name.
    """
    # Without a schema Polars infers one anew from all rows in each query that reads the file.
    where = location(path)
    schema = pl.scan_ndjson(where, infer_schema_length=None).collect_schema()
    table = pl.scan_ndjson(where, schema={**schema, **_as_text(texts, schema)})
    with path.open("rb") as lines:
        first = next((line for line in lines if line.strip()), b"{}")
    order = [name for name in decoded(first, path.name) if name in schema]
    return table.select(*order, *sorted(set(schema) - {*order}))


def _as_text(texts: Collection[str], schema: Collection[str]) -> dict[str, pl.DataType]:
    return {name: pl.String() for name in texts if name in schema}


def _scan_csv(path: Path, texts: Collection[str] = ()) -> pl.LazyFrame:
    """A CSV file, read once for its types and once for its columns without a value.

    These become Null, not String, to join other shards; and a line with too many fields is an
    error, which Polars overlooks if it reads some columns only.
    """
    where = location(path)
    names = pl.scan_csv(where, glob=False, n_rows=0).collect_schema()
    overrides = _as_text(texts, names)
    schema = pl.scan_csv(
        where, glob=False, infer_schema_length=None, schema_overrides=overrides
    ).collect_schema()
    table = pl.scan_csv(where, glob=False, schema=schema)
    empty = table.select(pl.all().is_null().all()).collect()
    return table.cast({column.name: pl.Null for column in empty if column.all()})


FORMATS: Mapping[str, tuple[str, Callable[..., pl.LazyFrame]]] = {
    ".parquet": ("Parquet", _PARQUET),
    ".csv": ("CSV", _scan_csv),
    ".jsonl": ("JSON lines", _scan_json_lines),
    ".ndjson": ("JSON lines", _scan_json_lines),
    ".arrow": ("Arrow IPC", _ARROW),
    ".ipc": ("Arrow IPC", _ARROW),
    ".feather": ("Arrow IPC", _ARROW),
}
_PATH = "__evalframe_path__"
_LOOKED_THROUGH = 1 << 22
"""Bytes of a Parquet file that is looked through before Polars reads it; more would take long."""
_UNTYPED = ("CSV", "JSON lines")
"""Formats without a schema of their own: it is inferred from all rows, so numbers may widen."""


class Part(NamedTuple):
    """A table file, its format and its lazy scan with the columns of its partition."""

    file: File
    format: str
    scan: pl.LazyFrame
    schema: pl.Schema

    @property
    def name(self) -> str:
        """The name of the file, for messages."""
        return self.file.name


def open_each(files: Sequence[File], texts: Collection[str] = ()) -> list[Part]:
    """Open files just far enough to know their columns, which must be alike."""
    parts = [_open(file, texts) for file in files]
    check_alike(parts)
    return parts


def _open(file: File, texts: Collection[str]) -> Part:
    if file.version is not None:
        with reading(file.name):
            table = pl.scan_delta(location(file.path), version=file.version)
            return _part(file, "Delta", table)
    name, path, suffix = file.name, file.path, file.path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{name}: unknown format {suffix!r}; known: {', '.join(FORMATS)}")
    with reading(name):
        size = path.stat().st_size
        is_file = path.is_file()
    if not is_file:
        raise InputError(f"{name} is not a regular file; copy its content into one")
    if size == 0:
        raise InputError(f"{name} is empty (0 bytes); was its writer interrupted?")
    format, scan = FORMATS[suffix]
    with reading(name, f"is it {format}, and whole?"):
        if format == "Parquet" and not is_remote(path):
            check_sealed(path, name)
        table = scan(path, texts) if format in _UNTYPED else scan(location(path))
        table = table.with_columns(pl.lit(value, pl.String).alias(key) for key, value in file.keys)
        return _part(file, format, table)


def check_pages(file: File) -> None:
    """Look through a small Parquet file, whose damage could end the process that reads it."""
    path = file.path
    if file.version is None and path.suffix.lower() == ".parquet" and not is_remote(path):
        with reading(file.name):
            size = path.stat().st_size
        if size <= _LOOKED_THROUGH:
            check_parquet(path, file.name)


def _part(file: File, format: str, table: pl.LazyFrame) -> Part:
    schema = table.collect_schema()
    for column in schema:
        if fault := _unusable(column):
            raise InputError(f"{file.name}: {fault}; rename column {column!r}")
    known = replace(file, rows=partial(_count, table), columns=tuple(schema))
    return Part(known, format, table, schema)


def open_files(
    files: Sequence[File], texts: Collection[str] = ()
) -> tuple[pl.LazyFrame, list[File]]:
    """The tables of files as one, and the files with their rows and columns.

    Of formats without types, `texts` are columns to be read as text.
    """
    check_once(files)
    sources = open_each(files, texts)
    for source in sources:
        check_pages(source.file)
    names = sources[0].schema.names()
    tables = [table.select(names) for table in tables_of(sources)]
    return pl.concat(tables, how="vertical_relaxed"), [source.file for source in sources]


def tables_of(sources: Sequence[Part]) -> Iterator[pl.LazyFrame]:
    """One scan of all Parquet files that follow each other and are alike; thousands are no burden.

    Polars would find partitions by itself, but also those above the folder given.
    """
    for (format, _), alike in groupby(sources, key=lambda each: (each.format, each.schema)):
        group = list(alike)
        if format != "Parquet":
            yield from (source.scan for source in group)
            continue
        partitions = {location(source.file.path): dict(source.file.keys) for source in group}
        paths = [*partitions]
        table = _PARQUET(paths, include_file_paths=_PATH)
        for key in partitions[paths[0]]:
            values = {path: keys[key] for path, keys in partitions.items()}
            value = pl.col(_PATH).replace_strict(values, return_dtype=pl.String)
            table = table.with_columns(value.alias(key))
        yield table.drop(_PATH)


def check_once(files: Iterable[File]) -> None:
    """Raise InputError if two names, perhaps links, are of one file, which would count twice."""
    seen: dict[object, File] = {}
    for file in files:
        key: object = (location(file.path), file.version)
        if file.version is None and not is_remote(file.path):
            with reading(file.name):
                status = file.path.stat()
            key = (status.st_dev, status.st_ino)
        if (first := seen.get(key)) is not None:
            told = "is named twice" if first.name == file.name else f"and {first.name} are one file"
            raise InputError(f"{file.name} {told}, so its rows would count twice; name it once")
        seen[key] = file


def check_alike(sources: Sequence[Part]) -> None:
    """Raise InputError if a column is missing in one part, or of another type."""
    for other in sources[1:]:
        first = sources[0]
        for column in [*first.schema, *(set(other.schema) - set(first.schema))]:
            here, there = first.schema.get(column), other.schema.get(column)
            if here != there and not _widens(here, there, first, other):
                raise InputError(
                    f"the columns of the inputs differ: {column!r} is {_shown(here)} in "
                    f"{first.name} and {_shown(there)} in {other.name}; write them alike"
                )


def _widens(here: pl.DataType | None, there: pl.DataType | None, first: Part, other: Part) -> bool:
    """True if two numeric dtypes differ only because they were inferred from different rows."""
    inferred = first.format in _UNTYPED or other.format in _UNTYPED
    return (
        inferred
        and here is not None
        and there is not None
        and all(dtype.is_numeric() or dtype == pl.Null for dtype in (here, there))
    )


def _shown(dtype: pl.DataType | None) -> str:
    return "missing" if dtype is None else str(dtype)


def _files_below(folder: Path) -> Iterable[PurePath]:
    if is_remote(folder):
        return RemotePath(folder).files_below()
    return _below(folder, Path(), frozenset())


def _below(folder: Path, inner: Path, above: frozenset[Path]) -> Iterator[Path]:
    """Files below a folder, relative to it, without hidden ones."""
    here = folder.resolve()
    if here in above:  # a link that leads back up
        return
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            inside = list(_below(entry, inner / entry.name, above | {here}))
            if entry.suffix == ".parquet" and not any(f.suffix == ".parquet" for f in inside):
                raise InputError(
                    f"{entry} is a folder without a .parquet file; was its writer interrupted? "
                    "Remove it, or write it anew"
                )
            yield from inside
        else:
            yield inner / entry.name


def _keys(shard: PurePath) -> tuple[tuple[str, str | None], ...]:
    """Columns of the folders named `key=value` on the way to a file."""
    named = (part.partition("=") for part in shard.parent.parts)
    keys = {unquote(key): unquote(value) for key, is_key, value in named if is_key and key}
    return tuple((key, None if value == _NO_VALUE else value) for key, value in keys.items())


def by_name(name: str, folder: Path = Path()) -> list[str]:
    """The name of a file, or the names of all files that match it."""
    if (path := path_of(name, folder)).is_file() or (path.exists() and not is_remote(name)):
        return [name]
    if not glob.has_magic(name):
        raise InputError(f"no file or folder {name!r}")
    if is_remote(name):
        parts = path.parts
        fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
        root = RemotePath(*parts[:fixed])
        inside = root.files_below()
        files = [location(root / each) for each in inside if matches(each.parts, parts[fixed:])]
    else:
        found = sorted(glob.glob(name, root_dir=folder, recursive=True))  # noqa: PTH207 (absolute too)
        # A link to nothing is a file that is missing, which is said where it is opened.
        files = [file for file in found if not (folder / file).is_dir()]
        above = {str(parent) for file in files for parent in PurePath(file).parents}
        for each in found:
            if each.endswith(".parquet") and each not in above and (folder / each).is_dir():
                raise InputError(f"{each!r}, which {name!r} matches, is a folder; name '{each}/*'")
    if not files:
        raise InputError(f"no file matches {name!r}")
    return files


def _delta(name: str, folder: Path) -> File | None:
    """The Delta table of this name, at its last version or at that of `NAME@v3`; None if none."""
    asked = _VERSION.search(name)
    table = name[: asked.start()] if asked else name
    path = path_of(table, folder)
    if glob.has_magic(table) or not (path / "_delta_log").is_dir():
        return None
    with needing("delta", "a Delta table"):
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    version = int(asked[1]) if asked else None
    try:
        version = DeltaTable(location(path), version=version).version()
    except DeltaError as error:
        raise InputError(f"{name} cannot be read as a Delta table ({error})") from error
    return File(name, path, version=version)


def _count(table: pl.LazyFrame) -> int:
    return int(table.select(pl.len()).collect().item())


def _unusable(column: str) -> str | None:
    if column == "*" or (column.startswith("^") and column.endswith("$")):
        return "Polars takes this name of a column for a pattern"
    return "this name is reserved" if column.startswith("__evalframe_") else None
