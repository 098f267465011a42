"""Outputs that are a file for one table, or a folder for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.core.errors import OutputError, ParameterError
from evalframe.jobs.outputs import SUFFIXES, check_output

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalframe.jobs.settings import OnInvalid


def targets_of(output: Path | None, tables: Sequence[str]) -> list[Path]:
    """The files that an output stands for: itself, or all tables of a folder.

    >>> from pathlib import Path
    >>> [path.name for path in targets_of(Path("out"), ["overall", "segment"])]
    ['overall.parquet', 'segment.parquet']
    """
    if output is None:
        return []
    return [output] if output.suffix else [output / f"{name}.parquet" for name in tables]


def check_targets(output: Path | None, tables: Sequence[str], on_invalid: OnInvalid) -> Path | None:
    """Raise now if the outputs cannot be written later, and say where rejected rows go.

    Raises:
        OutputError: Unknown format, no such folder, no right to write, or a file in the way.
        ParameterError: Rejected rows have nowhere to go.
    """
    if output is not None and not output.suffix:
        if output.exists() and not output.is_dir():
            raise OutputError(
                f"{output.name} is a file without an extension; name a folder, or a file with one "
                f"of {', '.join(SUFFIXES)}"
            )
        for path in targets_of(output, tables) if output.exists() else [_beside(output)]:
            check_output(path)
    elif output is not None:
        check_output(output)
    if on_invalid != "quarantine":
        return None
    if output is None:
        raise ParameterError("on_invalid = 'quarantine' writes beside the output; name one")
    rejects = output.with_name(f"{output.stem}.rejected.parquet")
    check_output(rejects)
    return rejects


def _beside(output: Path) -> Path:
    return output.with_name(f"{output.name}.parquet")
