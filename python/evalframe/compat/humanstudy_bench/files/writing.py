"""JSON and CSV, and files that are written together."""

from __future__ import annotations

import io
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
from polars import selectors

from evalframe.compat.humanstudy_bench.files.documents import check_text
from evalframe.core.errors import OutputError
from evalframe.core.files import replacing_all

if TYPE_CHECKING:
    from evalframe.compat.humanstudy_bench.files.records import Field
    from evalframe.compat.humanstudy_bench.files.results import Pooling


Row: TypeAlias = dict[str, Any]
Run: TypeAlias = tuple[str, str]
"""A model and a study."""

_SHOWN_DECIMALS = 4


def json_text(document: Mapping[str, Any]) -> str:
    """A document as the program writes it."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def csv_text(table: pl.DataFrame, *, decimals: int = _SHOWN_DECIMALS, line_end: str = "\n") -> str:
    """A table as CSV, empty for null, without a last end of line."""
    buffer = io.BytesIO()
    finite(table).write_csv(buffer, float_precision=decimals, line_terminator=line_end)
    return buffer.getvalue().decode()


def finite(table: pl.DataFrame) -> pl.DataFrame:
    """The table with null for NaN and infinity."""
    numbers = selectors.float()
    return table.with_columns(pl.when(numbers.is_finite()).then(numbers))


def by_run(table: pl.DataFrame, study: str = "study_id") -> defaultdict[Run, list[Row]]:
    """The rows of each model and study, in their order."""
    rows: defaultdict[Run, list[Row]] = defaultdict(list)
    for row in finite(table).iter_rows(named=True):
        rows[row["model"], row[study]].append(row)
    return rows


def nested(row: Row, fields: Iterable[Field]) -> Row:
    """The fields of a row that are not null, under their keys in documents."""
    document: Row = {}
    for field in fields:
        value = row[field.column]
        if value is not None:
            place = document
            for key in field.keys[:-1]:
                place = place.setdefault(key, {})
            place[field.keys[-1]] = value
    return document


def metadata(head: Row, created_at: str | None, pooling: Pooling | None) -> Row:
    """The head of a document: time (if set), format, and how scores were pooled."""
    if created_at is not None:
        check_text("created_at", created_at)
    document = head if created_at is None else {"generated_at": created_at} | head
    return document if pooling is None else document | {"pooling": asdict(pooling)}


def write_texts(texts: Mapping[Path, str], *, overwrite: bool) -> list[Path]:
    """Write files and their folders, all of them before the first replaces another."""
    there = [path for path in texts if os.path.lexists(path)]
    if there and not overwrite:
        raise OutputError(
            f"{len(there):,} of {len(texts):,} files are there already, the first {there[0]}; write"
            " to another folder, or replace them by overwrite=True"
        )
    for folder in dict.fromkeys(path.parent for path in texts):
        _make(folder)
    with replacing_all(list(texts)) as partials:
        for partial, text in zip(partials, texts.values(), strict=True):
            partial.write_bytes(text.encode())
    return sorted(texts)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot make folder {str(folder)!r} ({error.strerror or error}); choose another"
        ) from error


def in_folder(folder: str | Path) -> Path:
    """An existing folder; else OutputError."""
    if not os.path.isdir(folder):  # noqa: PTH112 (Path raises for a name that is too long)
        raise OutputError(f"no folder {str(folder)!r}; create it first")
    return Path(folder)
