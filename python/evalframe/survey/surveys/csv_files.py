"""CSV files of surveys, which must be UTF-8 text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_BROKEN = re.compile("[\udc80-\udcff]")
_EXAMPLES = 3


def read_csv(path: Path, types: Mapping[str, pl.DataType] | None = None) -> pl.DataFrame:
    """A CSV file.

    Args:
        path: The file.
        types: Of the columns that are not to be guessed, if the file has them; None for texts
            alone.

    Raises:
        InputError: There is none, it is no table, or it is not UTF-8 text.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; check the path of the table")
    try:
        data = path.read_bytes()
        _refuse_other_encodings(path, data)
        if types is None:
            return pl.read_csv(data, infer_schema=False)
        return pl.read_csv(data, schema_overrides=types, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"cannot read {path}: {error}") from error


def _refuse_other_encodings(path: Path, data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        text = data.decode(errors="surrogateescape")
        lines = [number for number, line in enumerate(text.split("\n"), 1) if _BROKEN.search(line)]
        shown = ", ".join(map(str, lines[:_EXAMPLES])) + ", ..." * (len(lines) > _EXAMPLES)
        raise InputError(
            f"cannot read {path}: it is not UTF-8 text in {len(lines):,} lines (line {shown}; the"
            f" first is byte {error.start:,} of the file); save it as UTF-8"
        ) from None
