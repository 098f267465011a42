"""JSON lines in batches: the values of a key over many lines are decoded at once.

A line is split into raw values first, so that what nobody reads costs a scan and no objects. Lines
that strict JSON refuses (NaN, single surrogates) are read by the standard library, one by one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Raw

from evalframe.core.documents import decoded, is_whole
from evalframe.core.errors import InputError
from evalframe.logs.streams import BOM, LONGEST, REFUSED, Stream, chunks_of, records

BATCH = 1 << 22
"""Bytes that are read at once."""

Whole = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
"""A number of things, as a field of a record."""

NULL = Raw(b"null")
_SPACE = b" \t\r\n"
Record = TypeVar("Record")
_OBJECT = msgspec.json.Decoder(dict[str, Raw])


@dataclass(frozen=True)
class Lines:
    """Some lines of a file that follow each other.

    Attributes:
        path: The file.
        numbers: Number of each line, from 1.
        rows: Each line's raw values by key.
    """

    path: Path
    numbers: list[int]
    rows: list[dict[str, Raw]]

    def raw(self, name: str) -> list[Raw]:
        """The JSON under a key, `null` where a line has none."""
        return [row.get(name, NULL) for row in self.rows]

    def texts(self, name: str) -> list[str]:
        """The JSON under a key as text, `null` where a line has none."""
        return [str(value, "utf-8") for value in self.raw(name)]

    def values(self, name: str, kind: Any) -> list[Any]:
        """The values under a key, as one type; InputError names the line of another."""
        raws = self.raw(name)
        try:
            joined = b"[%b]" % b",".join(raws)
            return msgspec.json.decode(joined, type=list[kind])
        except REFUSED:
            return [
                self._value(raw, name, number, kind)
                for raw, number in zip(raws, self.numbers, strict=True)
            ]

    def _value(self, raw: Raw, name: str, number: int, kind: Any) -> Any:
        try:
            return msgspec.convert(json.loads(bytes(raw)), kind)
        except (msgspec.ValidationError, RecursionError, ValueError) as error:
            raise InputError(f"{self.path}, line {number:,}: {name!r}: {error}") from None

    def only(self, chosen: Sequence[bool]) -> Lines:
        """Some of the lines."""
        numbers = [*compress(self.numbers, chosen)]
        return Lines(self.path, numbers, [*compress(self.rows, chosen)])

    def at(self, row: int) -> str:
        """How a message calls a line."""
        return f"{self.path}, line {self.numbers[row]:,}"


def lines_of(path: Path) -> Iterator[Lines]:
    """The lines of a file that are not blank, in batches; InputError names a broken one."""
    number, rest = 1, b""
    with path.open("rb") as file:
        while chunk := file.read(BATCH):
            block, ended, rest = (rest + chunk).rpartition(b"\n")
            if ended:
                yield _lines(path, number, block)
                number += block.count(b"\n") + 1
            if len(rest) > LONGEST:
                raise InputError(
                    f"{path}, line {number:,}: more than {LONGEST:,} bytes; is it JSON lines?"
                )
    yield _lines(path, number, rest)


def _lines(path: Path, first: int, block: bytes) -> Lines:
    """Lines that follow each other, the first of which has this number."""
    lines = (block.removeprefix(BOM) if first == 1 else block).split(b"\n")
    numbers = [number for number, line in enumerate(lines, first) if line]
    filled = [*filter(None, lines)]
    try:
        if not block.isascii():
            block.decode()  # what is not decoded later is not checked otherwise
        return Lines(path, numbers, [_OBJECT.decode(line) for line in filled])
    except REFUSED:
        kept = [(n, line) for n, line in zip(numbers, filled, strict=True) if line.strip(_SPACE)]
        rows = [_object(line.strip(_SPACE), f"{path}, line {n:,}") for n, line in kept]
        return Lines(path, [n for n, _ in kept], rows)


def _object(line: bytes, place: str) -> dict[str, Raw]:
    """A line's raw values by key, also of one that holds what strict JSON refuses."""
    with suppress(*REFUSED):
        line.decode()
        return _OBJECT.decode(line)
    value = decoded(line, place)
    if not isinstance(value, dict):
        raise InputError(f"{place}: each line must be a JSON object, but is {value!r:.80}")
    try:
        return {whole(key): Raw(as_json(part).encode()) for key, part in value.items()}
    except RecursionError:
        raise InputError(f"{place}: nested too deeply to be read; is it the right file?") from None


def items_of(
    path: Path, items: str | None, keep: Collection[str], kind: type[Record]
) -> Iterator[list[Record]]:
    """The items of one list of a JSON document, in batches.

    Args:
        path: The file.
        items: Key of the list; None if the document is that list.
        keep: Keys of containers that are read.
        kind: What an item is read as; other fields are skipped.
    """
    name = str(path)
    decoder = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]

    def convert(value: Any) -> Record:
        try:
            return msgspec.convert(json.loads(as_json(value)), kind)
        except (msgspec.ValidationError, RecursionError) as error:
            raise InputError(f"{name}: {error}; is it the right file?") from None

    stream = Stream(name, items, keep)
    for batch in stream.batches(chunks_of(path)):
        yield records(batch, decoder, convert, name)
    around = decoded(bytes(stream.around), name)
    found = around if items is None else inside(around, items)
    if not isinstance(found, list):
        where = "it" if items is None else f"its {items!r}"
        raise InputError(f"{name}: {where} must be a list, but is {found!r:.80}")
    if found:  # UTF-16, say, which the standard library reads
        raise InputError(f"{name} is not UTF-8 text; write it anew as such")


def as_json(value: Any) -> str:
    """A value as JSON text, with characters as they are; halves of characters are replaced."""
    return whole(json.dumps(value, ensure_ascii=False))


def whole(text: str) -> str:
    """A text whose single surrogates are replaced."""
    return (
        text
        if is_whole(text)
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


def as_text(value: Any) -> str | None:
    """A value as it stands in a table: texts as they are, a list of texts joined by commas.

    >>> [as_text(value) for value in ("a", 1, None, ["a", "b"], ["a", 1])]
    ['a', '1', None, 'a,b', '["a", 1]']
    """
    if value is None or isinstance(value, str):
        return value and whole(value)
    if type(value) is int:
        return str(value)
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return ",".join(value)
    return as_json(value)


def number_of(value: Any) -> float | None:
    """A JSON number as a float; None for anything else, also for truths."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def count_of(value: Any) -> int:
    """A JSON number of things; 0 for anything else."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62
    return int(value) if is_count else 0


def inside(document: Any, *keys: str) -> Any:
    """The value under keys inside each other; None where one is missing.

    >>> inside({"config": {"model": "hf"}}, "config", "model")
    'hf'
    """
    for key in keys:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document
