"""Prompts from tables of instances, or from data files of RGB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat import rgb
from evalframe.core.errors import ParameterError
from evalframe.core.scan import find, reading
from evalframe.jobs.inputs import check_columns, check_found, naming_columns, open_tables_of
from evalframe.jobs.paths import refuse_inputs
from evalframe.jobs.rag.inputs import ROLES, TEXTS, answer_notes, language_of, with_answers
from evalframe.jobs.rows import Rows
from evalframe.jobs.written import check_output
from evalframe.rag.documents.prompting import check_prompt_file, prompts, write_prompts
from evalframe.rag.documents.selecting import select_documents
from evalframe.reporting.table import written

if TYPE_CHECKING:
    from evalframe.jobs.rag import Documents


_KEYS = ("dataset", "noise_rate", "passage_num", "correct_passage_rate")


def run(flags: Documents) -> str:
    """Choose documents for every instance and write the prompts, completely or not at all.

    Instances are tables, or data files of RGB, which end in .json.
    """
    columns, output = flags.columns, Path(flags.output)
    check_columns(columns, ROLES)
    files = find(flags.instances)
    check_prompt_file(output)
    check_output(output)
    refuse_inputs(output, files, flags.instances, Path())
    paths = [file.path for file in files if file.path.suffix.lower() == ".json"]
    if paths and len(paths) < len(files):
        raise ParameterError("tables and data files of RGB are read apart; use two calls")
    if paths and (flags.answers or flags.flat_answers):
        raise ParameterError("data files of RGB say what answers are; leave out how to read them")
    language = language_of(flags.language, Path())
    if paths:
        check_found(columns, "instances")
        table = source = rgb.read_instances(paths).lazy()
    else:
        source, _ = open_tables_of(files, texts=TEXTS, columns=columns)
        check_found(columns, "instances", source.collect_schema())
        named = {name for names in columns.values() for name in names} - {*columns}
        source = source.drop(named, strict=False)  # prompts have the columns of their question
        table = with_answers(source, flags.answers, flags.flat_answers)
    with naming_columns(columns, ROLES), reading(", ".join(flags.instances)):
        select = rgb.select_documents if flags.order == "original" else select_documents
        chosen = select(
            table,
            noise_rate=[*flags.noise],
            passage_num=flags.passages,
            correct_rate=flags.correct,
            seed=flags.seed,
        )
        table_of_prompts = prompts(chosen, language=language).collect()
        notes = [] if paths else answer_notes(Rows(source), flags.answers, flags.flat_answers)
    count = write_prompts(table_of_prompts, output)
    summary = f"{_summary(table_of_prompts)}\n\n{count:,} prompts in {flags.output}"
    return "\n".join([summary, *notes])


def _summary(prompts: pl.DataFrame) -> str:
    """The questions and documents of each setting, and why questions are without documents."""
    chosen = pl.col("status") == "ok"
    table = (
        prompts.group_by(_KEYS)
        .agg(
            chosen.sum().alias("questions"),
            pl.col("n_docs").mean().alias("documents"),
            pl.col("realised_noise_rate").mean().alias("noise"),
            (~chosen).sum().alias("without"),
            pl.col("status").filter(~chosen).first().alias("because"),
        )
        .sort(_KEYS)
    )
    heads = {"questions": "", "documents": "documents each", "noise": "share of noise"}
    if table["without"].sum():
        heads |= {"without": "", "because": ""}
    return written(table, heads, keys=_KEYS)
