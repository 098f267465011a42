"""Mutations of documents and tables. A name and a seed say which: they always give the same one."""

import codecs
import copy
import datetime
import decimal
import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import random

    Document = Callable[[bytes, random.Random], bytes]
    Table = Callable[[pl.DataFrame, random.Random], pl.DataFrame]

HOSTILE = (
    "null true false 0 -0.0 1 -1 2 0.5 3.7 1e308 5e-324 1e400 -1e400 NaN Infinity -Infinity "
    f"{10**400} {-(10**400)} {2**53 + 1} {2**63} {-(2**63)} {2**64} 1e18 01 +1 .5 0x10 "
    '"" "1" "NaN" "null" "true" "a" "ok" "-Infinity" "1e999" "\\ud800" "\\udc00x" "\\u0000" '
    '"\\ufeff" "\\ud83d\\ude00" "\\r\\n" "2020-01-01" "{}" "a,b" "<b>" "*" "^x$" "../../x" '
    '[] [[]] [[[]]] {} [{}] {"":{}} [null] [1] ["a"] [1,"a",null] [["a"],["b"]] [true] [1e400]'
).split()
"""Texts of JSON values, some of them none, that stand where another value stood."""

DEEP = ("[" * 100_000, "[" * 900 + "]" * 900, '{"a":' * 100_000, "1" * 5_000)
_PLACE = "@@"


def truncated(data, draw):
    """Its first bytes."""
    return data[: draw.randrange(len(data))]


def bit_flipped(data, draw):
    """One bit is another."""
    place = draw.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << draw.randrange(8))]) + data[place + 1 :]


def bytes_inserted(data, draw):
    """Some bytes more, any or such as mean something."""
    place = draw.randrange(len(data) + 1)
    meaning = (b"\0", b'"', b"\\", b"[", b"}", b",", b"\n", b"\r", b"0", b"-", b"\xff", b"\xc3")
    new = draw.choice((*meaning, draw.randbytes(3)))
    return data[:place] + new + data[place:]


def bytes_lost(data, draw):
    """Without some bytes in between."""
    first, last = sorted(draw.choices(range(len(data) + 1), k=2))
    return data[:first] + data[min(last, first + draw.choice((1, 2, 8, 200))) :]


def bytes_repeated(data, draw):
    """With some bytes twice."""
    first, last = sorted(draw.choices(range(len(data) + 1), k=2))
    return data[:last] + data[first:]


def line_moved(data, draw):
    """A line lost, repeated, split or put elsewhere."""
    lines = data.split(b"\n")
    line = lines.pop(draw.randrange(len(lines)))
    half = draw.randrange(len(line) + 1)
    put = draw.choice(((), (line, line), (line,), (line[:half], line[half:]), (line + line,)))
    place = draw.randrange(len(lines) + 1)
    return b"\n".join((*lines[:place], *put, *lines[place:]))


def otherwise_encoded(data, draw):
    """In another encoding, with a mark of the byte order, or with other ends of lines."""
    text = data.decode()
    return draw.choice(
        (
            codecs.BOM_UTF8 + data,
            codecs.BOM_UTF8 * 2 + data,
            codecs.BOM_UTF16_LE + data,
            text.encode("utf-16"),
            text.encode("utf-16-le"),
            text.encode("utf-32"),
            text.encode("latin-1", "replace"),
            data.replace(b"\n", b"\r\n"),
            data.replace(b"\n", b"\r"),
            data + b"\x1a",
            b"\n\n" + data + b"\n \n",
        )
    )


def value_replaced(data, draw):
    """A hostile value instead of another."""
    hostile = draw.choice(DEEP) if draw.random() < 0.01 else draw.choice(HOSTILE)

    def change(inside, key):
        inside[key] = _PLACE

    return _changed(data, draw, change).replace(b'"@@"', hostile.encode())


def value_from_elsewhere(data, draw):
    """A value of the document in the place of another of its values."""

    def change(inside, key):
        others = [*(inside.values() if isinstance(inside, dict) else inside), inside]
        inside[key] = copy.deepcopy(draw.choice(others))

    return _changed(data, draw, change)


def value_as_another_kind(data, draw):
    """A number as text, a value in a list, a list without its first entry, a number scaled."""

    def change(inside, key):
        value = inside[key]
        made = [[value], {"value": value}, [value, value], f"{value} "]
        if isinstance(value, int | float):
            made = [str(value), [value], -value, value + 1, value * 1e300, value / 3, bool(value)]
        elif isinstance(value, dict):
            made = [[*value], [*value.values()], {}, json.dumps(value)]
        elif isinstance(value, list):
            made = [value[1:], value * 2, value[::-1], dict(enumerate(value)), json.dumps(value)]
        inside[key] = draw.choice(made)

    return _changed(data, draw, change)


def key_changed(data, draw):
    """A key or an entry is lost, renamed, added, or there twice."""

    def change(inside, key):
        value = inside[key]
        how = draw.randrange(5)
        if isinstance(inside, list):
            inside[key : key + how % 3] = [value] * (how // 3)
        elif how == 0:
            del inside[key]
        elif how == 1:
            inside[draw.choice((f"{key} ", key.upper(), "", "\ud800", "extra"))] = inside.pop(key)
        elif how == 2:
            inside["extra"] = value
        else:
            inside[f"{_PLACE}{key}"] = draw.choice((value, None, 1, "a", [], *inside.values()))

    return _changed(data, draw, change).replace(b'"@@', b'"')


def _changed(data, draw, change):
    """The document with a change made to one value; of JSON lines, to one in one of the lines."""
    lines = [data]
    place = 0
    try:
        document = [json.loads(data)]
    except ValueError:
        lines = data.splitlines()
        place = draw.randrange(len(lines))
        document = [json.loads(lines[place])]
    # All values of a table alike: one key has as many chances as it has names in the document.
    kinds = {}
    for path, inside, key in _places(document, ()):
        kinds.setdefault(path, []).append((inside, key))
    change(*draw.choice(kinds[draw.choice([*kinds])]))
    lines[place] = json.dumps(document[0] if document else None).encode()
    return b"\n".join(lines)


def _places(inside, path):
    """Every value: the kind of place it has, what it is in, and under which key."""
    for key, value in [*(inside.items() if isinstance(inside, dict) else enumerate(inside))]:
        kind = (*path, key if isinstance(inside, dict) else 0)
        yield kind, inside, key
        if isinstance(value, dict | list):
            yield from _places(value, kind)


BYTES = (
    truncated,
    bit_flipped,
    bytes_inserted,
    bytes_lost,
    bytes_repeated,
)
TEXT = (*BYTES, line_moved, otherwise_encoded)
VALUES = (
    value_replaced,
    value_from_elsewhere,
    value_as_another_kind,
    key_changed,
)


# Tables.

NAMES = ("*", "^.*$", "", " ", "literal", "len", "row", "broken_rules", ":key0", "n", "é\0x")
"""Names of columns that mean something elsewhere."""

VALUES_OF = {
    "number": (math.nan, math.inf, -math.inf, -1, 0, 1, 2, 0.5, 1e308, 5e-324, 2**53 + 1, None),
    "integer": (-1, 0, 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), None),
    "text": ("", " ", "\0", "NaN", "null", "*", "é" * 300, "\U0001f600", "t-test", "zh", None),
    "boolean": (True, False, None),
    "list": ([], [None], None),
}


def type_changed(frame, draw):
    """A column of another type, its values as far as they can be had."""
    column = draw.choice(frame.columns)
    dtypes = (
        pl.String,
        pl.Int8,
        pl.UInt64,
        pl.Int128,
        pl.Float32,
        pl.Boolean,
        pl.Date,
        pl.Datetime,
        pl.Duration,
        pl.Time,
        pl.Binary,
        pl.Null,
        pl.Decimal(20, 2),
        pl.List(pl.String),
        pl.Array(pl.Int64, 2),
        pl.Struct({"a": pl.Int64}),
    )
    dtype, value = draw.choice(dtypes), frame[column]
    try:
        return frame.with_columns(value.cast(dtype, strict=False))
    except pl.exceptions.PolarsError:
        return frame.with_columns(pl.Series(column, [None] * len(frame), dtype=dtype))


def objects(frame, draw):
    """A column of Python objects."""
    column = draw.choice(frame.columns)
    made = draw.choice((object(), decimal.Decimal(1), datetime.date(2020, 1, 1), 10**400, {1}))
    return frame.with_columns(pl.Series(column, [made] * len(frame), dtype=pl.Object))


def cell_changed(frame, draw):
    """A hostile value in one row of a column, or in all."""
    column = draw.choice(frame.columns)
    dtype = frame.schema[column]
    kind = "number" if dtype.is_float() else "integer" if dtype.is_integer() else "text"
    kind = {pl.Boolean: "boolean", pl.List: "list"}.get(dtype.base_type(), kind)
    value = pl.lit(pl.Series([draw.choice(VALUES_OF[kind])], dtype=dtype, strict=False)).first()
    row = draw.choice((draw.randrange(len(frame)), None))
    here = pl.lit(value=True) if row is None else pl.int_range(pl.len()) == row
    return frame.with_columns(pl.when(here).then(value).otherwise(pl.col(column)).alias(column))


def rows_changed(frame, draw):
    """No rows, one, the first ones, one twice, or one less."""
    row = draw.randrange(len(frame))
    return draw.choice(
        (
            frame.clear(),
            frame[row],
            frame.head(row),
            pl.concat([frame, frame[row]]),
            frame.filter(pl.int_range(pl.len()) != row),
        )
    )


def column_lost(frame, draw):
    """A column lost, renamed, or under the name of another one and the other way round."""
    one, other = draw.choice(frame.columns), draw.choice(frame.columns)
    return draw.choice(
        (
            frame.drop(one),
            frame.rename({one: draw.choice([name for name in NAMES if name not in frame])}),
            frame.rename({one: other, other: one}),
        )
    )


def shuffled(frame, draw):
    """The same rows in another order."""
    return frame.sample(fraction=1, shuffle=True, seed=draw.randrange(2**32))


def columns_moved(frame, draw):
    """The same columns in another order, and one more."""
    names = draw.sample(frame.columns, len(frame.columns))
    more = draw.choice((1, "a", None, [1], math.nan))
    return frame.select(names).with_columns(
        pl.Series(draw.choice([name for name in NAMES if name not in frame]), [more] * len(frame))
    )


def otherwise_stored(frame, draw):
    """The same values of a column in a type that holds them as well, or in several chunks."""
    column = draw.choice(frame.columns)
    dtype = frame.schema[column]
    if dtype == pl.String:
        return frame.with_columns(pl.col(column).cast(pl.Categorical))
    if dtype == pl.Int64:
        return frame.with_columns(pl.col(column).cast(draw.choice((pl.Int128, pl.Float64))))
    half = len(frame) // 2
    return pl.concat([frame[:half], frame[half:]], rechunk=False)


HARMFUL = (
    type_changed,
    type_changed,
    objects,
    cell_changed,
    cell_changed,
    cell_changed,
    rows_changed,
    column_lost,
)
HARMLESS = (shuffled, columns_moved, otherwise_stored)
"""After which a table says the same."""
