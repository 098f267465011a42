"""The responses of a rag job, from tables or from prediction files, with their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.jobs.inputs import describing, open_files
from evalframe.jobs.paths import File, find, refuse_inputs
from evalframe.rag.answers import answers_from_json, answers_from_text
from evalframe.rag.joining import attach_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from evalframe.jobs.rag.job import AnswerText, RagJob


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
    named = [*job.items, *([] if job.instances is None else [job.instances])]
    found = find(job.items, folder)
    instances = [] if job.instances is None else find([job.instances], folder)
    for path in targets:
        refuse_inputs(path, [*found, *instances], named, folder)
    table, sources = open_files(found, texts=TEXTS)
    if instances:
        answers, more = open_files(instances, texts=TEXTS)
        table = attach_answers(table, answers)
        sources = [*sources, *more]
    table = with_answers(table, job.answers)
    return Opened(table, lambda: [each.describe(digest=job.hash_inputs) for each in sources])


TEXTS = ("answers", "fake_answers")
"""Columns of mixed shapes, from text to lists of lists."""


def with_answers(table: pl.LazyFrame, said: AnswerText | None) -> pl.LazyFrame:
    """Answers in text as groups of aliases, of JSON where they are, or are said to be."""
    if table.collect_schema().get("answers") != pl.String or said == "text":
        return table
    read = answers_from_json if said == "json" else answers_from_text
    return table.with_columns(read("answers"))


def _predictions(job: RagJob, folder: Path, targets: Sequence[Path]) -> Opened:
    table = ef.rag.read_rgb([folder / item for item in job.items])
    rows = table.group_by("file", maintain_order=True).len()
    files = [File.at(name) for name in rows["file"]]
    for path in targets:
        refuse_inputs(path, files, (), folder)
    return Opened(table.lazy(), describing(files, rows["len"], digest=job.hash_inputs))
