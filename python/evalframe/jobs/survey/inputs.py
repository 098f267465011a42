"""The predictions of a survey job, from tables or from run results, and their survey."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.core.errors import InputError, MissingColumnsError, ParameterError
from evalframe.core.scan import find, reading
from evalframe.jobs.family import LeftOut
from evalframe.jobs.inputs import Columns, Opened, check_found, has_logs, open_records, open_tables
from evalframe.jobs.paths import refuse_documents, refuse_inputs
from evalframe.jobs.rows import Rows
from evalframe.jobs.survey import RUNS, SurveyJob
from evalframe.jobs.survey.surveys import (
    OpenedSurvey,
    as_labels,
    as_numbers,
    files_of,
    naming,
    naming_lines,
    open_survey,
)
from evalframe.survey.prompting.exchange import ANSWERED
from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.respondents import INDEX, LABEL
from evalframe.survey.surveys.segments import canonical_id
from evalframe.survey.surveys.shapes import UNITS, shaped
from evalframe.survey.surveys.tables import ONE_ROUND

if TYPE_CHECKING:
    from evalframe.jobs.rows import Workers

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

_ANSWERS = (INDEX, LABEL, "predicted", "actual", *UNITS)
"""Columns with values of each option."""

_OF_SURVEY = (
    "round",
    "question_id",
    "segment_id",
    "segment_attribute",
    "segment_value",
    "sample_size",
    "question_text",
    "options",
    INDEX,
    LABEL,
    "actual",
)


@dataclass(frozen=True)
class Predictions(Opened):
    """The predictions of a job, and their survey.

    Attributes:
        value: The column that is scored: `response`, `predicted` or `score`.
        survey: The survey that they are compared with.
        answers: Columns of answers that the table had.
    """

    value: str = "score"
    survey: OpenedSurvey | None = None
    answers: tuple[str, ...] = ()

    @property
    def attributes(self) -> pl.DataFrame | None:
        """Attributes of segments, if the survey or the run results have them."""
        if self.survey is not None and self.files:
            return self.survey.survey.segment_attributes
        attributes: pl.DataFrame | None = self.beside.get("attributes")
        return attributes

    def describe(self, *, digest: bool = False) -> list[dict[str, Any]]:
        """Describe the files of the predictions and of the survey."""
        survey = [] if self.survey is None else self.survey.describe(digest=digest)
        return [*super().describe(digest=digest), *survey]


def open_predictions(
    job: SurveyJob, folder: Path, targets: Sequence[Path], workers: Workers | None = None
) -> Predictions:
    """Open the predictions of a job and its survey; targets must not be among the inputs."""
    truth = [] if job.truth is None else [job.truth]
    files = files_of(truth, folder)
    for path in targets:
        refuse_inputs(path, files, truth, folder)
        refuse_documents(path, truth, folder)
    is_table = job.reader is None or has_logs(job)
    opened = _tables(job, folder, targets, workers) if is_table else _scores(job, folder, targets)
    survey = opened.survey
    if truth:
        survey = open_survey(
            truth, folder, columns=job.columns, answers=job.answers, elsewhere=opened.answers
        )
    tables = [file.columns for file in opened.files if file.columns is not None]
    check_found(job.columns, "predictions", *tables, *(() if survey is None else survey.tables))
    value = _value(job, opened.rows.schema.names())
    if survey is None:
        _refuse_without_survey(job, value)
    return replace(opened, value=value, survey=survey)


def _tables(
    job: SurveyJob, folder: Path, targets: Sequence[Path], workers: Workers | None
) -> Predictions:
    with nullcontext() if has_logs(job) else naming_lines(find(job.items, folder)):
        texts = (*_TEXTS, "id", "config_id")
        opened = open_records(job, folder, targets, texts=texts, workers=workers)
    rows, files, notes = opened.rows, opened.files, [*opened.notes]
    if has_logs(job) and "score" not in job.columns:  # it is of another scorer
        rows = rows.then(methodcaller("drop", "score"))
    if job.prompts is not None:
        prompts = open_tables([job.prompts], job, folder, targets)
        with reading(", ".join([*job.items, job.prompts])):
            table, notes = _answered(job, rows.table, prompts.table)
        rows = Rows(table)  # a prompt may have its responses anywhere, or none
        files = [*files, *prompts.files]
    rows = rows.then(_one_question_a_row)
    answers = tuple(name for name in job.answers if name in rows.schema)
    has_scores = "score" in rows.schema and job.metric is None and not job.baselines
    with naming(job.items):
        survey = None if has_scores or job.truth is not None else survey_within(rows)
        rows = in_lists(rows, job.answers, job.columns, notes)
    if "segment_id" in rows.schema:  # the present spelling
        present = canonical_id(pl.col("segment_id").cast(pl.String))
        rows = rows.then(methodcaller("with_columns", present))
    return Predictions(rows, files, notes, survey=survey, answers=answers)


_UNNAMED = "unnamed"
_TEMPERATURE = ":temperature"


def _answered(
    job: SurveyJob, responses: pl.LazyFrame, prompts: pl.LazyFrame
) -> tuple[pl.LazyFrame, list[str]]:
    """The questions of the prompts with their responses, and notes on them."""
    present = responses.collect_schema().names()
    id: str | pl.Expr = "id" if "id" in present or "prompt_id" not in present else "prompt_id"
    if id == "prompt_id" and "config_id" in present:
        id = pl.format("{}/{}", "config_id", "prompt_id")
    rest = [name for name in present if name not in {"id", "model", *ANSWERED}]
    by = [name for name in rest if name in (*job.by, *(job.key or ()), *RUNS)]
    # The temperature of the response replaces the one that is stored with the prompt.
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
        without = f"{count:,} of {total:,} prompts, counted for each model, have no response"
        notes.append(LeftOut(without))
    return table, notes


def _one_question_a_row(table: pl.LazyFrame) -> pl.LazyFrame:
    """Explode prompts with lists of questions."""
    schema = table.collect_schema()
    if isinstance(schema.get("question_id"), pl.List):
        names = ("question_id", "n_options", "actual")
        lists = [name for name in names if isinstance(schema.get(name), pl.List)]
        return table.explode(lists, empty_as_null=True)
    if "question_id" not in schema and {"prompt_id", "score"} <= {*schema}:
        return table.with_columns(question_id=pl.lit(None, pl.String))
    return table


def _scores(job: SurveyJob, folder: Path, targets: Sequence[Path]) -> Predictions:
    """The predictions in run results."""
    opened = open_records(job, folder, targets)
    if job.metric is not None and "score" in opened.table.collect_schema():
        silent = pl.col("score").is_not_null() & pl.col("response").is_null()
        count, total = opened.table.select(silent.sum(), pl.len()).collect().row(0)
        if count:
            raise InputError(
                f"{count:,} of {total:,} scores of these run results have no response to be "
                "scored again; leave out the metric"
            )
    return Predictions(opened.rows, opened.files, opened.notes, opened.beside)


def _value(job: SurveyJob, present: Sequence[str]) -> str:
    """The column that is scored: `score`, unless the job has a metric."""
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
    """Raise ParameterError if the job needs a survey."""
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


def in_lists(rows: Rows, answers: Sequence[str], columns: Columns, notes: list[str]) -> Rows:
    """Predictions with their shares as a list in `predicted`, if they have shares.

    They can be lists, their text, a row per option, or a column per option, `answers`; the last
    two are put together by this process. Notes on what is guessed are added to `notes`.
    """
    schema = rows.schema
    dtype = schema.get("predicted")
    has_options = bool({INDEX, LABEL} & {*schema})
    options = [name for name in answers if name in schema]
    named = ("predicted", *(UNITS if "model" in schema else ()))
    is_long = has_options and any(name in schema for name in named)
    if "response" in schema or (dtype is not None and dtype.is_nested()):
        options, is_long = [], False
    if not (options or is_long):
        return rows if dtype is None else rows.then(_of_lists)
    played = [name for role in _ANSWERS for name in columns.get(role, ())]
    keys = [name for name in schema if name not in (*_ANSWERS, *options, *played)]
    rounds = {} if "round" in schema else {"round": pl.lit(ONE_ROUND)}
    long = shaped(
        rows.table.drop("actual", strict=False).with_columns(**rounds).collect(),
        notes,
        options,
        value="predicted",
        keys=[*keys, *rounds],
    )
    index = pl.col(INDEX)
    share = pl.col("share" if "share" in long.columns else "percent")
    lists = {"predicted": share.cast(pl.Float64).sort_by(index)}
    if LABEL in long.columns:
        lists["options"] = pl.col(LABEL).cast(pl.String).sort_by(index)
    return Rows(long.lazy().group_by(keys, maintain_order=True).agg(**lists))


def _of_lists(table: pl.LazyFrame) -> pl.LazyFrame:
    """Shares and labels of options as lists; labels of other types are dropped."""
    schema = table.collect_schema()
    read = table.with_columns(as_numbers("predicted", schema["predicted"]))
    labels = schema.get("options")
    if labels is None:
        return read
    if not isinstance(labels, pl.List | pl.String):
        return read.drop("options")
    return read.with_columns(as_labels("options", labels).cast(pl.List(pl.String)))


def survey_within(predictions: Rows) -> OpenedSurvey | None:
    """The survey in the column `actual` of a table of predictions, if it has one."""
    schema = predictions.schema
    if not {"actual", "question_id", "segment_id"} <= {*schema}:
        return None
    columns = [name for name in _OF_SURVEY if name in schema]
    rows = predictions.collect(partial(_distinct, columns)).lazy()
    if schema["actual"] == pl.String and not {INDEX, LABEL} & {*schema}:
        rows = rows.with_columns(as_numbers("actual", schema["actual"]))
    if "options" in schema:
        rows = rows.with_columns(as_labels("options", schema["options"]))
    answered = rows.drop_nulls(["question_id", "actual"])
    survey = as_survey(answered.unique(maintain_order=True))
    return OpenedSurvey(survey, [], has_rounds="round" in columns, rows=[])


def _distinct(columns: Sequence[str], table: pl.LazyFrame) -> pl.LazyFrame:
    return table.select(columns).unique(maintain_order=True)
