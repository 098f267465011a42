"""Write a result whole or not at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import OutputError
from evalframe.core.files import replacing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SUFFIXES = (".parquet", ".csv", ".json", ".jsonl", ".ndjson")
METADATA_KEY = "evalframe"


def check_output(path: Path) -> None:
    """Raise now if `write_result` could not write here later: nothing is computed in vain.

    Raises:
        OutputError: Unknown extension, no such folder, no right to write, or a folder in the way.

    Example:
        >>> from pathlib import Path
        >>> check_output(Path("absent/a.csv"))
        Traceback (most recent call last):
        evalframe.core.errors.OutputError: cannot write a.csv: no folder 'absent'; create it first
    """
    if path.suffix.lower() not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise OutputError(
            f"cannot write {path.name}: unknown format {path.suffix!r}; known: {known}"
        )
    if path.is_dir():
        raise OutputError(f"cannot write {path.name}: there is a folder of this name")
    with replacing(path, keep=False) as temporary:
        temporary.touch()


def write_result(frame: pl.DataFrame, path: Path, provenance: Mapping[str, Any]) -> None:
    """Write a table in the format of its extension; Parquet carries the provenance.

    The table is written under a temporary name beside `path` and renamed when it is complete, so
    that `path` is the old file or the new one at every moment.

    Raises:
        OutputError: The folder is missing, cannot be written to, or is full.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "out.parquet")
        ...     write_result(pl.DataFrame({"metric": ["aurc"]}), path, {"seed": 42})
        ...     read_provenance(path)
        {'seed': 42}
    """
    with replacing(path) as temporary:
        match path.suffix.lower():
            case ".parquet":
                metadata = {METADATA_KEY: json.dumps(provenance)}
                frame.write_parquet(temporary, metadata=metadata)
            case ".csv":
                frame.write_csv(temporary)
            case ".json":
                frame.write_json(temporary)
            case _:
                frame.write_ndjson(temporary)


def read_provenance(path: Path | str) -> dict[str, Any]:
    """How a Parquet result came about.

    Raises:
        OutputError: The file was not written by a job.
    """
    metadata = pl.read_parquet_metadata(path)
    if METADATA_KEY not in metadata:
        raise OutputError(f"{path} carries no provenance; was it written by evalframe?")
    found: dict[str, Any] = json.loads(metadata[METADATA_KEY])
    return found
