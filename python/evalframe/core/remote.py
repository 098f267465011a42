"""Files of object stores, named by URLs such as `s3://bucket/items.parquet`.

`Path` keeps such a name, but for one slash: `s3:/bucket/items.parquet`. Polars scans the URLs
themselves; pyarrow lists and writes. Both take keys, region and endpoint from the environment
(`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, ...).
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyarrow.fs import FileSystem

_SCHEME = re.compile(r"^([a-z][a-z0-9]+):/+")  # a single letter is a drive


def is_remote(path: str | Path) -> bool:
    """True for the URL of an object store, also as a `Path`."""
    return _SCHEME.match(str(path)) is not None


def location(path: str | Path) -> str:
    """The URL of a remote path, or the path."""
    return _SCHEME.sub(r"\1://", str(path))


def size_of(path: Path) -> int | None:
    """Bytes of a file; None if it is no file. OSError if it cannot be reached."""
    if not is_remote(path):
        size = path.stat().st_size
        return size if path.is_file() else None
    files, name = _store(path)
    found = files.get_file_info(name)
    return int(found.size) if found.is_file else None


def open_bytes(path: Path) -> io.BufferedReader:
    """A file, opened to be read from its begin to its end."""
    if not is_remote(path):
        return path.open("rb")
    files, name = _store(path)
    return io.BufferedReader(files.open_input_stream(name))


def has_bucket(path: Path) -> bool:
    """True if the bucket of a URL is there."""
    from pyarrow.fs import FileType

    files, name = _store(path)
    return bool(files.get_file_info(name.partition("/")[0]).type != FileType.NotFound)


def write_bytes(source: Path, target: Path) -> None:
    """Copy a local file to a URL, where it appears when it is complete."""
    files, name = _store(target)
    with source.open("rb") as content, files.open_output_stream(name) as stream:
        while part := content.read(1 << 22):
            stream.write(part)


def files_below(folder: str) -> Iterator[str]:
    """Names of all files below a remote folder, relative to it and sorted."""
    from pyarrow.fs import FileSelector

    files, name = _store(folder)
    found = files.get_file_info(FileSelector(name, recursive=True, allow_not_found=True))
    yield from sorted(each.path[len(name) :].lstrip("/") for each in found if each.is_file)


def _store(path: str | Path) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem

    files, name = FileSystem.from_uri(location(path).rstrip("/"))
    return files, name
