"""A survey from its tables, in memory or in files.

Tables in CSV must be UTF-8 text with all cells in all rows.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from evalframe.core.documents import check_parquet, damage_told, read_regular
from evalframe.core.errors import (
    Argument,
    ContractError,
    InputError,
    MissingColumnsError,
    ParameterError,
    naming,
)
from evalframe.core.files import matching
from evalframe.core.frames import any_frame
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.survey.surveys.tables import RESPONSES, Survey, distributions_of, long_of

Paths: TypeAlias = str | Path | Sequence[str | Path]

ROUNDS = dict.fromkeys(("round", "name", "description", "source"), pl.String())
QUESTIONS = {
    "round": pl.String(),
    "question_id": pl.String(),
    "question_order": pl.Int64(),
    "question_text": pl.String(),
    "question_type": pl.String(),
    "n_options": pl.Int64(),
    "options": pl.List(pl.String()),
}
SEGMENTS = {
    "round": pl.String(),
    "segment_id": pl.String(),
    "segment_label": pl.String(),
    "segment_attribute": pl.String(),
    "segment_value": pl.String(),
    "sample_size": pl.Int64(),
    "n_questions": pl.Int64(),
}
ATTRIBUTES = dict.fromkeys(("round", "segment_id", "attribute", "value"), pl.String())
WARNINGS = dict.fromkeys(("file", "path", "message"), pl.String())

_EXAMPLES = 3

_OF_QUESTIONS = ("question_text", "question_type", "question_order", "options")
_TABLES = (".parquet", ".csv")
_TEXTS = [name for name, dtype in (QUESTIONS | SEGMENTS | RESPONSES).items() if dtype == pl.String]
"""Columns that are read as text, also if all values are numbers."""

_BROKEN = re.compile("[\udc80-\udcff]")
_LONGEST = 300


@any_frame
def as_survey(
    table: Survey | Frame,
    *,
    questions: Frame | None = None,
    segments: Frame | None = None,
    answers: Sequence[str] = (),
) -> Survey:
    """A survey from its table, in any of the shapes of `as_distributions`.

    Assumptions about the table, and what is left out of it, are in `warnings`.

    Args:
        table: As for `as_distributions`.
        questions: `question_id` with any of `round`, `question_text`, `question_type`,
            `question_order` and `options` that the table lacks. Without it questions are in the
            order of the table, and the text is the id unless it has `question_text`.
        segments: `segment_id` with any of `round`, `segment_label` and `segment_value`, which
            follow from the ids otherwise.
        answers: Columns of answers, as for `as_distributions`.

    Returns:
        The survey, in the order of the rows.

    Raises:
        ContractError: As for `as_distributions`; also a question or a segment that the table of
            them lacks or repeats, or another number or order of options.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import as_survey
        >>> table = {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[25.0, 75.0]]}
        >>> as_survey(pl.DataFrame(table)).segments.select("segment_value", "n_questions").row(0)
        ('male', 1)
    """
    if isinstance(table, Survey):
        if answers:
            raise ParameterError("a survey has its distributions; leave out ", Argument("answers"))
        if questions is not None or segments is not None:
            raise ParameterError("a survey has its questions and segments; leave them out")
        return table
    nested, notes = distributions_of(table, answers)
    names = pl.col("round", "question_id", "segment_id").cast(pl.String)
    responses = long_of(nested).with_columns(names)
    described = _questions(responses, _texts_in(table) if questions is None else questions)
    groups = _segments(responses, segments)
    prefix = pl.col("segment_id").str.extract(r"^([^:]+):")
    attribute = pl.coalesce("segment_attribute", prefix)
    attributes = groups.with_columns(attribute=attribute, value="segment_value")
    attributes = attributes.drop_nulls("attribute")
    rounds = responses.select("round").unique(maintain_order=True)
    return Survey(
        rounds=_shaped(rounds.with_columns(name="round"), ROUNDS),
        questions=_shaped(described, QUESTIONS),
        segments=_shaped(groups, SEGMENTS),
        segment_attributes=_shaped(attributes, ATTRIBUTES),
        responses=_shaped(_with_texts(responses, described, groups), RESPONSES),
        warnings=_shaped(pl.DataFrame({"message": notes}), WARNINGS),
    )


def _texts_in(table: Frame) -> pl.LazyFrame | None:
    """The texts of questions, if the table has them."""
    names = lazy(table).collect_schema().names()
    if not {"question_text", "question_id"} <= {*names}:
        return None
    keys = [name for name in ("round", "question_id") if name in names]
    return lazy(table).select(*keys, "question_text").unique(maintain_order=True)


def _check_options(questions: pl.DataFrame) -> None:
    """Raise ContractError if distributions have other options than the table of questions."""
    # Labels can differ, for example be longer.
    other = questions.filter(pl.col("options").list.len() != pl.col("n_options"))
    if len(other):
        n_labels, n_shares = other["options"].list.len()[0], other["n_options"][0]
        raise ContractError(
            f"{len(other):,} questions have another number of options in their distributions:"
            f" {_first_few(other, ['question_id'])}; the first has {n_labels} options and"
            f" {n_shares} shares. Correct the options, or the shares"
        )
    stated, actual = pl.col("options"), pl.col("own_options")
    moved = questions.filter((stated != actual) & (stated.list.sort() == actual.list.sort()))
    if len(moved):
        raise ContractError(
            f"{len(moved):,} questions have their options in another order than the distributions:"
            f" {_first_few(moved, ['question_id'])}. Put the options into the order of the shares"
        )


def _questions(responses: pl.DataFrame, described: Frame | None) -> pl.DataFrame:
    """The questions of a long table, in its order unless a table that describes them has one."""
    first = responses.unique(["round", "question_id", "option_index"], maintain_order=True)
    options = pl.col("option_label").sort_by("option_index")
    questions = first.group_by("round", "question_id", maintain_order=True).agg(options=options)
    labelled = pl.col("options").list.drop_nulls().list.len() > 0
    questions = questions.with_columns(
        question_order=pl.int_range(pl.len()).over("round"),
        question_text="question_id",
        question_type=pl.lit("single-select"),
        n_options=pl.col("options").list.len().cast(pl.Int64),
        options=pl.when(labelled).then("options"),
    )
    if described is None:
        return questions
    questions = questions.with_columns(own_options="options").with_row_index("first")
    questions = _described(questions, described, "question_id", _OF_QUESTIONS)
    _check_options(questions)
    round_order = pl.col("first").min().over("round")
    questions = questions.with_columns(pl.col("question_text").fill_null(pl.col("question_id")))
    return questions.sort(round_order, "question_order", maintain_order=True)


def _segments(responses: pl.DataFrame, described: Frame | None) -> pl.DataFrame:
    """The segments of a long table, in its order, with values and labels."""
    segments = responses.group_by("round", "segment_id", maintain_order=True).agg(
        pl.col("segment_attribute", "segment_value").first(),
        pl.col("sample_size").max(),
        segment_label=pl.lit(None, pl.String),
        n_questions=pl.col("question_id").n_unique().cast(pl.Int64),
    )
    if described is not None:
        columns = ("segment_label", "segment_value")
        segments = _described(segments, described, "segment_id", columns)
    after_colon = pl.col("segment_id").str.extract(r":(.*)$")
    value = pl.coalesce("segment_value", "segment_label", after_colon, "segment_id")
    segments = segments.with_columns(segment_value=value)
    return segments.with_columns(pl.coalesce("segment_label", "segment_value"))


def _described(
    rows: pl.DataFrame, described: Frame, key: str, columns: tuple[str, ...]
) -> pl.DataFrame:
    """Rows with the columns of a table that describes them, if not null there."""
    table = lazy(described).collect()
    if key not in table.columns:
        raise MissingColumnsError.of("a table of questions or segments", {key}, table.columns)
    on = [name for name in ("round", key) if name in table.columns]
    added = [name for name in columns if name in table.columns]
    table = table.select(pl.col(on).cast(pl.String), *added)
    repeated = table.filter(pl.struct(on).is_duplicated())
    if len(repeated):
        raise ContractError(
            f"{len(repeated):,} rows share a {key}: {_first_few(repeated, on)}; keep one of each"
        )
    unknown = rows.join(table, on=on, how="anti")
    if len(unknown):
        raise ContractError(
            f"unknown {key} in {len(unknown):,} cases: {_first_few(unknown, on)}. Add them to the"
            " table that describes them, or drop their distributions"
        )
    joined = rows.join(table, on=on, how="left", maintain_order="left", suffix="_described")
    return joined.with_columns(pl.coalesce(f"{name}_described", name).alias(name) for name in added)


def _with_texts(
    responses: pl.DataFrame, questions: pl.DataFrame, segments: pl.DataFrame
) -> pl.DataFrame:
    """Responses with the labels and values that questions and segments have."""
    labels = questions.select("round", "question_id", "options").drop_nulls("options")
    labels = labels.with_columns(option_index=pl.int_ranges(pl.col("options").list.len()))
    labels = labels.explode("options", "option_index", empty_as_null=False)
    values = segments.select("round", "segment_id", "segment_value")
    labelled = responses.drop("segment_value").join(
        labels, on=["round", "question_id", "option_index"], how="left", maintain_order="left"
    )
    with_values = labelled.join(
        values, on=["round", "segment_id"], how="left", maintain_order="left"
    )
    return with_values.with_columns(option_label=pl.coalesce("options", "option_label"))


def _shaped(table: pl.DataFrame, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The table with these columns, null where it lacks one."""
    absent = dict.fromkeys(schema.keys() - {*table.columns}, pl.lit(None))
    return table.with_columns(**absent).select(*schema).cast(pl.Schema(schema))


def _first_few(rows: pl.DataFrame, columns: list[str]) -> str:
    examples = ", ".join(
        "/".join(map(str, row)) for row in rows.head(_EXAMPLES).select(columns).rows()
    )
    return examples + ", ..." * (len(rows) > _EXAMPLES)


def read_survey(path: Paths) -> Survey:
    """Read a survey from `.parquet` and `.csv` files, in any of the shapes of `as_distributions`.

    Args:
        path: Files, globs, or folders (with all tables in them). Together they are one table.

    Returns:
        The survey, in the order of the rows.

    Raises:
        InputError: No such file, a file that is not a table, text that is not UTF-8, or a table
            without rows. JSON documents of dtef-app are read by
            `evalframe.compat.dtef.read_survey`.
        ContractError: A table that breaks the contract.

    Examples:
        >>> import tempfile, polars as pl, evalframe as ef
        >>> from pathlib import Path
        >>> table = {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[60.0, 40.0]]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pl.DataFrame(table).write_parquet(Path(folder, "survey.parquet"))
        ...     print(ef.survey.read_survey(Path(folder, "survey.parquet")))
        survey: 1 questions, 1 segments, 1 distributions, 0 warnings
    """
    files = [file for each in listed(path) for file in files_of(each, *_TABLES)]
    if not files:
        raise InputError("no survey to read; name a file, a glob or a folder")
    first = str(files[0]) + f" (and {len(files) - 1:,} more)" * (len(files) > 1)
    tables = [_table(file) for file in files]
    with damage_told(first, "one table"):
        table = pl.concat(tables, how="diagonal_relaxed")
    with naming(first):
        return as_survey(table)


def listed(sources: Any, *others: type) -> list[Any]:
    """The sources as a list, whether one is given or several."""
    is_several = isinstance(sources, Iterable) and not isinstance(sources, str | Mapping)
    each: list[Any] = [*sources] if is_several else [sources]
    for source in each:
        if not isinstance(source, (str, Path, *others)):
            kinds = "folders or decoded documents (mappings)" if others else "or folders"
            raise ParameterError(f"expected files, globs, {kinds}, got {type(source).__name__}")
    return each


def files_of(source: str | Path, *suffixes: str) -> list[Path]:
    """The files of a path: itself, those a glob matches, or those of a folder with a suffix."""
    path = Path(source)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in suffixes)
        if not files:
            raise InputError(f"folder {str(path)!r} holds no {' or '.join(suffixes)} file")
        return files
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    if not (files := matching(path)):
        raise InputError(f"no file matches {str(path)!r}")
    return files


def _table(file: Path) -> pl.DataFrame:
    suffix = file.suffix.lower()
    if suffix == ".json":
        raise InputError(
            f"{file} is a document of dtef-app; evalframe.compat.dtef.read_survey reads it"
        )
    is_csv = suffix == ".csv"
    table = read_csv(file, dict.fromkeys(_TEXTS, pl.String())) if is_csv else read_parquet(file)
    if not len(table):
        raise InputError(f"{file}: the table has no rows; check where it comes from")
    return table


def read_csv(path: Path, types: Mapping[str, pl.DataType] | None = None) -> pl.DataFrame:
    """Read a CSV file: as text alone, or with the types of some columns and the others inferred."""
    data = _bytes(path)
    _refuse_other_encodings(path, data)
    rows = _rows(path, data)
    with damage_told(str(path), "CSV"):
        table = pl.read_csv(
            data, schema_overrides=types, infer_schema=types is not None, infer_schema_length=None
        )
    if len(table) != rows:
        raise InputError(
            f"cannot read {path}: it has blank lines between its {rows:,} rows, or ends of lines"
            " that are no line feeds; write it anew, a line for each row"
        )
    return table


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a Parquet file."""
    data = _bytes(path)
    check_parquet(data, str(path))
    with damage_told(str(path), "Parquet"):
        return pl.read_parquet(data)


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path of the table") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _rows(path: Path, data: bytes) -> int:
    """Count the rows, and raise InputError if one has more or fewer cells than the first."""
    # Polars fills shorter rows with nulls.
    import pyarrow as pa
    from pyarrow import csv

    # With several threads the message would not name the row.
    options = csv.ReadOptions(block_size=len(data) + 1, use_threads=False)
    lines = csv.ParseOptions(newlines_in_values=True)
    try:
        table = csv.read_csv(pa.BufferReader(data), read_options=options, parse_options=lines)
    except pa.ArrowException as error:
        raise InputError(f"cannot read {path}: {error!s:.{_LONGEST}}") from error
    names = table.column_names
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"cannot read {path}: two columns are called {repeated[0]!r}; rename one")
    rows: int = table.num_rows
    return rows


def _refuse_other_encodings(path: Path, data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        text = data.decode(errors="surrogateescape")
        lines = [number for number, line in enumerate(text.split("\n"), 1) if _BROKEN.search(line)]
        examples = ", ".join(map(str, lines[:_EXAMPLES])) + ", ..." * (len(lines) > _EXAMPLES)
        raise InputError(
            f"cannot read {path}: it is not UTF-8 text in {len(lines):,} lines (line {examples};"
            f" the first is byte {error.start:,} of the file); save it as UTF-8"
        ) from None
