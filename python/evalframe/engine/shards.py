"""Shards: the parts of a table that workers read, each by itself.

The driver finds the files, looks at their columns and sizes, and reads no rows. What travels is a
plan of Polars over a few files, or over some rows of a large one.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from evalframe.core.errors import InputError, ParameterError, needing
from evalframe.core.frames import of_arrow
from evalframe.core.remote import is_remote, location
from evalframe.core.scan import (
    File,
    Part,
    check_alike,
    check_once,
    check_pages,
    find,
    open_each,
    reading,
    tables_of,
)
from evalframe.core.tables import lazy
from evalframe.engine.definitions import further

if TYPE_CHECKING:
    from evalframe.engine.protocol import Engine

Piece = TypeVar("Piece")

_TASK, _LARGE = 64 << 20, 512 << 20
"""Bytes of a task, about; and of a file that is always divided."""

_LEAST = 1 << 17
"""Bytes that take as long to read as it takes to open a file."""

_MOST = 5_000
"""Tasks of a run, at most: a scheduler has 2 to 3 ms of work for each."""


@dataclass(frozen=True)
class Shard:
    """Rows that one worker reads.

    Attributes:
        name: What messages call it.
        rows: The rows: a frame in memory, or a plan.
        size: Bytes that are read, about.
        files: The files that the plan reads.
        recipe: A digest of how the plan makes the rows of its one file, for a store; see
            `store.pieces_of`.
    """

    name: str
    rows: Any
    size: int
    files: tuple[File, ...] = ()
    recipe: str = ""

    def scan(self) -> pl.LazyFrame:
        """The rows, on the worker. A small damaged file is found before Polars reads it."""
        for file in self.files:
            check_pages(file)
        rows: pl.LazyFrame = self.rows.lazy()
        return rows

    def with_columns(self, *exprs: pl.Expr) -> Shard:
        """The same rows with further columns."""
        recipe = further(self.recipe, exprs) if self.recipe else ""
        return replace(self, rows=self.rows.with_columns(*exprs), recipe=recipe)

    def with_row_index(self, name: str, start: int) -> Shard:
        """The same rows, numbered."""
        recipe = further(self.recipe, (name, start)) if self.recipe else ""
        return replace(self, rows=self.rows.with_row_index(name, offset=start), recipe=recipe)

    def count(self) -> int:
        """The number of its rows; of Parquet files their footers know it."""
        with reading(self.name):
            return int(self.rows.lazy().select(pl.len()).collect().item())

    def divided(self, most: float) -> Iterator[Shard]:
        """Parts of about so many bytes: a Parquet file between its row groups, or a Delta table."""
        ends = self._ends(round(self.size / most)) if self.files and self.size > 2 * most else []
        if len(ends) < 2:
            yield self
            return
        for first, end in itertools.pairwise([0, *ends]):
            rows = self.rows.slice(first, end - first)
            name = f"{self.name}, rows {first:,} to {end - 1:,}"
            yield replace(self, name=name, rows=rows, size=self.size * (end - first) // ends[-1])

    def _ends(self, parts: int) -> list[int]:
        """Where so many parts end, in rows; nothing if the file cannot be divided."""
        file = self.files[0]
        if file.version is not None:
            rows = self.count()
            return [rows * number // parts for number in range(1, parts + 1)]
        if file.path.suffix.lower() != ".parquet":
            return []
        import numpy as np
        from pyarrow import parquet

        with reading(file.name), file.path.open("rb") as stored:
            footer = parquet.ParquetFile(stored).metadata
        groups = range(footer.num_row_groups)
        ends = np.cumsum([footer.row_group(number).num_rows for number in groups])
        near = np.searchsorted(ends, ends[-1] / parts * np.arange(1, parts + 1))
        return [int(end) for end in np.unique(ends[near.clip(max=len(ends) - 1)])]

    def __str__(self) -> str:
        """Its name."""
        return self.name


@dataclass(frozen=True)
class Shards:
    """A table in shards.

    Attributes:
        parts: A shard for each file or frame.
        schema: The columns of all, as they are when the shards are read as one table.
        names: What was asked for, to be looked up again.
        stamps: Size and time of change of each file when it was opened.
        home: The engine whose frame it is, `dask` or `ray`, which hands its parts to its workers.
        scans: Files whose rows are read as they are, by the identity of their plans.
    """

    parts: Sequence[Shard]
    schema: pl.Schema
    names: tuple[str, ...] = ()
    stamps: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    home: str | None = None
    scans: Mapping[int, Part] = field(default_factory=dict)

    @property
    def outline(self) -> pl.LazyFrame:
        """The columns, without rows."""
        return pl.LazyFrame(schema=self.schema)

    def batches(self, slots: int) -> list[Shard]:
        """Shards for so many workers at a time, none too large or too small for a task.

        Small shards are read together, in the order given. Large files are divided. There are at
        least as many tasks as slots, if the rows suffice.
        """
        if self.home is not None:
            return [*self.parts]
        whole = sum(part.size for part in self.parts)
        most = min(_LARGE, max(_TASK, whole / slots)) / 2
        pieces = [piece for part in self.parts for piece in part.divided(most)]
        tasks = tasks_of(pieces, [piece.size for piece in pieces], slots)
        return [self._together(task) for task in tasks]

    def _together(self, shards: Sequence[Shard]) -> Shard:
        """One shard of the rows of several."""
        if len(shards) == 1:
            return shards[0]
        scans = [self.scans[id(each.rows)] for each in shards if id(each.rows) in self.scans]
        if len(scans) == len(shards):  # one plan over many files, which is small and quick
            rows: Any = pl.concat(list(tables_of(scans)))
        elif all(isinstance(each.rows, pl.DataFrame) for each in shards):
            rows = pl.concat([each.rows for each in shards])
        else:
            rows = pl.concat([each.rows.lazy() for each in shards])
        files = dict.fromkeys(file for each in shards for file in each.files)
        name = f"{len(shards)} shards, {shards[0].name} to {shards[-1].name}"
        return Shard(name, rows, sum(each.size for each in shards), tuple(files))

    def with_columns(self, *exprs: pl.Expr) -> Shards:
        """The same rows with further columns."""
        schema = self.outline.with_columns(*exprs).collect_schema()
        parts = [part.with_columns(*exprs) for part in self.parts]
        return replace(self, parts=parts, schema=schema)

    def with_row_index(self, name: str) -> Shards:
        """The same rows, numbered as those of one table."""
        if self.home is not None:
            raise ParameterError(
                "rows of a frame of Dask or Ray have no numbers; name a column of what is drawn, "
                "such as resample=ef.Bootstrap(cluster='item')"
            )
        starts = itertools.accumulate((part.count() for part in self.parts), initial=0)
        parts = [
            part.with_row_index(name, start)
            for part, start in zip(self.parts, starts, strict=False)
        ]
        schema = self.outline.with_row_index(name).collect_schema()
        return replace(self, parts=parts, schema=schema)

    def check_home(self, engine: Engine) -> None:
        """Raise ParameterError if these are the parts of another engine's frame."""
        if self.home is not None and not engine.name.startswith(self.home):
            raise ParameterError(
                f"a frame of {self.home.title()} is computed on {self.home.title()}, "
                f"not on {engine.name}"
            )

    def check_unchanged(self) -> None:
        """Raise InputError if a file has been changed since it was opened."""
        for path, stamp in self.stamps.items():
            with reading(location(path)):
                now = _stamp(path)
            if now != stamp:
                raise InputError(
                    f"{location(path)} was changed while it was read ({stamp[0]:,} bytes before, "
                    f"{now[0]:,} now); run again when nobody writes to it"
                )

    def appeared(self) -> list[str]:
        """Files that have appeared since: they are in no result."""
        files = find(self.names)
        paths = [_absolute(file.path) for file in files if file.version is None]
        return [location(path) for path in paths if path not in self.stamps]


def shards_of(source: Any) -> Shards:
    """The shards of a source, whose columns are checked here.

    Args:
        source: A file, glob, folder, URL or Delta table; a list of those, or of Polars frames.
            Paths must be the same on all workers. Of lazy frames the plans travel. Or a frame of
            Dask or Ray, which only an engine of the same library can read.

    Returns:
        A shard for each file and frame. A Delta table is that of its version now.

    Raises:
        InputError: A file cannot be read, or a column is of different types in two.
        ParameterError: The source is nothing of that.

    Examples:
        >>> days = [pl.DataFrame({"loss": [0.5]}), pl.DataFrame({"loss": [1.0, 0.0]})]
        >>> [shard.count() for shard in shards_of(days).parts]
        [1, 2]
    """
    if isinstance(source, Shards):
        return source
    for library, method in (("dask", "to_delayed"), ("ray", "to_arrow_refs")):
        if hasattr(source, method):
            shards: Shards = import_module(f"evalframe.engine.{library}").shards(source)
            return shards
    listed = [source] if isinstance(source, str | Path) else source
    if not isinstance(listed, Sequence) or not listed:
        raise ParameterError(
            "an engine reads shards: a file, glob, folder or URL, or a list of those or of frames; "
            f"got {'an empty list' if isinstance(listed, Sequence) else type(source).__name__}"
        )
    names = tuple(str(each) for each in listed if isinstance(each, str | Path))
    parts: list[Part] = []
    frames = {}
    for number, each in enumerate(listed):
        if isinstance(each, str | Path):
            parts += _opened(find([str(each)]))
        else:
            table = lazy(each)
            name = File(f"frame {number}", Path())
            parts.append(Part(name, "frame", table, table.collect_schema()))
            frames[name.name] = each
    return _shards(parts, frames, names)


def shards_in(files: Sequence[File], names: Sequence[str], texts: Collection[str]) -> Shards:
    """The shards of files that were found by these names; `texts` are columns to read as text."""
    return _shards(_opened(files, texts), {}, tuple(names))


def _opened(files: Sequence[File], texts: Collection[str] = ()) -> list[Part]:
    return open_each([replace(file, path=_absolute(file.path)) for file in files], texts)


def _shards(parts: Sequence[Part], frames: Mapping[str, Any], names: tuple[str, ...]) -> Shards:
    """The shards of opened files and of frames, whose columns must be alike."""
    check_once(part.file for part in parts if part.format != "frame")
    check_alike(parts)
    schema = _common(parts)
    paths = [part.file.path for part in parts if part.format not in ("frame", "Delta")]
    stamps = {path: _stamp(path) for path in paths}
    listing = []
    for part in parts:
        rows: Any = _as(frames.get(part.name, part.scan), part.schema, schema)
        file = replace(part.file, rows=0)  # the plan that would count them need not travel
        if part.format == "frame":
            is_here = isinstance(rows, pl.DataFrame)
            listing.append(Shard(part.name, rows, rows.estimated_size() if is_here else _TASK))
        elif part.format == "Delta":
            listing.append(Shard(part.name, rows, _size_of_table(file), (file,)))
        else:
            listing.append(Shard(part.name, rows, stamps[file.path][0], (file,)))
    scans = {id(part.scan): part for part in parts if part.schema == schema}
    return Shards(listing, schema, names, stamps, scans=scans)


def tasks_of(pieces: Sequence[Piece], sizes: Sequence[int], slots: int) -> list[list[Piece]]:
    """Pieces of so many bytes each as tasks for so many workers, in the order given.

    >>> tasks_of(["a", "b", "c"], [_TASK, 10, 10], slots=2)
    [['a'], ['b', 'c']]
    """
    import numpy as np

    ends = np.cumsum([max(size, _LEAST) for size in sizes])
    tasks = min(max(-(-int(ends[-1]) // _TASK), slots), _MOST, len(pieces))
    middles = ends - np.diff(ends, prepend=0) / 2
    numbers = (middles * (tasks / ends[-1])).astype(np.int64).tolist()
    groups = itertools.groupby(zip(numbers, pieces, strict=True), key=lambda each: each[0])
    return [[piece for _, piece in group] for _, group in groups]


def joined(tables: Sequence[Shards]) -> Shards:
    """The rows of several tables, whose columns that are read are of the same types."""
    return replace(
        tables[0],
        parts=[part for each in tables for part in each.parts],
        names=tuple(dict.fromkeys(name for each in tables for name in each.names)),
        stamps={path: stamp for each in tables for path, stamp in each.stamps.items()},
        scans={number: part for each in tables for number, part in each.scans.items()},
    )


def _common(parts: Sequence[Part]) -> pl.Schema:
    """The columns of all parts as one table: numbers are as wide as in the widest."""
    order = parts[0].schema.names()
    different = {str(part.schema): part.schema for part in parts}.values()
    kinds = [pl.LazyFrame(schema=schema).select(order) for schema in different]
    return pl.concat(kinds, how="vertical_relaxed").collect_schema()


def _as(rows: Any, mine: pl.Schema, schema: pl.Schema) -> Any:
    """The rows with the columns and types of all shards."""
    widened = {name: dtype for name, dtype in schema.items() if mine[name] != dtype}
    rows = rows.select(schema.names()) if mine.names() != schema.names() else rows
    return rows.cast(widened) if widened else rows


def as_shard(table: Any, name: str, schema: pl.Schema) -> Shard:
    """A table that an engine has handed to a worker."""
    frame = of_arrow(table)
    return Shard(name, _as(frame, frame.schema, schema), int(frame.estimated_size()))


def _size_of_table(file: File) -> int:
    """Bytes of the files of a Delta table."""
    with needing("delta", "a Delta table"):
        from deltalake import DeltaTable
    actions = DeltaTable(location(file.path), version=file.version).get_add_actions(flatten=True)
    return int(pl.DataFrame(actions)["size_bytes"].sum())


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of change; of an object store the size alone."""
    with reading(location(path)):
        status = path.stat()
    return status.st_size, getattr(status, "st_mtime_ns", 0)


def _absolute(path: Path) -> Path:
    return path if is_remote(path) else path.absolute()
