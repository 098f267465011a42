"""Run results of dtef-app as records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from evalframe.compat.dtef.runs import open_runs
from evalframe.core.choices import Versions
from evalframe.core.readers import Read


def open_results(
    paths: Sequence[Path],
    *,
    versions: Versions = "all",
    experiments: bool = False,
    rules: str = "documented",
) -> Read:
    """Read run results; beside the scores are the `results` and the `attributes` of segments."""
    results = open_runs(
        [*paths],
        versions=versions,
        experiments=experiments,
        former_names=rules == "documented",
    )
    counts = results.items.group_by("run_id").len()
    rows = results.runs.join(counts, on="run_id", how="left", maintain_order="left")
    unused = results.runs.filter(pl.col("use") != "counted")
    kinds = unused.group_by("use").len().sort("use").rows()
    dropped = {use.replace("_", " "): count for use, count in kinds}
    items = results.items
    # Old results name no survey, and then their rounds are not told apart.
    items = items.drop("round") if items["round"].null_count() == len(items) else items
    files = rows.select("file", pl.col("len").fill_null(0)).rows()
    beside = {"results": results, "attributes": results.attributes}
    return Read(items.lazy(), files, dropped, beside)
