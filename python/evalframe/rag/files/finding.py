"""Which files of a run folder are read."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from evalframe.core.errors import InputError
from evalframe.core.files import matching
from evalframe.rag.files.names import is_named_as_run, is_scores, settings_of

if TYPE_CHECKING:
    from evalframe.rag.files.names import Settings

Paths: TypeAlias = str | Path | Sequence[str | Path]


def runs_in(given: Paths, told: Settings, *, scores: bool) -> dict[Path, Settings]:
    """The files that are read, each with the settings of its run.

    Args:
        given: Files, globs (`**` descends) or folders. Of a folder these are all files below it
            that are named as runs.
        told: Settings that hold for all files, whatever their names say.
        scores: Whether score files are looked for, or prediction files.

    Raises:
        InputError: Nothing is there, or the settings of a file are not known.
    """
    each = [given] if isinstance(given, str | Path) else list(given)
    try:
        found = [path for entry in each for path in _found(Path(entry), scores=scores)]
    except OSError as error:
        raise InputError(
            f"{error.filename} cannot be read ({error.strerror or error}); give another path"
        ) from error
    if not found:
        raise InputError("no file to read; name a file, a glob or a folder")
    return {path: settings_of(path, told) for path in dict.fromkeys(found)}


def _found(given: Path, *, scores: bool) -> list[Path]:
    kind = "score" if scores else "prediction"
    if given.is_dir():
        below = sorted(given.rglob("*"))
        found = [path for path in below if path.is_file() and is_named_as_run(path)]
        if files := [path for path in found if is_scores(path) == scores]:
            return files
        raise InputError(
            f"folder {str(given)!r} holds no {kind} file: none of its {len(below):,} entries is "
            f"named like prediction_..._noise0.2_passage5_correct0.0{'_result' * scores}.json"
        )
    if given.is_file():
        return [given]
    if given.exists():
        raise InputError(f"{given} is not a regular file; copy its content into one")
    if not glob.has_magic(str(given)):
        raise InputError(f"no file or folder {str(given)!r}")
    files = [path for path in matching(given) if path.is_file() and is_scores(path) == scores]
    if not files:
        raise InputError(f"no {kind} file matches {str(given)!r}")
    return files
