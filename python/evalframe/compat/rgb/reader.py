"""Prediction files of RGB as records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evalframe.compat.rgb.reading import read
from evalframe.core.readers import Read


def open_predictions(
    paths: Sequence[Path], *, by: Sequence[str] | None = None, key: Sequence[str] | None = None
) -> Read:
    """Read prediction files; the same run in two files needs `file` in `by` or `key`."""
    is_distinct = key == () or "file" in (*(by or ()), *(key or ()))
    table = read([*paths], duplicates="keep" if is_distinct else "raise")
    rows = table.group_by("file", maintain_order=True).len().rows()
    return Read(table.lazy(), rows)
