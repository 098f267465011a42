"""Tables of surveys in files; those in CSV must be UTF-8 text with all cells in all rows."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from evalframe.core.documents import check_parquet, damage_told, read_regular
from evalframe.core.errors import InputError, ParameterError, naming
from evalframe.core.files import matching
from evalframe.survey.surveys.assembling import QUESTIONS, SEGMENTS, as_survey
from evalframe.survey.surveys.tables import RESPONSES, Survey

Paths: TypeAlias = str | Path | Sequence[str | Path]

_TABLES = (".parquet", ".csv")
_TEXTS = [name for name, dtype in (QUESTIONS | SEGMENTS | RESPONSES).items() if dtype == pl.String]
"""Columns that are text, whatever they look like."""

_BROKEN = re.compile("[\udc80-\udcff]")
_EXAMPLES, _LONGEST = 3, 300


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

    Example:
        >>> import tempfile
        >>> table = {"question_id": ["q"], "segment_id": ["gender:male"], "actual": [[60.0, 40.0]]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pl.DataFrame(table).write_parquet(Path(folder, "survey.parquet"))
        ...     print(read_survey(Path(folder, "survey.parquet")))
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
