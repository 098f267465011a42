"""The one seam to engines: run a function over items, as values or as what went wrong.

An adapter has three methods (`Engine`); the rest of the package runs tasks by `run` and `tree`.
"""

from __future__ import annotations

import errno
import os
import pickle
import platform
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import polars as pl

from evalframe.core.errors import EvalframeError
from evalframe.core.loading import load
from evalframe.core.per import AnyBound, Per
from evalframe.core.progress import bar

if TYPE_CHECKING:
    from evalframe.core.metric import Metric

SECONDS = 10.0
"""How long an engine may take to show a worker."""

Kind: TypeAlias = Literal["ok", "module", "input", "error"]


class EngineError(EvalframeError):
    """An engine cannot be reached, lost its workers, or cannot run our tasks."""


class TaskError(EvalframeError):
    """A task failed on a worker, for a reason that another try would not mend."""


class Counted(NamedTuple):
    """A result with how much was read for it, which is shown while a job runs.

    Attributes:
        value: The result.
        rows: Rows that were read.
        size: Bytes that were read.
    """

    value: Any
    rows: int = 0
    size: int = 0


class Made(NamedTuple):
    """What became of an item.

    Attributes:
        kind: `ok`; `module`: a module is missing on the worker; `input`: an error of ours, such
            as a shard that cannot be read; `error`: anything else.
        value: The result, or what went wrong as text.
        seconds: Time of work.
        worker: The process, as `host:pid`.
        rows: Rows that were read, if the function returns `Counted`.
        size: Bytes that were read, likewise.
        tries: Workers that began with it; all but the last died.
    """

    kind: Kind
    value: Any
    seconds: float
    worker: str
    rows: int = 0
    size: int = 0
    tries: int = 1


@dataclass(frozen=True)
class Task:
    """A function and what it needs, ready to travel.

    The function and its constants are pickled here once, and unpickled on a worker only after the
    modules have been imported. So a missing module is told as that, whatever the engine.

    Attributes:
        name: What it does, for progress and errors: "state", "merge", "split".
        pickled: The function of one item.
        modules: Modules of the user's metrics, imported first.
        beside: The packages of those that lie beside a job, on no path, with their files.
    """

    name: str
    pickled: bytes
    modules: tuple[str, ...] = ()
    beside: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str, function: Callable[[Any], Any], modules: Sequence[str] = ()) -> Task:
        """A task that calls this function, of a module or a `functools.partial` of one."""
        try:
            pickled = pickle.dumps(function)
        except Exception as error:  # pickle has no one class for what it cannot do
            raise EngineError(f"{name}: cannot be sent to workers: {error}") from error
        return cls(name, pickled, tuple(modules), tuple(_beside(modules)))


Stream: TypeAlias = Generator[tuple[int, Made], None, None]
"""Places of items, with what became of them."""


@runtime_checkable
class Engine(Protocol):
    """An adapter to an engine.

    Attributes:
        name: For messages.
        scratch: A folder for files between tasks that all workers and this process see, if there
            is one. Whoever opens the engine removes it.
    """

    name: str
    scratch: Path | None

    def check(self, seconds: float = SECONDS) -> int:
        """The number of tasks at a time; `EngineError` if no worker answers within `seconds`."""

    def each(
        self, function: Callable[..., Any], args: tuple[Any, ...], seconds: float
    ) -> dict[str, Any]:
        """What a function returns on each worker, or the error that it raised there.

        A function of the standard library, since the worker may lack ours.
        """

    def stream(self, task: Task, items: Sequence[Any]) -> Stream:
        """Run `call(task, item)` for all items; the places of items with what became of them.

        Results come as they are ready. What is not finished is cancelled when the iterator is
        closed. `EngineError` if workers are lost for good.
        """


def call(task: Task, item: Any) -> Made:
    """Run a task on this worker. What goes wrong is a value, which any driver can read."""
    start, worker = time.perf_counter(), f"{platform.node()}:{os.getpid()}"

    def made(kind: Kind, value: Any) -> Made:
        return Made(kind, value, time.perf_counter() - start, worker)

    try:
        function = _loaded(task)
    except Exception as error:  # a module may fail in any way
        return made("module", f"{type(error).__name__}: {error}")
    try:
        value = function(item)
    except MemoryError:
        return made("error", f"worker {worker} is out of memory; {_SMALLER}")
    except EvalframeError as error:
        return made("input", str(error))
    except OSError as error:
        room = f"; {_ROOM}" if error.errno in _FULL else ""
        return made("error", f"{type(error).__name__}: {error}{room}")
    except pl.exceptions.PanicException as error:  # which is no Exception
        reason = str(error).partition("\n")[0][:_LONGEST]
        return made("error", f"Polars failed ({reason}); was a file changed or damaged?")
    except Exception as error:
        return made("error", f"{type(error).__name__}: {error}")
    if isinstance(value, Counted):
        return made("ok", value.value)._replace(rows=value.rows, size=value.size)
    return made("ok", value)


@lru_cache(maxsize=16)
def _loaded(task: Task) -> Callable[[Any], Any]:
    for package, file in task.beside:
        spec = spec_from_file_location(package, file)
        if spec is not None and not PathFinder.find_spec(package) and Path(file).exists():
            load(spec)
    for module in task.modules:
        import_module(module)
    function: Callable[[Any], Any] = pickle.loads(task.pickled)
    return function


def _beside(modules: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The packages of modules that were imported from a file, not by a path."""
    for package in sorted({module.partition(".")[0] for module in modules}):
        file = getattr(sys.modules.get(package), "__file__", None)
        if file is not None and not PathFinder.find_spec(package):
            yield package, str(Path(file).absolute())


def run(engine: Engine, task: Task, items: Sequence[Any]) -> list[Any]:
    """The results of a task in the order of the items; `TaskError` at the first that failed.

    A bar shows how far it is, in a terminal or a notebook.
    """
    results: list[Any] = [None] * len(items)
    read = _Read(time.monotonic())
    shown = bar(f"{task.name} on {engine.name}")
    with shown as report, closing(engine.stream(task, items)) as stream:
        for done, (place, made) in enumerate(stream, 1):
            if made.kind != "ok":
                raise TaskError(_told(task, items[place], made))
            results[place] = made.value
            read = read.after(made)
            report(done, len(items), f"{done:,} of {len(items):,} tasks{read}")
    return results


class _Read(NamedTuple):
    """What has been read since a time, and how often dead workers left a task to others."""

    start: float
    rows: int = 0
    size: int = 0
    again: int = 0

    def after(self, made: Made) -> _Read:
        """The same after another task."""
        rows, size = self.rows + made.rows, self.size + made.size
        return self._replace(rows=rows, size=size, again=self.again + made.tries - 1)

    def __str__(self) -> str:
        seconds = max(time.monotonic() - self.start, 1e-9)
        told = {  # the end is cut where a terminal is narrow
            f", {self.again:,} begun again": self.again,
            f", {self.size / 1e6:,.0f} MB": self.size,
            f", {self.size / 1e6 / seconds:,.0f} MB/s": self.size,
            f", {self.rows / seconds:,.0f} rows/s": self.rows,
        }
        return "".join(text for text, is_said in told.items() if is_said)


def tree(engine: Engine, task: Task, parts: Sequence[Any], arity: int = 16) -> Any:
    """One result of all parts, by a task that takes up to `arity` of them and makes one."""
    while len(parts) > 1:
        batches = [parts[first : first + arity] for first in range(0, len(parts), arity)]
        parts = run(engine, task, batches)
    return parts[0]


def fatal(task: Task, item: Any, workers: int) -> str:
    """What to say of an item that workers die of."""
    return f"{workers} workers died of {_named(task, item)}, perhaps for want of memory; {_SMALLER}"


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_ROOM = (
    "make room, or name another folder for files between tasks: --scratch FOLDER, or "
    "ef.engine.on(..., scratch=...)"
)

_SMALLER = "give workers more, or write shards in smaller files or row groups"

_LONGEST = 300
"""Characters of an item in a message."""


def _named(task: Task, item: Any) -> str:
    shown = str(item)
    return f"{task.name} of {shown[:_LONGEST]}{'...' * (len(shown) > _LONGEST)}"


def _told(task: Task, item: Any, made: Made) -> str:
    if made.kind == "module":
        return (
            f"worker {made.worker} cannot import what a metric needs ({made.value}); install it on "
            "all workers, or with Dask send the file: client.upload_file"
        )
    return f"{_named(task, item)}: {made.value}"


def modules_of(metrics: Iterable[AnyBound]) -> tuple[str, ...]:
    """The modules that declare these metrics, for workers to import; ours come by themselves."""
    modules = {metric.define.__module__: metric.name for metric in _declared(metrics)}
    if "__main__" in modules:
        raise EngineError(
            f"metric {modules['__main__']!r} is declared in the program itself, which workers "
            "cannot import; put it into a module, and import it from there"
        )
    return tuple(sorted(name for name in modules if name.partition(".")[0] != "evalframe"))


def _declared(metrics: Iterable[AnyBound]) -> Iterator[Metric]:
    """The declarations of metrics, also of those in each unit of nested ones."""
    left = [*metrics]
    while left:
        bound = left.pop()
        if isinstance(bound, Per):
            left += [*bound.parts, bound.then]
        else:
            yield bound.metric
