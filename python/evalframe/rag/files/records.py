"""Records of the original's files: what each key holds, decoded by whole columns.

The decoder of Polars reads three times as fast as the standard library, but forgives: a number
becomes text, a string the only element of a list, and of a key that repeats it takes the first. So
the text of each line is held against the shape of every key as well. Files with a line that leaves
a doubt are read again by the standard library, which says what is wrong, or writes the line anew,
without the doubt.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

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

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

FILE = ":file"
_LINE, _ROW, _RECORD, _CLEAR = ":line", ":row", ":record", ":clear"
_BOM = "\ufeff"


class Key(NamedTuple):
    """A key of a record: its name, type, what it holds in words and as a regular expression."""

    name: str
    dtype: pl.DataType
    words: str
    shape: str
    required: bool = True


Layout: TypeAlias = tuple[Key, ...]
"""What the records of a kind of file hold; further keys are not read."""

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
"""Instances whose answer is spread over groups of passages."""

_NESTED = rf"[:,\[]{GAP}\{{"
_ESCAPED = rf'\\u00[0-9a-fA-F]{{2}}[^"\\]*"{GAP}:'
"""What a key has to have in it if it names another one by escapes."""


def read_records(
    paths: Sequence[Path], layout: Layout, *, forgiven: Collection[str] = ()
) -> pl.DataFrame:
    """The records of all files in one scan, in their order.

    As in the standard library the last of a key that repeats counts; keys of nested objects are
    not those of the record.

    Args:
        paths: Files that exist.
        layout: What their records hold.
        forgiven: Keys of which another shape is null, rather than an error.

    Returns:
        A column for each key, null where a record lacks one that it may lack, and `FILE`.

    Raises:
        InputError: With the file and the line of the first record that cannot be read.
    """
    lines = pl.scan_lines(
        [str(path) for path in paths],
        glob=False,
        name=_LINE,
        row_index_name=_ROW,
        include_file_paths=FILE,
    )
    try:
        table = _records(lines, layout, forgiven).collect()
    except (pl.exceptions.PolarsError, OSError):
        table = None
    # A line of two objects gives two records.
    if table is None or not table[_CLEAR].all() or table[_ROW].n_unique() < len(table):
        table = _records(_written_anew(paths, layout, forgiven), layout, forgiven).collect()
    if empty := {str(path) for path in paths} - {*table[FILE].unique()}:
        raise InputError(f"{min(empty)} holds no record; was its writer interrupted?")
    return table.drop(_ROW, _CLEAR)


def _records(lines: pl.LazyFrame, layout: Layout, forgiven: Collection[str]) -> pl.LazyFrame:
    """The record of each line, and in `_CLEAR` whether it is beyond doubt what the line says.

    It is, if each of its keys occurs once at any depth, all shapes hold, and no required key is
    null where that may be because only a nested object has it.
    """
    line = pl.col(_LINE).str.strip_prefix(_BOM)
    whole = line.str.contains(rf"^{GAP}\{{") & line.str.contains(rf"\}}{GAP}$")
    types = pl.Struct({key.name: key.dtype for key in layout})
    known = _key("|".join(key.name for key in layout))
    as_is = {
        key.name: line.str.contains(_key(key.name)) if key.name in forgiven else _shaped(line, key)
        for key in layout
    }
    once = pl.sum_horizontal(as_is.values()) == line.str.count_matches(known)
    required = [key.name for key in layout if key.required]
    value = {key.name: pl.col(_RECORD).struct.field(key.name) for key in layout}
    there = pl.all_horizontal(value[name].is_not_null() for name in required)
    clear = pl.all_horizontal(
        whole,
        once,
        *(as_is[name] for name in required),
        there | ~line.str.contains(_NESTED),
        ~line.str.contains(_ESCAPED),
    )
    value |= {
        key.name: pl.when(_shaped(line, key)).then(value[key.name])
        for key in layout
        if key.name in forgiven
    }
    return (
        lines.filter(line.str.contains(f"[^{SPACE}]"))
        .with_columns(pl.when(whole).then(line).str.json_decode(types).alias(_RECORD))
        .select(_ROW, FILE, clear.alias(_CLEAR), **value)
    )


def _shaped(line: pl.Expr, key: Key) -> pl.Expr:
    """Whether what a key holds has its shape."""
    return line.str.contains(rf"{_key(key.name)}{GAP}{key.shape}{GAP}[,}}]")


def _key(name: str) -> str:
    """The regular expression of a key; within texts, quotes are escaped."""
    return rf'[{{,]{GAP}"(?:{name})"{GAP}:'


def _written_anew(paths: Sequence[Path], layout: Layout, forgiven: Collection[str]) -> pl.LazyFrame:
    """The lines of all files as the standard library reads them, with the keys of the layout alone.

    Raises:
        InputError: For the first record that is none.
    """
    rows = [
        (str(path), json.dumps(_checked(line, place, layout, forgiven)))
        for path in paths
        for line, place in _lines(path)
    ]
    schema = {FILE: pl.String(), _LINE: pl.String()}
    return pl.LazyFrame(rows, schema=schema, orient="row").with_row_index(_ROW)


def _lines(path: Path) -> Iterator[tuple[bytes, str]]:
    """The lines that are not blank, each with its place."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if text := line.removeprefix(_BOM.encode()).strip(SPACE.encode()):
                    yield text, f"{path}, line {number:,}"
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from error


def _checked(line: bytes, place: str, layout: Layout, forgiven: Collection[str]) -> dict[str, Any]:
    """The keys of the layout that a line has.

    Raises:
        InputError: It is no such record.
    """
    if b"\0" in line:
        raise InputError(f"{place}: a NUL byte, which JSON never holds; is it UTF-8 text?")
    if line.startswith(b"["):
        raise InputError(
            f"{place}: a JSON array; write its records as JSON lines, an object on each line"
        )
    record = decoded(line, place)
    if not isinstance(record, dict):
        raise InputError(f"{place}: {_shown(record)} is no record; each line is a JSON object")
    found = {}
    for key in layout:
        if key.name in record:
            value = record[key.name]
            fits = re.fullmatch(key.shape, json.dumps(value))
            if not fits and key.name not in forgiven:
                hint = "; read such answers as null by on_invalid='null'" * (key.name == "ans")
                raise InputError(f"{place}: {key.name!r} is {_shown(value)}, not {key.words}{hint}")
            found[key.name] = value if fits else None
        elif key.required:
            raise InputError(f"{place}: no {key.name!r}; the record has {sorted(record)}")
    return found


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
