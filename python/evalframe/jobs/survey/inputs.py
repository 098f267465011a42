"""The predictions of a survey job, from tables or from run results, and their survey."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.core.errors import InputError, MissingColumnsError, ParameterError
from evalframe.jobs.inputs import describing, open_files
from evalframe.jobs.paths import File, find, refuse_inputs
from evalframe.jobs.survey.surveys import files_of, is_document, open_survey, refuse_documents
from evalframe.jobs.survey.texts import as_numbers, naming_lines
from evalframe.survey.surveys import canonical_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from evalframe.jobs.survey.job import SurveyJob
    from evalframe.jobs.survey.surveys import OpenedSurvey
    from evalframe.survey.runs import RunResults

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
        value: What is read of the predictions: `response`, `predicted` or `score`.
        survey: What they are compared with.
        attributes: Attributes of segments, as far as the inputs know them.
        notes: What a reader should know of them.
        results: The run results, if they are these.
    """

    table: pl.LazyFrame
    describe: Callable[[], list[dict[str, Any]]]
    value: str = "score"
    survey: OpenedSurvey | None = None
    attributes: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
    results: RunResults | None = None


def open_predictions(job: SurveyJob, folder: Path, targets: Sequence[Path]) -> Opened:
    """The predictions of a job, and its survey.

    Args:
        job: The job.
        folder: What relative names are relative to.
        targets: Files that will be written, which must not be among the inputs.

    Raises:
        InputError: An input cannot be read.
        OutputError: A target is one of the inputs.
        MissingColumnsError: There is nothing to score.
        ParameterError: There are no scores, and no survey to make them.
    """
    truth = [] if job.truth is None else [job.truth]
    found = files_of(truth, folder)
    for path in targets:
        refuse_inputs(path, found, truth, folder)
        refuse_documents(path, truth, folder)
    opened = (_runs if job.runs else _tables)(job, folder, targets)
    value = _value(job, opened.table)
    if not truth:
        return replace(opened, value=value)
    survey = open_survey(truth, folder)

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
        table, sources = open_files(found, texts=_TEXTS)
    table = _one_question_a_row(table)
    if "segment_id" in table.collect_schema():  # of two spellings the present one, before all else
        table = table.with_columns(canonical_id(pl.col("segment_id").cast(pl.String)))
    dtype = table.collect_schema().get("predicted")
    if dtype is not None:
        table = table.with_columns(as_numbers("predicted", dtype))
    return Opened(table, lambda: [each.describe(digest=job.hash_inputs) for each in sources])


def _one_question_a_row(table: pl.LazyFrame) -> pl.LazyFrame:
    """Tables of prompts have the questions of a prompt in lists."""
    schema = table.collect_schema()
    if isinstance(schema.get("question_id"), pl.List):
        lists = [name for name in ("question_id", "n_options") if _is_list(schema.get(name))]
        return table.drop("actual", strict=False).explode(lists, empty_as_null=True)
    if "question_id" not in schema and {"prompt_id", "score"} <= {*schema}:
        return table.with_columns(question_id=pl.lit(None, pl.String))
    return table


def _is_list(dtype: pl.DataType | None) -> bool:
    return isinstance(dtype, pl.List)


def _runs(job: SurveyJob, folder: Path, targets: Sequence[Path]) -> Opened:
    results = ef.survey.open_runs(
        [folder / item for item in job.items],
        versions=job.versions,
        experiments=job.experiments,
        rules=job.rules,
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
        raise MissingColumnsError(
            f"a table of predictions needs a column 'response', 'predicted' or 'score'; the table "
            f"has {present}. Name the column to use, or rename it."
        )
    if job.truth is None:
        raise ParameterError(
            f"the predictions have {value!r} but no 'score'; name the survey that they are "
            "compared with as truth (--truth SURVEY)"
        )
    return value
