"""Logs of other programs as records of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

from evalframe.core.documents import Read
from evalframe.logs.reading import find, read_logs


def open_logs(
    paths: Sequence[Path],
    *,
    kind: str | None = None,
    extra: Sequence[str] = (),
    metadata: Sequence[str] = (),
) -> Read:
    """The items of logs, read once, since a job asks for them several times."""
    logs, _ = find([*paths], kind)
    items = read_logs([*paths], kind=kind, extra=extra, metadata=metadata).collect()
    rows = dict(items.group_by("log").agg(pl.len()).iter_rows())
    return Read(items.lazy(), [(str(log.path), rows.get(log.name, 0)) for log in logs])


inspect = partial(open_logs, kind="inspect")
lm_eval = partial(open_logs, kind="lm_eval")
helm = partial(open_logs, kind="helm")
every_eval_ever = partial(open_logs, kind="every_eval_ever")
