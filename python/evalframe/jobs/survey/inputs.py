"""The predictions of a survey job, from tables or from run results, and their survey."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.compat import dtef
from evalframe.core.errors import InputError, MissingColumnsError, ParameterError
from evalframe.jobs.columns import check_found
from evalframe.jobs.inputs import describing, open_files
from evalframe.jobs.paths import File, find, reading, refuse_inputs
from evalframe.jobs.survey.job import RUNS
from evalframe.jobs.survey.shapes import in_lists, survey_within
from evalframe.jobs.survey.surveys import (
    files_of,
    is_document,
    naming,
    open_survey,
    refuse_documents,
)
from evalframe.jobs.survey.texts import naming_lines
from evalframe.survey.prompting.responses import ANSWERED
from evalframe.survey.surveys import canonical_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from evalframe.compat.dtef import RunResults
    from evalframe.jobs.survey.job import SurveyJob
    from evalframe.jobs.survey.surveys import OpenedSurvey

_TEXTS = (
    "model",
    "round",
    "segment_id",
    "question_id",
    "question_key",
    "prompt_id",
    "run_id",
    "response",
    "predicted",
    "status",
)
"""Columns that are read as text from formats without types."""


@dataclass(frozen=True)
class Opened:
    """The predictions, their survey, and what describes the files that they come from.

    Attributes:
        table: The predictions.
        describe: Describes the inputs.
        tables: The columns of each table that was read.
        value: What is read of the predictions: `response`, `predicted` or `score`.
        survey: What they are compared with.
        attributes: Attributes of segments, as far as the inputs know them.
        notes: What a reader should know of them.
        results: The run results, if they are these.
    """

    table: pl.LazyFrame
    describe: Callable[[], list[dict[str, Any]]]
    tables: Sequence[Collection[str]] = ()
    value: str = "score"
    survey: OpenedSurvey | None = None
    attributes: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
    results: RunResults | None = None
    columns: tuple[str, ...] = ()
    """Columns of answers that the table had."""


def open_predictions(job: SurveyJob, folder: Path, targets: Sequence[Path]) -> Opened:
    """The predictions of a job, and its survey.

    Args:
        job: The job.
        folder: What relative names are relative to.
        targets: Files that will be written, which must not be among the inputs.

    Raises:
        InputError: An input cannot be read.
        OutputError: A target is one of the inputs.
        MissingColumnsError: There is nothing to score, or no table has a column that the job names.
        ParameterError: There are no scores, and no survey to make them.
    """
    truth = [] if job.truth is None else [job.truth]
    found = files_of(truth, folder)
    for path in targets:
        refuse_inputs(path, found, truth, folder)
        refuse_documents(path, truth, folder)
    opened = (_runs if job.runs else _tables)(job, folder, targets)
    survey = opened.survey
    if truth:
        survey = open_survey(
            truth, folder, columns=job.columns, answers=job.answers, elsewhere=opened.columns
        )
    of_survey = () if survey is None else survey.tables
    check_found(job.columns, "predictions", *opened.tables, *of_survey)
    value = _value(job, opened.table)
    if survey is None:
        _refuse_without_survey(job, value)
        return replace(opened, value=value)

    def describe() -> list[dict[str, Any]]:
        return [*opened.describe(), *survey.describe(digest=job.hash_inputs)]

    attributes = survey.survey.segment_attributes
    return replace(opened, value=value, survey=survey, attributes=attributes, describe=describe)


def _tables(job: SurveyJob, folder: Path, targets: Sequence[Path]) -> Opened:
    found = find(job.items, folder)
    if any(is_document(file) for file in found):
        raise ParameterError(
            "predictions are tables; run results in JSON are read by runs = true (--from-runs)"
        )
    for path in targets:
        refuse_inputs(path, found, job.items, folder)
    with naming_lines(found):
        texts = (*_TEXTS, "id", "config_id")
        table, sources = open_files(found, texts=texts, columns=job.columns)
    notes: list[str] = []
    if job.prompts is not None:
        asked = find([job.prompts], folder)
        for path in targets:
            refuse_inputs(path, asked, [job.prompts], folder)
        prompts, more = open_files(asked, columns=job.columns)
        with reading(", ".join([*job.items, job.prompts])):
            table, notes = _answered(job, table, prompts)
        sources = [*sources, *more]
    table = _one_question_a_row(table)
    columns = tuple(name for name in job.answers if name in table.collect_schema())
    has_scores = "score" in table.collect_schema() and job.metric is None and not job.baselines
    with naming(job.items):
        own = None if has_scores or job.truth is not None else survey_within(table)
        table = in_lists(table, job.answers, job.columns, notes)
    if "segment_id" in table.collect_schema():  # of two spellings the present one, before all else
        table = table.with_columns(canonical_id(pl.col("segment_id").cast(pl.String)))

    def describe() -> list[dict[str, Any]]:
        return [each.describe(digest=job.hash_inputs) for each in sources]

    return Opened(
        table,
        describe,
        [each.schema for each in sources],
        survey=own,
        notes=tuple(notes),
        columns=columns,
    )


_UNNAMED = "unnamed"
_TEMPERATURE = ":temperature"


def _answered(
    job: SurveyJob, responses: pl.LazyFrame, prompts: pl.LazyFrame
) -> tuple[pl.LazyFrame, list[str]]:
    """The questions of the prompts with their responses, and what a reader should know of them."""
    present = responses.collect_schema().names()
    id: str | pl.Expr = "id" if "id" in present or "prompt_id" not in present else "prompt_id"
    if id == "prompt_id" and "config_id" in present:
        id = pl.format("{}/{}", "config_id", "prompt_id")
    rest = [name for name in present if name not in {"id", "model", *ANSWERED}]
    by = [name for name in rest if name in (*job.by, *(job.key or ()), *RUNS)]
    # The temperature at which a model was asked counts, not the one stored with the prompt.
    own = [pl.col("temperature").alias(_TEMPERATURE)] if "temperature" in present else []
    table = ef.survey.read_responses(
        responses,
        prompts,
        id=id,
        model="model" if "model" in present else pl.lit(_UNNAMED),
        by=[*by, *own],
        columns=[name for name in rest if name not in by],
    )
    if own:
        table = table.with_columns(pl.col(_TEMPERATURE).alias("temperature")).drop(_TEMPERATURE)
    notes = []
    if "model" not in present:
        notes.append(f"The responses name no model; they count as one, {_UNNAMED!r}")
    prompt = pl.struct("model", *by, "temperature", "config_id", "prompt_id")
    silent = prompt.filter(pl.col("response").is_null()).n_unique()
    count, total = table.select(silent, prompt.n_unique().alias("total")).collect().row(0)
    if count:
        notes.append(f"{count:,} of {total:,} prompts, counted for each model, have no response")
    return table, notes


def _one_question_a_row(table: pl.LazyFrame) -> pl.LazyFrame:
    """Tables of prompts have the questions of a prompt in lists."""
    schema = table.collect_schema()
    if isinstance(schema.get("question_id"), pl.List):
        names = ("question_id", "n_options", "actual")
        lists = [name for name in names if _is_list(schema.get(name))]
        return table.explode(lists, empty_as_null=True)
    if "question_id" not in schema and {"prompt_id", "score"} <= {*schema}:
        return table.with_columns(question_id=pl.lit(None, pl.String))
    return table


def _is_list(dtype: pl.DataType | None) -> bool:
    return isinstance(dtype, pl.List)


def _runs(job: SurveyJob, folder: Path, targets: Sequence[Path]) -> Opened:
    results = dtef.open_runs(
        [folder / item for item in job.items],
        versions=job.versions,
        experiments=job.experiments,
        former_names=job.rules == "documented",
    )
    files = [File.at(name) for name in results.runs["file"]]
    _refuse_repeats(files)
    named = [item for item in job.items if not (folder / item).is_dir()]
    for path in targets:
        refuse_inputs(path, files, named, folder)
        refuse_documents(path, job.items, folder)
    counts = results.items.group_by("run_id").len()
    rows = results.runs.join(counts, on="run_id", how="left", maintain_order="left")

    rows_of_files = rows["len"].fill_null(0)
    unused = results.runs.filter(pl.col("use") != "counted")
    kinds = unused.group_by("use").len().sort("use").rows()
    notes = [
        f"{len(unused):,} of {len(results.runs):,} run results do not count: "
        + ", ".join(f"{count:,} {use.replace('_', ' ')}" for use, count in kinds)
    ]
    if len(results.items) == 0:
        raise InputError(f"no score in these run results. {notes[0] if kinds else ''}".strip())
    items = results.items
    if job.metric is not None and (silent := _without_response(items)):
        raise InputError(
            f"{silent:,} of {len(items):,} scores of these run results have no response to be "
            "scored again; leave out the metric"
        )
    # Old results name no survey, and then their rounds are not told apart.
    items = items.drop("round") if items["round"].null_count() == len(items) else items
    return Opened(
        items.lazy(),
        describing(files, rows_of_files, digest=job.hash_inputs),
        attributes=results.attributes,
        notes=tuple(notes * bool(kinds)),
        results=results,
    )


def _refuse_repeats(files: Sequence[File]) -> None:
    """Raise if a file of run results is named twice.

    Raises:
        InputError: It is.
    """
    seen: set[Path] = set()
    for file in files:
        path = file.path.resolve()
        if path in seen:
            raise InputError(f"{file.path} is named twice; name each file of run results once")
        seen.add(path)


def _without_response(items: pl.DataFrame) -> int:
    return items.filter(pl.col("score").is_not_null() & pl.col("response").is_null()).height


def _value(job: SurveyJob, table: pl.LazyFrame) -> str:
    """What is read of the predictions: their scores, unless a metric is asked for."""
    present = table.collect_schema().names()
    if "score" in present and job.metric is None:
        return "score"
    value = next((name for name in ("predicted", "response") if name in present), None)
    if value is None:
        raise MissingColumnsError.saying(
            f"a table of predictions needs a column 'response', 'predicted' or 'score'; the table "
            f"has {present}.",
            ["response", "predicted", "score"],
        )
    return value


def _refuse_without_survey(job: SurveyJob, value: str) -> None:
    """Raise if there is something that takes a survey.

    Raises:
        ParameterError: There is.
    """
    if job.baselines:
        raise ParameterError(
            "baselines are made of the survey; name it as truth, or add its shares as 'actual'"
        )
    if job.metric is not None:
        raise ParameterError(
            f"metric = {job.metric!r} compares answers with the survey; name it as truth, add its"
            " shares as 'actual', or leave out the metric to take the scores that are there"
        )
    if value != "score":
        raise ParameterError(
            f"the predictions have {value!r} but no 'score'; name the survey that they are compared"
            " with as truth (--truth SURVEY), or add its shares to them as 'actual'"
        )
