"""Flags are fields: the options of a command come from the annotated fields of a struct."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import click
import msgspec
from msgspec import NODEFAULT
from msgspec.structs import fields


class Flag(NamedTuple):
    """How a field appears on the command line.

    Attributes:
        help: Help of the option.
        metavar: Its value in the help; by default that of its type.
        default: Its default in the help, where that of the field does not say it.
        name: Its name, if not that of the field.
        parse: Makes the entry of a job file from the text, for a field that is a struct.
        repeated: True if each value needs the flag, as paths that may contain commas.
        checks: False if `validate` does not need it.
    """

    help: str
    metavar: str | None = None
    default: str | None = None
    name: str | None = None
    parse: Callable[[str | None], Any] | None = None
    repeated: bool = False
    checks: bool = True


class Field(NamedTuple):
    """A field of a struct: its name, type without None, flag and default."""

    name: str
    type: Any
    flag: Flag | None
    default: Any


def fields_of(struct: type) -> Iterator[Field]:
    """Fields of a struct; those that it inherits are last."""
    own = inspect.get_annotations(struct)
    for each in sorted(fields(struct), key=lambda each: each.name not in own):
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
    return click.Option([*short, f"--{name}", field.name], **settings | _parsing(field, flag))


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
        return {"type": split, "multiple": True, "callback": _joined, **metavar}
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
        elif idle := [f"--{key}" for key in entries if key not in outer]:
            raise click.UsageError(
                f"{' and '.join(idle)} without --{name} N, which asks for resampling"
            )
    return document


def command(
    name: str,
    struct: type,
    run: Callable[[dict[str, Any], bool], None],
    *,
    texts: Mapping[str, str],
) -> click.Command:
    """A command whose argument and options are the fields of a struct."""
    first = next(each for each in fields_of(struct) if each.flag is None)
    argument = click.Argument([first.name], nargs=-1, required=first.default is NODEFAULT)

    def call(quiet: bool, **flags: Any) -> None:
        values = msgspec.structs.asdict(struct(**drop_unset(flags)))
        run(drop_unset(values), quiet)

    return click.Command(
        name,
        callback=call,
        params=[argument, *options(struct), quiet_option("Print no summary.")],
        help=texts[name],
        epilog=texts.get(f"{name}: examples"),
    )


def quiet_option(text: str) -> click.Option:
    """The option that prints nothing."""
    return click.Option(["--quiet", "-q"], is_flag=True, help=text)
