"""States as bytes: what engines send, and what a store keeps.

Groups and blocks are written once for each run of equal ones, levels of few decimals as steps from
one to the next, sums as the narrowest whole numbers that they are. All of that is tried column by
column, and done where exactly the same values come back.

The bytes are a line of JSON, two tables of Arrow (runs, and numbers) and a checksum: formats of
tables read most flipped bits without an error, as other numbers.
"""

from __future__ import annotations

import io
import json
from hashlib import blake2b
from pathlib import Path

import polars as pl
import polars.selectors as cs

from evalframe.core.errors import InputError, naming
from evalframe.core.state import LEVEL
from evalframe.core.tables import starts_of_groups

_CHECKSUM = 16
"""Bytes of the checksum, at the end."""

_RUNS = ":rows"
_SHORT = 4
"""Runs with fewer rows on average are not worth their lengths."""

_KNOWN, _DECIMALS, _FAR = ":level?", 6, 2.0**30
_WHOLE, _EXACT = ("uint8", "int16", "int32", "int64"), 2**53
_FEW = 1000
"""First values, which tell mostly that a column is not of whole numbers."""


def packed(state: pl.DataFrame) -> bytes:
    """A state, as `unpacked` reads it. Any other table of groups and numbers will do as well."""
    numbers = state.select(pl.col(pl.Float64))
    runs, decimals = state.drop(numbers.columns), None
    if runs.width:
        starts = starts_of_groups(runs, runs.columns)
        if _SHORT * (len(starts) - 1) <= len(runs):
            lengths = pl.Series(_RUNS, starts[1:] - starts[:-1])
            runs = runs[starts[:-1]].with_columns(lengths)
    if LEVEL in numbers.columns:
        numbers, decimals = _stepped(numbers)
    narrow = [_narrow(column) if column.dtype == pl.Float64 else column for column in numbers]
    tables = [_arrow(runs), _arrow(pl.DataFrame(narrow))]
    about = {"columns": state.columns, "decimals": decimals, "runs": len(tables[0])}
    content = b"\n".join([json.dumps(about).encode(), b"".join(tables)])
    return content + _checksum(content)


def unpacked(data: bytes | Path) -> pl.DataFrame:
    """The state, exactly as it was packed; InputError if the bytes are no longer the same."""
    import numpy as np

    if isinstance(data, Path):
        with naming(str(data)):
            return unpacked(data.read_bytes())
    content, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    if _checksum(content) != checksum:
        raise InputError(
            f"{len(data):,} bytes are no state, or were cut off or changed: their checksum "
            "differs; make the state anew"
        )
    line, _, tables = content.partition(b"\n")
    about = json.loads(line)
    runs = pl.read_ipc(tables[: about["runs"]])
    numbers = pl.read_ipc(tables[about["runs"] :]).cast({cs.integer(): pl.Float64})
    if about["decimals"] is not None:
        numbers = numbers.with_columns(_levels(numbers, about["decimals"]))
    if _RUNS in runs.columns:
        runs = runs.drop(_RUNS)[np.repeat(np.arange(len(runs)), runs[_RUNS].to_numpy())]
    return pl.concat([runs, numbers], how="horizontal").select(about["columns"])


def _stepped(numbers: pl.DataFrame) -> tuple[pl.DataFrame, int | None]:
    """Numbers with levels as the steps from row to row, and their decimals; None if they are not.

    Levels are sorted within a group, so consecutive differences, in units of the last decimal, are
    small integers, which compress well.
    """
    import numpy as np

    levels = numbers[LEVEL].to_numpy()
    known = ~np.isnan(levels)
    if np.count_nonzero(known) + numbers[LEVEL].null_count() < len(levels):
        return numbers, None
    levels = np.where(known, levels, 0.0)
    for decimals in range(_DECIMALS + 1):
        scale = 10.0**decimals
        for some in (levels[:_FEW], levels):
            steps = np.rint(some * scale)
            if (steps / scale != some).any() or (np.abs(steps) > _FAR).any():
                break
        else:
            rises = pl.Series(LEVEL, np.diff(steps, prepend=0.0))
            return numbers.with_columns(rises, pl.Series(_KNOWN, known)), decimals
    return numbers, None


def _levels(numbers: pl.DataFrame, decimals: int) -> pl.Series:
    """The levels of which these are the steps."""
    import numpy as np

    # By numpy: Polars multiplies by the reciprocal, which is another number.
    levels = numbers[LEVEL].to_numpy().cumsum() / 10.0**decimals
    levels[~numbers[_KNOWN].to_numpy()] = np.nan  # a level that is NaN is never stored as a step
    return pl.Series(LEVEL, levels, nan_to_null=True)


def _narrow(values: pl.Series) -> pl.Series:
    """The values as the narrowest whole numbers, or as they are."""
    import numpy as np

    numbers = values.fill_null(0.0).to_numpy()
    low, high = (numbers.min(), numbers.max()) if len(numbers) else (0.0, 0.0)
    for dtype in _WHOLE:
        least, most = max(np.iinfo(dtype).min, -_EXACT), min(np.iinfo(dtype).max, _EXACT)
        if least <= low and high <= most:  # neither, if one is NaN
            if any((some.astype(dtype) != some).any() for some in (numbers[:_FEW], numbers)):
                return values
            whole = pl.Series(values.name, numbers.astype(dtype))
            known = values.is_not_null()
            return whole if known.all() else pl.select(pl.when(known).then(whole)).to_series()
    return values


def _arrow(table: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    table.write_ipc(file, compression="zstd", compat_level=pl.CompatLevel.newest())
    return file.getvalue()


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECKSUM).digest()
