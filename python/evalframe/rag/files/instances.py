"""Data files of the original program: questions with their answers and passages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import InputError
from evalframe.core.files import matching
from evalframe.rag.files.records import FILE, INSTANCES, INTEGRATION, read_records

if TYPE_CHECKING:
    from evalframe.rag.files.finding import Paths


def read_rgb_instances(path: Paths, *, dataset: str | None = None) -> pl.DataFrame:
    """Questions of data files, in the columns that `select_documents` and `attach_answers` read.

    A file has one record (a JSON object) on each line, whatever its extension. Its data set is the
    name of the file without the extension: `en_fact.json` holds `en_fact`. Where `_int` is in it,
    passages come in groups, one for each part of the answer; such files are read by themselves.

    Args:
        path: Files or globs (`**` descends).
        dataset: Name of the data set, instead of what the files' names say.

    Returns:
        dataset, id (Int64), query, answers (List(List(String)): groups of aliases), fake_answers
        (List(String)), positive (List(String), of `_int` data List(List(String))), negative and
        positive_wrong (List(String)). What a record lacks is null. Rows in the order of the files,
        those of a glob by name, and of their lines.

    Raises:
        InputError: No such file, a record that cannot be read (with its file and line), or files
            of `_int` and other data in one call.

    References:
        Files are those of RGB 65ec39e.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from evalframe.rag.files.instances import read_rgb_instances
        >>> record = (
        ...     '{"id": 0, "query": "?", "answer": ["a", ["b", "c"]], "positive": ["a b"], '
        ...     '"negative": []}'
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "en.json").write_text(record)
        ...     table = read_rgb_instances(f"{folder}/en.json")
        >>> table.select("dataset", "answers", "positive").row(0)
        ('en', [['a'], ['b', 'c']], ['a b'])
    """
    files = _files(path)
    names = {str(file): dataset or file.stem for file in files}
    spread = {file for file, name in names.items() if "_int" in name}
    if spread and len(spread) < len(names):
        other = min({*names} - spread)
        raise InputError(
            f"{min(spread)} has passages in groups, {other} has not; read them by two calls"
        )
    records = read_records(files, INTEGRATION if spread else INSTANCES)
    lacking = {name: pl.lit(None) for name in _OPTIONAL if name not in records.columns}
    return records.with_columns(**lacking).select(
        pl.col(FILE).replace_strict(names, return_dtype=pl.String).alias("dataset"),
        "id",
        "query",
        answers="answer",
        fake_answers="fakeanswer",
        positive="positive",
        negative="negative",
        positive_wrong=pl.col("positive_wrong").cast(pl.List(pl.String)),
    )


_OPTIONAL = ("fakeanswer", "positive_wrong")


def _files(given: Paths) -> list[Path]:
    """The files that are read, each once.

    Raises:
        InputError: Nothing is there.
    """
    each = [given] if isinstance(given, str | Path) else list(given)
    found: list[Path] = []
    for entry in map(str, each):
        # os.path says of a name that is too long that it is no file; Path raises.
        paths = [Path(entry)] if os.path.isfile(entry) else matching(entry)  # noqa: PTH113
        if not (files := [path for path in paths if path.is_file()]):
            raise InputError(f"no file {entry!r}; name a data file, or several by a glob")
        found += files
    if not found:
        raise InputError("no file to read; name a data file, or several by a glob")
    return list(dict.fromkeys(found))
