"""Columns from the records of documents, each checked whole; only a fault is looked for by row."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import polars as pl

from evalframe.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Kind: TypeAlias = Literal["text", "report", "number", "share", "count", "flag", "sign"]
"""What a value may be; a report is text, or a number that becomes text."""

_Values: TypeAlias = "list[Any]"

TYPES: dict[Kind, pl.DataType] = {
    "text": pl.String(),
    "report": pl.String(),
    "number": pl.Float64(),
    "share": pl.Float64(),
    "count": pl.Int64(),
    "flag": pl.Boolean(),
    "sign": pl.Int8(),
}
_WORDS: dict[Kind, str] = {
    "text": "text",
    "report": "text",
    "number": "a number of 64 bits",
    "share": "a number from 0 to 1",
    "count": "a whole number from 0 to 2**53",
    "flag": "true or false",
    "sign": "1, -1 or 0",
}
LARGEST_COUNT = 2**53
"""Counts are exact as floats up to here, and sums of a thousand of them fit into 64 bits."""

_ROUNDING = 1e-9
"""How far sums may have moved a share out of [0, 1]."""


class Field(NamedTuple):
    """A value of a document, and the column that it is read into."""

    keys: tuple[str, ...]
    """The keys that lead to it."""
    column: str
    kind: Kind


def field(keys: str, column: str, kind: Kind) -> Field:
    """A field whose keys are told as `usage_stats.total_tokens`."""
    return Field(tuple(keys.split(".")), column, kind)


def schema_of(fields: Iterable[Field]) -> dict[str, pl.DataType]:
    """The columns of fields, with their types."""
    return {each.column: TYPES[each.kind] for each in fields}


def columns_of(
    records: Sequence[Mapping[str, Any]], fields: Sequence[Field], where: Callable[[int], str]
) -> pl.DataFrame:
    """One row per record, one column per name; of several fields of a column the first not null.

    Empty text is null, as are values that are absent.
    """
    columns: dict[str, pl.Series] = {}
    for each in fields:
        values = _values_at(records, each.keys, where)
        column = pl.Series(each.column, _converted(values, each, where), dtype=TYPES[each.kind])
        earlier = columns.get(each.column)
        columns[each.column] = column if earlier is None else earlier.fill_null(column)
    return pl.DataFrame(list(columns.values()))


def objects_at(content: Mapping[str, Any], key: str, name: str) -> list[Mapping[str, Any]]:
    """A list of objects, empty where it is absent or null."""
    value = content.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{name}: {key} must be a list, but is {reprlib.repr(value)}")
    for place, entry in enumerate(value):
        if not isinstance(entry, Mapping):
            raise InputError(
                f"{name}: {key}[{place}] must be an object, but is {reprlib.repr(entry)}"
            )
    return value


def object_at(content: Mapping[str, Any], key: str, name: str) -> Mapping[str, Any]:
    """An object, empty where it is absent or null."""
    value = content.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: {key} must be an object, but is {reprlib.repr(value)}")
    return value


def unread(records: Iterable[Mapping[str, Any]], fields: Iterable[Field], prefix: str) -> set[str]:
    """Keys of records that no field reads, each told with what leads to it."""
    known: dict[str, list[Field]] = {}
    for each in fields:
        inner = known.setdefault(each.keys[0], [])
        if each.keys[1:]:
            inner.append(each._replace(keys=each.keys[1:]))
    keys: set[str] = set()
    nested: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        keys |= {f"{prefix}{key}" for key in record.keys() - known.keys()}
        for key, inner in known.items():
            if inner and isinstance(record.get(key), Mapping):
                nested.setdefault(key, []).append(record[key])
    for key, objects in nested.items():
        keys |= unread(objects, known[key], f"{prefix}{key}.")
    return keys


def _values_at(
    records: Sequence[Mapping[str, Any]], keys: tuple[str, ...], where: Callable[[int], str]
) -> _Values:
    for depth, key in enumerate(keys[:-1], 1):
        inner = [record.get(key) for record in records]
        for place, value in enumerate(inner):
            if not isinstance(value, Mapping | None):
                path = ".".join(keys[:depth])
                raise InputError(
                    f"{where(place)}{path} must be an object, but is {reprlib.repr(value)}"
                )
        records = [value or {} for value in inner]
    return [record.get(keys[-1]) for record in records]


def _converted(values: _Values, field: Field, where: Callable[[int], str]) -> _Values:
    try:
        return _all_converted(values, field.kind)
    except (TypeError, ValueError, OverflowError):
        place = next(place for place, value in enumerate(values) if _is_fault(value, field.kind))
        raise InputError(
            f"{where(place)}{'.'.join(field.keys)} is {reprlib.repr(values[place])}, not"
            f" {_WORDS[field.kind]}"
        ) from None


def _all_converted(values: _Values, kind: Kind) -> _Values:
    """The values as their column holds them."""
    types = {type(value) for value in values} - {type(None)}
    if kind == "flag":
        allowed: tuple[type, ...] = (bool,)
    elif kind == "text":
        allowed = (str,)
    else:
        allowed = (int, float, str) if kind == "report" else (int, float)
    if not all(issubclass(t, allowed) and (kind == "flag" or t is not bool) for t in types):
        raise TypeError
    if kind in ("text", "report"):
        return [None if value is None else str(value) or None for value in values]
    if kind == "flag":
        return values
    if kind in ("number", "share"):
        numbers = [None if value is None else float(value) for value in values]
        if kind == "share" and any(n is not None and not _is_share(n) for n in numbers):
            raise ValueError
        return numbers
    integers = [None if value is None else int(value) for value in values]
    least, largest = (-1, 1) if kind == "sign" else (0, LARGEST_COUNT)
    pairs = zip(integers, values, strict=True)
    if any(w is not None and (w != v or not least <= w <= largest) for w, v in pairs):
        raise ValueError
    return integers


def _is_share(number: float) -> bool:
    return math.isnan(number) or -_ROUNDING <= number <= 1 + _ROUNDING


def _is_fault(value: Any, kind: Kind) -> bool:
    try:
        _all_converted([value], kind)
    except (TypeError, ValueError, OverflowError):
        return True
    return False
