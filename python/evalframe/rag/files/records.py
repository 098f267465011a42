"""Records of the original's files: what each key holds, decoded by whole columns.

The decoder of Polars reads three times as fast as the standard library, but forgives: a number
becomes text, a string the only element of a list. So the text of each line is held against the
shape of every key as well.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalframe.core.documents import decoded
from evalframe.core.errors import InputError
from evalframe.rag.answers import (
    ALIASES,
    GROUPS,
    PUBLISHED_ALIASES,
    PUBLISHED_ANSWER,
    TEXT,
    listed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FILE, VALID = ":file", ":valid"
_LINE, _ROW, _RECORD = ":line", ":row", ":record"
_BOM = "\ufeff"


class Key(NamedTuple):
    """A key of a record: its name, type, what it holds in words and as a regular expression."""

    name: str
    dtype: pl.DataType
    words: str
    shape: str
    required: bool = True


class Layout(NamedTuple):
    """What the records of a kind of file hold.

    Attributes:
        plain: Keys of one shape, which Polars decodes.
        mixed: Keys that hold text in one record and lists in another, each cut out as text first.
    """

    plain: tuple[Key, ...]
    mixed: tuple[Key, ...]


_ID = Key("id", pl.Int64(), "an integer of at most 18 digits", "-?[0-9]{1,18}")
_QUERY = Key("query", pl.String(), "text", TEXT)
_PASSAGES = (pl.List(pl.String()), "a list of texts", listed(TEXT))
_ANSWER = (GROUPS, "a string, a list of strings or a list of lists of strings", PUBLISHED_ANSWER)
_NOISE = r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?"

PREDICTIONS = Layout(
    plain=(
        _ID,
        _QUERY,
        Key("label", pl.List(pl.Int8()), "a list of 1, 0 and -1", listed("(?:-1|0|1)")),
        Key("prediction", pl.String(), "text or null", f"(?:{TEXT}|null)"),
        Key("docs", *_PASSAGES, required=False),
        Key("noise_rate", pl.Float64(), "a number", _NOISE, required=False),
        Key("factlabel", pl.Int8(), "1 or 0", "[01]", required=False),
        Key("evaluation", pl.String(), "text or null", f"(?:{TEXT}|null)", required=False),
    ),
    mixed=(Key("ans", *_ANSWER),),
)
INSTANCES = Layout(
    plain=(
        _ID,
        _QUERY,
        Key("positive", *_PASSAGES),
        Key("negative", *_PASSAGES),
        Key("positive_wrong", *_PASSAGES, required=False),
    ),
    mixed=(
        Key("answer", *_ANSWER),
        Key(
            "fakeanswer",
            ALIASES,
            "a string or a list of strings",
            PUBLISHED_ALIASES,
            required=False,
        ),
    ),
)
INTEGRATION = INSTANCES._replace(
    plain=(
        _ID,
        _QUERY,
        Key("positive", GROUPS, "a list of lists of texts", listed(listed(TEXT))),
        Key("negative", *_PASSAGES),
    )
)
"""Instances whose answer is spread over groups of passages."""


def read_records(
    paths: Sequence[Path], layout: Layout, *, any_answer: bool = False
) -> pl.DataFrame:
    """The records of all files in one scan, in their order.

    Args:
        paths: Files that exist.
        layout: What their records hold.
        any_answer: Whether an answer of no published shape is null, rather than an error.

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
    line = pl.col(_LINE).str.strip_prefix(_BOM)
    whole = line.str.contains(r"^\s*\{") & line.str.contains(r"\}\s*$")
    types = pl.Struct({key.name: key.dtype for key in layout.plain})
    mixed = {key: line.str.extract(_entry(key.name, f"({key.shape})")) for key in layout.mixed}
    asked = [key._replace(shape="") for key in layout.mixed] if any_answer else layout.mixed
    query = lines.filter(line.str.contains(r"\S")).select(
        _ROW,
        FILE,
        pl.when(whole).then(line).str.json_decode(types).alias(_RECORD),
        *(text.str.json_decode(key.dtype).alias(key.name) for key, text in mixed.items()),
        pl.all_horizontal(whole, *(_shaped(line, key) for key in (*layout.plain, *asked))).alias(
            VALID
        ),
    )
    try:
        table = query.collect().unnest(_RECORD)
    except pl.exceptions.PolarsError as error:
        _raise_first_fault(paths, layout, any_answer=any_answer)
        told = str(error).partition("\n")[0]
        raise InputError(f"{_names(paths)} cannot be read as JSON lines ({told})") from error
    # A line of two objects gives two records.
    if not table[VALID].all() or table[_ROW].n_unique() < len(table):
        _raise_first_fault(paths, layout, any_answer=any_answer)
        raise InputError(f"{_names(paths)}: a record cannot be read; does it repeat a key?")
    if empty := {str(path) for path in paths} - {*table[FILE].unique()}:
        raise InputError(f"{min(empty)} holds no record; was its writer interrupted?")
    return table.drop(_ROW, VALID)


def _entry(name: str, shape: str) -> str:
    """The regular expression of a key and its value; quotes within texts are escaped."""
    return rf'"{name}"\s*:\s*' + (rf"{shape}\s*[,}}]" if shape else "")


def _shaped(line: pl.Expr, key: Key) -> pl.Expr:
    """Whether what a key holds has its shape."""
    shaped = line.str.contains(_entry(key.name, key.shape))
    return shaped if key.required else shaped | ~line.str.contains(_entry(key.name, ""))


def _raise_first_fault(paths: Sequence[Path], layout: Layout, *, any_answer: bool) -> None:
    """Read line by line, to tell of the first record that is none.

    Raises:
        InputError: Unless all records are as they should be.
    """
    for path in paths:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                text = line.removeprefix(_BOM.encode()).strip()
                if text:
                    place = f"{path}, line {number:,}"
                    for fault in _faults(text, place, layout, any_answer=any_answer):
                        raise InputError(fault)


def _faults(line: bytes, place: str, layout: Layout, *, any_answer: bool) -> Iterator[str]:
    if line.startswith(b"["):
        yield f"{place}: a JSON array; write its records as JSON lines, an object on each line"
    record = decoded(line, place)
    if not isinstance(record, dict):
        yield f"{place}: {_shown(record)} is no record; each line is a JSON object"
    for key in (*layout.plain, *layout.mixed):
        if key.name not in record:
            if key.required:
                yield f"{place}: no {key.name!r}; the record has {sorted(record)}"
        elif not (key in layout.mixed and any_answer):
            value = record[key.name]
            if not re.fullmatch(key.shape, json.dumps(value)):
                hint = "; read such answers as null by on_invalid='null'" * (key.name == "ans")
                yield f"{place}: {key.name!r} is {_shown(value)}, not {key.words}{hint}"


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _names(paths: Sequence[Path]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1:,} more"
