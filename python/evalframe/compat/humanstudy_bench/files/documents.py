"""JSON documents, found in files, globs and folders, and checked; and files written like them."""

from __future__ import annotations

import glob
import io
import json
import os
import reprlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl
from polars import selectors

from evalframe.core.documents import decoded, is_whole, read_regular
from evalframe.core.errors import InputError, OutputError, ParameterError
from evalframe.core.files import matching, replacing_all

if TYPE_CHECKING:
    from evalframe.compat.humanstudy_bench.files.fields import Field
    from evalframe.compat.humanstudy_bench.files.results import Pooling


Source: TypeAlias = str | Path | Mapping[str, Any]
Sources: TypeAlias = Source | Sequence[Source]


class Document(NamedTuple):
    """A decoded document."""

    name: str
    """Its name in messages."""
    content: Mapping[str, Any]
    path: Path | None = None


def documents(sources: Sources, file_name: str) -> Iterator[Document]:
    """All documents of the sources, one at a time, each file once."""
    each: Sequence[Any] = [sources]
    if isinstance(sources, Sequence) and not isinstance(sources, str | bytes):
        each = sources
    if not each:
        raise InputError("nothing to read; name a file, a glob or a folder")
    seen: set[Path] = set()
    for place, source in enumerate(each):
        if isinstance(source, Mapping):
            yield _sound(_acyclic(Document(f"document {place}", source)))
        elif isinstance(source, str | Path):
            paths = [path for path in _files(source, file_name) if path not in seen]
            seen.update(paths)
            yield from map(_read, paths)
        else:
            raise ParameterError(
                "expected files, globs, folders or decoded documents, got"
                f" {reprlib.repr(source)} ({type(source).__name__})"
            )


def _files(source: str | Path, file_name: str) -> list[Path]:
    """The files of a path, folder or glob."""
    # os.path returns False for a name that is too long; Path raises.
    if os.path.isdir(source):  # noqa: PTH112
        if paths := sorted(Path(source).rglob(file_name)):
            return paths
        raise InputError(f"folder {str(source)!r} holds no {file_name}, at any depth")
    if os.path.exists(source) or not glob.has_magic(str(source)):  # noqa: PTH110
        return [Path(source)]
    if not (paths := [path for path in matching(source) if path.is_file()]):
        raise InputError(f"no file matches {str(source)!r}")
    return paths


def _read(path: Path) -> Document:
    if not is_whole(str(path)):
        raise InputError(
            f"the name {str(path)!a} is no text (UTF-8); rename the file or its folder"
        )
    try:
        data = read_regular(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise InputError(f"cannot read {str(path)!r}: {why or error}") from error
    content = decoded(data, str(path))
    if not isinstance(content, Mapping):
        raise InputError(
            f"{path} must hold an object, but holds {reprlib.repr(content)}; is it the right file?"
        )
    text = data.decode(json.detect_encoding(data), "surrogatepass")
    if (repeated := _repeated_key(text)) is not None:
        raise InputError(f"{path}: an object has the key {repeated!r} more than once; keep one")
    document = Document(str(path), content, path)
    return _sound(document) if "\\u" in text or not is_whole(text) else document


def _repeated_key(text: str) -> str | None:
    """A key that is repeated in an object, where a decoder keeps the last only."""
    repeated: list[str] = []

    def keep(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        if len({*keys}) < len(keys):
            repeated.extend(key for key in keys if keys.count(key) > 1)

    json.loads(text, object_pairs_hook=keep)
    return repeated[0] if repeated else None


def _acyclic(document: Document) -> Document:
    """The document; InputError if it contains itself or is nested too deeply."""
    try:
        json.dumps(document.content, default=str, skipkeys=True)
    except (ValueError, RecursionError):
        raise InputError(
            f"{document.name} holds itself, or is nested too deeply to be read; give decoded JSON"
        ) from None
    return document


def _sound(document: Document) -> Document:
    """The document; InputError if a text has half of a character."""
    if _is_half(document.content):
        place = "".join(_place_of_half(document.content)).removeprefix(".")
        raise InputError(
            f"{document.name}: {place} has half of a character (a lone surrogate); correct the text"
        )
    return document


def _is_half(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, default=str, skipkeys=True).encode()
    except UnicodeEncodeError:
        return True
    return False


def _place_of_half(value: Any) -> Iterator[str]:
    """The path to the first text with half of a character."""
    is_object = isinstance(value, Mapping)
    for key, entry in value.items() if is_object else enumerate(value):
        if _is_half(key) or _is_half(entry):
            yield f".{ascii(key) if _is_half(key) else key}" if is_object else f"[{key}]"
            if not _is_half(key) and not isinstance(entry, str):
                yield from _place_of_half(entry)
            return


def check_text(name: str, value: object) -> None:
    """Raise ParameterError if an argument is no text, or has half of a character."""
    if not isinstance(value, str):
        raise ParameterError(f"{name} must be a text, but is {value!r}")
    if not is_whole(value):
        raise ParameterError(
            f"{name} has half of a character (a lone surrogate): {value!a}; correct the text"
        )


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
