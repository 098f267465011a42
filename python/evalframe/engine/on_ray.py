"""Adapter to Ray: one that runs already, a cluster at an address, or one of this machine.

Ray repeats tasks of dead workers itself, but does not say so. Tasks go there without that, and are
repeated here, where it can be counted.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalframe.core.errors import needing
from evalframe.engine.executors import ONE_THREAD, environment
from evalframe.engine.protocol import SECONDS, EngineError, Stream, Task, call, fatal

TRIES = 4
"""Workers that may die of one task, as with Dask."""

_BATCH = 64
"""Results that are waited for at a time: each wait looks at all tasks that are left."""

_WAIT = 0.5
"""Seconds before fewer results are taken."""

_STORE = 100_000_000
"""Bytes of shared memory of a Ray of this machine: results are small."""

_ENVIRONMENT = {
    **ONE_THREAD,
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",  # else a token is written into the user's home
}


@dataclass
class OnRay:
    """Ray, which this process is connected to."""

    name: str = "ray"
    scratch: Path | None = None

    def check(self, seconds: float = SECONDS) -> int:
        """The number of CPUs of all nodes."""
        import ray

        slots = int(ray.cluster_resources().get("CPU", 0))
        if not slots:
            raise EngineError("Ray has no node with CPUs; start some, and run again")
        return slots

    def each(
        self, function: Callable[..., Any], args: tuple[Any, ...], seconds: float
    ) -> dict[str, Any]:
        """Ask a worker of each node: those of a node are alike."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        asked = {
            node["NodeManagerAddress"]: ray.remote(function)
            .options(
                num_cpus=0,
                max_retries=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
            )
            .remote(*args)
            for node in ray.nodes()
            if node["Alive"]
        }
        answers: dict[str, Any] = {}
        for node, ref in asked.items():
            try:
                answers[node] = ray.get(ref, timeout=seconds)
            except ray.exceptions.RayTaskError as error:
                answers[node] = error.cause
            except ray.exceptions.RayError as error:
                raise EngineError(f"node {node} of Ray does not answer: {error}") from error
        return answers

    def stream(self, task: Task, items: Sequence[Any]) -> Stream:
        """Submit all at once; see `Engine`."""
        import ray
        from ray import exceptions

        mended = (
            exceptions.WorkerCrashedError,
            exceptions.NodeDiedError,
            exceptions.ObjectLostError,
            exceptions.OutOfMemoryError,
        )
        remote = ray.remote(max_retries=0)(call)
        shared = ray.put(task)
        places = {remote.remote(shared, item): place for place, item in enumerate(items)}
        tries: Counter[int] = Counter()
        try:
            while places:
                ready, _ = ray.wait([*places], num_returns=min(_BATCH, len(places)), timeout=_WAIT)
                for ref in ready:
                    place = places.pop(ref)
                    tries[place] += 1
                    try:
                        made = ray.get(ref)
                    except mended as error:
                        if tries[place] == TRIES:
                            raise EngineError(fatal(task, items[place], TRIES)) from error
                        places[remote.remote(shared, items[place])] = place
                    else:
                        yield place, made._replace(tries=tries[place])
        except exceptions.RayError as error:
            raise EngineError(f"Ray failed ({error}); run again") from error
        finally:
            if ray.is_initialized():
                for ref in places:
                    ray.cancel(ref, force=True)


@contextmanager
def joined(address: str) -> Iterator[OnRay]:
    """A Ray cluster at `host:port` of its server of clients."""
    with environment({}), _connected(address=f"ray://{address}"):
        yield OnRay(f"ray://{address}")


@contextmanager
def started(workers: int, folder: Path) -> Iterator[OnRay]:
    """Ray that this process is connected to, or that of a job's cluster; else one of our own.

    Our own is of this machine, its files in a folder. Its workers import from where we do.
    """
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        yield OnRay()
        return
    if address := os.environ.get("RAY_ADDRESS"):  # as in jobs of a Ray cluster
        with environment({}), _connected(address=address):
            yield OnRay(address)
        return
    path = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path)
    with environment(_ENVIRONMENT), ExitStack() as stack:
        with environment({"PYTHONPATH": path}):  # of workers only
            stack.enter_context(
                _connected(
                    address="local",
                    num_cpus=workers,
                    include_dashboard=False,
                    log_to_driver=False,
                    configure_logging=False,
                    object_store_memory=_STORE,
                    _temp_dir=str(folder),
                )
            )
        yield OnRay()


@contextmanager
def _connected(**settings: Any) -> Iterator[None]:
    with needing("ray", "Ray"):
        import ray
    try:
        ray.init(**settings)
    except (SystemExit, Exception) as error:  # both happen
        raise EngineError(f"Ray does not start: {error}") from error
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            ray.shutdown()
            gc.collect()  # it does not wait for its processes to end, of which Python would warn
