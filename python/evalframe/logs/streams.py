"""JSON of any size as a stream: items of one list in batches, and what stands around the list.

Chunks of bytes are scanned for brackets outside of strings, all at once; the depth after each says
where items end. Containers that nobody reads are dropped while they stream, so that memory holds a
batch of items and never the messages of a long sample.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from evalframe.core.documents import decoded
from evalframe.core.errors import InputError

CHUNK = 1 << 21
DEEPEST = 500
LONGEST = 1 << 28
"""Bytes that one item may have, without what is dropped, or one line."""

_QUOTE, _BACKSLASH, _OPENING, _CLOSING = 0x22, 0x5C, 0x7B, 0x7D  # [ and ] are { and } less 0x20
_KEY = re.compile(rb'("(?:[^"\\]|\\.)*")\s*:\s*$')
_LONGEST_KEY = 1_000
_SHORT = 1 << 16
_EARLY = "the JSON ends too early; was its writer interrupted?"
BOM = b"\xef\xbb\xbf"
_SEPARATORS = b", \t\r\n"
REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError)
"""What the fast decoder raises."""

Record = TypeVar("Record")


def chunks_of(path: Path) -> Iterator[bytes]:
    """The bytes of a file, in chunks."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


class Scanner:
    """Where brackets outside of strings are, in chunks that follow each other."""

    def __init__(self) -> None:
        self.depth = 0
        self._in_string = False
        self._escaped = False

    @property
    def is_complete(self) -> bool:
        """True if all that was opened is closed."""
        return self.depth == 0 and not self._in_string

    def brackets(self, chunk: bytes) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Positions of the brackets, and the depth after each; some 5 ms for a megabyte."""
        codes = np.frombuffer(chunk, np.uint8)
        is_quote = codes == _QUOTE
        self._unquote(codes, is_quote)
        quotes = np.flatnonzero(is_quote)
        folded = codes | 0x20
        places = np.flatnonzero((folded == _OPENING) | (folded == _CLOSING))
        inside = (np.searchsorted(quotes, places) + self._in_string) & 1
        places = places[inside == 0]
        depths = self.depth + np.cumsum(np.where(folded[places] == _OPENING, 1, -1))
        self._in_string ^= bool(len(quotes) & 1)
        self.depth = int(depths[-1]) if len(depths) else self.depth
        return places, depths

    def _unquote(self, codes: np.ndarray[Any, Any], is_quote: np.ndarray[Any, Any]) -> None:
        """Forget the quotes that follow an odd number of backslashes."""
        slashes = np.flatnonzero(codes == _BACKSLASH)
        pending, self._escaped = self._escaped, False
        if pending and len(codes):
            is_quote[0] = False
            slashes = slashes[slashes > 0]  # it is escaped itself
        if len(slashes):
            first = np.flatnonzero(np.diff(slashes, prepend=-2) != 1)
            last = np.append(first[1:], len(slashes)) - 1
            escaped = slashes[last[(last - first) % 2 == 0]] + 1
            self._escaped = bool(len(escaped)) and int(escaped[-1]) == len(codes)
            is_quote[escaped[: len(escaped) - self._escaped]] = False


class Stream:
    """A document that is split while it is read.

    Args:
        name: The document in messages.
        items: Key of the list that is split into items; None if the document is that list.
        keep: Keys that are read, of the document and of its items; containers under others are
            emptied where they are long.

    Attributes:
        around: After the last batch, the document with the list and other containers emptied.
    """

    def __init__(self, name: str, items: str | None, keep: Collection[str]) -> None:
        self.name = name
        self.around = bytearray()
        self._items, self._keep = items, keep
        self._level = 1 if items is None else 2
        self._scanner = Scanner()
        self._is_inside = self._was_inside = False
        self._dropping: int | None = None  # the depth at which bytes are kept again
        self._pending = bytearray()  # of an item that is not complete

    def batches(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Complete items as JSON lists, in order."""
        is_first = True
        for chunk in chunks:
            data = chunk.removeprefix(BOM) if is_first else chunk
            is_first = False
            for items in self._split(data):
                if stripped := items.strip(_SEPARATORS):
                    yield b"[%b]" % stripped
            if max(len(self._pending), len(self.around)) > LONGEST:
                raise InputError(
                    f"{self.name}: an item has more than {LONGEST:,} bytes; is it a log?"
                )
        if not self._scanner.is_complete:
            raise InputError(f"{self.name}: {_EARLY}")

    def _split(self, chunk: bytes) -> Iterator[bytes]:
        before = self._scanner.depth
        places, depths = self._scanner.brackets(chunk)
        is_opening = np.diff(depths, prepend=before) > 0
        if len(depths) and depths.max() > DEEPEST:
            raise InputError(f"{self.name}: nested more than {DEEPEST} levels deep; is it a log?")
        start = k = 0  # bytes and brackets before these are done
        while True:
            if self._dropping is not None:
                if (k := _first(depths == self._dropping, k)) == len(depths):
                    return
                start, self._dropping = int(places[k]), None
                k += 1
            if self._is_inside:
                end = _first(depths < self._level, k)
                done = end if end < len(depths) else _last(depths == self._level, k)
                if done is None:
                    shallow = _last(depths <= self._level + 1, k)
                    opening = k if shallow is None else shallow + 1
                    child = is_opening & (depths == self._level + 2)
                    is_new = opening < len(depths) and child[opening]
                    self._hold(chunk[start:], int(places[opening]) - start if is_new else None)
                    return
                stop = int(places[done]) + (done != end)
                yield bytes(self._pending) + chunk[start:stop]
                self._pending.clear()
                self._is_inside = done != end
                start, k = stop, done + 1
                continue
            if (k := _first(is_opening & (depths == self._level), k)) == len(depths):
                self.around += chunk[start:]
                return
            self.around += chunk[start : (start := int(places[k]) + 1)]
            key = None if self._level == 1 else _key(self.around[:-1])
            if key == self._items and chunk[start - 1] == ord("["):
                if self._was_inside:
                    raise InputError(f"{self.name}: it has two lists of items; keep one of them")
                self._is_inside = self._was_inside = True
            elif key not in self._keep:
                end = _first(depths < self._level, k)
                if end == len(depths) or places[end] - start > _SHORT:
                    self._dropping = self._level - 1
            k += 1

    def _hold(self, rest: bytes, opening: int | None) -> None:
        """Keep the first part of an item, without a container at its end that nobody reads.

        Args:
            rest: The bytes.
            opening: Where the last container of the item opens, if it is not closed.
        """
        self._pending += rest[:opening]
        if opening is None:
            return
        if _key(self._pending) in self._keep:
            self._pending += rest[opening:]
        else:
            self._pending += rest[opening : opening + 1]
            self._dropping = self._level + 1


def top_level(head: bytes) -> dict[str, int]:
    """Keys of a JSON object whose values are containers, as far as its first bytes show them.

    Each has the place where its value opens.

    >>> top_level(b'{"version": 2, "eval": {"task": {}}, "samples": [{')
    {'eval': 23, 'samples': 48}
    """
    data = head.removeprefix(BOM)
    if not data.lstrip().startswith(b"{"):
        return {}
    places, depths = Scanner().brackets(data)
    opening = places[(depths == 2) & (np.diff(depths, prepend=0) > 0)]
    keys = {_key(data[:place]): len(head) - len(data) + place for place in map(int, opening)}
    return {key: place for key, place in keys.items() if key is not None}


def _first(flags: np.ndarray[Any, Any], k: int) -> int:
    """The first place from `k` on; the length if there is none."""
    rest = flags[k:]
    place = int(rest.argmax()) if len(rest) else 0
    return k + place if len(rest) and rest[place] else len(flags)


def _last(flags: np.ndarray[Any, Any], k: int) -> int | None:
    """The last place from `k` on."""
    rest = flags[k:][::-1]
    place = int(rest.argmax()) if len(rest) else 0
    return len(flags) - 1 - place if len(rest) and rest[place] else None


def _key(before: bytes | bytearray) -> str | None:
    """The key in whose value a container opens after these bytes."""
    found = _KEY.search(before[-_LONGEST_KEY:])
    if found is None:
        return None
    with suppress(ValueError):
        return str(json.loads(found[1]))
    return found[1].decode(errors="replace")  # no JSON, as is said of all of it later


def records(
    batch: bytes,
    decoder: msgspec.json.Decoder[list[Record]],
    convert: Callable[[Any], Record],
    name: str,
) -> list[Record]:
    """Records of a batch; those that strict JSON refuses (NaN, single surrogates) one by one.

    Args:
        batch: A JSON list.
        decoder: Decodes such a list.
        convert: A record from what the standard library reads.
        name: The document in messages.
    """
    try:
        return decoder.decode(batch)
    except REFUSED:
        pass
    scanner = Scanner()
    places, depths = scanner.brackets(batch)
    if not scanner.is_complete:
        raise InputError(f"{name}: {_EARLY}")
    ends = places[depths == 1][1:] + 1  # the first opens the list
    found: list[Record] = []
    start = 1
    for end in map(int, ends):
        item = batch[start:end].strip(_SEPARATORS)
        start = end
        try:
            found += decoder.decode(b"[%b]" % item)
        except REFUSED:
            found.append(convert(decoded(item, f"{name}, {_called(item)}")))
    if rest := batch[start:-1].strip(_SEPARATORS):
        raise InputError(
            f"{name}: each item of the list must be an object, but one is {rest!r:.80}"
        )
    return found


def _called(item: bytes) -> str:
    """How a message calls a sample."""
    found = re.match(rb'\{\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|[^,}]*)', item)
    return f"sample {found[1].decode(errors='replace'):.80}" if found else "a sample"
