"""Which files a job reads, and which it must therefore not write."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from evalframe.core.errors import InputError, OutputError

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class File:
    """A file that a job reads.

    Attributes:
        name: Its name as given, or below the folder given, for messages and the provenance.
        path: Its path.
        keys: Columns of text that folders named `key=value` below the folder given stand for.
        rows: Number of its records, or how to count them.
        columns: Its columns; None if its format has fixed ones.
    """

    name: str
    path: Path
    keys: tuple[tuple[str, str | None], ...] = ()
    rows: int | Callable[[], int] = 0
    columns: tuple[str, ...] | None = None

    @classmethod
    def at(cls, path: str | Path, rows: int, columns: tuple[str, ...]) -> File:
        """A file that is called by its name only."""
        return cls(Path(path).name, Path(path), (), rows, columns)

    def describe(self, *, digest: bool = False) -> dict[str, Any]:
        """Name, size and rows of the file, and its SHA-256 sum if asked for."""
        with reading(self.name):
            rows = self.rows if isinstance(self.rows, int) else self.rows()
            described = {"name": self.name, "bytes": self.path.stat().st_size, "rows": rows}
            if digest:
                with self.path.open("rb") as content:
                    described["sha256"] = hashlib.file_digest(content, "sha256").hexdigest()
        return described


def find(names: Sequence[str], folder: Path = Path()) -> list[File]:
    """The files that a job reads, without looking into them."""
    files: list[File] = []
    for name in names:
        with reading(name):
            if (folder / name).is_dir():
                inside = [*_below(folder / name, Path(name), {}, frozenset())]
                if not inside:
                    raise InputError(
                        f"folder {name!r} holds no .parquet file; name other formats by a glob"
                    )
                files += inside
            else:
                files += [File(file, folder / file) for file in _by_name(name, folder)]
    return files


def refuse_inputs(output: Path, files: Sequence[File], names: Sequence[str], folder: Path) -> None:
    """Raise if a file to be written is an input, or would be one in the next run."""
    with reading(output.name):
        present = (file.path for file in files if output.exists() and file.path.exists())
        if any(map(output.samefile, present)):
            raise OutputError(f"{output.name} is one of the inputs; write the result elsewhere")
        for name in names:
            if _would_read(name, folder, output, files):
                raise OutputError(
                    f"{output.name} would be read as an input next time, by {name!r}; "
                    "write the result elsewhere"
                )


def refuse_documents(path: Path, names: Sequence[str], folder: Path) -> None:
    """Raise OutputError if a JSON file to be written lies in a folder that is read."""
    for name in names:
        place = folder / name
        is_inside = place.is_dir() and path.resolve().parent == place.resolve()
        if is_inside and path.suffix.lower() == ".json":
            raise OutputError(
                f"{path.name} would be read as an input next time, by {name!r}; write the result "
                "elsewhere"
            )


@contextmanager
def reading(name: str, hint: str = "") -> Iterator[None]:
    """Turn what is said about unreadable bytes into an `InputError` that names the file."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        text = (error.strerror if isinstance(error, OSError) else None) or str(error)
        reason = text.partition("\n")[0]
        raise InputError(f"{name} cannot be read ({reason})" + (hint and f"; {hint}")) from error


def _below(
    folder: Path, name: Path, keys: dict[str, str | None], above: frozenset[Path]
) -> Iterator[File]:
    here = folder.resolve()
    if here in above:  # a link that leads back up
        return
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            key, _, value = entry.name.partition("=")
            key_value = {unquote(key): None if value == _NO_VALUE else unquote(value)}
            inner = keys | key_value if key != entry.name and key else keys
            yield from _below(entry, name / entry.name, inner, above | {here})
        elif entry.suffix.lower() == ".parquet":
            yield File(str(name / entry.name), entry, tuple(keys.items()))


def _by_name(name: str, folder: Path) -> list[str]:
    if (folder / name).exists():
        return [name]
    if not glob.has_magic(name):
        raise InputError(f"no file or folder {name!r}")
    matches = sorted(glob.glob(name, root_dir=folder, recursive=True))  # noqa: PTH207 (absolute too)
    files = [file for file in matches if (folder / file).is_file()]
    if not files:
        raise InputError(f"no file matches {name!r}")
    return files


def _would_read(name: str, folder: Path, output: Path, files: Sequence[File]) -> bool:
    root = folder / name
    places = {output.resolve(), output.parent.resolve() / output.name}
    if root.is_dir():
        folders = {file.path.parent.resolve() for file in files if file.path.is_relative_to(root)}
        inside = any(p.is_relative_to(f) for p in places for f in (root.resolve(), *folders))
        return inside and output.suffix.lower() == ".parquet"
    if root.exists():
        return False
    pattern = Path(os.path.realpath(root)).parts
    return any(_matches(place.parts, pattern) for place in places)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """True if a glob matches a path, both in parts; `**` is any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        rest = pattern[1:] or ("*",)
        return any(_matches(parts[k:], rest) for k in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])
