"""Prompts from a survey, and a summary of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import evalframe as ef
from evalframe.compat import dtef
from evalframe.core.errors import ParameterError
from evalframe.jobs.outputs import check_holds, check_output, versions, write_result
from evalframe.jobs.paths import refuse_documents, refuse_inputs
from evalframe.jobs.survey.surveys import (
    files_of,
    open_survey_alone,
    read_table,
)
from evalframe.report.wide_table import wide_table


@dataclass(frozen=True)
class Written:
    """Numbers of prompts, of those over the token budget and of configurations, and a summary.

    The table has a row per round with its segments, questions, prompts, context and tokens.
    """

    prompts: int
    over_budget: int
    configurations: int
    table: pl.DataFrame
    notes: Sequence[str]


def write_survey_prompts(flags: Mapping[str, Any]) -> Written:
    """Write the prompts of a survey.

    Args:
        flags: Options of the command: `survey` (files, globs or folders), `output`, optionally
            `questions_from`, `segments_from`, `participants` and `blueprints` (files), `answers`,
            `columns`, and the options of `evalframe.survey.prompts`.
    """
    settings = dict(flags)
    sources, output = settings.pop("survey"), Path(settings.pop("output"))
    described = {name: settings.pop(f"{name}_from", None) for name in ("questions", "segments")}
    blueprints = settings.pop("blueprints", None)
    participants = settings.pop("participants", None)
    outputs = [output] if blueprints is None else [output, Path(blueprints)]
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise ParameterError(f"prompts and blueprints would both be {output}; name two files")
    for path in outputs:
        check_output(path)
        refuse_inputs(path, files_of(sources), sources, Path())
        refuse_documents(path, sources, Path())
        for other in filter(None, (*described.values(), participants)):
            refuse_inputs(path, files_of([other]), [other], Path())
    if settings.get("context_count") == "all":
        settings["context_count"] = None
    columns, answers = settings.pop("columns", {}), settings.pop("answers", ())
    rows = None if participants is None else read_table(files_of([participants]), columns)
    others = () if rows is None else rows.columns
    opened = open_survey_alone(sources, columns, others, answers=answers, **described)
    options = {name: value for name, value in settings.items() if name != "rules"}
    room = dtef if settings.get("rules") == "reference" else ef.survey
    table = room.prompts(opened.survey, participants=rows, **options)
    configurations = ef.survey.blueprints(table)
    if blueprints is not None:
        check_holds(outputs[1], configurations.schema)
    count = ef.survey.write_prompts(table, output)
    if blueprints is not None:
        write_result(configurations, outputs[1], {**versions(), "settings": settings})
    over = table.filter(pl.col("n_tokens") > settings["token_budget"])
    return Written(count, len(over), len(configurations), _counted(table), opened.notes)


def _counted(table: pl.DataFrame) -> pl.DataFrame:
    tokens, context = pl.col("n_tokens"), pl.col("context_count")
    return table.group_by("round", maintain_order=True).agg(
        pl.col("segment_id").n_unique().cast(pl.Int64).alias("segments"),
        pl.col("question_id")
        .explode(empty_as_null=False)
        .n_unique()
        .cast(pl.Int64)
        .alias("questions"),
        pl.len().cast(pl.Int64).alias("prompts"),
        context.mean().alias("context"),
        tokens.mean().round(0).cast(pl.Int64).alias("tokens"),
        tokens.max().alias("most_tokens"),
    )


_SHOWN = {
    "segments": "segments",
    "questions": "questions",
    "prompts": "prompts",
    "context": "answers shown",
    "tokens": "tokens",
    "most_tokens": "most tokens",
}


def summary(written: Written, output: str, *, width: int | None = None) -> str:
    """Format the summary as text."""
    table = wide_table(written.table, ["round"], _SHOWN, digits=1, width=width)
    line = f"{written.prompts:,} prompts of {written.configurations:,} configurations in {output}"
    if written.over_budget:
        line += f"; {written.over_budget:,} of them exceed the token budget"
    return "\n".join([f"{table}\n\n{line}", *written.notes])
