"""The survey of a job, from documents of dtef-app or from tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import polars as pl

from evalframe.compat import dtef
from evalframe.compat.dtef.validating import FEW
from evalframe.core.errors import (
    ContractError,
    EvalframeError,
    InputError,
    MissingColumnsError,
    ParameterError,
)
from evalframe.core.scan import File, find, reading
from evalframe.jobs.console import say
from evalframe.jobs.inputs import (
    Columns,
    check_columns,
    check_found,
    naming_columns,
    open_tables_of,
)
from evalframe.survey.surveys.assembling import QUESTIONS, SEGMENTS, as_survey
from evalframe.survey.surveys.respondents import INDEX, LABEL, RESPONDENT, WEIGHT
from evalframe.survey.surveys.shapes import UNITS, numbers_of
from evalframe.survey.surveys.tables import DISTRIBUTIONS, RESPONSES, Survey

_TEXTS = (
    "round",
    "question_id",
    "segment_id",
    "segment_value",
    "option_label",
    "question_text",
    "actual",
    "options",
)
"""Columns that are read as text from formats without types."""

_TEXT = (".csv", ".jsonl", ".ndjson")

_ROLES = {*RESPONSES, *DISTRIBUTIONS, *QUESTIONS, *SEGMENTS, *UNITS, RESPONDENT, WEIGHT}
"""Columns of surveys."""

ROLES = {
    *_ROLES,
    *("model", "id", "config_id", "prompt_id", "question_key", "context_count", "temperature"),
    *("run_id", "response", "predicted", "score", "status"),
}
"""Columns of surveys and predictions, for which a job can name others."""


@dataclass(frozen=True)
class OpenedSurvey:
    """A survey, and the files that it comes from.

    Attributes:
        survey: Its tables.
        has_rounds: True if it names its rounds.
        rows: Rows of each file: of a table as such, of a document its distributions.
        tables: The columns of its tables; none of documents.
    """

    survey: Survey
    files: list[File]
    has_rounds: bool
    rows: list[int]
    tables: Sequence[Collection[str]] = ()

    @property
    def notes(self) -> list[str]:
        """What was assumed of its table, or left out of it."""
        return self.survey.warnings.filter(pl.col("file").is_null())["message"].to_list()

    def describe(self, *, digest: bool) -> list[dict[str, Any]]:
        """Name, size and rows of each file, and its SHA-256 sum if asked for."""
        pairs = zip(self.files, self.rows, strict=True)
        return [replace(file, rows=rows).describe(digest=digest) for file, rows in pairs]


def open_survey(
    sources: Sequence[str],
    folder: Path = Path(),
    *,
    questions: str | None = None,
    segments: str | None = None,
    columns: Columns | None = None,
    answers: Sequence[str] = (),
    elsewhere: Sequence[str] = (),
) -> OpenedSurvey:
    """Read a survey from documents (`.json`) or from tables of any other format.

    `questions` and `segments` are tables with further descriptions. Of the columns of `answers`
    the survey can lack those that another table has, `elsewhere`.
    """
    files = files_of(sources, folder)
    documents = [file for file in files if is_document(file)]
    if documents and len(documents) < len(files):
        raise ParameterError(
            f"{documents[0].name} is a document and other files of the survey are tables; "
            "name those of one kind"
        )
    if documents:
        _refuse_answers(answers, elsewhere, sources)
        return _from_documents(documents, questions or segments)
    table = read_table(files, columns)
    held = [name for name in answers if name in table.columns or name not in elsewhere]
    others = [name for name in (questions, segments) if name is not None]
    descriptions = [
        None if name is None else read_table(find([name], folder), columns)
        for name in (questions, segments)
    ]
    with naming([*sources, *others]), reading(", ".join(sources)):
        survey = survey_of(
            table, columns, held, questions=descriptions[0], segments=descriptions[1]
        )
    tables = [each for each in (table, *descriptions) if each is not None]
    rows = [len(table)] if len(files) == 1 else [len(read_table([file])) for file in files]
    return OpenedSurvey(
        survey, files, "round" in table.columns, rows, [each.columns for each in tables]
    )


def files_of(sources: Sequence[str], folder: Path = Path()) -> list[File]:
    """The files of a survey; of a folder its Parquet tables, or else its documents."""
    files: list[File] = []
    for name in sources:
        place = folder / name
        documents = sorted(place.glob("*.json")) if place.is_dir() else []
        if documents and not any(place.rglob("*.parquet")):
            files += [File(str(Path(name, file.name)), file) for file in documents]
        else:
            files += find([name], folder)
    return files


def is_document(file: File) -> bool:
    """True if a file is a document of the original, and no table."""
    return file.path.suffix.lower() == ".json"


def read_table(files: Sequence[File], columns: Columns | None = None) -> pl.DataFrame:
    """Read a table of a survey, with lists where formats without types have text."""
    with naming_lines(files):
        table, _ = open_tables_of(files, texts=_TEXTS, columns=columns)
        schema = table.collect_schema()
        readers = {"actual": as_numbers, "options": as_labels}
        if {INDEX, LABEL} & {*schema}:
            del readers["actual"]  # which are the shares of options, one by one
        lists = [read(name, schema[name]) for name, read in readers.items() if name in schema]
        with reading(", ".join(file.name for file in files)):
            return table.with_columns(lists).collect()


def survey_of(
    table: pl.DataFrame, columns: Columns | None, answers: Sequence[str], **described: Any
) -> Survey:
    """The survey of a table; columns with a role, which the job renames, are not segments."""
    played = {name for names in (columns or {}).values() for name in names}
    rest = table.drop(played - {*_ROLES, *answers}, strict=False)
    return as_survey(rest, answers=answers, **described)


def open_survey_alone(
    sources: Sequence[str], columns: Columns, others: Collection[str] = (), **described: Any
) -> OpenedSurvey:
    """Read a survey without predictions; `others` are columns of another table."""
    check_columns(columns, ROLES)
    with naming_columns(columns, ROLES):
        opened = open_survey(sources, columns=columns, **described)
        check_found(columns, "the survey", *opened.tables, *([others] if others else []))
    return opened


def _refuse_answers(
    answers: Sequence[str], elsewhere: Sequence[str], sources: Sequence[str]
) -> None:
    if unknown := [name for name in answers if name not in elsewhere]:
        raise ParameterError(
            f"answers are columns of tables, but {', '.join(sources)} are documents; leave out"
            f" {', '.join(unknown)}"
        )


@contextmanager
def naming(names: Sequence[str]) -> Iterator[None]:
    """Name the files in messages about a broken contract."""
    try:
        yield
    except (ContractError, MissingColumnsError) as error:
        error.args = (f"{', '.join(names)}: ", *error.args)
        raise


def _from_documents(files: list[File], described_by: str | None) -> OpenedSurvey:
    if described_by is not None:
        raise ParameterError(
            f"documents hold their questions and segments; leave out {described_by}"
        )
    survey = dtef.read_survey([file.path for file in files])
    pairs = survey.responses.group_by("round", maintain_order=True).agg(
        pl.struct("question_id", "segment_id").n_unique()
    )
    rows = survey.rounds.join(pairs, on="round", how="left", maintain_order="left")
    return OpenedSurvey(
        survey, files, has_rounds=True, rows=rows["question_id"].fill_null(0).to_list()
    )


@contextmanager
def naming_lines(files: Sequence[File]) -> Iterator[None]:
    """Name the first line that is not UTF-8 if that is why a text file cannot be read."""
    try:
        yield
    except InputError:
        for file in files:
            if file.path.suffix.lower() in _TEXT and (line := _line_without_text(file)):
                raise InputError(
                    f"{file.name}: line {line:,} is not UTF-8 text; save the file as UTF-8"
                ) from None
        raise


def _line_without_text(file: File) -> int | None:
    """The first line that is not UTF-8, counted from 1."""
    with file.path.open("rb") as lines:
        return next((number for number, line in enumerate(lines, 1) if not _is_text(line)), None)


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def as_numbers(column: str, dtype: pl.DataType) -> pl.Expr:
    """Lists of numbers, also from text such as `[50, 30, 20]` or `[50%, 50%]`, or from arrays.

    Elements that are not numbers are null, and so is other text.

    >>> frame = pl.DataFrame({"actual": ["[0.5, 0.5]", "[1, x]", "half"]})
    >>> frame.select(as_numbers("actual", pl.String()))["actual"].to_list()
    [[0.5, 0.5], [1.0, None], None]
    """
    match dtype:
        case pl.String():
            inside = pl.col(column).str.extract(r"^\s*\[([^\[\]]*)\]\s*$")
            return inside.str.split(",").list.eval(numbers_of(pl.element())).alias(column)
        case pl.List(inner=pl.String()):
            return pl.col(column).list.eval(numbers_of(pl.element()))
        case pl.List(inner=inner) | pl.Array(inner=inner) if inner.is_numeric() or inner == pl.Null:
            return pl.col(column).cast(pl.List(pl.Float64))
        case pl.Null():
            return pl.col(column).cast(pl.List(pl.Float64))
    raise ParameterError(
        f"{column} must be lists of shares (List(Float64)), or their text, but is {dtype}"
    )


def as_labels(column: str, dtype: pl.DataType) -> pl.Expr:
    """Lists of strings, also from their JSON."""
    value = pl.col(column)
    return value.str.json_decode(pl.List(pl.String())) if dtype == pl.String() else value


def validate_surveys(flags: dict[str, Any]) -> bool:
    """Check surveys if no flag is for predictions, and return True then."""
    if flags.keys() - {"items", "columns", "answers"}:
        return False
    settings = {name: flags[name] for name in ("columns", "answers") if name in flags}
    message, is_usable = checked(flags.get("items", ()), **settings)
    say(message)
    if not is_usable:
        click.get_current_context().exit(1)
    return True


def checked(
    sources: Sequence[str], columns: Columns | None = None, answers: Sequence[str] = ()
) -> tuple[str, bool]:
    """What is found of surveys, in words, and True if all are valid."""
    columns = columns or {}
    check_columns(columns, ROLES)
    files = files_of(sources)
    documents = [file for file in files if is_document(file)]
    tables = [file for file in files if not is_document(file)]
    if not tables:
        check_found(columns, "the survey")
    messages, usable = [], True
    if documents:
        found = dtef.validate([file.path for file in documents])
        messages.append(str(found))
        usable = found.valid and found.conflicts.is_empty()
    if tables:
        text, is_valid = _checked_tables(tables, columns, answers)
        messages.append(text)
        usable = usable and is_valid
    return "\n".join(messages), usable


def _checked_tables(
    files: Sequence[File], columns: Columns, answers: Sequence[str]
) -> tuple[str, bool]:
    """What is found of tables that are parts of one survey, and True if it is valid."""
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
    messages = survey.warnings["message"].to_list()
    if len(few):
        messages.append(f"{len(few):,} segments have fewer than {FEW} respondents: {_named(few)}")
    if len(gaps):
        messages.append(f"{len(gaps):,} segments did not answer all questions: {_named(gaps)}")
    unknown = survey.segments["sample_size"].null_count()
    if unknown:
        messages.append(f"{unknown:,} segments are of unknown size")
    return messages


def _named(segments: pl.DataFrame) -> str:
    first = segments.head(5)
    text = ", ".join(
        f"{segment} ({round_})" for round_, segment in first.select("round", "segment_id").rows()
    )
    return text + ", ..." * (len(segments) > len(first))
