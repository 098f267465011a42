"""The tables of a rag job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.rag.abilities import ABILITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.jobs.rag.job import RagJob

TABLES = ("rates", "accuracy_drop", *ABILITIES)
"""What a folder gets, as Parquet files of these names."""


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
            tables[name] = ef.rag.published_table(rates, name)
    return tables
