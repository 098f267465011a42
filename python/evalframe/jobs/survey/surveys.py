"""The survey that predictions are compared with, from documents of the original or from tables."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.compat import dtef
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError
from evalframe.jobs.columns import check_columns, check_found, naming_columns
from evalframe.jobs.inputs import open_files
from evalframe.jobs.paths import File, find, reading
from evalframe.jobs.survey.texts import as_labels, as_numbers, naming_lines
from evalframe.survey.surveys import as_survey
from evalframe.survey.surveys.assembling import QUESTIONS, SEGMENTS
from evalframe.survey.surveys.options import INDEX, LABEL
from evalframe.survey.surveys.respondents import RESPONDENT, WEIGHT
from evalframe.survey.surveys.shapes import UNITS
from evalframe.survey.surveys.tables import DISTRIBUTIONS, RESPONSES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalframe.jobs.columns import Columns
    from evalframe.survey.surveys import Survey

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

_ROLES = {*RESPONSES, *DISTRIBUTIONS, *QUESTIONS, *SEGMENTS, *UNITS, RESPONDENT, WEIGHT}
"""What surveys are read for."""

ROLES = {
    *_ROLES,
    *("model", "id", "config_id", "prompt_id", "question_key", "context_count", "temperature"),
    *("run_id", "response", "predicted", "score", "status"),
}
"""What surveys and predictions are read for, which a job may name columns for."""


@dataclass(frozen=True)
class OpenedSurvey:
    """A survey, and the files that it comes from.

    Attributes:
        survey: Its tables.
        files: Where it was found.
        has_rounds: Whether it names its rounds.
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
    given: Sequence[str],
    folder: Path = Path(),
    *,
    questions: str | None = None,
    segments: str | None = None,
    columns: Columns | None = None,
    answers: Sequence[str] = (),
    elsewhere: Sequence[str] = (),
) -> OpenedSurvey:
    """A survey from files, globs or folders: documents (`.json`), or tables of any other format.

    Args:
        given: The files. Of a folder these are its Parquet tables, or else its documents.
        folder: What relative names are relative to.
        questions: A table of questions, for texts and options that the survey's table lacks.
        segments: A table of segments, for their labels.
        columns: Which columns of tables play which roles, where they are not called so.
        answers: Columns that hold answers, as for `evalframe.survey.as_distributions`.
        elsewhere: Those of them that another table has, which this one may lack.

    Raises:
        InputError: A file cannot be read, or a document breaks the rules of the original.
        ContractError: A table breaks its contract.
        MissingColumnsError: A table is none of a survey.
        ParameterError: Tables and documents are mixed.
    """
    files = files_of(given, folder)
    documents = [file for file in files if is_document(file)]
    if documents and len(documents) < len(files):
        raise ParameterError(
            f"{documents[0].name} is a document and other files of the survey are tables; "
            "name those of one kind"
        )
    if documents:
        _refuse_answers(answers, elsewhere, given)
        return _from_documents(documents, questions or segments)
    table = read_table(files, columns)
    held = [name for name in answers if name in table.columns or name not in elsewhere]
    others = [name for name in (questions, segments) if name is not None]
    descriptions = [
        None if name is None else read_table(find([name], folder), columns)
        for name in (questions, segments)
    ]
    with naming([*given, *others]), reading(", ".join(given)):
        survey = survey_of(
            table, columns, held, questions=descriptions[0], segments=descriptions[1]
        )
    tables = [each for each in (table, *descriptions) if each is not None]
    rows = [len(table)] if len(files) == 1 else [len(read_table([file])) for file in files]
    return OpenedSurvey(
        survey, files, "round" in table.columns, rows, [each.columns for each in tables]
    )


def files_of(given: Sequence[str], folder: Path = Path()) -> list[File]:
    """The files of a survey, without looking into them.

    Raises:
        InputError: There is none.
    """
    files: list[File] = []
    for name in given:
        place = folder / name
        documents = sorted(place.glob("*.json")) if place.is_dir() else []
        if documents and not any(place.rglob("*.parquet")):
            files += [File(str(Path(name, file.name)), file) for file in documents]
        else:
            files += find([name], folder)
    return files


def is_document(file: File) -> bool:
    """Whether a file is a document of the original, and no table."""
    return file.path.suffix.lower() == ".json"


def read_table(files: Sequence[File], columns: Columns | None = None) -> pl.DataFrame:
    """A table of a survey, with lists where formats without types have text.

    Args:
        files: Its files.
        columns: Which columns play which roles, where they are not called so.

    Raises:
        InputError: A file cannot be read.
    """
    with naming_lines(files):
        table, _ = open_files(files, texts=_TEXTS, columns=columns)
        schema = table.collect_schema()
        lists = {"actual": as_numbers, "options": as_labels}
        if {INDEX, LABEL} & {*schema}:
            del lists["actual"]  # which are the shares of options, one by one
        made = [make(name, schema[name]) for name, make in lists.items() if name in schema]
        with reading(", ".join(file.name for file in files)):
            return table.with_columns(made).collect()


def survey_of(
    table: pl.DataFrame, columns: Columns | None, answers: Sequence[str], **described: Any
) -> Survey:
    """The survey of a table, from the roles that its columns play.

    Other columns of respondents are segments, which a column is not that plays a role.
    """
    played = {name for names in (columns or {}).values() for name in names}
    rest = table.drop(played - {*_ROLES, *answers}, strict=False)
    return as_survey(rest, answers=answers, **described)


def open_survey_alone(
    given: Sequence[str], columns: Columns, known: Collection[str] = (), **described: Any
) -> OpenedSurvey:
    """A survey that is read by itself, as `open_survey`.

    Args:
        given: The files.
        columns: Which columns of tables play which roles, where they are not called so.
        known: Columns of a further table that is read beside it.
        **described: As for `open_survey`.

    Raises:
        MissingColumnsError: No table of it has a column that is named.
    """
    check_columns(columns, ROLES)
    with naming_columns(columns, ROLES):
        opened = open_survey(given, columns=columns, **described)
        check_found(columns, "the survey", *opened.tables, *([known] if known else []))
    return opened


def _refuse_answers(answers: Sequence[str], elsewhere: Sequence[str], given: Sequence[str]) -> None:
    if unknown := [name for name in answers if name not in elsewhere]:
        raise ParameterError(
            f"answers are columns of tables, but {', '.join(given)} are documents; leave out"
            f" {', '.join(unknown)}"
        )


@contextmanager
def naming(names: Sequence[str]) -> Iterator[None]:
    """Name the files in what is said of a broken contract."""
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
