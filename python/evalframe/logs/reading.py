"""Logs found by path, recognised by content, and scanned lazily as one items table.

A format is a `Format`: how its logs are recognised and how one log is read. All else is here, once:
files and folders, broken logs, the columns that a query asks for, predicates, metadata, warnings.
"""

from __future__ import annotations

import gc
import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import polars as pl
from polars.io.plugins import register_io_source

from evalframe.core.errors import InputError, RunWarning, UnknownNameError, warn
from evalframe.core.files import matching
from evalframe.core.progress import counted
from evalframe.core.remote import RemotePath, is_remote, location, path_of
from evalframe.core.scan import by_name
from evalframe.core.shown import shown
from evalframe.logs.formats import FORMATS
from evalframe.logs.table import (
    CONSTANT,
    METADATA,
    Wanted,
    completed,
    kinds_of,
    schema_of,
    typed,
    wanted,
)

if TYPE_CHECKING:
    from evalframe.logs.checking import Check

Paths: TypeAlias = str | Path | Sequence[str | Path]

_HEAD = 1 << 16


class Log(NamedTuple):
    """A log that is read.

    Attributes:
        name: The path as given, or below the folder given; the column `log`.
        path: The file or folder.
        format: Name of its format.
        is_named: It was given by its own path, so that a fault is an error.
    """

    name: str
    path: Path
    format: str
    is_named: bool


@dataclass
class Tally:
    """What was left out or guessed of logs: of each its counts, and why some were skipped."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def of(self, log: Log) -> Counter[str]:
        """The counts of a log, to be filled by its reader; names are those of `report.COUNTS`."""
        return self.counts.setdefault(log.name, Counter())

    def warn(self) -> None:
        """Warn once of everything that changes numbers."""
        told = []
        if self.skipped:
            reasons = "; ".join([*self.skipped.values()][:3])
            are = "log is" if len(self.skipped) == 1 else "logs are"
            told.append(f"{len(self.skipped)} {are} skipped: {reasons}")
        garbage = {name: n["not_numbers"] for name, n in self.counts.items() if n["not_numbers"]}
        if garbage:
            logs = f"{len(garbage)} log{'s' * (len(garbage) > 1)}"
            told.append(
                f"{sum(garbage.values()):,} scores of {logs} are "
                f"no numbers and count 0.0, as in Inspect (first {next(iter(garbage))})"
            )
        if told:
            message = ". ".join(told)
            warn(f"{message}. ef.log_report(...) lists all", RunWarning)


@dataclass(frozen=True)
class Format:
    """A format of logs.

    Attributes:
        recognise: True for the path of a log, of its first bytes (none of a folder).
        constants: Columns of a log that are the same in all rows, of those that are cheap to read.
        read: Frames of a log with those of the wanted columns that it has, metadata as JSON text;
            others may be among them, in any order. It counts what it leaves out, and raises
            InputError.
        check: Published aggregates of a log, recomputed.
        ending: Of names that only such logs have, so that a file of it that is not recognised is
            a broken one.
    """

    recognise: Callable[[Path, bytes], bool]
    constants: Callable[[Log], dict[str, str | None]]
    read: Callable[[Log, Wanted, Counter[str]], Iterable[pl.DataFrame]]
    check: Callable[[Log], Iterable[Check]] = lambda _: ()
    ending: str | None = None


def read_logs(
    paths: Paths,
    *,
    kind: str | None = None,
    extra: Sequence[str] = (),
    metadata: Sequence[str] = (),
    strict: bool = False,
) -> pl.LazyFrame:
    """Read logs of evaluations lazily as one items table, recognising their formats by content.

    A row is a sample, an epoch and a pair of scorer and score name; each sample-epoch of a log has
    a row for every pair of the log. The names and meanings of the columns are those of
    `evalframe explain logs`.

    Args:
        paths: Files, folders (read with all folders below), globs, or a list of these.
        kind: Read logs of this format only: every_eval_ever, helm, inspect or lm_eval.
        extra: Columns that cost more to read: explanation, confidence, logprob, logprob_tokens,
            invalidated; and others that are to be read from full records, not from summaries.
        metadata: Names of metadata of the samples; each becomes a column `metadata_NAME`, typed if
            all its values agree in type, else JSON text. All logs are read for their types.
        strict: A log in a folder that cannot be read is an error, not left out with a warning.

    Returns:
        A frame whose queries read only what their columns need, log by log. `ef.log_report` tells
        what was left out.

    Raises:
        InputError: There is no log, one is damaged, or a named one is of no known format.
        UnknownNameError: An extra column or a format has another name.

    Examples:
        >>> import evalframe as ef, tempfile
        >>> from pathlib import Path, PurePosixPath
        >>> folder = tempfile.TemporaryDirectory()
        >>> file = Path(folder.name) / "samples_sums_2026-01-21T03-44-18.458309.jsonl"
        >>> _ = file.write_text('{"doc_id": 7, "metrics": ["acc"], "acc": 1}')
        >>> ef.read_logs(folder.name).select("format", "task", "score").collect().rows()
        [('lm_eval', 'sums', 1.0)]
        >>> folder.cleanup()
    """
    asked = wanted(extra, metadata)
    return scan(*find(paths, kind, strict=strict), asked, strict=strict)


def find(
    paths: Paths, kind: str | None = None, *, strict: bool = False
) -> tuple[list[Log], dict[str, str]]:
    """The logs at these paths, and why some that look like one are skipped."""
    formats = _formats(kind)
    given = [paths] if isinstance(paths, str | Path) else [*paths]
    logs: dict[Path, Log] = {}
    skipped: dict[str, str] = {}
    for each in given:
        for path, is_named in _listed(each):
            with _reading(path):
                head = _head(path)
                name = _recognised(path, head, formats)
            if name is not None:
                logs.setdefault(path, Log(location(path), path, name, is_named))
            elif not path.is_dir() and (is_named or _looks_like(path, formats)):
                fault = f"{path} is no log of {' or '.join(formats)}; is it complete?"
                if is_named or strict:
                    raise InputError(fault)
                skipped[str(path)] = fault
    if not logs and not skipped:
        shown = ", ".join(map(str, given)) or "an empty list"
        raise InputError(
            f"no logs of {' or '.join(formats)} in {shown}; name their files or folder"
        )
    return [*logs.values()], skipped


def scan(
    logs: Sequence[Log], skipped: dict[str, str], wanted: Wanted, *, strict: bool
) -> pl.LazyFrame:
    """The rows of logs, log by log, of those columns that a query asks for."""
    types = types_of(logs, wanted.metadata)  # now: Polars would hide errors that a schema raises
    schema = _empty(wanted, types).schema

    def source(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        names = [*schema_of(wanted)] if columns is None else columns
        needed = {*names, *(() if predicate is None else predicate.meta.root_names())}
        asked = replace(
            wanted,
            columns=wanted.columns & needed,
            metadata=tuple(name for name in wanted.metadata if METADATA + name in needed),
        )
        tally = Tally(skipped=dict(skipped))
        values = [typed(*each) for each in types.items() if each[0] in needed]
        skips = predicate if rows is None else None  # Polars counts rows before it filters them
        for log in counted("reading logs", logs):
            for part in parts(log, asked, tally, skips, strict=strict):
                frame = (part if rows is None else part.head(rows)).with_columns(values)
                yield (frame if predicate is None else frame.filter(predicate)).select(names)
                rows = None if rows is None else rows - len(frame)
                if rows is not None and rows <= 0:
                    return
        tally.warn()

    return shown(register_io_source(source, schema=schema))


def collected(
    logs: Sequence[Log], wanted: Wanted, types: Mapping[str, set[str]]
) -> tuple[pl.DataFrame, Tally]:
    """All rows of some logs of many, and what was left out of them."""
    tally, empty = Tally(), _empty(wanted, types)
    values = [typed(*each) for each in types.items()]
    read = (parts(log, wanted, tally, strict=False) for log in counted("reading logs", logs))
    found = list(itertools.chain.from_iterable(read))
    rows = [part.with_columns(values).select(empty.columns) for part in found]
    return pl.concat([empty, *rows]), tally


def _empty(wanted: Wanted, types: Mapping[str, set[str]]) -> pl.DataFrame:
    """The items table without rows; `types` are the kinds of values of metadata."""
    empty = pl.DataFrame(schema=schema_of(wanted))
    return empty.with_columns(typed(*each) for each in types.items())


def parts(
    log: Log, asked: Wanted, tally: Tally, predicate: pl.Expr | None = None, *, strict: bool
) -> Iterator[pl.DataFrame]:
    """The frames of a log with the columns asked for; none if it is skipped."""
    format = format_of(log)
    try:
        with _reading(log.path):
            if _leaves_out(predicate, format, log):
                return
            with _without_collection():
                found = [*format.read(log, asked, tally.of(log))]
            yield from (completed(part, asked) for part in found)
    except InputError as error:
        if strict or log.is_named:
            raise
        tally.skipped[log.name] = str(error)


def format_of(log: Log) -> Format:
    """The format of a log."""
    return _formats(log.format)[log.format]


def _formats(name: str | None) -> dict[str, Format]:
    if name is not None and name not in FORMATS:
        raise UnknownNameError.of("format", name, FORMATS)
    names = FORMATS if name is None else [name]
    return {name: import_module(f"evalframe.logs.{name}.reading").FORMAT for name in names}


def _leaves_out(predicate: pl.Expr | None, format: Format, log: Log) -> bool:
    """True if a condition on the columns that are constant in a log leaves out all its rows."""
    if predicate is None or not {*predicate.meta.root_names()} <= {*CONSTANT}:
        return False
    known = format.constants(log)
    if not {*predicate.meta.root_names()} <= known.keys():
        return False
    row = pl.DataFrame([known], schema=dict.fromkeys(known, pl.String))
    return row.filter(predicate).is_empty()


def types_of(logs: Sequence[Log], metadata: Sequence[str]) -> dict[str, set[str]]:
    """The kinds of all values of each metadata column."""
    kinds: dict[str, set[str]] = {METADATA + name: set() for name in metadata}
    if not kinds:
        return kinds
    for log in logs:
        for part in parts(log, Wanted(frozenset(), (*metadata,)), Tally(), strict=False):
            for name, known in kinds.items():
                known |= kinds_of(part[name])
    return kinds


def _listed(given: str | Path) -> Iterator[tuple[Path, bool]]:
    """Each file or folder at a path, and whether it was given by itself."""
    path = path_of(given)
    if path.is_dir():
        yield path, True
        yield from ((below, False) for below in _below(path))
    elif path.exists():
        yield path, True
    elif found := by_name(str(given)) if is_remote(given) else matching(given):
        for match in found:
            yield from ((each, False) for each, _ in _listed(match))
    else:
        raise InputError(f"{given}: no such file or folder; check the path")


def _below(folder: Path) -> Iterator[Path]:
    if is_remote(folder):
        inner = RemotePath(folder).files_below()
        paths = {each for file in inner for each in (file, *file.parents)} - {PurePosixPath()}
        yield from (folder / path for path in sorted(paths))
        return
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted([*files, *folders]):
            if not name.startswith("."):
                yield Path(root, name)


def _looks_like(path: Path, formats: dict[str, Format]) -> bool:
    """True for a name that only a log of one of the formats has."""
    return path.suffix in {each.ending for each in formats.values()}


def _head(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_HEAD)


def _recognised(path: Path, head: bytes, formats: dict[str, Format]) -> str | None:
    return next((name for name, each in formats.items() if each.recognise(path, head)), None)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Collect no garbage while many records are made, which are none; that saves a third."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Faults of the system are errors that name the file."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
