"""Survey documents of dtef-app 52d79c0, in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from evalframe.core.documents import decoded, read_regular
from evalframe.core.errors import InputError
from evalframe.survey.surveys.reading import files_of, listed

Source: TypeAlias = str | Path | Mapping[str, Any]
Sources: TypeAlias = Source | Sequence[Source]


class Document(NamedTuple):
    """A decoded document."""

    name: str
    """The name in messages."""
    content: Any
    repeated: tuple[str, ...] = ()
    """Keys that an object repeats."""
    escaped: bool = True
    """True if it can contain halves of characters."""


def documents(sources: Sources) -> list[Document]:
    """All documents of files, globs, folders and mappings."""
    results = [document for source in listed(sources, Mapping) for document in _documents(source)]
    if not results:
        raise InputError("no survey to read; name a file, a glob or a folder")
    return results


def _documents(source: Source) -> Iterator[Document]:
    if isinstance(source, Mapping):
        yield Document("survey", source)
        return
    for path in files_of(source, ".json"):
        if path.suffix.lower() in (".parquet", ".csv"):
            raise InputError(
                f"{path} is a table, not a document of dtef-app; evalframe.survey.read_survey reads"
                " and checks it"
            )
        data = bytes_of(path, "survey")
        content, repeated = parsed(data, str(path))
        yield Document(str(path), content, repeated, b"\\u" in data)


def bytes_of(path: Path, kind: str) -> bytes:
    """The content of a file."""
    try:
        return read_regular(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path of the {kind}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def parsed(data: bytes, name: str) -> tuple[Any, tuple[str, ...]]:
    """Decode JSON, and list the keys that an object repeats; the last value counts."""
    repeated: list[str] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        unique = dict(pairs)
        if len(unique) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated.extend(dict.fromkeys(key for key in keys if keys.count(key) > 1))
        return unique

    try:
        return json.loads(data, object_pairs_hook=keep), tuple(repeated)
    except (ValueError, RecursionError):
        return decoded(data, name), ()  # raises with the reason
