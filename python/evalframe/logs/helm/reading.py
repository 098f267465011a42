"""Runs of HELM: a folder with the specification of the run, its requests, and the stats of each.

A log is a folder that holds `run_spec.json` and `per_instance_stats.json`; `scenario_state.json` is
opened for columns that need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.logs.helm import requests, stats
from evalframe.logs.helm.checking import check
from evalframe.logs.helm.run import SPEC, facts
from evalframe.logs.reading import Format, Log, Paths, find, scan
from evalframe.logs.table import Wanted, wanted

if TYPE_CHECKING:
    from collections import Counter

_CORE = (
    r"^((quasi_|prefix_|quasi_prefix_)?exact_match|f1_score|rouge_l|bleu_.*|classification_.*"
    r"|ifeval_strict_accuracy|chain_of_thought_correctness|math_equiv.*)(@\d+)?$"
)
_TOKENS = {"num_prompt_tokens": "input_tokens", "num_output_tokens": "output_tokens"}
_CONFIDENCE = "max_prob"


def read_helm(
    paths: Paths,
    *,
    extra: Sequence[str] = (),
    bookkeeping: bool = False,
    strict: bool = False,
) -> pl.LazyFrame:
    """Read runs of HELM lazily as one items table.

    A row is an instance, a trial of training examples (`epoch`) and a stat: `scorer` is its name,
    `score_name` the split, with the perturbation after a colon. An instance is in one split, and
    stats that have no value for it have no row. `confidence` is the stat max_prob: the probability
    of the completion, or the largest share of a choice where each choice was asked for; null if
    the deployment reports no probabilities (all are 1).

    Args:
        paths: Folders of runs or above them, globs, or a list of these.
        extra: Columns on request, such as confidence.
        bookkeeping: Also rows of stats that are no metrics of quality: numbers of tokens, reasons
            to finish, times, probabilities.
        strict: A run in a folder that cannot be read is an error, not left out with a warning.

    Returns:
        A frame with the columns of `ef.read_logs`.

    Raises:
        InputError: There is no run, or a named one is damaged.
        UnknownNameError: An extra column has another name.

    Examples:
        >>> import evalframe as ef, json, tempfile
        >>> from pathlib import Path
        >>> folder = tempfile.TemporaryDirectory()
        >>> spec = {"name": "sums:model=m", "adapter_spec": {"model": "m"}}
        >>> stat = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1}
        >>> records = [{"instance_id": "id1", "train_trial_index": 0, "stats": [stat]}]
        >>> for name, part in {"run_spec": spec, "per_instance_stats": records}.items():
        ...     _ = (Path(folder.name) / f"{name}.json").write_text(json.dumps(part))
        >>> columns = ["task", "model", "scorer", "score_name", "sample_id", "score"]
        >>> ef.read_helm(folder.name).select(columns).collect().rows()
        [('sums', 'm', 'exact_match', 'test', 'id1', 1.0)]
        >>> folder.cleanup()
    """
    logs, skipped = find(paths, "helm", strict=strict)
    asked = replace(wanted(extra, ()), bookkeeping=bookkeeping)
    return scan(logs, skipped, asked, strict=strict)


def _recognise(path: Path, head: bytes) -> bool:
    return not head and all((path / name).is_file() for name in (SPEC, stats.FILE))


def _read(log: Log, wanted: Wanted, counts: Counter[str]) -> Iterable[pl.DataFrame]:
    """All stats of a run, and what the requests say of their instances."""
    known = stats.read_stats(log.path).filter(pl.col("count") > 0)
    known = known.with_columns(score=pl.col("sum") / pl.col("count"))
    core = pl.col("name").str.contains(_CORE)
    rows = known if wanted.bookkeeping else known.filter(core)
    beside = {**_TOKENS, _CONFIDENCE: "confidence"}
    for name, column in beside.items():
        if wanted.any(column):
            values = (
                known.filter(name=name)
                .unique(stats.KEY, keep="last")
                .select(*stats.KEY, pl.col("score").alias(column))
            )
            rows = _joined(rows, values)
    if wanted.any("confidence", *requests.COLUMNS):
        if (log.path / requests.FILE).is_file():
            asked = requests.read_requests(log.path)
            counts["bad_times"] += int(asked["bad_time"].sum())
            rows = _joined(rows, asked)
            if wanted.any("confidence") and not asked["has_logprobs"].any():
                rows = rows.with_columns(confidence=pl.lit(None, pl.Float64))
        else:
            counts["no_record"] += rows.select(stats.KEY).n_unique()
            rows = rows.with_columns(confidence=pl.lit(None, pl.Float64))
    yield rows.with_columns(
        pl.lit(value, pl.String).alias(name) for name, value in facts(log).items()
    ).with_columns(
        scorer="name",
        score_name=stats.score_name(),
        epoch=pl.col("trial") + 1,
    )


def _joined(rows: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """Rows with the values of their instance and trial."""
    return rows.join(values, on=stats.KEY, how="left", nulls_equal=True, maintain_order="left")


FORMAT = Format(_recognise, facts, _read, check)
