"""Fields of structs as options of commands, and as entries of job files in TOML."""

from __future__ import annotations

import inspect
import re
import tomllib
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import click
import msgspec
from msgspec import NODEFAULT
from msgspec.structs import fields

from evalframe.core.errors import InputError, UnknownNameError
from evalframe.jobs.console import of_gate
from evalframe.jobs.family import FAMILIES, family

if TYPE_CHECKING:
    from evalframe.jobs.settings import TableJob


class Flag(NamedTuple):
    """How a field appears on the command line.

    Attributes:
        help: Help of the option.
        metavar: Its value in the help; by default that of its type.
        default: Its default in the help, where that of the field does not say it.
        name: Its name, if not that of the field.
        also: Another name.
        parse: Makes the entry of a job file from the text, for a field that is a struct.
        repeated: True if each value needs the flag, as paths that may contain commas.
        checks: False if `validate` does not need it.
    """

    help: str
    metavar: str | None = None
    default: str | None = None
    name: str | None = None
    also: str | None = None
    parse: Callable[[str | None], Any] | None = None
    repeated: bool = False
    checks: bool = True


class Field(NamedTuple):
    """A field of a struct: its name, type without None, flag and default."""

    name: str
    type: Any
    flag: Flag | None
    default: Any


@cache
def fields_of(struct: type) -> tuple[Field, ...]:
    """Fields of a struct; those that it inherits are last, without those that it does not use."""
    return tuple(_fields(struct))


def _fields(struct: type) -> Iterator[Field]:
    known = [inspect.get_annotations(part) for part in struct.__mro__]
    unused = getattr(struct, "unused", ())
    for each in sorted(fields(struct), key=lambda each: [each.name not in own for own in known]):
        if each.name in unused:
            continue
        flag, hint = None, each.type
        if get_origin(hint) is Annotated:
            hint, flag = get_args(hint)
        default = each.default
        if default is NODEFAULT and each.default_factory is not NODEFAULT:
            default = each.default_factory()
        yield Field(each.name, hint, flag, default)


def members(hint: Any) -> tuple[Any, ...]:
    """Types of a union, or the only type."""
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def split(text: str) -> list[str]:
    """Names between commas, without the blanks around them; an empty text has no names."""
    return [name.strip() for name in text.split(",") if name.strip()]


def split_metrics(text: str) -> list[str]:
    """Metrics between commas; what follows as KEY=VALUE belongs to the metric before it.

    >>> split_metrics("mean:score,pass_at:correct,k=5,accuracy")
    ['mean:score', 'pass_at:correct,k=5', 'accuracy']
    """
    return [part.strip() for part in re.split(r",(?!\s*[A-Za-z]\w*\s*=)", text) if part.strip()]


def numbers(text: str) -> list[float]:
    """Numbers between commas."""
    return [float(number) for number in split(text)]


def options(struct: type, *, checks_only: bool = False) -> list[click.Parameter]:
    """Options of a command from the fields of a struct, nested structs included."""
    parameters: list[click.Parameter] = []
    defaults = getattr(struct, "defaults", {})
    for each in fields_of(struct):
        if each.flag is None or (checks_only and not each.flag.checks):
            continue
        inner = inner_fields(each)
        shown = inner if inner and each.flag.parse is None else [each, *inner]
        parameters += [_option(field, defaults.get(field.name)) for field in shown]
        if each.name == "columns":
            parameters += [
                click.Option([f"--{role}"], metavar="COLUMN", help=text)
                for role, text in getattr(struct, "column_flags", {}).items()
            ]
    return parameters


def inner_fields(field: Field) -> list[Field]:
    """Fields with flags of a field that is a struct, such as `bootstrap`."""
    structs = (part for part in members(field.type) if is_struct(part))
    return [inner for struct in structs for inner in fields_of(struct) if inner.flag is not None]


def is_struct(hint: Any) -> bool:
    """Return True for a type of struct."""
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _option(field: Field, default: str | None = None) -> click.Option:
    flag = field.flag
    assert flag is not None
    name = flag.name or field.name.replace("_", "-")
    short = ["-o"] if name == "output" else []
    shown = default or flag.default or _shown(field.default)
    text = f"{flag.help}  [default: {shown}]".strip() if shown else flag.help
    settings: dict[str, Any] = {"help": text, "metavar": flag.metavar}
    settings |= {"required": True} if field.default is NODEFAULT and shown is None else {}
    also = [f"--{flag.also}"] if flag.also else []
    names = [*short, f"--{name}", *also, field.name]
    return click.Option(names, **settings | _parsing(field, flag))


def _shown(default: Any) -> str | None:
    if default is NODEFAULT or default is None or default is False or default in ((), {}):
        return None
    return ",".join(map(_text, default)) if isinstance(default, tuple) else _text(default)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _parsing(field: Field, flag: Flag) -> dict[str, Any]:
    """How an option reads its text, by the type of the field."""
    kinds = [kind for kind in members(field.type) if kind is not types.NoneType]
    kind = kinds[0]
    if flag.parse is not None:
        return {"type": str}
    if get_origin(kind) is dict:
        return {"multiple": True, "callback": _roles}
    if get_origin(kind) is tuple:
        metavar = {"metavar": flag.metavar or "A,B,..."}
        if flag.repeated:
            return {"multiple": True}
        if get_args(kind)[0] is float:
            return {"type": numbers, **metavar}
        text = (
            split_metrics
            if dict in {get_origin(each) for each in members(get_args(kind)[0])}
            else split
        )
        return {"type": text, "multiple": True, "callback": _joined, **metavar}
    if get_origin(kind) is Literal and int in kinds:
        return {"type": _number_or(get_args(kind))}
    if get_origin(kind) is Literal:
        return {"type": click.Choice(get_args(kind))}
    return {"is_flag": True} if kind is bool else {"type": kind}


def _number_or(words: Sequence[str]) -> Callable[[str], int | str]:
    def read(text: str) -> int | str:
        if text.isdecimal():
            return int(text)
        if text not in words:
            raise click.BadParameter(f"{text!r} is none of {', '.join(words)}, and no number")
        return text

    return read


def _joined(
    context: click.Context, option: click.Parameter, values: tuple[list[str], ...]
) -> list[str] | None:
    return [name for names in values for name in names] if values else None


def _roles(
    context: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> dict[str, list[str]] | None:
    """The columns of each role, from texts such as `label=truth`."""
    columns: dict[str, list[str]] = {}
    for text in values:
        role, equals, name = (part.strip() for part in text.partition("="))
        if not (role and equals and name):
            raise click.BadParameter(f"{text!r} is not ROLE=NAME, such as label=truth")
        columns.setdefault(role, []).append(name)
    return columns or None


def drop_unset(flags: dict[str, Any]) -> dict[str, Any]:
    """Drop the flags that were not set on the command line."""
    return {name: value for name, value in flags.items() if not _is_unset(value)}


def _is_unset(value: Any) -> bool:
    return value is None or value is False or value in ((), {})


def document_of(struct: type, flags: dict[str, Any]) -> dict[str, Any]:
    """The flags that were set as entries of a job file, nested as these have them."""
    document = dict(flags)
    roles = getattr(struct, "column_flags", {})
    if named := {role: [document.pop(role)] for role in roles if role in document}:
        columns = {role: [*names] for role, names in document.get("columns", {}).items()}
        for role, names in named.items():
            columns[role] = [*columns.get(role, ()), *names]
        document["columns"] = columns
    outer = {field.name: field for field in fields_of(struct)}
    for name, field in outer.items():
        inner = [each.name for each in inner_fields(field)]
        entries = {key: document[key] for key in inner if key in document}
        parsed = field.flag and field.flag.parse
        if (parsed and (entries or name in document)) or (inner and inner[0] in entries):
            start = parsed(document.get(name)) if parsed else {}
            document = {key: value for key, value in document.items() if key not in entries}
            document[name] = {**start, **entries}
        elif (
            entries and inner and all(each.default is not NODEFAULT for each in inner_fields(field))
        ):
            document = {key: value for key, value in document.items() if key not in entries}
            document[name] = entries
        elif idle := [f"--{key}" for key in entries if key not in outer]:
            raise click.UsageError(
                f"{' and '.join(idle)} without --{name} N, which asks for resampling"
            )
    return document


def quiet_option(text: str) -> click.Option:
    """The option that prints nothing."""
    return click.Option(["--quiet", "-q"], is_flag=True, help=text)


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
    if "fail_if" in document:
        of_gate()
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
    if "verb" in entries:
        owner = owner.doing(_converted(entries["verb"], str, "verb"))
    kind = str(owner.reader)  # rgb = true is an older form of reader = "rgb"
    if kind in entries and _converted(entries.pop(kind), bool, kind):
        entries["reader"] = kind
    job: TableJob = _struct(entries, owner.job, "")
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
