"""Files of results: their formats, what these can hold, and the provenance that Parquet carries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from evalframe.core.checksums import UNSEALED, seal
from evalframe.core.errors import OutputError
from evalframe.core.files import check_replaceable, replacing, replacing_all
from evalframe.jobs.family import LeftOut
from evalframe.reporting.table import long_table

if TYPE_CHECKING:
    from evalframe.jobs.family import Outcome
    from evalframe.jobs.settings import TableJob

METADATA_KEY = "evalframe"

_WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".csv": pl.DataFrame.write_csv,
    ".json": pl.DataFrame.write_json,
    ".jsonl": pl.DataFrame.write_ndjson,
    ".ndjson": pl.DataFrame.write_ndjson,
}
"""Formats of plain tables by extension; to add one, write its line here."""

SUFFIXES = (".parquet", *_WRITERS, ".md")


def check_output(path: Path) -> None:
    """Raise now if `write_result` could not write here later."""
    if path.suffix.lower() not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise OutputError(
            f"cannot write {path.name}: unknown format {path.suffix!r}; known: {known}"
        )
    check_replaceable(path)


def check_holds(path: Path, schema: Mapping[str, pl.DataType]) -> None:
    """Raise OutputError if the format of this extension cannot hold these columns."""
    suffix = path.suffix.lower()
    for name, dtype in schema.items():
        no_text = suffix == ".csv" and (dtype.is_nested() or dtype == pl.Duration)
        if suffix != ".parquet" and (no_text or dtype in (pl.Binary, pl.Object)):
            raise OutputError(
                f"{path.name} cannot hold column {name!r} ({dtype}); write .parquet instead"
            )


def write_result(
    frame: pl.DataFrame,
    path: Path,
    provenance: Mapping[str, Any],
    *,
    readable: Callable[[], str] | None = None,
) -> None:
    """Write a table in the format of its extension; Parquet carries the provenance.

    `path` is the old file or the new one at every moment.
    """
    with _writing(path), replacing(path) as temporary:
        suffix = path.suffix.lower()
        if suffix == ".parquet":
            _write_parquet(frame, temporary, provenance)
        elif suffix == ".md":
            text = readable() if readable else long_table(frame, markdown=True)
            temporary.write_text(text + "\n", encoding="utf-8")
        else:
            _WRITERS[suffix](frame, temporary)


def write_tables(
    tables: Mapping[str, pl.DataFrame], folder: Path, provenance: Mapping[str, Any]
) -> None:
    """Write tables as Parquet files of their names into a folder, all of them or none."""
    paths = [folder / f"{name}.parquet" for name in tables]
    with _writing(folder), replacing_all(paths, make_folder=True) as temporaries:
        for frame, temporary in zip(tables.values(), temporaries, strict=True):
            _write_parquet(frame, temporary, provenance)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0].rpartition("IO error: ")[2]
        raise OutputError(
            f"cannot write {path.name} ({reason}); make room, or choose another output. The old "
            "file is unchanged"
        ) from error


def _write_parquet(frame: pl.DataFrame, path: Path, provenance: Mapping[str, Any]) -> None:
    frame.write_parquet(path, metadata={METADATA_KEY: json.dumps(provenance), **UNSEALED})
    seal(path)


def read_provenance(path: Path | str) -> dict[str, Any]:
    """The provenance of a Parquet result."""
    metadata = pl.read_parquet_metadata(path)
    if METADATA_KEY not in metadata:
        raise OutputError(f"{path} carries no provenance; was it written by evalframe?")
    record: dict[str, Any] = json.loads(metadata[METADATA_KEY])
    return record


def versions() -> dict[str, str]:
    """Versions of what computes a result."""
    return {name: version(name) for name in ("evalframe", "polars")}


def provenance(outcome: Outcome, *, digest: bool = False) -> dict[str, Any]:
    """Versions, the job, its metrics with their arguments, inputs, rejected rows, and notes.

    Names of files are as the job gives them: nothing of the machine is in a result, and the same
    job on the same data leaves the same record. `evalframe run` takes `job` again.
    """
    return {
        **versions(),
        "job": _entries(outcome.job),
        "metrics": [
            {
                "name": each.bound.name,
                "metric": each.metric.name,
                "arguments": getattr(each.bound, "params", {}),
            }
            for each in outcome.metrics
        ],
        "records": outcome.validation.describe(),
        "inputs": outcome.inputs.describe(digest=digest or outcome.job.hash_inputs),
        "notes": [*outcome.notes],
        "left_out": [note for note in outcome.notes if isinstance(note, LeftOut)],
        **outcome.derived,
    }


def _entries(job: TableJob) -> dict[str, Any]:
    """The entries of a job that its verb uses; where it is computed changes no result."""
    unused = {*getattr(job, "unused", ()), "engine", "state", "scratch"}
    return {name: each for name, each in msgspec.to_builtins(job).items() if name not in unused}
