"""The stats of the instances of a HELM run, as one frame: a row per instance, trial and stat.

`per_instance_stats.json` has a record for each class of metrics that yields stats, so an instance
occurs several times. Records stream; what is kept of a stat are its name and its sums.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from evalframe.logs.lines import Whole, items_of

FILE = "per_instance_stats.json"
KEY = ("sample_id", "perturbation", "trial")
"""What tells instances apart; a perturbed instance has the id of the original."""

_SCHEMA = {
    "sample_id": pl.String,
    "perturbation": pl.String,
    "trial": pl.Int64,
    "name": pl.String,
    "split": pl.String,
    "sub_split": pl.String,
    "count": pl.Int64,
    "sum": pl.Float64,
    "min": pl.Float64,
}


class _Name(msgspec.Struct, gc=False):
    name: str
    split: str | None = None
    sub_split: str | None = None


class _Stat(msgspec.Struct, gc=False):
    name: _Name
    count: Whole = 0
    sum: float = 0.0
    min: float | None = None


class _Record(msgspec.Struct, gc=False):
    """The stats of one class of metrics for an instance of a trial."""

    instance_id: str | int
    train_trial_index: Whole = 0
    perturbation: dict[str, Any] | None = None
    stats: list[_Stat] = []


def canonical(perturbation: dict[str, Any] | None) -> str | None:
    """The description of a perturbation as JSON, equal for equal ones; None for the original."""
    return None if perturbation is None else json.dumps(perturbation, sort_keys=True)


def score_name() -> pl.Expr:
    """The split of a stat, with its perturbation after a colon; the worst of it with `worst`."""
    field = pl.col("perturbation").str.json_path_match
    computed_on = field("$.computed_on")
    is_derived = computed_on != "perturbed"
    return pl.concat_str(
        pl.concat_str("split", "sub_split", separator="/", ignore_nulls=True),
        field("$.name"),
        pl.when(is_derived).then(computed_on),
        separator=":",
        ignore_nulls=True,
    )


def read_stats(folder: Path) -> pl.DataFrame:
    """Each stat of each instance and trial; perturbation is JSON, null for the original."""
    parts = [pl.DataFrame(schema=_SCHEMA)]
    for found in items_of(folder / FILE, None, ("stats", "name", "perturbation"), _Record):
        rows = [
            (
                str(record.instance_id),
                canonical(record.perturbation),
                record.train_trial_index,
                stat.name.name,
                stat.name.split,
                stat.name.sub_split,
                stat.count,
                stat.sum,
                stat.min,
            )
            for record in found
            for stat in record.stats
        ]
        parts.append(pl.DataFrame(rows, schema=_SCHEMA, orient="row"))
    return pl.concat(parts)
