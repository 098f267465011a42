"""Write a result whole or not at all."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import OutputError
from evalframe.core.files import check_replaceable, replacing, replacing_all
from evalframe.report.table import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

SUFFIXES = (".parquet", ".csv", ".json", ".jsonl", ".ndjson", ".md")
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
    check_replaceable(path)


def check_holds(path: Path, schema: Mapping[str, pl.DataType]) -> None:
    """Raise if the format of this extension cannot hold these columns.

    Raises:
        OutputError: Nested values or durations in CSV, or bytes in anything but Parquet.

    Example:
        >>> from pathlib import Path
        >>> check_holds(Path("a.csv"), {"tags": pl.List(pl.String())})
        Traceback (most recent call last):
        evalframe.core.errors.OutputError: a.csv cannot hold column 'tags' (List(String)); write
        .parquet instead
    """
    suffix = path.suffix.lower()
    for name, dtype in schema.items():
        no_text = suffix == ".csv" and (dtype.is_nested() or dtype == pl.Duration)
        if suffix != ".parquet" and (no_text or dtype in (pl.Binary, pl.Object)):
            raise OutputError(
                f"{path.name} cannot hold column {name!r} ({dtype}); write .parquet instead"
            )


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        raise OutputError(
            f"cannot write {path.name} ({reason}); what was there is whole"
        ) from error


def write_result(
    frame: pl.DataFrame,
    path: Path,
    provenance: Mapping[str, Any],
    *,
    readable: Callable[[], str] | None = None,
) -> None:
    """Write a table in the format of its extension; Parquet carries the provenance.

    `path` is the old file or the new one at every moment.

    Args:
        frame: The table.
        path: Where to.
        provenance: How it came about.
        readable: Writes the Markdown of an .md file; by default one line for each row.

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
    with _writing(path), replacing(path) as temporary:
        match path.suffix.lower():
            case ".parquet":
                _write_parquet(frame, temporary, provenance)
            case ".csv":
                frame.write_csv(temporary)
            case ".json":
                frame.write_json(temporary)
            case ".md":
                text = readable() if readable else render(frame, markdown=True, limit=None)
                temporary.write_text(text + "\n", encoding="utf-8")
            case _:
                frame.write_ndjson(temporary)


def write_tables(
    tables: Mapping[str, pl.DataFrame], folder: Path, provenance: Mapping[str, Any]
) -> None:
    """Write tables as Parquet files of their names, all of them or none.

    Args:
        tables: The tables by name.
        folder: Where to; made if need be, with the tables in it.
        provenance: How they came about.

    Raises:
        OutputError: The folder cannot be made or written.
    """
    paths = [folder / f"{name}.parquet" for name in tables]
    with _writing(folder), replacing_all(paths, make_folder=True) as temporaries:
        for frame, temporary in zip(tables.values(), temporaries, strict=True):
            _write_parquet(frame, temporary, provenance)


def _write_parquet(frame: pl.DataFrame, path: Path, provenance: Mapping[str, Any]) -> None:
    frame.write_parquet(path, metadata={METADATA_KEY: json.dumps(provenance)})


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
