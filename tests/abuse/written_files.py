"""Files that the package writes for itself: states, results, what a store keeps."""

import functools
import tempfile
from pathlib import Path

import evalframe as ef
from abuse.mutations import BYTES
from abuse.readers import Reader
from abuse.results import state
from evalframe.core.scan import scan
from evalframe.core.state_files import packed, unpacked
from evalframe.engine.shelf import Shelf
from evalframe.jobs.written import write_result


@functools.cache
def _result():
    with tempfile.TemporaryDirectory() as folder:
        write_result(state(), Path(folder, "state.parquet"), {"seed": 1})
        return Path(folder, "state.parquet").read_bytes()


@functools.cache
def _kept():
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder), "kind")
        shelf.put("content", 12, packed(state()))
        return shelf.file("content").name, shelf.file("content").read_bytes()


def _bytes(path):
    return path.read_bytes() if path.is_file() else b""


def _read_packed(path):
    return unpacked(_bytes(path)).rows()


def _read_kept(path):
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder), "kind")
        file = shelf.file("content")
        file.parent.mkdir()
        file.write_bytes(_bytes(path))
        found = shelf.take("content")
        return found and unpacked(found[1]).rows()


def _whole(data):
    """A checksum leaves one reading: that of the sound file."""
    return state().rows()


READERS = {
    "state": Reader(
        "state.parquet", _result, lambda path: scan(path).collect().rows(), _whole, BYTES
    ),
    "state finished": Reader(
        "state.parquet",
        _result,
        lambda path: ef.finish(scan(path)).collect().rows(),
        lambda data: ef.finish(state()).rows(),
        BYTES,
        share=0.2,
    ),
    "state of an engine": Reader("state", lambda: packed(state()), _read_packed, _whole, BYTES),
    "state of a store": Reader(_kept()[0], lambda: _kept()[1], _read_kept, _whole, BYTES),
}
