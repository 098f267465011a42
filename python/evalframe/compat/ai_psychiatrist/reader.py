"""Run documents of ai-psychiatrist as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.ai_psychiatrist.runs import open_run
from evalframe.core.readers import Read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def open_documents(paths: Sequence[Path]) -> Read:
    """Read the items of run documents, each of one mode."""
    runs = [open_run(path) for path in paths]
    tables = [run.items.with_columns(file=pl.lit(str(run.path))) for run in runs]
    files = [(str(run.path), len(run.items)) for run in runs]
    return Read(pl.concat(tables, how="diagonal").lazy(), files)
