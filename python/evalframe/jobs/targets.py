"""Outputs that are a file for one table, or a folder for all of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalframe.core.errors import OutputError, ParameterError
from evalframe.core.files import check_within
from evalframe.jobs.outputs import SUFFIXES, check_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.jobs.settings import OnInvalid


@dataclass(frozen=True, slots=True)
class Target:
    """Where the result of a job goes.

    Attributes:
        path: The file, or the folder.
        is_folder: Whether all tables go into a folder.
    """

    path: Path
    is_folder: bool


def target_of(output: str | None, folder: Path) -> Target | None:
    """What an output of a job stands for, if it has one.

    A folder is what is there as one, what ends in a slash, and what has no extension.

    Args:
        output: As the job has it.
        folder: What a relative name is relative to.

    Raises:
        ParameterError: It has no name that a file can have.

    >>> from pathlib import Path
    >>> [target_of(name, Path("absent")).is_folder for name in ("a.csv", "a", "a.csv/")]
    [False, True, True]
    """
    if output is None:
        return None
    path = path_of("output", output, folder)
    ends_as_folder = output.endswith(("/", os.sep))
    # os.path says of a name that is too long that it is none; Path raises.
    is_there = os.path.isdir(path)  # noqa: PTH112
    return Target(path, ends_as_folder or not path.suffix or is_there)


def path_of(entry: str, name: str, folder: Path) -> Path:
    """Where an entry of a job is written.

    Raises:
        ParameterError: Its name is blank, or none that a file can have.
    """
    if not name.strip():
        raise ParameterError(f"the {entry} has no name; name a file or a folder")
    if "\0" in name:
        raise ParameterError(f"the {entry} cannot be named {name!r}; leave out the zero character")
    path = folder / name
    if not path.name.strip("."):  # `.` and `..` have names of their own
        path = Path(os.path.abspath(path))  # noqa: PTH100 (as given, links and all)
    if not path.name:
        raise ParameterError(f"the {entry} cannot be {name!r}; name a folder in it")
    return path


def targets_of(target: Target | None, tables: Sequence[str]) -> list[Path]:
    """The files that are written: the one, or all tables of a folder.

    >>> from pathlib import Path
    >>> target = Target(Path("out"), is_folder=True)
    >>> [path.name for path in targets_of(target, ["overall", "segment"])]
    ['overall.parquet', 'segment.parquet']
    """
    if target is None:
        return []
    if not target.is_folder:
        return [target.path]
    return [target.path / f"{name}.parquet" for name in tables]


def check_targets(
    target: Target | None, tables: Sequence[str], on_invalid: OnInvalid
) -> Path | None:
    """Raise now if the outputs cannot be written later, and say where rejected rows go.

    Raises:
        OutputError: Unknown format, no such folder, no right to write, or a file in the way.
        ParameterError: Rejected rows have nowhere to go.
    """
    if target is not None:
        check_within(target.path)
        _check_target(target, tables)
    if on_invalid != "quarantine":
        return None
    if target is None:
        raise ParameterError(
            "on_invalid = 'quarantine' writes rejected rows beside the output; name an output "
            "(-o OUT)"
        )
    name = target.path.name if target.is_folder else target.path.stem
    rejects = target.path.with_name(f"{name}.rejected.parquet")
    check_output(rejects)
    return rejects


def _check_target(target: Target, tables: Sequence[str]) -> None:
    path, is_there = target.path, os.path.lexists(target.path)
    if target.is_folder and is_there and not path.is_dir():
        asked = "a file, not a folder" if path.suffix else "a file without an extension"
        raise OutputError(
            f"{path.name} is {asked}; name a folder, or a file with one of {', '.join(SUFFIXES)}"
        )
    new = target.is_folder and not is_there
    beside = path.with_name(f"{path.name}.parquet")
    for written in [beside] if new else targets_of(target, tables):
        check_output(written)
