"""A folder that keeps the states of shards: the next run computes those that are new or changed.

A run looks up the states of its own shards only, so nothing is subtracted when a shard is gone. A
journal of the last run with the same metrics says what has changed since; it decides nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from evalframe.core.asked import AnyMetric, states_of
from evalframe.core.errors import OutputError, ParameterError
from evalframe.core.remote import is_remote, location
from evalframe.core.rows import as_expr
from evalframe.core.state_files import unpacked
from evalframe.core.state_tables import state_table
from evalframe.core.typing import By, IntoExpr
from evalframe.engine.definitions import recipe_of
from evalframe.engine.journal import Journal
from evalframe.engine.makers import Maker, OfRows, OfStates, frames_of
from evalframe.engine.opening import AnyEngine, opened
from evalframe.engine.protocol import Counted, Engine, Task, modules_of, run, tree
from evalframe.engine.shards import Shard, Shards, shards_of, tasks_of
from evalframe.engine.shelf import SETTLED, Kept, Seen, Shelf, look
from evalframe.engine.states import MANY, check_read

if TYPE_CHECKING:
    from evalframe.core.per import AnyBound
    from evalframe.core.tables import Keys

_PIECE = 256 << 20
"""Bytes of a shard, about: a larger file is several, so that many workers read it."""

_LEAST_KEPT = timedelta(days=1)
"""How long a job may run that uses what it has found."""


class StateStore:
    """A folder that keeps the states of shards, so that a run computes what is new.

    A state is found by the bytes of its shard, by the metrics with all that decides their sums,
    keys, cluster and weight, and by the versions of evalframe and Polars. If any of that differs,
    it is made; so a result is that of a run without a store. Two jobs can use one folder.

    Attributes:
        folder: The folder; made if it is missing. On an engine all workers must see it.
        trust_times: True if a file of the same path, size and time of change as in the last run
            need not be read again to know its content.

    Examples:
        >>> import tempfile, polars as pl, evalframe as ef
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for day, loss in enumerate([0.5, 0.25]):
        ...         pl.DataFrame({"loss": [loss, 1.0]}).write_parquet(f"{folder}/{day}.parquet")
        ...     store = ef.StateStore(f"{folder}/states")
        ...     first = store.partial(f"{folder}/0.parquet", ef.mean("loss"))
        ...     both = store.partial(f"{folder}/*.parquet", ef.mean("loss"))
        ...     store.explain()["status"].to_list()
        ['reused', 'new']
        >>> ef.finish(both).collect()["estimate"].item()
        0.6875
    """

    def __init__(self, folder: str | Path, *, trust_times: bool = False) -> None:
        if not str(folder).strip():
            raise ParameterError("the state store has no name; name a folder")
        if is_remote(folder):
            raise ParameterError(
                f"a state store is a folder, not {location(folder)!r}; name one of a file system "
                "that all workers share"
            )
        self.folder = Path(folder).absolute()
        self.trust_times = trust_times
        self._report: pl.DataFrame | None = None
        self._seen: dict[Path, Seen] | None = None

    @contextmanager
    def job(self) -> Iterator[None]:
        """For the time of a block of several runs over the same files, hash each file once."""
        self._seen = {}
        try:
            yield
        finally:
            self._seen = None

    def partial(
        self,
        shards: Any,
        metrics: AnyMetric | Sequence[AnyMetric],
        *,
        by: By = None,
        weight: IntoExpr | None = None,
        cluster: IntoExpr | None = None,
        engine: AnyEngine | None = None,
    ) -> pl.LazyFrame:
        """The state of all shards, of which those without a kept state are read now.

        Args:
            shards: A file, glob, folder, URL or Delta table, or a list of those.
            metrics: Metrics that declare a state.
            by: Group keys, as for `ef.partial`.
            weight: How often each row counts.
            cluster: Keep separate sums for each cluster.
            engine: Where shards are read, as for `ef.evaluate`; by default here, one by one.

        Returns:
            A state, as of `ef.partial`.

        Raises:
            InputError: A shard cannot be read, or was changed meanwhile.
            OutputError: The folder cannot be written.
            ParameterError: A column or a sum calls a Python function or a plugin, which may change
                unseen; or the shards are frames in memory.
        """
        found = shards_of(shards)
        asked = states_of(found.outline, metrics, by=by, weight=weight, cluster=cluster)
        state_table(asked)  # which says what is wrong with names
        apart = None if cluster is None else as_expr(cluster)
        return self.state(found, asked.metrics, asked.keys, apart, engine).lazy()

    def state(
        self,
        shards: Shards,
        metrics: Sequence[AnyBound],
        keys: Keys,
        cluster: pl.Expr | None = None,
        engine: AnyEngine | None = None,
    ) -> pl.DataFrame:
        """The state of shards whose columns are checked; see `partial` and `added`."""
        maker = OfStates(metrics, keys, cluster)
        modules = () if engine is None else modules_of(metrics)
        return unpacked(self.added(shards, maker, engine, modules))

    def rows(
        self, shards: Shards, what: str, engine: AnyEngine | None = None
    ) -> list[pl.DataFrame]:
        """The rows of each shard, of plans that leave few, read now or before.

        Args:
            shards: Shards of `pieces_of`, perhaps with further steps.
            what: The name of the rows, for the journal.
            engine: Where shards are read, by default in this process.
        """
        return frames_of(self.added(shards, OfRows(what), engine))

    def added(
        self,
        shards: Shards,
        maker: Maker,
        engine: AnyEngine | None = None,
        modules: Sequence[str] = (),
    ) -> bytes:
        """The sum of what a maker makes of all shards, or has made before.

        Args:
            shards: Files.
            maker: Makes it; it travels to workers if there is an engine.
            engine: Where, by default in this process.
            modules: Modules that workers import first.
        """
        shelf = Shelf.of(self._made_folder(), maker)
        journal = Journal.read(self.folder / "runs" / f"{maker.definition}.json")
        pieces = self._known([_Piece(piece, _named(piece)) for piece in pieces_of(shards)], journal)
        with nullcontext() if engine is None else opened(engine) as ready:
            each = partial(_each, ready, modules)
            large = _divided_files(pieces)
            seen = dict(zip(large, each("hash", _seen, [*large.values()]), strict=True))
            pieces = [replace(piece, known=seen.get(piece.path, piece.known)) for piece in pieces]
            slots = 1 if ready is None else ready.check()
            tasks = tasks_of(pieces, [piece.shard.size for piece in pieces], slots)
            results = each("state", partial(_of_batch, shelf, maker), [*map(_Batch, tasks)])
            parts = [part for part, _ in results]
            if ready is not None and len(parts) >= MANY:
                parts = [tree(ready, Task.of("merge", maker.added, modules), parts)]
        check_read(shards)
        kept = [became for _, some in results for became in some]
        if self._seen is not None:
            now = zip(pieces, kept, strict=True)
            self._seen |= {piece.path: k.seen for piece, k in now if k.seen is not None}
        names = [piece.name for piece in pieces]
        self._report = journal.report(names, kept)
        journal.write(names, kept)
        return maker.added(parts)

    def _made_folder(self) -> Path:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"the state store {str(self.folder)!r} cannot be made ({error.strerror}); choose "
                "another folder"
            ) from error
        return self.folder

    def _known(self, pieces: Sequence[_Piece], journal: Journal) -> list[_Piece]:
        """Pieces with their files as they were seen in this job, or in the last run if trusted."""
        before = {piece.name: journal.seen(piece.name) for piece in pieces if self.trust_times}
        in_job = self._seen or {}
        return [replace(p, known=in_job.get(p.path) or before.get(p.name)) for p in pieces]

    def explain(self) -> pl.DataFrame:
        """What the last run did with each shard.

        Returns:
            `shard`, `status`, `rows` and `seconds` of work. The status is

            * `reused`: its state was there, perhaps of a file of another name;
            * `new`: it was not in the run before with the same metrics;
            * `changed`: it was, with other content;
            * `outdated`: it was, but other versions of evalframe or Polars made the state;
            * `damaged`: the file of its state was damaged, and is made anew;
            * `gone`: it was in the run before, and is not in this one.

        Raises:
            ParameterError: There was no run.
        """
        if self._report is None:
            raise ParameterError("nothing was run yet; call partial(...) first")
        return self._report

    def sweep(self, *, keep: timedelta = timedelta(days=30)) -> int:
        """Remove states that no run has used for some time, and remains of killed jobs.

        Args:
            keep: How long a state is kept after its last use, a day at least.

        Returns:
            The number of files that were removed.

        Raises:
            ParameterError: `keep` is less than a day: a job that runs may use what is younger.
        """
        if keep < _LEAST_KEPT:
            raise ParameterError(
                f"keep must be a day at least, since a job may still use what it has found; got "
                f"{keep}. To remove all, remove the folder"
            )
        now, removed = time.time(), 0
        for pattern, age in (
            ("??/*.state", keep),
            ("runs/*.json", keep),
            ("*/.*.tmp", _LEAST_KEPT),
        ):
            for file in self.folder.glob(pattern):
                with suppress(FileNotFoundError):  # another job sweeps, too
                    if now - file.stat().st_mtime > age.total_seconds():
                        file.unlink()
                        removed += 1
        return removed


AnyStore: TypeAlias = str | Path | StateStore
"""What `state=` takes."""


def store_of(state: AnyStore) -> StateStore:
    """The store of this folder."""
    return state if isinstance(state, StateStore) else StateStore(state)


def pieces_of(shards: Shards) -> list[Shard]:
    """Shards with their recipes, whose bounds depend on their own file only.

    So the next run finds them. Whoever does more with the rows of a piece adds that to its recipe:
    `definitions.further`.
    """
    if shards.home is not None:
        raise ParameterError(
            f"a state store knows shards by the bytes of their files, which a frame of "
            f"{shards.home.title()} has none of; name files, or compute without a store"
        )
    return [piece for part in shards.parts for piece in _divided(part)]


def _divided(part: Shard) -> Iterator[Shard]:
    if part.recipe:
        yield part
        return
    if len(part.files) != 1:
        raise ParameterError(
            f"a state store knows shards by the bytes of their files, and {part} is no file; "
            "name files, or compute without a store"
        )
    (file,) = part.files
    # A remote file tells no time of change, so each piece would have to read all of it.
    is_whole = file.version is not None or is_remote(file.path)
    for piece in [part] if is_whole else part.divided(_PIECE):
        yield replace(piece, recipe=recipe_of(piece.rows, location(file.path)))


def _named(piece: Shard) -> str:
    """The path of a piece, and its rows if it is a part of a file."""
    (file,) = piece.files
    return f"{location(file.path)}{piece.name.removeprefix(file.name)}"


@dataclass(frozen=True)
class _Piece:
    """A shard of one file, or of some rows of a large one.

    Attributes:
        name: Its path, with its rows if it is not the whole file.
        known: The file as it was seen, if its size and time tell that it is the same.
    """

    shard: Shard
    name: str
    known: Seen | None = None

    @property
    def path(self) -> Path:
        """The path of its file."""
        return self.shard.files[0].path


def _each(
    engine: Engine | None,
    modules: Sequence[str],
    name: str,
    work: Callable[[Any], Counted],
    items: Sequence[Any],
) -> list[Any]:
    """The results of all items, of an engine or of this process."""
    if engine is None:
        return [work(item).value for item in items]
    return run(engine, Task.of(name, work, modules), items)


def _divided_files(pieces: Sequence[_Piece]) -> dict[Path, _Piece]:
    """A piece of each file that has several, whose content is to be hashed once."""
    several = {path for path, count in Counter(piece.path for piece in pieces).items() if count > 1}
    return {piece.path: piece for piece in pieces if piece.path in several}


def _seen(piece: _Piece) -> Counted:
    """The file of a piece, as soon as its size and time tell its content."""
    (file,) = piece.shard.files
    time.sleep(min(max(0.0, SETTLED + file.path.stat().st_mtime - time.time()), SETTLED))
    seen, is_settled = look(file, piece.known)
    return Counted(seen if is_settled else None, size=seen.size)


@dataclass(frozen=True)
class _Batch:
    """The pieces of a task."""

    pieces: Sequence[_Piece]

    def __str__(self) -> str:
        few = [self.pieces[0].name, self.pieces[-1].name][: len(self.pieces)]
        return " to ".join(few)


def _of_batch(shelf: Shelf, maker: Maker, batch: _Batch) -> Counted:
    """The sum of what is made of the shards of a batch, and what became of each."""
    if Shelf.of(shelf.folder, maker) != shelf:
        raise ParameterError(
            "the worker has other code of evalframe or of the metrics than the process that asks; "
            "install the same on all workers"
        )
    kept: list[Kept] = []

    def parts() -> Iterator[bytes]:
        for piece in batch.pieces:
            part, became = shelf.made(maker, piece.shard, piece.known)
            kept.append(became)
            yield part

    total = maker.added(parts())
    size = sum(piece.shard.size for piece in batch.pieces)
    return Counted((total, kept), sum(each.rows for each in kept), size)
