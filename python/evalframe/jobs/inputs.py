"""Open tables of records lazily, and give their columns the names of roles.

Tables are Parquet, CSV, JSON lines or Arrow: files, globs or hive folders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl

from evalframe.core.documents import check_parquet, decoded
from evalframe.core.errors import (
    ContractError,
    InputError,
    MissingColumnsError,
    ParameterError,
    UnknownNameError,
    did_you_mean,
)
from evalframe.jobs.family import READERS
from evalframe.jobs.paths import File, find, reading, refuse_documents, refuse_inputs

if TYPE_CHECKING:
    from evalframe.jobs.settings import TableJob


Columns: TypeAlias = "Mapping[str, Sequence[str]]"
"""For each role the columns that play it; several where tables have different names for it."""


def check_columns(columns: Columns, roles: Collection[str]) -> None:
    """Raise unless all are roles of the family."""
    for role in columns:
        if role not in roles:
            raise UnknownNameError.of("column", role, roles)


def with_roles(table: pl.LazyFrame, columns: Columns) -> pl.LazyFrame:
    """Add copies of the named columns under the names of their roles."""
    present = table.collect_schema()
    copies = []
    for role, names in columns.items():
        matches = [name for name in names if name in present]
        if len(matches) > 1:
            raise ParameterError(
                f"a table has both {matches[0]!r} and {matches[1]!r} for {role}; name one of them"
            )
        copies += [pl.col(name).alias(role) for name in matches]
    return table.with_columns(copies)


def texts_of(roles: Collection[str], columns: Columns) -> list[str]:
    """Return the roles, followed by the columns named for them."""
    return [*roles, *(name for role in roles for name in columns.get(role, ()))]


def check_found(columns: Columns, what: str, *present: Collection[str]) -> None:
    """Raise if a named column is in no table."""
    if columns and not present:
        raise ParameterError(
            f"{what}: columns can be named for tables only, and files of the original have fixed "
            "names; leave them out"
        )
    everywhere = dict.fromkeys(name for table in present for name in table)
    for role, names in columns.items():
        if missing := [name for name in names if name not in everywhere]:
            raise MissingColumnsError(
                f"{what}: no column {missing[0]!r}, which is to be {role}; the table has "
                f"{[*everywhere]}.{did_you_mean(missing[0], everywhere)} Correct the name of the "
                f"column (--column {role}=NAME)"
            )


_FLAGS = 3
"""Number of flags in an error."""


@contextmanager
def naming_columns(columns: Columns, roles: Collection[str]) -> Iterator[None]:
    """Add to errors the flag that names a missing column, and the column named for a role."""
    try:
        yield
    except MissingColumnsError as error:
        advice = _advice(error.missing, roles)
        error.args = tuple(advice if part == error.ADVICE else part for part in error.args)
        raise
    except ContractError as error:
        for role, names in columns.items():
            if re.search(rf"\b{re.escape(role)}\b", str(error)):
                error.add_note(f"Column {role} is {' or '.join(map(repr, names))} in the file.")
        raise


def _advice(missing: Sequence[str], roles: Collection[str]) -> str:
    """How to name a column in place of a missing one."""
    absent = [name for name in missing if name in roles]
    if not absent:
        return " Rename the column in the file, or name another in by, key or cluster."
    flags = " ".join(f"--column {role}=NAME" for role in absent[:_FLAGS])
    more = " ..." * (len(absent) > _FLAGS)
    return (
        f' Name the column to use ({flags}{more}, or columns = {{ {absent[0]} = "NAME" }} in a job '
        "file), or rename it."
    )


_PARQUET = partial(pl.scan_parquet, glob=False, hive_partitioning=False)
_ARROW = partial(pl.scan_ipc, glob=False)


def _scan_json_lines(path: Path, texts: Collection[str] = ()) -> pl.LazyFrame:
    """JSON lines; what is not text in a column of texts becomes its JSON.

    Columns are in the order of the first line, which Polars loses; others follow by name.
    """
    # Without a schema Polars infers one anew from all rows in each query that reads the file.
    schema = pl.scan_ndjson(path, infer_schema_length=None).collect_schema()
    table = pl.scan_ndjson(path, schema={**schema, **_as_text(texts, schema)})
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
    names = pl.scan_csv(path, glob=False, n_rows=0).collect_schema()
    overrides = _as_text(texts, names)
    schema = pl.scan_csv(
        path, glob=False, infer_schema_length=None, schema_overrides=overrides
    ).collect_schema()
    table = pl.scan_csv(path, glob=False, schema=schema)
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


@dataclass(frozen=True)
class Opened:
    """Records of a job.

    Attributes:
        table: The records.
        files: The files that they are from.
        notes: Remarks on what was read, and what was not.
        beside: Further tables from the same files.
    """

    table: pl.LazyFrame
    files: Sequence[File]
    notes: Sequence[str] = ()
    beside: Mapping[str, Any] = field(default_factory=dict)

    def describe(self, *, digest: bool = False) -> list[dict[str, Any]]:
        """Name, size and rows of each file, and its SHA-256 sum if asked for."""
        return [file.describe(digest=digest) for file in self.files]


def open_records(
    job: TableJob, folder: Path, targets: Sequence[Path], *, texts: Collection[str] = ()
) -> Opened:
    """The records of a job, from tables or by its reader."""
    if job.reader is None:
        return open_tables(job.items, job, folder, targets, texts=texts)
    fields = READERS[job.reader].fields
    options = {name: getattr(job, name) for name in fields if hasattr(job, name)}
    return open_by(job.reader, job.items, job.columns, folder, targets, **options)


def open_tables(
    names: Sequence[str],
    job: TableJob,
    folder: Path,
    targets: Sequence[Path],
    *,
    texts: Collection[str] = (),
) -> Opened:
    """Tables that a job names, as one; the arguments are those of `open_records`."""
    files = find(names, folder)
    for file in files:
        if file.path.suffix.lower() == ".json":
            raise ParameterError(
                f"{file.name}: records are tables; files of other programs are read by --from KIND "
                f'PATH (reader = "KIND" in a job file), which is one of {", ".join(READERS)}'
            )
    for path in targets:
        refuse_inputs(path, files, names, folder)
    return Opened(*open_files(files, texts=texts, columns=job.columns))


def open_by(
    kind: str,
    items: Sequence[str],
    columns: Columns,
    folder: Path = Path(),
    targets: Sequence[Path] = (),
    **options: Any,
) -> Opened:
    """The records of files of another program."""
    reader = READERS[kind]
    read = reader.open.value([folder / item for item in items], **options)
    present = tuple(read.table.collect_schema())
    files = [File.at(path, rows, present) for path, rows in read.files]
    _refuse_repeats(files, reader.what)
    names = [item for item in items if not (folder / item).is_dir()]
    for path in targets:
        refuse_inputs(path, files, names, folder)
        refuse_documents(path, items, folder)
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in read.dropped.items())
    dropped = sum(read.dropped.values())
    notes = [f"{dropped:,} of {len(files):,} {reader.what} do not count: {reasons}"] * bool(dropped)
    if not any(rows for _, rows in read.files):
        left_out = f". {notes[0]}" if notes else ""
        raise InputError(f"no record in these {len(files):,} {reader.what}{left_out}")
    return Opened(with_roles(read.table, columns), files, notes, read.beside)


def _refuse_repeats(files: Sequence[File], what: str) -> None:
    """Raise InputError if a file is named twice."""
    seen: set[Path] = set()
    for file in files:
        path = file.path.resolve()
        if path in seen:
            raise InputError(f"{file.path} is named twice; name each of the {what} once")
        seen.add(path)


class _Source(NamedTuple):
    """A table file, its format and its lazy scan with the columns of its partition."""

    file: File
    format: str
    scan: pl.LazyFrame
    schema: pl.Schema

    @property
    def name(self) -> str:
        return self.file.name


def _open(file: File, texts: Collection[str] = ()) -> _Source:
    """Open a file just far enough to know its columns."""
    name, suffix = file.name, file.path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{name}: unknown format {suffix!r}; known: {', '.join(FORMATS)}")
    with reading(name):
        size = file.path.stat().st_size
        if not file.path.is_file():
            raise InputError(f"{name} is not a regular file; copy its content into one")
    if size == 0:
        raise InputError(f"{name} is empty (0 bytes); was its writer interrupted?")
    format, scan = FORMATS[suffix]
    with reading(name, f"is it {format}, and whole?"):
        table = scan(file.path, texts) if format in _UNTYPED else scan(file.path)
        table = table.with_columns(pl.lit(value, pl.String).alias(key) for key, value in file.keys)
        schema = table.collect_schema()
    if format == "Parquet" and size <= _LOOKED_THROUGH:
        check_parquet(file.path, name)
    for column in schema:
        if fault := _unusable(column):
            raise InputError(f"{name}: {fault}; rename column {column!r}")
    rows = partial(_count, table)
    return _Source(replace(file, rows=rows, columns=tuple(schema)), format, table, schema)


def _count(table: pl.LazyFrame) -> int:
    return int(table.select(pl.len()).collect().item())


def open_items(
    names: Sequence[str], folder: Path = Path(), *, columns: Columns | None = None
) -> tuple[pl.LazyFrame, list[File]]:
    """The records of all files as one lazy table, and the files."""
    return open_files(find(names, folder), columns=columns)


def open_files(
    files: Sequence[File], *, texts: Collection[str] = (), columns: Columns | None = None
) -> tuple[pl.LazyFrame, list[File]]:
    """The same of files that were found: these are read, and no others."""
    columns = columns or {}
    texts = texts_of(texts, columns)
    sources = [_open(file, texts) for file in files]
    _check_same_columns(sources)
    names = sources[0].schema.names()
    tables = [table.select(names) for table in _tables(sources)]
    table = with_roles(pl.concat(tables, how="vertical_relaxed"), columns)
    return table, [source.file for source in sources]


def _tables(sources: Sequence[_Source]) -> Iterator[pl.LazyFrame]:
    """One scan of all Parquet files that follow each other and are alike; thousands are no burden.

    Polars would find partitions by itself, but also those above the folder given.
    """
    for (format, _), alike in groupby(sources, key=lambda each: (each.format, each.schema)):
        group = list(alike)
        if format != "Parquet":
            yield from (source.scan for source in group)
            continue
        partitions = {str(source.file.path): dict(source.file.keys) for source in group}
        paths = [str(source.file.path) for source in group]
        table = _PARQUET(paths, include_file_paths=_PATH)
        for key in partitions[paths[0]]:
            values = {path: keys[key] for path, keys in partitions.items()}
            value = pl.col(_PATH).replace_strict(values, return_dtype=pl.String)
            table = table.with_columns(value.alias(key))
        yield table.drop(_PATH)


def _unusable(column: str) -> str | None:
    if column == "*" or (column.startswith("^") and column.endswith("$")):
        return "Polars takes this name of a column for a pattern"
    return "this name is reserved" if column.startswith("__evalframe_") else None


def _check_same_columns(sources: Sequence[_Source]) -> None:
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
    here: pl.DataType | None, there: pl.DataType | None, first: _Source, other: _Source
) -> bool:
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
