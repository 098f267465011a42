"""Adapter to executors of `concurrent.futures`, and the pool of processes that we start."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import current_process, get_context, parent_process
from pathlib import Path
from typing import Any

import polars as pl

from evalframe.engine.protocol import SECONDS, EngineError, Made, Stream, Task, call

ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Environment of workers that we start: they share the cores of one machine."""

GUARD = "workers import your program: put what it does under if __name__ == '__main__':"
"""What to do if workers that are spawned do not come up."""

IN_MODULE = "a function of a notebook or prompt, such as of map_batches, belongs in a module"
"""What to do if workers lack what a frame needs."""


@dataclass
class OnExecutor:
    """An executor that somebody else starts and stops."""

    executor: Executor
    name: str = "the executor"
    scratch: Path | None = None

    def check(self, seconds: float = SECONDS) -> int:
        """The number of its workers."""
        context = getattr(self.executor, "_mp_context", None)
        if context is not None and context.get_start_method() == "fork":
            raise EngineError(
                "the executor forks its workers, which Polars does not survive; make it with "
                "mp_context=multiprocessing.get_context('spawn')"
            )
        return int(getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1)

    def each(
        self, function: Callable[..., Any], args: tuple[Any, ...], seconds: float
    ) -> dict[str, Any]:
        """What one worker says: all of them run on one machine, in one environment."""
        try:
            return {self.name: self.executor.submit(function, *args).result()}
        except BrokenProcessPool as error:
            raise EngineError(f"no worker of {self.name} comes up; {GUARD}") from error
        except Exception as error:
            return {self.name: error}

    def _submit(self, task: Task, item: Any) -> Future[Made]:
        """Begin with an item; what a process cannot unpickle by itself kills it without a word."""
        if not isinstance(self.executor, ProcessPoolExecutor):
            return self.executor.submit(call, task, item)
        try:
            pickled = pickle.dumps(item)
        except Exception as error:  # pickle has no one class for what it cannot do
            raise EngineError(f"{task.name}: cannot be sent to workers: {error}") from error
        return self.executor.submit(_unpickled, task, pickled)

    def stream(self, task: Task, items: Sequence[Any]) -> Stream:
        """See `Engine`."""
        places: dict[Future[Made], int] = {}
        try:
            for place, item in enumerate(items):
                places[self._submit(task, item)] = place
            for future in as_completed(places):
                yield places[future], future.result()
        except BrokenProcessPool as error:
            raise EngineError(
                f"a worker of {self.name} died, perhaps for want of memory, and none is started in "
                "its place; Dask and Ray do that. Or run again with --state FOLDER (state=), which "
                "keeps finished shards"
            ) from error
        finally:
            for future in places:
                future.cancel()


def _unpickled(task: Task, pickled: bytes) -> Made:
    """Run a task on an item that travels as bytes."""
    try:
        item = pickle.loads(pickled)
    except (Exception, pl.exceptions.PanicException) as error:  # whatever unpickling runs
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        return Made(
            "error", f"a worker cannot read it ({reason}); {IN_MODULE}", 0.0, str(os.getpid())
        )
    return call(task, item)


@contextmanager
def processes(workers: int) -> Iterator[OnExecutor]:
    """Processes of one thread each, ended with the block, at once if it fails."""
    refuse_workers()
    pool = spawned(workers)
    with environment(ONE_THREAD):
        try:
            yield OnExecutor(pool, f"processes:{workers}")
        except BaseException:
            for process in [*(pool._processes or {}).values()]:  # nobody waits for their results
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def spawned(workers: int) -> ProcessPoolExecutor:
    """New processes: Polars does not survive a fork."""
    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=_attach)


def refuse_workers() -> None:
    """Raise EngineError where a worker imports the program that has started it."""
    if getattr(current_process(), "_inheriting", False):
        raise EngineError(f"workers do not start workers; {GUARD}")


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, which new processes inherit, for the time of a block.

    Libraries look at them when they are loaded: this process loads its own before.
    """
    import numpy as np  # noqa: F401 (Polars is here already)

    before = {**os.environ}
    os.environ.update(values)
    try:
        yield
    finally:  # engines set some more
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        for name in values.keys() & before.keys() & os.environ.keys():
            os.environ[name] = before[name]


def _attach() -> None:
    """Begin a worker: leave Ctrl-C, which a terminal sends to all, to our parent; end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # a killed parent ends no pool
