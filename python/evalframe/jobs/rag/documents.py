"""Prompts from tables of instances, or from data files of RGB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from evalframe.compat import rgb
from evalframe.core.choices import FlatAnswers
from evalframe.core.errors import ParameterError
from evalframe.jobs.columns import Columns, check_columns, check_found, naming_columns
from evalframe.jobs.inputs import open_files
from evalframe.jobs.outputs import check_output
from evalframe.jobs.paths import find, reading, refuse_inputs
from evalframe.jobs.rag.inputs import ROLES, TEXTS, answer_notes, language_of, with_answers
from evalframe.rag.documents.prompting import check_prompt_file, prompts, write_prompts
from evalframe.rag.documents.selecting import select_documents
from evalframe.report.wide_table import wide_table

if TYPE_CHECKING:
    from evalframe.jobs.rag.job import AnswerText


_KEYS = ("dataset", "noise_rate", "passage_num", "correct_passage_rate")


@dataclass(frozen=True)
class Written:
    """Number of prompts, table of questions and documents by setting, notes on answers."""

    prompts: int
    table: pl.DataFrame
    notes: Sequence[str]


def write_documents(
    instances: Sequence[str],
    *,
    noise: Sequence[float],
    passages: int,
    correct: float,
    order: Literal["original", "seeded"],
    seed: int,
    output: str,
    answers: AnswerText | None = None,
    flat_answers: FlatAnswers | None = None,
    language: str | None = None,
    columns: Columns | None = None,
) -> Written:
    """Choose documents for every instance and write the prompts, completely or not at all.

    Tables are files, globs or folders; files that end in .json are data files of RGB. The other
    arguments are the flags of `evalframe rag documents`.
    """
    columns = columns or {}
    check_columns(columns, ROLES)
    files = find(instances)
    check_prompt_file(Path(output))
    check_output(Path(output))
    refuse_inputs(Path(output), files, instances, Path())
    paths = [file.path for file in files if file.path.suffix.lower() == ".json"]
    if paths and len(paths) < len(files):
        raise ParameterError("tables and data files of RGB are read apart; use two calls")
    if paths and (answers or flat_answers):
        raise ParameterError("data files of RGB say what answers are; leave out how to read them")
    spoken = language_of(language, Path())
    if paths:
        check_found(columns, "instances")
        table = source = rgb.read_instances(paths).lazy()
    else:
        source, _ = open_files(files, texts=TEXTS, columns=columns)
        check_found(columns, "instances", source.collect_schema())
        named = {name for names in columns.values() for name in names} - {*columns}
        source = source.drop(named, strict=False)  # prompts have the columns of their question
        table = with_answers(source, answers, flat_answers)
    with naming_columns(columns, ROLES), reading(", ".join(instances)):
        select = rgb.select_documents if order == "original" else select_documents
        chosen = select(
            table, noise_rate=list(noise), passage_num=passages, correct_rate=correct, seed=seed
        )
        table_of_prompts = prompts(chosen, language=spoken).collect()
        notes = [] if paths else answer_notes(source, answers, flat_answers)
    return Written(write_prompts(table_of_prompts, output), _counted(table_of_prompts), notes)


def _counted(table: pl.DataFrame) -> pl.DataFrame:
    chosen = pl.col("status") == "ok"
    return (
        table.group_by(_KEYS)
        .agg(
            chosen.sum().alias("questions"),
            pl.col("n_docs").mean().alias("documents"),
            pl.col("realised_noise_rate").mean().alias("noise"),
            (~chosen).sum().alias("without"),
            pl.col("status").filter(~chosen).first().alias("because"),
        )
        .sort(_KEYS)
    )


def summary(written: Written, output: str) -> str:
    """The written prompts as text."""
    columns = {name: name for name in ("questions", "documents", "noise", "without", "because")}
    heads = columns | {"noise": "share of noise", "documents": "documents each"}
    if not written.table["without"].sum():
        heads = {name: head for name, head in heads.items() if name not in ("without", "because")}
    table = wide_table(written.table, _KEYS, heads, digits=2)
    return "\n".join([f"{table}\n\n{written.prompts:,} prompts in {output}", *written.notes])
