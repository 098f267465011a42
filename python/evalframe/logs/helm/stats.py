"""The stats of the instances of a HELM run, as one frame: a row per instance, trial and stat.

`per_instance_stats.json` has a record for each class of metrics that yields stats, so an instance
occurs several times. Records stream; what is kept of a stat are its name and its sums.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from evalframe.core.errors import InputError
from evalframe.logs.lines import Whole, items_of

_PERTURBED = "perturbed"
FILE = "per_instance_stats.json"
KEY = ("sample_id", "perturbation", "trial")
"""What tells instances apart; a perturbed instance has the id of the original."""

_SCHEMA = {
    "sample_id": pl.String,
    "perturbation": pl.String,
    "label": pl.String,
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
    if perturbation is None:
        return None
    return msgspec.json.encode(perturbation, order="sorted").decode()


def label(perturbation: dict[str, Any] | None, name: str) -> str | None:
    """What a perturbation is called, and what is derived of it; InputError names the file."""
    if perturbation is None:
        return None
    called, computed_on = perturbation.get("name"), perturbation.get("computed_on", _PERTURBED)
    if not isinstance(called, str) or not isinstance(computed_on, str):
        raise InputError(f"{name}: a perturbation has no name: {perturbation!a:.80}")
    return called if computed_on == _PERTURBED else f"{called}:{computed_on}"


def score_name() -> pl.Expr:
    """The split of a stat, with its perturbation after a colon."""
    return _joined(":", _joined("/", pl.col("split"), pl.col("sub_split")), pl.col("label"))


def _joined(separator: str, *parts: pl.Expr) -> pl.Expr:
    """The parts that are not null with a separator between; null if all are."""
    joined = pl.concat_str(parts, separator=separator, ignore_nulls=True)
    return pl.when(pl.any_horizontal(part.is_not_null() for part in parts)).then(joined)


def read_stats(folder: Path) -> pl.DataFrame:
    """Each stat of each instance and trial; perturbation is JSON, null for the original."""
    parts = [pl.DataFrame(schema=_SCHEMA)]
    for found in items_of(folder / FILE, None, ("stats", "name", "perturbation"), _Record):
        rows = [
            (
                str(record.instance_id),
                canonical(record.perturbation),
                label(record.perturbation, str(folder / FILE)),
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
