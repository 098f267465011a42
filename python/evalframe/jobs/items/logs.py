"""Logs of other programs as records of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from evalframe.core.documents import Read
from evalframe.core.remote import is_remote
from evalframe.engine.protocol import Counted, Task, run
from evalframe.engine.shards import tasks_of
from evalframe.logs.reading import Log, Tally, collected, find, read_logs, types_of
from evalframe.logs.table import wanted

if TYPE_CHECKING:
    from evalframe.engine.protocol import Engine
    from evalframe.jobs.rows import Workers
    from evalframe.logs.table import Wanted


def open_logs(
    paths: Sequence[Path],
    *,
    kind: str | None = None,
    extra: Sequence[str] = (),
    metadata: Sequence[str] = (),
    workers: Workers | None = None,
) -> Read:
    """The items of logs, read once, since a job asks for them several times."""
    logs, skipped = find([*paths], kind)
    if workers is None:
        items = read_logs([*paths], kind=kind, extra=extra, metadata=metadata).collect()
    else:
        items, tally = _read_by(workers.engine, logs, wanted(extra, metadata))
        tally.skipped |= skipped
        tally.warn()
    rows = dict(items.group_by("log").agg(pl.len()).iter_rows())
    return Read(items.lazy(), [(str(log.path), rows.get(log.name, 0)) for log in logs])


class _Some(NamedTuple):
    """Logs that a worker reads at a time."""

    logs: list[Log]

    def __str__(self) -> str:
        return ", ".join(log.name for log in self.logs)


_FOLDER = 1 << 24
"""Bytes of a log that is a folder, about."""


def _read_by(engine: Engine, logs: Sequence[Log], asked: Wanted) -> tuple[pl.DataFrame, Tally]:
    """The items of logs, each read by a worker, in their order."""
    here = [log if is_remote(log.path) else log._replace(path=log.path.absolute()) for log in logs]
    sizes = [log.path.stat().st_size if log.path.is_file() else _FOLDER for log in here]
    some = [_Some(each) for each in tasks_of(here, sizes, engine.check())]
    types: dict[str, set[str]] = {}
    if asked.metadata:
        for kinds in run(engine, Task.of("types", partial(_types, asked.metadata)), some):
            types = {name: types.get(name, set()) | known for name, known in kinds.items()}
    parts = run(engine, Task.of("logs", partial(_items, asked, types)), some)
    tally = Tally()
    for _, each in parts:
        tally.counts |= each.counts
        tally.skipped |= each.skipped
    return pl.concat([items for items, _ in parts]), tally


def _types(metadata: Sequence[str], some: _Some) -> dict[str, set[str]]:
    return types_of(some.logs, metadata)


def _items(asked: Wanted, types: dict[str, set[str]], some: _Some) -> Counted:
    items, tally = collected(some.logs, asked, types)
    return Counted((items, tally), rows=len(items))
