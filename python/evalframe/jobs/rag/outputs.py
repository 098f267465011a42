"""Where the tables of a rag job go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.core.errors import OutputError, ParameterError
from evalframe.jobs.outputs import SUFFIXES, check_output
from evalframe.rag.abilities import ABILITIES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalframe.jobs.rag.job import RagJob

TABLES = ("rates", "accuracy_drop", *ABILITIES)
"""What a folder gets, as Parquet files of these names."""


def targets_of(output: Path | None) -> list[Path]:
    """The files that an output stands for: itself, or all tables of a folder."""
    if output is None:
        return []
    return [output] if output.suffix else [output / f"{name}.parquet" for name in TABLES]


def check_targets(job: RagJob, output: Path | None) -> Path | None:
    """Raise now if the outputs cannot be written later, and say where rejected rows go.

    Raises:
        OutputError: Unknown format, no such folder, no right to write, or a file in the way.
        ParameterError: Rejected rows have nowhere to go.
    """
    if output is not None and not output.suffix:
        if output.exists() and not output.is_dir():
            raise OutputError(
                f"{output.name} is a file without an extension; name a folder, or a file with one "
                f"of {', '.join(SUFFIXES)}"
            )
        for path in targets_of(output) if output.exists() else [_beside(output)]:
            check_output(path)
    elif output is not None:
        check_output(output)
    if job.on_invalid != "quarantine":
        return None
    if output is None:
        raise ParameterError("on_invalid = 'quarantine' writes beside the output; name one")
    rejects = output.with_name(f"{output.stem}.rejected.parquet")
    check_output(rejects)
    return rejects


def _beside(output: Path) -> Path:
    return output.with_name(f"{output.name}.parquet")


def tables_of(
    job: RagJob,
    labelled: pl.LazyFrame,
    rates: pl.DataFrame,
    keys: Sequence[str],
    resample: ef.Bootstrap | None,
) -> dict[str, pl.DataFrame]:
    """All tables of a folder, by name; one that needs a key that the rates lack is empty."""
    tables = dict.fromkeys(TABLES, pl.DataFrame()) | {"rates": rates}
    if "noise_rate" in keys:
        tables["accuracy_drop"] = ef.rag.accuracy_drop(
            labelled,
            by=[key for key in keys if key != "noise_rate"],
            weight=job.weight,
            dropped=job.dropped,
            resample=resample,
        ).collect()
    needed = {"dataset", "noise_rate"}
    for name in ABILITIES:
        more = {"passage_num"} if name == "counterfactual_robustness" else set()
        if needed | more <= {*keys}:
            tables[name] = ef.rag.published_table(rates, name).collect()
    return tables
