"""The files of the sample."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalframe.core.errors import OutputError
from evalframe.core.files import replacing
from evalframe.selective.sample.items import sample_items, sample_participants
from evalframe.selective.sample.run import sample_document

if TYPE_CHECKING:
    import polars as pl


def content_hash(frame: pl.DataFrame) -> str:
    """The SHA-256 of a table's content, whatever file format, compression or library holds it.

    Hashed is the JSON text `[[name, dtype, [value, ...]], ...]`, a list per column, as Python
    writes it without spaces: floats in their shortest exact form, null as `null`. Row and column
    order count.

    Args:
        frame: A table of numbers, strings, booleans and nulls.

    Returns:
        64 hexadecimal digits.

    Example:
        >>> import polars as pl
        >>> content_hash(pl.DataFrame({"a": [1, None]}))[:16]
        '2315b96b7edace9a'
    """
    columns = [[column.name, str(column.dtype), column.to_list()] for column in frame]
    return hashlib.sha256(json.dumps(columns, separators=(",", ":")).encode()).hexdigest()


def write_samples(
    folder: str | Path, *, participants: int = 60, seed: int = 0, overwrite: bool = False
) -> list[Path]:
    """Write the sample: `items.parquet`, `participants.parquet`, `run.json` and `manifest.json`.

    The run document holds the same answers with all confidence signals, an experiment for each
    mode. Each file is written whole or not at all.

    Args:
        folder: Where to; made if absent.
        participants: How many participants were attempted.
        seed: Non-negative integer.
        overwrite: Replace files of these names that hold something else.

    Returns:
        The paths written.

    Raises:
        OutputError: The folder cannot be made or written, or holds other files of these names.
        ParameterError: No participant or a negative seed.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in write_samples(folder, participants=2)]
        ['items.parquet', 'participants.parquet', 'run.json', 'manifest.json']
    """
    folder = Path(folder)
    arguments = f"participants={participants}, seed={seed}"
    tables = {
        "items": sample_items(participants=participants, seed=seed),
        "participants": sample_participants(participants=participants, seed=seed),
    }
    rows = {
        "items": "one item of one participant as answered in one mode; a null prediction abstains",
        "participants": "one run: a participant in a mode, included in the items or failed",
    }
    manifest: dict[str, dict[str, Any]] = {
        name: {
            "file": f"{name}.parquet",
            "row": rows[name],
            "rows": table.height,
            "schema": {column: str(dtype) for column, dtype in table.schema.items()},
            "seed": seed,
            "generator": f"evalframe.selective.sample.sample_{name}({arguments})",
            "content_sha256": content_hash(table),
        }
        for name, table in tables.items()
    }
    document = sample_document(participants=participants, seed=seed)
    manifest["run"] = {
        "file": "run.json",
        "row": "a run document with an experiment for each mode, as `read_run` reads it",
        "seed": seed,
        "generator": f"evalframe.selective.sample.sample_document({arguments})",
        "content_sha256": hashlib.sha256(document).hexdigest(),
    }
    contents = {folder / f"{name}.parquet": _parquet(table) for name, table in tables.items()}
    contents[folder / "run.json"] = document
    contents[folder / "manifest.json"] = f"{json.dumps(manifest, indent=2)}\n".encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        foreign = [path.name for path, new in contents.items() if _holds_other(path, new)]
        if foreign and not overwrite:
            raise OutputError(
                f"{folder} already has {', '.join(foreign)} with other content. "
                "Choose another folder, or say overwrite to replace them."
            )
        for path, content in contents.items():
            with replacing(path) as partial:
                partial.write_bytes(content)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(
            f"cannot write the samples to {folder}: {reason}. Choose a folder that can be written."
        ) from error
    return list(contents)


def _parquet(table: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def _holds_other(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() != content
