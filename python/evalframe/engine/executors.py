"""Adapter to executors of `concurrent.futures`, and the pool of processes that we start."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from evalframe.engine.protocol import EngineError, Made, Task, call


@dataclass
class OnExecutor:
    """An executor that somebody else starts and stops."""

    executor: Executor
    name: str = "executor"

    def check(self, seconds: float) -> int:
        """The number of its workers."""
        return int(getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1)

    def stream(self, task: Task, items: Sequence[Any]) -> Iterator[tuple[int, Made]]:
        """See `Engine`."""
        places: dict[Future[Made], int] = {}
        try:
            places = {
                self.executor.submit(call, task, item): place for place, item in enumerate(items)
            }
            for future in as_completed(places):
                yield places[future], future.result()
        except BrokenProcessPool as error:
            raise EngineError(
                "a worker of the executor died, and it restarts none; use Dask or Ray, or run "
                "again with a state store, which keeps finished shards"
            ) from error
        finally:
            for future in places:
                future.cancel()


def spawned(workers: int) -> ProcessPoolExecutor:
    """Processes of one thread each. Polars does not survive a fork, so they are spawned."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # inherited; this process has loaded Polars
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
