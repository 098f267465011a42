"""Responses of a rag job, from tables or prediction files, with their answers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.core.choices import FlatAnswers
from evalframe.core.errors import InputError, UnknownNameError
from evalframe.core.scan import reading
from evalframe.jobs.family import LeftOut
from evalframe.jobs.inputs import Opened, check_found, has_logs, open_records, open_tables
from evalframe.jobs.rows import Rows
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
from evalframe.rag.documents.prompting import PROMPT_COLUMNS
from evalframe.rag.joining import attach_answers

if TYPE_CHECKING:
    from evalframe.jobs.rag import AnswerText, RagJob
    from evalframe.jobs.rows import Workers


def open_responses(
    job: RagJob, folder: Path, targets: Sequence[Path], workers: Workers | None = None
) -> Opened:
    """The responses of a job; `targets` are the files it will write."""
    texts = TEXTS if job.prompts is None else _KEYED
    opened = open_records(job, folder, targets, texts=texts, workers=workers)
    others = [
        open_tables([name], job, folder, targets, texts=TEXTS)
        for name in (job.instances, job.prompts)
        if name is not None
    ]
    files = [*opened.files, *(file for other in others for file in other.files)]
    check_found(job.columns, "responses", *(f.columns for f in files if f.columns is not None))
    if job.reader is not None and not has_logs(job):
        return opened
    rows = opened.rows
    for other in others:
        with reading(", ".join(file.name for file in files)):
            if job.instances:
                instances = other.table.collect() if rows.is_spread else other.table
                rows = rows.then(partial(attach_answers, instances=instances))
            else:  # a prompt may have its responses anywhere, or none
                rows = Rows(_answered(job, rows.table, other.table))
    answered = rows.then(partial(with_answers, text=job.answers, flat=job.flat_answers))
    return Opened(answered, files, beside={"raw": rows})


def notes_of(job: RagJob, opened: Opened) -> list[str]:
    """How answers were read, and which prompts have no response."""
    if "raw" not in opened.beside:
        return [*opened.notes]
    rows = opened.beside["raw"]
    return [*_unanswered(job, rows.table), *answer_notes(rows, job.answers, job.flat_answers)]


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
    reserved = {id, "response", "model", *PROMPT_COLUMNS}
    rest = [name for name in columns if name not in reserved]
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
    return [note if job.dropped == "wrong" else LeftOut(note)] if count else []


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


def answer_notes(rows: Rows, text: AnswerText | None, flat: FlatAnswers | None) -> list[str]:
    """Notes on answers whose reading was assumed."""
    dtype, answers = rows.schema.get("answers"), pl.col("answers")
    if dtype is None:
        return []
    in_json = is_json(answers) if dtype == pl.String else pl.lit(None)
    lists = is_flat(answers, dtype) if text != "text" else pl.lit(value=False)
    counts = [pl.len(), in_json.sum().alias("a"), lists.sum().alias("b"), answers.count()]
    total, json, several, non_null = rows.collect(methodcaller("select", counts)).sum().row(0)
    notes = []
    if dtype == pl.String and text is None and 0 < json < non_null:
        notes.append(
            f"Answers in text: {json:,} of {total:,} are read as JSON, the others as one alias each"
            " (--answers reads all alike)."
        )
    if several:
        meaning = "any of which suffices" if flat == "aliases" else "all of them required"
        notes.append(
            f"Answers: {several:,} of {total:,} are flat lists of several texts, {meaning}"
            f" (--flat-answers {flat or 'parts'})."
        )
    elif flat is not None:
        notes.append(
            f"Answers: no flat list of several texts is among them; --flat-answers {flat} changes"
            " nothing."
        )
    return notes


def language_of(language: str | Mapping[str, Any] | None, folder: Path) -> ef.rag.Language | None:
    """The language of a job, from the entries of a table or of a TOML file."""
    if language is None:
        return None
    if isinstance(language, Mapping):
        location, entries = "language", language
    else:
        path, location = folder / language, language
        with reading(language):
            text = path.read_bytes()
        try:
            entries = tomllib.loads(text.decode("utf-8-sig"))
        except ValueError as error:
            raise InputError(f"{language} is not a TOML file of a language: {error}") from None
    known = {field.name: field.default is MISSING for field in fields(ef.rag.Language)}
    for name in entries:
        if name not in known:
            raise UnknownNameError.of(f"entry of {location}", name, known)
    for name, required in known.items():
        if required and name not in entries:
            raise InputError(f"{location} lacks its entry {name!r}")
    return ef.rag.Language(**entries)
