"""The responses of a rag job, from tables or from prediction files, with their answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import evalframe as ef
from evalframe.jobs.inputs import described, open_files
from evalframe.jobs.paths import File, find, refuse_inputs
from evalframe.rag.joining import attach_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from evalframe.jobs.rag.job import RagJob


@dataclass(frozen=True)
class Opened:
    """The responses, and what describes the files that they come from."""

    table: pl.LazyFrame
    describe: Callable[[], list[dict[str, Any]]]


def open_responses(job: RagJob, folder: Path, targets: Sequence[Path]) -> Opened:
    """The responses of a job.

    Args:
        job: The job.
        folder: What relative names are relative to.
        targets: Files that will be written, which must not be among the inputs.

    Raises:
        InputError: An input cannot be read.
        OutputError: A target is one of the inputs.
    """
    if job.rgb:
        return _predictions(job, folder, targets)
    found = find(job.items, folder)
    instances = [] if job.instances is None else find([job.instances], folder)
    for path in targets:
        refuse_inputs(path, [*found, *instances], job.items, folder)
    table, sources = open_files(found)
    if instances:
        answers, more = open_files(instances)
        table = attach_answers(table, answers)
        sources = [*sources, *more]
    return Opened(table, lambda: [each.describe(digest=job.hash_inputs) for each in sources])


def _predictions(job: RagJob, folder: Path, targets: Sequence[Path]) -> Opened:
    table = ef.rag.read_rgb([folder / item for item in job.items])
    rows = table.group_by("file", maintain_order=True).len()
    files = [File(Path(name).name, Path(name)) for name in rows["file"]]
    for path in targets:
        refuse_inputs(path, files, (), folder)

    def describe() -> list[dict[str, Any]]:
        return [
            described(file, count, digest=job.hash_inputs)
            for file, count in zip(files, rows["len"], strict=True)
        ]

    return Opened(table.lazy(), describe)
