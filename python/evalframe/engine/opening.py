"""Engines as a caller names them, opened for one job and left as they were found.

What we start (processes, a cluster of this machine) we stop. What we join we only look at: are
there workers, have they our versions, and do they see the folder for files between tasks?
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypeAlias

from evalframe.core.errors import ParameterError, did_you_mean
from evalframe.engine import on_dask, on_ray
from evalframe.engine.executors import OnExecutor, processes
from evalframe.engine.protocol import SECONDS, Engine, EngineError

if TYPE_CHECKING:
    from distributed import Client

AnyEngine: TypeAlias = "str | Executor | Client | Engine | On"
"""What `engine=` takes."""

CLUSTERS = {"dask": on_dask, "ray": on_ray}
"""Adapters to clusters by name, each a module with `joined` and `started`; add one here."""

_FORMS = ("{}", "{}://host:port")
NAMES = (
    *(form.format(name) for name in CLUSTERS for form in _FORMS),
    *("processes", "processes:N"),
)

_NAME = re.compile(
    rf"(?P<cluster>{'|'.join(CLUSTERS)})(://(?P<address>[^/\s]+:\d+)/?)?"
    r"|processes(:(?P<workers>[1-9]\d*))?"
)

_PATIENCE = 5.0
"""Seconds for a connection."""

_ANSWER = 60.0
"""Seconds for a worker to answer, which may have to be started on a busy machine."""


@dataclass(frozen=True)
class On:
    """An engine, and where its workers may keep files. Made by `on`."""

    engine: str | Executor | Client | Engine
    scratch: Path | None


def on(engine: str | Executor | Client | Engine, *, scratch: str | Path | None = None) -> On:
    """Name an engine together with a folder for files between its tasks.

    Args:
        engine: As for `engine=`: a Dask client, `"ray"`, an executor, or one of the names.
        scratch: A folder that exists and that all workers and this process see, such as one of
            a network file system. Files of a job go to a folder of their own in it, which is
            removed at the end. By default the temporary folder of this machine, if all workers
            see it.

    Returns:
        What `engine=` takes.

    Raises:
        ParameterError: `scratch` is no folder.

    Examples:
        >>> import evalframe as ef
        >>> ef.engine.on("processes:2", scratch="/tmp").engine
        'processes:2'
    """
    if scratch is not None and not Path(scratch).is_dir():
        raise ParameterError(f"scratch must be a folder that exists, got {str(scratch)!r}")
    return On(engine, None if scratch is None else Path(scratch).absolute())


@contextmanager
def opened(engine: AnyEngine, seconds: float = SECONDS) -> Iterator[Engine]:
    """An engine that answers, with our versions on its workers, for the time of a block.

    `EngineError` if it does not answer in time, or a worker lacks evalframe or has another
    version; `ParameterError` if it is none.
    """
    given = engine if isinstance(engine, On) else On(engine, None)
    if isinstance(given.engine, Engine):  # opened by somebody else
        yield given.engine
        return
    with (
        _interrupts() as ignore_interrupts,
        _folders(given.scratch, _SHORT) as (folder, own),
        _adapter(given.engine, own) as adapter,
    ):
        adapter.check(seconds)
        for package in ("evalframe", "polars"):
            check_versions(adapter, package)
        seen = adapter.each(os.path.exists, (str(folder),), _ANSWER)
        blind = [worker for worker, exists in seen.items() if exists is not True]
        if not blind:
            adapter.scratch = folder
        elif given.scratch is not None:
            raise EngineError(
                f"{_workers(blind)} of {len(seen)} do not see scratch={str(given.scratch)!r}; "
                "name a folder that all of them share"
            )
        try:
            yield adapter
        finally:
            ignore_interrupts()  # or what we started would be left


@contextmanager
def _interrupts() -> Iterator[Callable[[], object]]:
    """A function after which Ctrl-C does nothing, to the end of the block."""
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or before is None:  # not ours to change
        yield lambda: None
        return
    try:
        yield partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    finally:
        signal.signal(signal.SIGINT, before)


def _adapter(engine: Any, folder: Path) -> AbstractContextManager[Engine]:
    """An adapter to an engine; what it starts ends with the block, and has its files in a folder.

    Libraries are imported where they are asked for, or have been.
    """
    if isinstance(engine, Executor):
        return nullcontext(OnExecutor(engine))
    distributed = sys.modules.get("distributed")
    if distributed is not None and isinstance(engine, distributed.Client):
        return nullcontext(on_dask.OnDask(engine))
    match = re.fullmatch(_NAME, engine) if isinstance(engine, str) else None
    if match is None:
        raise ParameterError(
            f"engine must be one of {', '.join(NAMES)} with N from 1, or in a program a Dask "
            f"client or an executor of concurrent.futures, got {engine!r}."
            f"{did_you_mean(str(engine), NAMES)}"
        )
    if not match["cluster"]:
        return processes(int(match["workers"] or _cores()))
    cluster: Any = CLUSTERS[match["cluster"]]
    adapter: AbstractContextManager[Engine]
    if match["address"]:
        _probe(match["address"])
        adapter = cluster.joined(match["address"])
    else:
        adapter = cluster.started(_cores(), folder)
    return adapter


def _probe(address: str) -> None:
    """Raise EngineError, within seconds, if no scheduler listens at `host:port`.

    Schedulers of Dask and Ray send the first byte. Without this check their clients would wait
    for minutes, or for ever, at a port where something else listens.
    """
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE) as connection:
            is_there = connection.recv(1)
    except (OSError, OverflowError) as error:
        raise EngineError(
            f"nobody answers at {address} ({error}); check the address and that the cluster is up"
        ) from error
    if not is_there:
        raise EngineError(f"what answers at {address} is no scheduler; check the port")


def _cores() -> int:
    """The cores that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(allowed(0)) if allowed else os.cpu_count() or 1


_SHORT = Path("/tmp") if Path("/tmp").is_dir() else None
"""Where engines keep their own files, among them sockets, whose paths must be short and local."""

_REMOVES = """
import os, shutil, sys
sys.stdin.read()
for folder in sys.argv[1:]:
    while os.path.exists(folder):
        shutil.rmtree(folder, ignore_errors=True)
"""


@contextmanager
def _folders(*parents: Path | None) -> Iterator[list[Path]]:
    """A new folder in each of these, or in that for temporary files; removed even if we are killed.

    A small process of its own session waits until its standard input ends, as it does when we
    close it or are killed, and removes them.
    """
    folders = [tempfile.mkdtemp(prefix="evalframe-", dir=parent) for parent in parents]
    remover = subprocess.Popen(
        [sys.executable, "-ISc", _REMOVES, *folders], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield [Path(folder) for folder in folders]
    finally:
        remover.communicate()


def check_versions(engine: Engine, package: str) -> None:
    """Raise EngineError unless all workers have the version of this process."""
    ours = version(package)
    for worker, answer in engine.each(version, (package,), _ANSWER).items():
        if answer != ours:
            found = (
                f"{package} {answer}" if isinstance(answer, str) else f"no {package}: {answer!r}"
            )
            raise EngineError(
                f"worker {worker} has {found}, and this process has {ours}; install the same on "
                f"all workers: pip install {package}=={ours}"
            )


def _workers(names: list[str]) -> str:
    few = ", ".join(names[:3]) + ", ..." * (len(names) > 3)
    return f"worker{'s' * (len(names) > 1)} {few}"
