"""JSON documents of surveys, and where they are found."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from evalframe.core.documents import decoded, read_regular
from evalframe.core.errors import InputError, ParameterError
from evalframe.core.files import matching

if TYPE_CHECKING:
    from collections.abc import Iterator

Source: TypeAlias = str | Path | Mapping[str, Any]
Sources: TypeAlias = Source | Sequence[Source]


TABLES = (".parquet", ".csv")
"""Suffixes of tables, in lower case."""


class Document(NamedTuple):
    """A decoded document."""

    name: str
    """What messages call it."""
    content: Any
    repeated: tuple[str, ...] = ()
    """Keys that an object of it repeats."""
    escaped: bool = True
    """Whether it may hold halves of characters."""


def documents(sources: Sources) -> list[Document]:
    """All documents of files, globs, folders and mappings.

    Raises:
        InputError: Nothing is there, it is a table, or it is no JSON.
        ParameterError: What is named is none of these.
    """
    each = listed_sources(sources)
    found = [document for source in each for document in _documents(source)]
    if not found:
        raise InputError("no survey to read; name a file, a glob or a folder")
    return found


def listed_sources(sources: Sources) -> list[Source]:
    """The sources, whether one is given or several.

    Raises:
        ParameterError: Something is neither a path nor a decoded document.
    """
    each: list[Any] = [sources]
    if isinstance(sources, Iterable) and not isinstance(sources, str | Mapping):
        each = [*sources]
    for source in each:
        if not isinstance(source, str | Path | Mapping):
            raise ParameterError(
                "expected files, globs, folders or decoded documents (mappings), got"
                f" {type(source).__name__}"
            )
    return each


def files_of(given: str | Path, suffix: str = ".json") -> list[Path]:
    """The files that a path stands for: itself, those a glob matches, or those of a folder.

    Raises:
        InputError: There is none.
    """
    path = Path(given)
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.suffix.lower() == suffix)
        if not found:
            raise InputError(f"folder {str(path)!r} holds no {suffix} file")
        return found
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    if not (found := matching(path)):
        raise InputError(f"no file matches {str(path)!r}")
    return found


def _documents(source: Source) -> Iterator[Document]:
    if isinstance(source, Mapping):
        yield Document("survey", source)
        return
    for path in files_of(source):
        if path.suffix.lower() in TABLES:
            raise InputError(
                f"{path} is a table, and no document of the original; as_survey checks a table, and"
                " read_survey reads and checks its file"
            )
        data = _bytes(path)
        content, repeated = parsed(data, str(path))
        yield Document(str(path), content, repeated, b"\\u" in data)


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path of the survey") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def parsed(data: bytes, name: str) -> tuple[Any, tuple[str, ...]]:
    """A JSON document, and the keys that stand twice in one object, where the last counts.

    Args:
        data: Its bytes.
        name: What messages call it.

    Raises:
        InputError: It is no JSON.
    """
    repeated: list[str] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated.extend(dict.fromkeys(key for key in keys if keys.count(key) > 1))
        return made

    try:
        return json.loads(data, object_pairs_hook=keep), tuple(repeated)
    except (ValueError, RecursionError):
        return decoded(data, name), ()  # which says what is wrong
