"""Items from the data frames of Inspect's own `samples_df` and `evals_df`."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import polars as pl

from evalframe.core.errors import MissingColumnsError, RunWarning, warn
from evalframe.core.frames import like_input
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.logs.inspect.records import Score as Recorded
from evalframe.logs.inspect.scores import as_json, numbers, parts_of
from evalframe.logs.table import METADATA, Score, completed, rectangular, wanted

_SCORE = "score_"
_OF_SAMPLE = {"sample_id": "uuid", "id": "sample_id", "eval_id": "log_id"}
_OF_EVAL = {"task_name": "task", "dataset_name": "dataset", "eval_id": "log_id"}


@like_input
def from_samples_df(samples: Frame, evals: Frame | None = None) -> pl.LazyFrame:
    """Make the items table of the data frames that Inspect makes of logs.

    `read_inspect` reads the same logs without Inspect, faster and with answers and confidences;
    use this for frames that you have, perhaps filtered or with columns of your own.

    Args:
        samples: What `inspect_ai.analysis.samples_df` returns, with its columns `eval_id`, `id`,
            `epoch` and `score_...`.
        evals: What `evals_df` returns of the same logs: tasks, models and data sets. Samples of
            other evaluations have null there, unless `samples` has columns of these names.

    Returns:
        The items table, as of `read_inspect`: a row for each sample, epoch and pair of scorer and
        score name; of an evaluation, the pairs of which one of its samples has a value. Columns
        `metadata_...` follow, as they are.

    Raises:
        MissingColumnsError: `samples` lacks one of these columns.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = {"eval_id": "e", "id": [1, 2], "epoch": 1, "score_match": ["C", "I"]}
        >>> evals = pl.DataFrame({"eval_id": ["e"], "model": ["m"], "task_name": ["sums"]})
        >>> items = ef.logs.from_samples_df(pl.DataFrame(scores), evals)
        >>> items.select("model", "task", "sample_id", "scorer", "score").rows()
        [('m', 'sums', '1', 'match', 1.0), ('m', 'sums', '2', 'match', 0.0)]
    """
    table = lazy(samples).collect()
    if missing := {"eval_id", "id", "epoch"} - {*table.columns}:
        raise MissingColumnsError.of("from_samples_df", missing, table.columns)
    known = _renamed(table.lazy(), _OF_SAMPLE | _OF_EVAL)
    if evals is not None:
        of_evals = _renamed(lazy(evals), _OF_EVAL)
        names = {*of_evals.collect_schema()} - {*known.collect_schema()} | {"log_id"}
        of_evals = of_evals.select(sorted(names)).unique("log_id", keep="first")
        known = known.join(of_evals, on="log_id", how="left", maintain_order="left")
    error = pl.col("error") if "error" in table.columns else pl.lit(None, pl.String)
    known = known.with_columns(
        pl.lit("inspect").alias("format"), error.replace("", None).alias("error")
    )
    rows = known.with_columns(is_error=pl.col("error").is_not_null()).collect()
    counts: Counter[str] = Counter()
    long = rectangular(rows, _scores(table, counts))
    if counts["not_numbers"]:
        warn(
            f"{counts['not_numbers']:,} scores are no numbers and count 0.0, as in Inspect",
            RunWarning,
        )
    pair = ["log_id", "scorer", "score_name"]
    is_there = pl.col("value").is_not_null()
    none_there = ~is_there.any().over("log_id")
    first = pl.int_range(pl.len()).over("log_id", "sample_id", "epoch") == 0
    scorers = (pl.when(~none_there).then(pl.col(name)).alias(name) for name in pair[1:])
    items = long.filter(is_there.any().over(pair) | (none_there & first)).with_columns(scorers)
    metadata = items.select(name for name in items.columns if name.startswith(METADATA))
    return completed(items, wanted((), ())).with_columns(metadata).lazy()


def _renamed(table: pl.LazyFrame, names: dict[str, str]) -> pl.LazyFrame:
    """Columns of these frames under names of items; ids of samples are text."""
    present = [name for name in names if name in table.collect_schema()]
    kept = table.select(pl.exclude(*names.values()), *(pl.col(n).alias(f":{n}") for n in present))
    return kept.select(pl.exclude(*present)).rename({f":{n}": names[n] for n in present})


def _scores(table: pl.DataFrame, counts: Counter[str]) -> list[Score]:
    scores = []
    for column in table.iter_columns():
        if column.name.startswith(_SCORE):
            name = column.name.removeprefix(_SCORE)
            recorded = [None if value is None else Recorded(_value(value)) for value in column]
            for part, values in parts_of(name, recorded):
                found = {"score": numbers(values, counts), "value": as_json(values)}
                types = {"score": pl.Float64(), "value": pl.String()}
                scores.append(Score(name, part, pl.DataFrame(found, schema=types)))
    return scores


def _value(value: Any) -> Any:
    """A score; objects and lists are JSON in these frames."""
    if isinstance(value, str) and value.startswith(("{", "[")):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return math.nan if value is None else value
