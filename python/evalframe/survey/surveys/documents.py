"""JSON documents of surveys, and where they are found."""

from __future__ import annotations

import glob
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from evalframe.core.documents import decoded, read_regular
from evalframe.core.errors import InputError
from evalframe.core.files import matching

if TYPE_CHECKING:
    from collections.abc import Iterator

Source: TypeAlias = str | Path | Mapping[str, Any]
Sources: TypeAlias = Source | Sequence[Source]


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
        InputError: Nothing is there, or it is no JSON.
    """
    each = [sources] if isinstance(sources, str | Path | Mapping) else list(sources)
    found = [document for source in each for document in _documents(source)]
    if not found:
        raise InputError("no survey to read; name a file, a glob or a folder")
    return found


def files_of(given: str | Path, suffix: str = ".json") -> list[Path]:
    """The files that a path stands for: itself, those a glob matches, or those of a folder.

    Raises:
        InputError: There is none.
    """
    path = Path(given)
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.suffix == suffix)
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
        data = _bytes(path)
        content = decoded(data, str(path))
        yield Document(str(path), content, _repeated_keys(data), b"\\u" in data)


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path of the survey") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _repeated_keys(data: bytes) -> tuple[str, ...]:
    """Keys that stand twice in one object, of which a decoder keeps the last only."""
    repeated: list[str] = []

    def keep(pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        if len({*keys}) < len(keys):
            repeated.extend(dict.fromkeys(key for key in keys if keys.count(key) > 1))

    json.loads(data, object_pairs_hook=keep)
    return tuple(repeated)
