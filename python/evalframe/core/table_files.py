"""Tables in files, of which a few columns are read: Parquet, or JSON lines of any keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.documents import check_parquet, damage_told, decoded, read_regular
from evalframe.core.errors import InputError, MissingColumnsError, naming

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r"
_LONGEST = 300
_DEEPEST = 50
"""The time that Polars takes grows with the third power of the depth."""

_KINDS = {
    bool: "true or false",
    int: "numbers",
    float: "numbers",
    str: "texts",
    list: "lists",
    dict: "objects",
}


def table_in(path: Path, needed: Collection[str], *, called: str, needed_by: str) -> pl.DataFrame:
    """The columns that are needed of a table in a file.

    JSON lines are read as the standard library does: of a key that repeats the last counts.

    Args:
        path: A Parquet file, or any other of JSON lines.
        needed: Names of columns.
        called: What messages call the table.
        needed_by: Who needs the columns, for messages.

    Raises:
        InputError: The file cannot be read, or its lines hold different kinds of values under a
            name: nothing is turned into text.
        MissingColumnsError: A column is not there.
    """
    if path.suffix == ".parquet":
        check_parquet(path, f"{called} {path}", needed)
        with damage_told(f"{called} {path}", "Parquet"):
            lazy = pl.scan_parquet(path, glob=False)
            present = lazy.collect_schema().names()
            table = lazy.select(name for name in present if name in needed).collect()
    else:
        rows = _rows(path, called)
        present = [*dict.fromkeys(name for row in rows for name in row)]
        read = [{name: row.get(name) for name in present if name in needed} for row in rows]
        table = _table(read, str(path))
    if missing := {*needed} - {*present}:
        with naming(str(path)):
            raise MissingColumnsError.of(needed_by, missing, present)
    return table


def _rows(path: Path, called: str) -> list[dict[str, Any]]:
    """An object for each line that is not blank.

    Raises:
        InputError: A line is none; the message says which.
    """
    import msgspec

    try:
        data = read_regular(path).removeprefix(_BOM)
    except OSError as error:
        raise InputError(f"cannot read {called} {path}: {error.strerror or error}") from error
    lines = [(n, line) for n, line in enumerate(data.split(b"\n"), 1) if line.strip(_SPACE)]
    try:
        rows = msgspec.json.Decoder(dict[str, Any]).decode_lines(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        rows = []
    # A line of two objects gives two rows; whatever else is odd the standard library tells.
    if len(rows) == len(lines):
        return rows
    return [_object(line, f"{path}, line {number:,}") for number, line in lines]


def _object(line: bytes, place: str) -> dict[str, Any]:
    found = decoded(line.strip(_SPACE), place)
    if not isinstance(found, dict):
        raise InputError(f"{place}: each line must be a JSON object, but is {found!r:.80}")
    return found


def _table(rows: list[dict[str, Any]], file: str) -> pl.DataFrame:
    """The table of rows with the same keys.

    Raises:
        InputError: Values of one name are of several kinds, or Polars has no type for them.
    """
    for name in rows[0] if rows else ():
        if place := _mixed([row[name] for row in rows], name):
            raise InputError(f"{file}: {place}; give all lines the same kind of value there")
    try:
        return pl.from_dicts(rows, infer_schema_length=None) if rows else pl.DataFrame()
    except (ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{file}: a value fits into no column: {error!s:.{_LONGEST}}") from error


def _mixed(values: list[Any], place: str, depth: int = 0) -> str | None:
    """Where values are of several kinds, of which Polars would make texts; None if nowhere."""
    if depth > _DEEPEST:
        return f"{place[:_LONGEST]} is nested more than {_DEEPEST} deep"
    told = [value for value in values if value is not None]
    kinds = sorted({_KINDS[type(value)] for value in told})
    if len(kinds) > 1:
        return f"{place!r} is {' and '.join(kinds)}"
    if kinds == ["lists"]:
        return _mixed([entry for value in told for entry in value], f"{place}[]", depth + 1)
    if kinds == ["objects"]:
        names = dict.fromkeys(name for value in told for name in value)
        found = (
            _mixed([value.get(name) for value in told], f"{place}.{name}", depth + 1)
            for name in names
        )
        return next(filter(None, found), None)
    return None
