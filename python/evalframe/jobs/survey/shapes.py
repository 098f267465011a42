"""Shapes of tables of predictions, and the survey that such a table can contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.jobs.survey.surveys import OpenedSurvey, as_labels, as_numbers
from evalframe.survey.surveys import as_survey
from evalframe.survey.surveys.options import INDEX, LABEL
from evalframe.survey.surveys.shapes import UNITS, shaped
from evalframe.survey.surveys.tables import ONE_ROUND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.jobs.columns import Columns

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


def in_lists(
    table: pl.LazyFrame, answers: Sequence[str], columns: Columns, notes: list[str]
) -> pl.LazyFrame:
    """Predictions with their shares as a list in `predicted`, if they have shares.

    They can be lists, their text, a row per option, or a column per option, `answers`. Notes on
    what is guessed are added to `notes`.
    """
    schema = table.collect_schema()
    dtype = schema.get("predicted")
    has_options = bool({INDEX, LABEL} & {*schema})
    options = [name for name in answers if name in schema]
    named = ("predicted", *(UNITS if "model" in schema else ()))
    is_long = has_options and any(name in schema for name in named)
    if "response" in schema or (dtype is not None and dtype.is_nested()):
        options, is_long = [], False
    if not (options or is_long):
        return table if dtype is None else _of_lists(table, dtype)
    played = [name for role in _ANSWERS for name in columns.get(role, ())]
    keys = [name for name in schema if name not in (*_ANSWERS, *options, *played)]
    rounds = {} if "round" in schema else {"round": pl.lit(ONE_ROUND)}
    long = shaped(
        table.drop("actual", strict=False).with_columns(**rounds).collect(),
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
    return long.lazy().group_by(keys, maintain_order=True).agg(**lists)


def _of_lists(table: pl.LazyFrame, dtype: pl.DataType) -> pl.LazyFrame:
    """Shares and labels of options as lists; labels of other types are dropped."""
    read = table.with_columns(as_numbers("predicted", dtype))
    labels = table.collect_schema().get("options")
    if labels is None:
        return read
    if not isinstance(labels, pl.List | pl.String):
        return read.drop("options")
    return read.with_columns(as_labels("options", labels).cast(pl.List(pl.String)))


def survey_within(table: pl.LazyFrame) -> OpenedSurvey | None:
    """The survey in the column `actual` of a table of predictions, if it has one."""
    schema = table.collect_schema()
    if not {"actual", "question_id", "segment_id"} <= {*schema}:
        return None
    columns = [name for name in _OF_SURVEY if name in schema]
    rows = table.select(columns)
    if schema["actual"] == pl.String and not {INDEX, LABEL} & {*schema}:
        rows = rows.with_columns(as_numbers("actual", schema["actual"]))
    if "options" in schema:
        rows = rows.with_columns(as_labels("options", schema["options"]))
    answered = rows.drop_nulls(["question_id", "actual"])
    survey = as_survey(answered.unique(maintain_order=True))
    return OpenedSurvey(survey, [], has_rounds="round" in columns, rows=[])
