"""Documents of dtef-app 52d79c0, in JSON: surveys, and run results besides their scores."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from evalframe.core.documents import decoded, read_regular
from evalframe.core.errors import InputError
from evalframe.survey.surveys.assembling import files_of, listed

LARGEST = 2**53
"""Doubles hold every whole number up to this."""

_COUNT = re.compile(r"-c([0-9]+)$")
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_CONTEXT_QUESTION = re.compile(r'Q:\s*"')

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
        yield _decoded(path, "survey")


def _decoded(path: Path, kind: str) -> Document:
    """The document in a file."""
    try:
        data = read_regular(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path of the {kind}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    content, repeated = _parsed(data, str(path))
    return Document(str(path), content, repeated, bool(_HALF.search(data)))


def _parsed(data: bytes, name: str) -> tuple[Any, tuple[str, ...]]:
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


def results(sources: Sources) -> Iterator[Document]:
    """All run results of files, globs, folders and decoded documents, one at a time."""
    each = listed(sources, Mapping)
    if not each:
        raise InputError("no run result to read; name a file, a glob or a folder")
    for index, source in enumerate(each):
        if isinstance(source, Mapping):
            yield _sound(Document(f"run result {index}", source))
            continue
        for path in files_of(source, ".json"):
            yield _read(path)


def _read(path: Path) -> Document:
    result = _decoded(path, "run result")
    if not isinstance(result.content, Mapping):
        raise InputError(f"{path}: a run result is an object, but this is {_kind(result.content)}")
    if result.repeated:
        key = result.repeated[0]
        raise InputError(f"{path}: an object has the key {key!r} more than once; keep one")
    return _sound(result) if result.escaped else result


def _sound(result: Document) -> Document:
    """Raise InputError if a text has half of a character (a lone surrogate)."""
    if is_half(result.content):
        path = ".".join(_place_of_half(result.content))
        raise InputError(
            f"{result.name}: {path} has half of a character (a lone surrogate); correct the text"
        )
    return result


def _place_of_half(value: Any) -> Iterator[str]:
    """The keys that lead to the first text with half of a character."""
    entries = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, entry in entries:
        if is_half(key) or is_half(entry):
            yield ascii(key) if is_half(key) else str(key)
            if not is_half(key) and not isinstance(entry, str):
                yield from _place_of_half(entry)
            return


def at(result: Document, *keys: str, kind: type = Mapping, name: str = "an object") -> Any:
    """The value at a path of keys, None if it is absent or null."""
    value: Any = result.content
    for depth, key in enumerate(keys, 1):
        value = value.get(key)
        last = depth == len(keys)
        expected, said = (kind, name) if last else (Mapping, "an object")
        if value is None:
            return None
        if not isinstance(value, expected) or (isinstance(value, str) and expected is Sequence):
            raise InputError(
                f"{result.name}: {'.'.join(keys[:depth])} must be {said}, but is {_kind(value)}"
            )
    return value


def text_at(result: Document, *keys: str) -> str | None:
    """The text at a path of keys."""
    value: str | None = at(result, *keys, kind=str, name="text")
    return value


def whole_number(result: Document, value: Any, path: str) -> int | None:
    """A count, None if it is absent."""
    if value is None:
        return None
    if not (is_number(value) and abs(value) <= LARGEST and value == int(value)):
        raise InputError(
            f"{result.name}: {path} must be a whole number, but is {reprlib.repr(value)}"
        )
    return int(value)


def context_count(result: Document) -> int | None:
    """Number of answers that the prompts of a run show, None if unknown (`extractContextCount`)."""
    # The first of: the stated count, if it is a number of 0 or more; the digits at the end of an id
    # `...-c5`; for an id with `-ctx` the number of listed context questions, or of those quoted in
    # the first prompt; 0.
    context = at(result, "config", "context", "dtef") or {}
    stated = context.get("contextQuestionCount")
    if is_number(stated) and stated >= 0:
        return whole_number(result, stated, "config.context.dtef.contextQuestionCount")
    config = text_at(result, "config", "configId") or ""
    if match := _COUNT.search(config):
        return whole_number(result, int(match[1]), "the count at the end of config.configId")
    if "-ctx" not in config:
        return 0
    ids = context.get("contextQuestionIds")
    if isinstance(ids, list) and ids:
        return len(ids)
    prompts = at(result, "config", "prompts", kind=Sequence, name="a list") or []
    first = prompts[0] if prompts and isinstance(prompts[0], Mapping) else {}
    text = first.get("promptText")
    if not isinstance(text, str | None):
        raise InputError(
            f"{result.name}: config.prompts.0.promptText must be text, but is {_kind(text)}"
        )
    return len(_CONTEXT_QUESTION.findall(text or "")) or None


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "text", list: "a list"}
    return "null" if value is None else names.get(type(value), "an object")


def is_number(value: Any) -> TypeGuard[int | float]:
    """True for a number that is not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_half(text: Any) -> bool:
    """True if a value has half of a character, which JSON can encode and UTF-8 cannot."""
    try:
        json.dumps(text, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return True
    return False
