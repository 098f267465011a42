"""Validation of surveys: documents as dtef-app does, tables against their contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat import dtef
from evalframe.compat.dtef.validating import FEW
from evalframe.core.errors import EvalframeError
from evalframe.jobs.columns import check_columns, check_found, naming_columns
from evalframe.jobs.survey.surveys import (
    ROLES,
    files_of,
    is_document,
    naming,
    read_table,
    survey_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.jobs.columns import Columns
    from evalframe.jobs.paths import File
    from evalframe.survey.surveys import Survey


def checked(
    given: Sequence[str], columns: Columns | None = None, answers: Sequence[str] = ()
) -> tuple[str, bool]:
    """Report on surveys, and True if all are valid."""
    columns = columns or {}
    check_columns(columns, ROLES)
    files = files_of(given)
    documents = [file for file in files if is_document(file)]
    tables = [file for file in files if not is_document(file)]
    if not tables:
        check_found(columns, "the survey")
    told, usable = [], True
    if documents:
        report = dtef.validate([file.path for file in documents])
        told.append(str(report))
        usable = report.valid and report.conflicts.is_empty()
    if tables:
        text, is_valid = _checked_tables(tables, columns, answers)
        told.append(text)
        usable = usable and is_valid
    return "\n".join(told), usable


def _checked_tables(
    files: Sequence[File], columns: Columns, answers: Sequence[str]
) -> tuple[str, bool]:
    """Report on tables that are parts of one survey, and True if it is valid."""
    table = read_table(files, columns)
    check_found(columns, "the survey", table.columns)
    try:
        with naming_columns(columns, ROLES), naming([file.name for file in files]):
            survey = survey_of(table, columns, answers)
    except EvalframeError as error:
        return f"invalid: {error}", False
    return "\n".join([f"valid: {survey}", *_warnings(survey)]), True


def _warnings(survey: Survey) -> list[str]:
    """Warnings of few respondents and of questions that a segment did not answer."""
    few = survey.segments.filter(pl.col("sample_size") < FEW)
    asked = survey.questions.group_by("round").len("asked")
    gaps = survey.segments.join(asked, on="round").filter(pl.col("n_questions") < pl.col("asked"))
    told = survey.warnings["message"].to_list()
    if len(few):
        told.append(f"{len(few):,} segments have fewer than {FEW} respondents: {_named(few)}")
    if len(gaps):
        told.append(f"{len(gaps):,} segments did not answer all questions: {_named(gaps)}")
    unknown = survey.segments["sample_size"].null_count()
    if unknown:
        told.append(f"{unknown:,} segments are of unknown size")
    return told


def _named(segments: pl.DataFrame) -> str:
    first = segments.head(5)
    text = ", ".join(
        f"{segment} ({round_})" for round_, segment in first.select("round", "segment_id").rows()
    )
    return text + ", ..." * (len(segments) > len(first))
