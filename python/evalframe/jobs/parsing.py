"""Jobs from TOML or from flags, with errors that name the entry."""

from __future__ import annotations

import tomllib
import types
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from msgspec import NODEFAULT

from evalframe.core.errors import InputError, UnknownNameError
from evalframe.jobs.family import FAMILIES, family
from evalframe.jobs.flags import fields_of, is_struct, members

if TYPE_CHECKING:
    from evalframe.jobs.settings import TableJob


def load(path: Path) -> TableJob:
    """Read the job of a TOML file."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"no job file {str(path)!r}") from None
    except RecursionError:
        raise InputError(f"{path} is not a TOML job file: it is nested too deeply") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not a TOML job file: {error}") from None
    return parse(document)


def parse(document: Mapping[str, Any]) -> TableJob:
    """Make a job of the entries of a TOML file, or of the flags of a command.

    `bootstrap = 200` is short for `bootstrap = { n = 200 }`.
    """
    entries = dict(document)
    if "family" not in entries:
        raise InputError(f"a job names its family, one of: {', '.join(FAMILIES)}")
    name = _converted(entries.pop("family"), str, "family")
    if type(n := entries.get("bootstrap")) is int:
        entries["bootstrap"] = {"n": n}
    owner = family(name)
    kind = str(owner.reader)  # rgb = true is an older form of reader = "rgb"
    if kind in entries and _converted(entries.pop(kind), bool, kind):
        entries["reader"] = kind
    job: TableJob = _struct(entries, owner.job.value, "")
    return job


_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    tuple: "a list",
    list: "a list",
    dict: "a table",
    types.NoneType: "nothing",
}


def _struct(entries: Mapping[str, Any], struct: Any, entry: str) -> Any:
    """Make a struct of its entries; `entry` is its place in the document."""
    known_fields = {field.name: field for field in fields_of(struct)}
    called = entry or "job"
    for name in entries:
        if name not in known_fields:
            raise UnknownNameError.of(f"entry of {called}", name, known_fields)
    prefix = f"{entry}." if entry else ""
    values = {
        name: _converted(value, known_fields[name].type, f"{prefix}{name}")
        for name, value in entries.items()
    }
    for name, field in known_fields.items():
        if field.default is NODEFAULT and name not in entries:
            raise InputError(f"{called} lacks its entry {name!r}")
    return struct(**values)


def _converted(value: Any, hint: Any, entry: str) -> Any:
    """A value as its type wants it: lists as tuples, whole numbers as numbers."""
    hints = members(hint)
    for kind in hints:
        if _fits(value, kind):
            return _of_kind(value, kind, entry)
    choices = [kind for kind in hints if get_origin(kind) is Literal]
    if choices and isinstance(value, str):
        raise UnknownNameError.of(entry.replace(": each", ""), value, get_args(choices[0]))
    words = dict.fromkeys(_word(kind) for kind in hints if kind is not types.NoneType)
    expected = ["a number of resamples"] * (entry == "bootstrap") + [*words]
    got = _WORDS.get(type(value), f"a {type(value).__name__}")
    raise InputError(f"{entry} must be {' or '.join(expected)}, got {got}")


def _word(kind: Any) -> str:
    if is_struct(kind):
        return _WORDS[dict]
    return _WORDS[str] if get_origin(kind) is Literal else _WORDS[get_origin(kind) or kind]


def _fits(value: Any, kind: Any) -> bool:
    """Return True if the value itself, apart from what it contains, is of this kind."""
    if kind is Any:
        return True
    if get_origin(kind) is Literal:
        return value in get_args(kind) if isinstance(value, str) else False
    if kind is float:
        return type(value) in (int, float)
    if get_origin(kind) is tuple:
        return isinstance(value, list | tuple)
    if is_struct(kind) or get_origin(kind) is dict:
        return isinstance(value, dict)
    return type(value) is kind


def _of_kind(value: Any, kind: Any, entry: str) -> Any:
    if is_struct(kind):
        return _struct(value, kind, entry)
    if get_origin(kind) is tuple:
        return tuple(_converted(each, get_args(kind)[0], f"{entry}: each") for each in value)
    if get_origin(kind) is dict:
        inner = get_args(kind)[1]
        return {key: _converted(each, inner, f"{entry}: each") for key, each in value.items()}
    if kind is float:
        try:
            return float(value)
        except OverflowError:
            raise InputError(f"{entry} is beyond the range of numbers") from None
    return value
