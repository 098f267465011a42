"""Files of object stores, named by URLs such as `s3://bucket/items.parquet`, as paths.

Polars scans the URLs themselves; pyarrow lists, reads and writes. Both take keys, region and
endpoint from the environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, ...). A path keeps its URL
but for one slash, `s3:/bucket/items.parquet`, which `location` puts back.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

_SCHEME = re.compile(r"^([a-z][a-z0-9]+):/+")  # a single letter is a drive
_BUFFER = 1 << 20
"""Bytes that one request reads at least."""


class _Status(NamedTuple):
    st_size: int


class RemotePath(PurePosixPath):
    """The URL of a file or folder, with those methods of a `Path` that readers use."""

    def open(self, mode: str = "rb") -> io.BufferedReader:
        """The file, to be read."""
        files, name = self._store()
        return io.BufferedReader(files.open_input_file(name), _BUFFER)

    def read_bytes(self) -> bytes:
        """The whole file."""
        with self.open() as file:
            return file.read()

    def exists(self) -> bool:
        """True for a file or folder that is there."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """True for a file that is there."""
        return bool(self._found().is_file)

    def is_dir(self) -> bool:
        """True for a folder, that is, if names of files begin with it."""
        from pyarrow.fs import FileType

        return bool(self._found().type == FileType.Directory)

    def stat(self) -> _Status:
        """The size of a file."""
        return _Status(int(self._found().size or 0))

    def glob(self, pattern: str) -> Iterator[RemotePath]:
        """The files of this folder whose names match."""
        for name in self.files_below():
            if len(name.parts) == 1 and fnmatchcase(name.name, pattern):
                yield self / name

    def files_below(self) -> list[PurePosixPath]:
        """All files below this folder, relative to it and sorted."""
        from pyarrow.fs import FileSelector

        files, folder = self._store()
        found = files.get_file_info(FileSelector(folder, recursive=True, allow_not_found=True))
        names = (each.path[len(folder) :].lstrip("/") for each in found if each.is_file)
        return sorted(map(PurePosixPath, names))

    def has_bucket(self) -> bool:
        """True if the bucket is there."""
        from pyarrow.fs import FileType

        files, name = self._store()
        return bool(files.get_file_info(name.partition("/")[0]).type != FileType.NotFound)

    def write(self, source: Path) -> None:
        """Copy a local file here, where it appears when it is complete."""
        files, name = self._store()
        with source.open("rb") as content, files.open_output_stream(name) as stream:
            while part := content.read(_BUFFER):
                stream.write(part)

    def _found(self) -> FileInfo:
        files, name = self._store()
        return files.get_file_info(name)

    def _store(self) -> tuple[FileSystem, str]:
        from pyarrow.fs import FileSystem

        files, name = FileSystem.from_uri(location(self))
        return files, name


def is_remote(path: str | PurePath) -> bool:
    """True for the URL of an object store, also as a path."""
    return _SCHEME.match(str(path)) is not None


def location(path: str | PurePath) -> str:
    """The URL of a remote path, or the path."""
    return _SCHEME.sub(r"\1://", str(path))


def path_of(name: str | PurePath, folder: Path = Path()) -> Path:
    """The path of a name that is relative to a folder, or a URL."""
    path = name if is_remote(name) else folder / name
    return cast("Path", RemotePath(path)) if is_remote(path) else cast("Path", path)
