"""Responses of a rag job, from tables or prediction files, with their answers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.compat import rgb
from evalframe.core.errors import InputError, UnknownNameError
from evalframe.jobs.columns import check_found
from evalframe.jobs.inputs import describing, open_files
from evalframe.jobs.paths import File, find, reading, refuse_inputs
from evalframe.rag.answers import (
    answer_groups,
    answers_from_json,
    answers_from_text,
    is_flat,
    is_json,
    lists_as_groups,
)
from evalframe.rag.contract import instances_contract, responses_contract
from evalframe.rag.documents.counts import OK
from evalframe.rag.documents.responses import PROMPT_COLUMNS
from evalframe.rag.joining import attach_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from evalframe.jobs.rag.job import AnswerText, FlatAnswers, RagJob


@dataclass(frozen=True)
class Opened:
    """Responses, how to describe their files, and notes for the reader of the result."""

    table: pl.LazyFrame
    describe: Callable[[], list[dict[str, Any]]]
    notes: Callable[[], list[str]] = list


def open_responses(job: RagJob, folder: Path, targets: Sequence[Path]) -> Opened:
    """The responses of a job; `targets` are the files it will write."""
    if job.rgb:
        return _predictions(job, folder, targets)
    beside = [name for name in (job.instances, job.prompts) if name is not None]
    found, more = find(job.items, folder), find(beside, folder) if beside else []
    for path in targets:
        refuse_inputs(path, [*found, *more], [*job.items, *beside], folder)
    texts = TEXTS if job.prompts is None else _KEYED
    table, sources = open_files(found, texts=texts, columns=job.columns)
    if more:
        others, further = open_files(more, texts=TEXTS, columns=job.columns)
        sources = [*sources, *further]
    check_found(job.columns, "responses", *(each.schema for each in sources))
    if more:
        with reading(", ".join([*job.items, *beside])):
            joined = attach_answers if job.instances else partial(_answered, job)
            table = joined(table, others)
    return Opened(
        with_answers(table, job.answers, job.flat_answers),
        lambda: [each.describe(digest=job.hash_inputs) for each in sources],
        lambda: [*_unanswered(job, table), *answer_notes(table, job.answers, job.flat_answers)],
    )


TEXTS = ("answers", "fake_answers")
"""Columns of mixed shapes, from text to lists of lists."""

_KEYED = (*TEXTS, "id", "prompt_id", "response")

_CONTRACTS = (
    responses_contract(
        evaluation="evaluation",
        answers="answers",
        weight="weight",
        label="label",
        factlabel="factlabel",
    ),
    instances_contract(
        fake_answers="fake_answers",
        positive="positive",
        negative="negative",
        positive_wrong="positive_wrong",
    ),
)
ROLES = {"prompt_id", *(column.name for contract in _CONTRACTS for column in contract.columns)}
"""Roles of responses and instances, for which a job can name columns."""


def _answered(job: RagJob, responses: pl.LazyFrame, prompts: pl.LazyFrame) -> pl.LazyFrame:
    """The prompts with their responses, and all other columns of the responses."""
    columns = responses.collect_schema().names()
    id = "prompt_id" if "prompt_id" in columns else "id"
    known = {id, "response", "model", *PROMPT_COLUMNS}
    rest = [name for name in columns if name not in known]
    by = [name for name in rest if name in (*(job.by or ()), *(job.key or ()))]
    return ef.rag.read_responses(
        responses,
        prompts,
        id=id,
        model="model" if "model" in columns else None,
        by=by,
        columns=[name for name in rest if name not in by],
    )


def _unanswered(job: RagJob, table: pl.LazyFrame) -> list[str]:
    """A note on prompts without a response."""
    if job.prompts is None:
        return []
    silent, unasked = pl.col("response").is_null().sum(), (pl.col("status") != OK).sum()
    count, never, total = table.select(silent, unasked, pl.len().alias("all")).collect().row(0)
    each = ", counted for each model," if "model" in table.collect_schema() else ""
    so = "count as wrong" if job.dropped == "wrong" else "are left out as dropped"
    why = f" ({never:,} could not be asked)" if never else ""
    note = f"{count:,} of {total:,} prompts{each} have no response{why}, and {so}."
    return [note] if count else []


def with_answers(
    table: pl.LazyFrame, text: AnswerText | None, flat: FlatAnswers | None
) -> pl.LazyFrame:
    """Answers as groups of aliases; text is JSON if all of it is, unless the job says."""
    dtype, flat = table.collect_schema().get("answers"), flat or "parts"
    if dtype != pl.String:
        groups = lists_as_groups(pl.col("answers"), dtype, flat)
        return table if groups is None else table.with_columns(groups)
    if text == "json":
        return table.with_columns(answers_from_json(flat_answers=flat))
    read = answer_groups if text == "text" else answers_from_text
    return table.with_columns(read(flat_answers=flat, on_invalid="null"))


def answer_notes(
    table: pl.LazyFrame, text: AnswerText | None, flat: FlatAnswers | None
) -> list[str]:
    """Notes on answers whose reading was assumed."""
    dtype, answers = table.collect_schema().get("answers"), pl.col("answers")
    if dtype is None:
        return []
    in_json = is_json(answers) if dtype == pl.String else pl.lit(None)
    lists = is_flat(answers, dtype) if text != "text" else pl.lit(value=False)
    counted = table.select(pl.len(), a=in_json.sum(), b=lists.sum(), c=answers.count()).collect()
    total, json, several, there = counted.row(0)
    notes = []
    if dtype == pl.String and text is None and 0 < json < there:
        notes.append(
            f"Answers in text: {json:,} of {total:,} are read as JSON, the others as one alias each"
            " (--answers reads all alike)."
        )
    if several:
        meant = "any of which suffices" if flat == "aliases" else "all of them required"
        notes.append(
            f"Answers: {several:,} of {total:,} are flat lists of several texts, {meant}"
            f" (--flat-answers {flat or 'parts'})."
        )
    elif flat is not None:
        notes.append(
            f"Answers: no flat list of several texts is among them; --flat-answers {flat} changes"
            " nothing."
        )
    return notes


def language_of(said: str | Mapping[str, Any] | None, folder: Path) -> ef.rag.Language | None:
    """The language of a job, from the entries of a table or of a TOML file."""
    if said is None:
        return None
    if isinstance(said, Mapping):
        place, entries = "language", said
    else:
        path, place = folder / said, said
        with reading(said):
            text = path.read_bytes()
        try:
            entries = tomllib.loads(text.decode("utf-8-sig"))
        except ValueError as error:
            raise InputError(f"{said} is not a TOML file of a language: {error}") from None
    known = {field.name: field.default is MISSING for field in fields(ef.rag.Language)}
    for name in entries:
        if name not in known:
            raise UnknownNameError.of(f"entry of {place}", name, known)
    for name, required in known.items():
        if required and name not in entries:
            raise InputError(f"{place} lacks its entry {name!r}")
    return ef.rag.Language(**entries)


def _predictions(job: RagJob, folder: Path, targets: Sequence[Path]) -> Opened:
    check_found(job.columns, "responses")
    # The same run in several files is refused, unless the job tells its rows apart by them.
    apart = job.key == () or "file" in (*(job.by or ()), *(job.key or ()))
    paths = [folder / item for item in job.items]
    table = rgb.read(paths, duplicates="keep" if apart else "raise")
    rows = table.group_by("file", maintain_order=True).len()
    files = [File.at(name) for name in rows["file"]]
    for path in targets:
        refuse_inputs(path, files, (), folder)
    return Opened(table.lazy(), describing(files, rows["len"], digest=job.hash_inputs))
