"""Records of RGB's files, decoded by whole columns.

The JSON decoder of Polars is three times as fast as the standard library's, but lenient: a number
becomes text, a string a list of one element, and of a repeated key the first counts. So each line
is also matched against the regular expression of every key. Files with a doubtful line are read
again by the standard library, which reports the fault, or rewrites the line without the doubt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from evalframe.core.documents import decoded
from evalframe.core.errors import InputError
from evalframe.rag.answers import (
    ALIASES,
    GAP,
    GROUPS,
    PUBLISHED_ALIASES,
    PUBLISHED_ANSWER,
    SPACE,
    TEXT,
    listed,
)

FILE = ":file"
_LINE, _ROW, _RECORD, _CLEAR = ":line", ":row", ":record", ":clear"
_BOM = "\ufeff"


class Key(NamedTuple):
    """A key of a record: name, type, and its values as text and as a regular expression."""

    name: str
    dtype: pl.DataType
    words: str
    shape: str
    required: bool = True


Layout: TypeAlias = tuple[Key, ...]
"""The keys of one kind of record; others are not read."""

_ID = Key("id", pl.Int64(), "an integer of at most 18 digits", "-?[0-9]{1,18}")
_QUERY = Key("query", pl.String(), "text", TEXT)
_PASSAGES = (pl.List(pl.String()), "a list of texts", listed(TEXT))
_ANSWER = (GROUPS, "a string, a list of strings or a list of lists of strings", PUBLISHED_ANSWER)
_NOISE = r"-?[0-9]{1,18}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?"

PREDICTIONS: Layout = (
    _ID,
    _QUERY,
    Key("ans", *_ANSWER),
    Key("label", pl.List(pl.Int8()), "a list of 1, 0 and -1", listed("(?:-1|0|1)")),
    Key("prediction", pl.String(), "text or null", f"(?:{TEXT}|null)"),
    Key("docs", *_PASSAGES, required=False),
    Key("noise_rate", pl.Float64(), "a number", _NOISE, required=False),
    Key("factlabel", pl.Int8(), "1 or 0", "[01]", required=False),
    Key("evaluation", pl.String(), "text or null", f"(?:{TEXT}|null)", required=False),
)
_QUESTION: Layout = (
    _ID,
    _QUERY,
    Key("answer", *_ANSWER),
    Key("negative", *_PASSAGES),
    Key("fakeanswer", ALIASES, "a string or a list of strings", PUBLISHED_ALIASES, required=False),
)
INSTANCES: Layout = (
    *_QUESTION,
    Key("positive", *_PASSAGES),
    Key("positive_wrong", *_PASSAGES, required=False),
)
INTEGRATION: Layout = (
    *_QUESTION,
    Key("positive", GROUPS, "a list of lists of texts", listed(listed(TEXT))),
)
"""Instances with a group of passages for each part of the answer."""

_NESTED = rf"[:,\[]{GAP}\{{"
_ESCAPED = rf'\\u00[0-9a-fA-F]{{2}}[^"\\]*"{GAP}:'
"""A key with escaped characters, which may be another name of a key."""


def read_records(
    paths: Sequence[Path], layout: Layout, *, nullable: Collection[str] = ()
) -> pl.DataFrame:
    """Records of all files in one scan, in their order: a column for each key, and `FILE`.

    The last of a repeated key counts, as in the standard library. A `nullable` key of another shape
    is null, as are optional keys that a record lacks.
    """
    lines = pl.scan_lines(
        [str(path) for path in paths],
        glob=False,
        name=_LINE,
        row_index_name=_ROW,
        include_file_paths=FILE,
    )
    try:
        table = _records(lines, layout, nullable).collect()
    except (pl.exceptions.PolarsError, OSError):
        table = None
    # A line of two objects gives two records.
    if table is None or not table[_CLEAR].all() or table[_ROW].n_unique() < len(table):
        table = _records(_rewritten(paths, layout, nullable), layout, nullable).collect()
    if empty := {str(path) for path in paths} - {*table[FILE].unique()}:
        raise InputError(f"{min(empty)} holds no record; was its writer interrupted?")
    return table.drop(_ROW, _CLEAR)


def _records(lines: pl.LazyFrame, layout: Layout, nullable: Collection[str]) -> pl.LazyFrame:
    """The record of each line, and in `_CLEAR` True if the decoder cannot have misread it.

    That is so if every key occurs once at any depth, all shapes match, and no required key is null
    because only a nested object has it.
    """
    line = pl.col(_LINE).str.strip_prefix(_BOM)
    is_object = line.str.contains(rf"^{GAP}\{{") & line.str.contains(rf"\}}{GAP}$")
    types = pl.Struct({key.name: key.dtype for key in layout})
    any_key = _key("|".join(key.name for key in layout))
    shaped = {
        key.name: line.str.contains(_key(key.name)) if key.name in nullable else _shaped(line, key)
        for key in layout
    }
    once = pl.sum_horizontal(shaped.values()) == line.str.count_matches(any_key)
    required = [key.name for key in layout if key.required]
    value = {key.name: pl.col(_RECORD).struct.field(key.name) for key in layout}
    complete = pl.all_horizontal(value[name].is_not_null() for name in required)
    clear = pl.all_horizontal(
        is_object,
        once,
        *(shaped[name] for name in required),
        complete | ~line.str.contains(_NESTED),
        ~line.str.contains(_ESCAPED),
    )
    value |= {
        key.name: pl.when(_shaped(line, key)).then(value[key.name])
        for key in layout
        if key.name in nullable
    }
    return (
        lines.filter(line.str.contains(f"[^{SPACE}]"))
        .with_columns(pl.when(is_object).then(line).str.json_decode(types).alias(_RECORD))
        .select(_ROW, FILE, clear.alias(_CLEAR), **value)
    )


def _shaped(line: pl.Expr, key: Key) -> pl.Expr:
    """True if the value of a key has its shape."""
    return line.str.contains(rf"{_key(key.name)}{GAP}{key.shape}{GAP}[,}}]")


def _key(name: str) -> str:
    """Regular expression of a key; it cannot match within a text, where quotes are escaped."""
    return rf'[{{,]{GAP}"(?:{name})"{GAP}:'


def _rewritten(paths: Sequence[Path], layout: Layout, nullable: Collection[str]) -> pl.LazyFrame:
    """Lines of all files, read by the standard library and written with the known keys only."""
    rows = [
        (str(path), json.dumps(_checked(line, location, layout, nullable)))
        for path in paths
        for line, location in _lines(path)
    ]
    schema = {FILE: pl.String(), _LINE: pl.String()}
    return pl.LazyFrame(rows, schema=schema, orient="row").with_row_index(_ROW)


def _lines(path: Path) -> Iterator[tuple[bytes, str]]:
    """Lines that are not blank, each with its location for errors."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if text := line.removeprefix(_BOM.encode()).strip(SPACE.encode()):
                    yield text, f"{path}, line {number:,}"
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from error


def _checked(
    line: bytes, location: str, layout: Layout, nullable: Collection[str]
) -> dict[str, Any]:
    """Known keys of a line; raise InputError if it is no such record."""
    if b"\0" in line:
        raise InputError(f"{location}: a NUL byte, which JSON never holds; is it UTF-8 text?")
    if line.startswith(b"["):
        raise InputError(
            f"{location}: a JSON array; write its records as JSON lines, an object on each line"
        )
    record = decoded(line, location)
    if not isinstance(record, dict):
        raise InputError(
            f"{location}: {_shown(record)} is no record; each line must be a JSON object"
        )
    values = {}
    for key in layout:
        if key.name in record:
            value = record[key.name]
            fits = re.fullmatch(key.shape, json.dumps(value))
            if not fits and key.name not in nullable:
                hint = "; read such answers as null by on_invalid='null'" * (key.name == "ans")
                raise InputError(
                    f"{location}: {key.name!r} is {_shown(value)}, not {key.words}{hint}"
                )
            values[key.name] = value if fits else None
        elif key.required:
            raise InputError(f"{location}: no {key.name!r}; the record has {sorted(record)}")
    return values


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
