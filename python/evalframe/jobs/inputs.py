"""Open the records of a job lazily, and give their columns the names of roles.

Records are tables, wherever `core.scan` finds them, or files that a reader of the job reads.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import polars as pl

from evalframe.core.errors import (
    ContractError,
    InputError,
    MissingColumnsError,
    ParameterError,
    UnknownNameError,
    did_you_mean,
)
from evalframe.core.remote import location, path_of
from evalframe.core.scan import File, check_once, find, open_files
from evalframe.jobs.family import READERS, LeftOut
from evalframe.jobs.paths import refuse_documents, refuse_inputs
from evalframe.jobs.rows import Rows, Spread

if TYPE_CHECKING:
    from evalframe.core.contract import Validation
    from evalframe.jobs.rows import Workers
    from evalframe.jobs.settings import TableJob


Columns: TypeAlias = "Mapping[str, Sequence[str]]"
"""For each role the columns that play it; several where tables have different names for it."""


def check_columns(columns: Columns, roles: Collection[str]) -> None:
    """Raise unless all are roles of the family."""
    for role in columns:
        if role not in roles:
            raise UnknownNameError.of("column", role, roles)


def refuse_nothing(validation: Validation | Any, rejects: Path | None) -> None:
    """Raise ContractError if a quarantine would take all rows."""
    if rejects is not None and validation.is_empty:
        raise ContractError(
            f"none of {validation.rows:,} rows keeps the rules, so nothing is computed, and "
            f"neither the output nor {rejects.name} is written. Without quarantine the error says "
            "which rows break which rule."
        )


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


@dataclass(frozen=True)
class Opened:
    """Records of a job."""

    rows: Rows
    files: Sequence[File]
    notes: Sequence[str] = ()
    beside: Mapping[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> pl.LazyFrame:
        """The records, for this process."""
        return self.rows.table

    def describe(self, *, digest: bool = False) -> list[dict[str, Any]]:
        """Name, size and rows of each file, and its SHA-256 sum if asked for."""
        return [file.describe(digest=digest) for file in self.files]


def open_records(
    job: TableJob,
    folder: Path,
    targets: Sequence[Path],
    *,
    texts: Collection[str] = (),
    workers: Workers | None = None,
) -> Opened:
    """The records of a job, from tables or by its reader; workers read tables."""
    if job.reader is None:
        return open_tables(job.items, job, folder, targets, texts=texts, workers=workers)
    fields = READERS[job.reader].fields
    options = {name: getattr(job, name) for name in fields if hasattr(job, name)}
    if has_logs(job):
        options = _on_request(job, options) | {"workers": workers}
    return open_by(job.reader, job.items, job.columns, folder, targets, **options)


def has_logs(job: TableJob) -> bool:
    """True if the records of a job are items of logs, whose columns it names as those of tables."""
    return job.reader is not None and "metadata" in READERS[job.reader].fields


def _on_request(job: TableJob, options: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Columns of logs that an entry of the job names, and that are there on request or cut else."""
    from evalframe.logs.table import EXTRA, METADATA

    texts = [name for text in _texts(msgspec.to_builtins(job)) for name in re.split("[:,=]", text)]
    extra = (name for name in texts if name in (*EXTRA, "answer"))
    metadata = (name.removeprefix(METADATA) for name in texts if name.startswith(METADATA))
    found = {"extra": extra, "metadata": metadata}
    return {
        name: tuple(dict.fromkeys([*options.get(name, ()), *each])) for name, each in found.items()
    }


def _texts(entry: Any) -> Iterator[str]:
    """All texts in an entry of a job."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict | list | tuple):
        for each in entry.values() if isinstance(entry, dict) else entry:
            yield from _texts(each)


def open_tables(
    names: Sequence[str],
    job: TableJob,
    folder: Path,
    targets: Sequence[Path],
    *,
    texts: Collection[str] = (),
    workers: Workers | None = None,
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
    if workers is None:
        table, opened = open_tables_of(files, texts=texts, columns=job.columns)
        return Opened(Rows(table), opened)
    from evalframe.engine.shards import shards_in

    found = [location(path_of(name, folder)) for name in names]
    shards = shards_in(files, found, texts_of(texts, job.columns))
    columns = tuple(shards.schema)
    opened = [
        replace(file, rows=shard.count, columns=columns)
        for shard in shards.parts
        for file in shard.files
    ]
    rows = Spread.of(shards, workers)
    return Opened(rows.then(partial(with_roles, columns=job.columns)), opened)


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
    check_once(files)
    names = [item for item in items if not (folder / item).is_dir()]
    for path in targets:
        refuse_inputs(path, files, names, folder)
        refuse_documents(path, items, folder)
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in read.dropped.items())
    dropped = sum(read.dropped.values())
    without = f"{dropped:,} of {len(files):,} {reader.what} do not count: {reasons}"
    notes = [LeftOut(without)] * bool(dropped)
    if not any(rows for _, rows in read.files):
        left_out = f". {notes[0]}" if notes else ""
        raise InputError(f"no record in these {len(files):,} {reader.what}{left_out}")
    return Opened(Rows(with_roles(read.table, columns)), files, notes, read.beside)


def open_items(
    names: Sequence[str], folder: Path = Path(), *, columns: Columns | None = None
) -> tuple[pl.LazyFrame, list[File]]:
    """The records of all files as one lazy table, and the files."""
    return open_tables_of(find(names, folder), columns=columns)


def open_tables_of(
    files: Sequence[File], *, texts: Collection[str] = (), columns: Columns | None = None
) -> tuple[pl.LazyFrame, list[File]]:
    """The same of files that were found: these are read, and no others."""
    columns = columns or {}
    table, opened = open_files(files, texts_of(texts, columns))
    return with_roles(table, columns), opened
