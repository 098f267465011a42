"""Documents of run results, and their contents besides scores."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalframe.compat.dtef.documents import Sources, bytes_of, parsed
from evalframe.compat.dtef.validating import LARGEST, is_half, is_number
from evalframe.core.errors import InputError
from evalframe.survey.surveys.reading import files_of, listed

_COUNT = re.compile(r"-c([0-9]+)$")
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_CONTEXT_QUESTION = re.compile(r'Q:\s*"')


class Result(NamedTuple):
    """A decoded run result."""

    name: str
    """The name in messages."""
    content: Mapping[str, Any]


def results(sources: Sources) -> Iterator[Result]:
    """All run results of files, globs, folders and decoded documents, one at a time."""
    each = listed(sources, Mapping)
    if not each:
        raise InputError("no run result to read; name a file, a glob or a folder")
    for index, source in enumerate(each):
        if isinstance(source, Mapping):
            yield _sound(Result(f"run result {index}", source))
            continue
        for path in files_of(source, ".json"):
            yield _read(path)


def _read(path: Path) -> Result:
    data = bytes_of(path, "run result")
    content, repeated = parsed(data, str(path))
    if not isinstance(content, Mapping):
        raise InputError(f"{path}: a run result is an object, but this is {_kind(content)}")
    if repeated:
        raise InputError(f"{path}: an object has the key {repeated[0]!r} more than once; keep one")
    result = Result(str(path), content)
    return _sound(result) if _HALF.search(data) else result


def _sound(result: Result) -> Result:
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


def at(result: Result, *keys: str, kind: type = Mapping, name: str = "an object") -> Any:
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


def text_at(result: Result, *keys: str) -> str | None:
    """The text at a path of keys."""
    value: str | None = at(result, *keys, kind=str, name="text")
    return value


def whole_number(result: Result, value: Any, path: str) -> int | None:
    """A count, None if it is absent."""
    if value is None:
        return None
    if not (is_number(value) and abs(value) <= LARGEST and value == int(value)):
        raise InputError(
            f"{result.name}: {path} must be a whole number, but is {reprlib.repr(value)}"
        )
    return int(value)


def context_count(result: Result) -> int | None:
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
