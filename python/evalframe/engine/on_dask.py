"""Adapter to Dask: a client of somebody else, a cluster at an address, or one of this machine."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from evalframe.core.errors import needing
from evalframe.engine.executors import GUARD, ONE_THREAD, environment, refuse_workers
from evalframe.engine.protocol import SECONDS, EngineError, Made, Stream, Task, call, fatal

if TYPE_CHECKING:
    from distributed import Client, Future

_PATIENCE = 5.0
"""Seconds for a connection to a scheduler."""

_PATIENT = {"distributed.deploy.lost-worker-timeout": "1 day"}
"""Else a worker that dies again while it is restarted, or takes long to come up, is given up."""

_LOOK, _ABSENCE = 5.0, 60.0
"""Seconds between looks for workers, and without any before tasks are given up."""

_EVENTS = "all"
"""Where the scheduler tells of workers that it lost."""


@dataclass
class OnDask:
    """A client that somebody else starts and closes."""

    client: Client
    name: str = "dask"
    scratch: Path | None = None

    def check(self, seconds: float = SECONDS) -> int:
        """The number of threads of all workers, at least 1."""
        if self.client.status != "running" or self.client.asynchronous:
            raise EngineError("the Dask client must be open, and not asynchronous")
        try:
            self.client.wait_for_workers(1, timeout=seconds)
        except (TimeoutError, OSError) as error:
            raise EngineError(
                f"no worker of {self._scheduler} answers within {seconds:g} s; start some, or "
                "wait until they are up, and run again"
            ) from error
        return sum(self.client.nthreads().values()) or 1  # the last worker may be restarting

    def each(
        self, function: Callable[..., Any], args: tuple[Any, ...], seconds: float
    ) -> dict[str, Any]:
        """Ask all workers, past the queue of tasks."""
        try:
            answers: dict[str, Any] = self.client.sync(
                self.client._run, function, *args, on_error="return", callback_timeout=seconds
            )
        except (TimeoutError, OSError) as error:
            raise EngineError(
                f"not all workers of {self._scheduler} answer within {seconds:g} s"
            ) from error
        return answers

    def stream(self, task: Task, items: Sequence[Any]) -> Stream:
        """Submit all at once, which costs less than a window: results are small."""
        from distributed import as_completed

        futures = self._submitted(task, items)
        places = {future.key: place for place, future in enumerate(futures)}
        again: Counter[Any] = Counter()

        def removed(event: tuple[float, Any]) -> None:
            if isinstance(event[1], dict) and not event[1].get("expected", True):
                again.update(key for key in event[1]["processing-tasks"] if key in places)

        self.client.subscribe_topic(_EVENTS, removed)
        ended = Event()
        Thread(target=self._give_up, args=(futures, ended), daemon=True).start()
        try:
            finished = as_completed(
                futures, loop=self.client.loop, with_results=True, raise_errors=False
            )
            for batch in finished.batches():
                for future, made in batch:
                    place = places[future.key]
                    if not isinstance(made, Made):  # the status may have changed since
                        raise self._error(task, items[place], made)
                    yield place, made._replace(tries=1 + again[future.key])
        finally:
            ended.set()
            if self.client.status == "running":
                self.client.unsubscribe_topic(_EVENTS)
                self.client.cancel([future for future in futures if not future.done()])

    def _submitted(self, task: Task, items: Sequence[Any]) -> list[Future[Made]]:
        from dask.delayed import delayed

        if any(_is_delayed(item) for item in items):  # partitions, which are not kept
            made = delayed(call, pure=False)
            futures: list[Future[Made]] = self.client.compute([made(task, item) for item in items])
        else:
            key = f"evalframe-{task.name}"
            futures = self.client.map(call, [task] * len(items), items, pure=False, key=key)
        return futures

    def _give_up(self, futures: list[Future[Made]], ended: Event) -> None:
        """Cancel futures if no worker is left, for which Dask would wait for ever."""
        seconds = 0.0
        while seconds < _ABSENCE:
            if ended.wait(_LOOK):
                return
            try:
                seconds = 0.0 if self.client.nthreads() else seconds + _LOOK
            except Exception:  # no scheduler, either, which the futures tell
                return
        self.client.cancel(futures, reason=f"no worker for {seconds:g} s")

    def _error(self, task: Task, item: Any, reason: Any) -> EngineError:
        """Why there is no result: its workers died, it was given up, or anything else."""
        from distributed import KilledWorker

        if not isinstance(reason, tuple):
            given_up = getattr(reason, "reason", reason)
            return EngineError(
                f"{self._scheduler} gave up tasks ({given_up}); see that it runs, and run again"
            )
        _, error, _ = reason
        if isinstance(error, KilledWorker):
            return EngineError(fatal(task, item, error.allowed_failures + 1))
        return EngineError(f"{self._scheduler} failed ({error}); run again")

    @property
    def _scheduler(self) -> str:
        scheduler = self.client.scheduler
        return f"the scheduler at {scheduler.address}" if scheduler else "the scheduler"


def _is_delayed(item: Any) -> bool:
    """True for what Dask computes on the way, also within tuples."""
    from dask.delayed import Delayed

    return isinstance(item, Delayed) or (isinstance(item, tuple) and any(map(_is_delayed, item)))


@contextmanager
def joined(address: str) -> Iterator[OnDask]:
    """Workers of a scheduler at `host:port`."""
    with needing("dask", "a Dask cluster"):
        from distributed import Client
    try:
        client = Client(f"tcp://{address}", timeout=_PATIENCE, set_as_default=False)
    except (TimeoutError, OSError) as error:
        raise EngineError(f"no Dask scheduler answers at {address}: {error}") from error
    with _silence("distributed.client"), client:  # errors are ours, without a traceback
        yield OnDask(client, f"dask://{address}")


@contextmanager
def _silence(name: str) -> Iterator[None]:
    """Log nothing under this name for the time of a block."""
    logger = logging.getLogger(name)
    logger.addFilter(_nothing)
    try:
        yield
    finally:
        logger.removeFilter(_nothing)


def _nothing(record: logging.LogRecord) -> bool:
    return False


@contextmanager
def started(workers: int, folder: Path) -> Iterator[OnDask]:
    """A cluster of this machine: processes of one thread each, their files in a folder."""
    with needing("dask", "a Dask cluster"):
        import dask
        from distributed import Client, LocalCluster
    refuse_workers()
    with environment(ONE_THREAD), dask.config.set(_PATIENT):
        try:
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # it listens in any case: at a port of its own
                silence_logs=50,
                local_directory=str(folder),
            )
        except RuntimeError as error:
            raise EngineError(f"Dask does not start here ({error}); {GUARD}") from error
        with cluster, Client(cluster, set_as_default=False) as client:
            yield OnDask(client, "dask")
