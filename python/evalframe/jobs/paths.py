"""Files that a job must not write, since it reads them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from evalframe.core.errors import OutputError
from evalframe.core.remote import is_remote
from evalframe.core.scan import File, matches, reading


def refuse_inputs(output: Path, files: Sequence[File], names: Sequence[str], folder: Path) -> None:
    """Raise if a file to be written is an input, or would be one in the next run."""
    with reading(output.name):
        if is_remote(output):
            _refuse_remote(output, names)
            return
        present = (file.path for file in files if output.exists() and file.path.exists())
        if any(map(output.samefile, present)):
            raise OutputError(f"{output.name} is one of the inputs; write the result elsewhere")
        for name in names:
            if _would_read(name, folder, output, files):
                raise OutputError(
                    f"{output.name} would be read as an input next time, by {name!r}; "
                    "write the result elsewhere"
                )


def _refuse_remote(output: Path, names: Sequence[str]) -> None:
    """The same for an object of a store, by its name alone."""
    for name in names:
        is_shard = output.suffix.lower() == ".parquet" and output.is_relative_to(name)
        if is_shard or matches(output.parts, Path(name).parts):
            raise OutputError(
                f"{output.name} is an input, or would be one next time, by {name!r}; write the "
                "result elsewhere"
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
    return any(matches(place.parts, pattern) for place in places)
