"""The same job on Spark: `python -m benchmarks.spark`, by itself, since it needs Java and PySpark.

States of the partitions of a Spark DataFrame are added up by Spark's own group-by, finished here,
and held against one process. `local[2,4]` repeats a failed task, as a cluster does.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

import evalframe as ef

GROUPS, LEVELS = 20, 100


def main() -> None:
    """Compare Spark with one process, and print how long each took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "items.parquet")
        items(rows).write_parquet(path, row_group_size=rows // 8)
        metrics = [ef.aurc(), ef.augrc(), ef.per("item", ef.selective_risk()).alias("nested")]
        resample = ef.Bootstrap(cluster="item", n=50)
        here = timed("one process", lambda: ef.evaluate(path, metrics, by="group"))
        drawn = timed(
            "one process, bootstrap",
            lambda: ef.evaluate(path, metrics, by="group", resample=resample),
        )
        spark = timed("start of Spark", session)
        frame = spark.read.parquet(str(path))
        for which in ("first job", "second job"):
            there = timed(f"Spark, {which}", lambda: finished(frame, metrics))
        assert_frame_equal(here, there, rel_tol=1e-12, abs_tol=1e-12)
        again = timed(
            "Spark, bootstrap",
            lambda: finished(frame, metrics, cluster="item", resample=resample),
        )
        assert_frame_equal(drawn, again, rel_tol=1e-12, abs_tol=1e-12)
        empty = frame.where("loss > 1")
        assert finished(empty, metrics[:1]).is_empty()
        print(f"the numbers are the same: {len(here)} results of {rows:,} rows")
        spark.stop()


def finished(
    frame: Any, metrics: list[Any], *, cluster: str | None = None, resample: Any = None
) -> pl.DataFrame:
    """The result of a Spark DataFrame: states, Spark's sum of them, the finish."""
    from pyspark.sql import functions

    state = ef.engine.spark.partial(frame, metrics, by="group", cluster=cluster)
    place = state.columns.index(":level") + 1
    keys = [f"`{name}`" for name in state.columns[:place]]
    sums = [functions.sum(f"`{name}`").alias(name) for name in state.columns[place:]]
    total = state.groupBy(*keys).agg(*sums).toArrow()
    header = ef.engine.header(metrics, by="group", cluster=cluster)
    result: pl.DataFrame = ef.finish(total, header=header, resample=resample)
    return result


def session() -> Any:
    """Spark on this machine, with one thread of Polars for each of its two tasks at a time."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.executorEnv.POLARS_MAX_THREADS", "1")
    return builder.config("spark.sql.shuffle.partitions", "8").getOrCreate()


def items(rows: int) -> pl.DataFrame:
    """Items in random groups, some without a group, a confidence or a loss."""
    random = np.random.default_rng(1)
    group = random.integers(0, GROUPS, rows)
    columns = {
        "item": np.arange(rows) // (rows // 1_000),
        "group": group,
        "confidence": random.integers(0, LEVELS + 1, rows) / LEVELS,
        "loss": random.integers(0, 2, rows) * 1.0,
    }
    missing = pl.Series(random.random(rows) < 0.01)
    text = pl.when(pl.col("group") > 0).then(pl.format("group {}", "group"))
    loss = pl.when(~missing).then("loss").alias("loss")
    return pl.DataFrame(columns).with_columns(text.alias("group"), loss)


def timed(name: str, function: Callable[[], Any]) -> Any:
    """The result of a function, after its time has been printed."""
    start = time.perf_counter()
    result = function()
    print(f"{name}: {time.perf_counter() - start:.2f} s")
    return result


if __name__ == "__main__":
    main()
