"""Tables of surveys in files; those in CSV must be UTF-8 text with all cells in all rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.documents import check_parquet, damage_told, read_regular
from evalframe.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_BROKEN = re.compile("[\udc80-\udcff]")
_EXAMPLES, _LONGEST = 3, 300


def read_csv(path: Path, types: Mapping[str, pl.DataType] | None = None) -> pl.DataFrame:
    """A CSV file.

    Args:
        path: The file.
        types: Of the columns that are not to be guessed, if the file has them; None for texts
            alone.

    Raises:
        InputError: There is none, it is no table, a row has more or fewer cells than the first or
            none at all, two columns share a name, or it is not UTF-8 text.
    """
    data = _bytes(path)
    _refuse_other_encodings(path, data)
    rows = _rows(path, data)
    with damage_told(str(path), "CSV"):
        if types is None:
            table = pl.read_csv(data, infer_schema=False)
        else:
            table = pl.read_csv(data, schema_overrides=types, infer_schema_length=None)
    if len(table) != rows:
        raise InputError(
            f"cannot read {path}: it has blank lines between its {rows:,} rows, or ends of lines"
            " that are no line feeds; write it anew, a line for each row"
        )
    return table


def read_parquet(path: Path) -> pl.DataFrame:
    """A Parquet file.

    Raises:
        InputError: There is none, or it is damaged.
    """
    data = _bytes(path)
    check_parquet(data, str(path))
    with damage_told(str(path), "Parquet"):
        return pl.read_parquet(data)


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path of the table") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _rows(path: Path, data: bytes) -> int:
    """How many rows there are, each as long as the first: Polars fills up those that are shorter.

    Raises:
        InputError: One is not, or two columns share a name.
    """
    import pyarrow as pa
    from pyarrow import csv

    # Several threads could not say which row it is.
    whole = csv.ReadOptions(block_size=len(data) + 1, use_threads=False)
    lines = csv.ParseOptions(newlines_in_values=True)
    try:
        table = csv.read_csv(pa.BufferReader(data), read_options=whole, parse_options=lines)
    except pa.ArrowException as error:
        raise InputError(f"cannot read {path}: {error!s:.{_LONGEST}}") from error
    names = table.column_names
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"cannot read {path}: two columns are called {repeated[0]!r}; rename one")
    rows: int = table.num_rows
    return rows


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
