"""Where the tables of a rag job go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import evalframe as ef
from evalframe.core.errors import OutputError, ParameterError
from evalframe.jobs.outputs import SUFFIXES, check_output, write_result
from evalframe.rag.abilities import ABILITIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from evalframe.jobs.rag.job import RagJob

RATES = "rates"


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
        check_output(output / f"{RATES}.parquet" if output.exists() else _beside(output))
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
    """All tables of a folder, by name: rates, accuracy drop, the four published layouts.

    What needs a key that the rates lack is left out.
    """
    tables = {RATES: rates}
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


def write_tables(
    tables: Mapping[str, pl.DataFrame], folder: Path, provenance: Mapping[str, Any]
) -> None:
    """Write each table whole, into a folder that is made if need be.

    Raises:
        OutputError: The folder cannot be made or written.
    """
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder.name} ({error.strerror})") from error
    for name, table in tables.items():
        write_result(table, folder / f"{name}.parquet", provenance)
