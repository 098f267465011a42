"""Run the verbs of one table: `evaluate`, `rank`, and shards of states; and what they print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.core.contract import Validation
from evalframe.core.errors import InputError, OutputError, ParameterError
from evalframe.core.metric import MetricExpr
from evalframe.core.scan import check_once, find, open_files, reading
from evalframe.jobs.family import Outcome
from evalframe.jobs.imported import metric_at
from evalframe.jobs.inputs import Opened
from evalframe.jobs.items.records import records_of
from evalframe.jobs.paths import refuse_inputs
from evalframe.jobs.rows import Rows
from evalframe.reporting.table import long_table
from evalframe.reporting.verdict import verdict

if TYPE_CHECKING:
    from evalframe.jobs.family import Place
    from evalframe.jobs.items import (
        EvaluateJob,
        FinishJob,
        MergeJob,
        PartialJob,
        RankJob,
        RetractJob,
        StatesJob,
    )

TABLES, RANKS, STATES = ("estimates",), ("ranks",), ("states",)
"""Tables that are written to a folder, as Parquet files of these names."""


def evaluate(job: EvaluateJob, place: Place) -> Outcome:
    """The metrics of each group."""
    records = records_of(job, place)
    with reading(", ".join(job.items), "is it whole?"):
        result = records.rows.given_to(
            ef.evaluate,
            records.metrics,
            by=records.keys,
            weight=job.weight,
            resample=records.resample(job),
        )
    return records.outcome(job, result, *TABLES)


def rank(job: RankJob, place: Place) -> Outcome:
    """The ranks of systems by a metric, and what is certain of them."""
    records = records_of(job, place, [job.between])
    resample = records.resample(job)
    metric, *others = records.metrics
    if others:
        raise ParameterError(f"rank orders by one metric, got {1 + len(others)}; name one")
    assert resample is not None
    with reading(", ".join(job.items), "is it whole?"):
        result = records.rows.given_to(
            ef.rank,
            metric,
            between=job.between,
            by=records.keys,
            weight=job.weight,
            resample=resample,
            best=job.best,
            correction=job.correction,
        )
    together = "Rank sets hold together: all pairs of a group are compared at once."
    notes = [*records.notes, *records.left_out(job.between), together]
    return records.outcome(job, result, *RANKS, notes=notes)


def shard(job: PartialJob, place: Place) -> Outcome:
    """The state of a shard."""
    _check_state(place)
    records = records_of(job, place, splits=False)
    with reading(", ".join(job.items), "is it whole?"):
        state = records.rows.given_to(
            ef.partial,
            records.metrics,
            by=records.keys,
            weight=job.weight,
            cluster=records.cluster,
        )
    return _of_state(records.outcome(job, state, *STATES))


def merge(job: MergeJob, place: Place) -> Outcome:
    """The sum of states."""
    _check_state(place)
    opened, shards = _opened(job, place)
    with reading(", ".join(job.items), "is it whole?"):
        state = ef.merge(*shards).lazy().collect()
    return _of_state(_outcome(job, opened, state, *STATES))


def retract(job: RetractJob, place: Place) -> Outcome:
    """The first state without the second."""
    _check_state(place)
    opened, states = _opened(job, place)
    if len(states) != 2:
        raise InputError(
            f"retract takes two states, the whole and its part, and found {len(states)}; add up "
            "several parts by `evalframe merge` first"
        )
    with reading(", ".join(job.items), "is it whole?"):
        state = ef.retract(*states).lazy().collect()
    return _of_state(_outcome(job, opened, state, *STATES))


def finish(job: FinishJob, place: Place) -> Outcome:
    """The metrics of states, added up if there are several."""
    from evalframe.core.state_tables import read_states

    opened, shards = _opened(job, place)
    with reading(", ".join(job.items), "is it whole?"):
        state = ef.merge(*shards).lazy().collect()
    states = read_states(state)
    cluster = (job.bootstrap and job.bootstrap.cluster) or states.cluster
    result = ef.finish(state, resample=job.resample(cluster))
    metrics = [MetricExpr.of(metric) for metric in states.metrics]
    return _outcome(job, opened, result, *TABLES, metrics=metrics)


def check(job: EvaluateJob, place: Place) -> str:
    """What is found of records that keep their contract."""
    records = records_of(job, place)
    return "\n".join([str(records.validation), *records.notes])


def printed(
    result: pl.DataFrame,
    keys: Sequence[str],
    *,
    markdown: bool = False,
    is_state: bool = False,
    disagreements: pl.DataFrame | None = None,
    cluster: str | None = None,
    **style: Any,
) -> str:
    """The main table, below what tests say of it, one row for each group; of a state its size."""
    if is_state:
        return "\n".join([f"a state of {result.height:,} rows", *style["notes"]])
    table = partial(long_table, markdown=markdown)
    is_tested = "rank" in result.columns or "delta" in result.columns
    parts = [verdict(result, cluster=cluster) if is_tested else "", table(result, **style)]
    if disagreements is not None:
        title = f"{'## ' * markdown}Items on which two systems differ most"
        parts += [title, table(disagreements)]
    return "\n\n".join(filter(None, parts))


def _check_state(place: Place) -> None:
    """Raise OutputError unless a state is written, as Parquet: its types say what it is of."""
    if not place.targets or place.targets[0].suffix.lower() != ".parquet":
        raise OutputError("a state is written as Parquet; name it (-o STATE.parquet)")


def _of_state(outcome: Outcome) -> Outcome:
    notes = [
        *outcome.notes,
        "Add it to others by `evalframe merge`; `evalframe finish` has the values.",
    ]
    return replace(outcome, shown={"is_state": True}, notes=notes)


def _opened(job: StatesJob, place: Place) -> tuple[Opened, list[pl.LazyFrame]]:
    """The files of states, and the states, whose metrics are declared."""
    for named in job.metrics:
        metric_at(named, place.folder)
    files = find(job.items, place.folder)
    check_once(files)
    for path in place.targets:
        refuse_inputs(path, files, job.items, place.folder)
    opened = [open_files([file]) for file in files]
    tables = [table for table, _ in opened]
    return Opened(Rows(tables[0]), [file for _, known in opened for file in known]), tables


def _outcome(
    job: StatesJob, opened: Opened, result: pl.DataFrame, name: str, **more: Any
) -> Outcome:
    rows = sum(file["rows"] for file in opened.describe())
    validation = Validation("states", rows, 0, pl.DataFrame(), opened.table, None)
    keys = result.columns[: result.columns.index("metric")] if "metric" in result.columns else []
    return Outcome(job, keys, result, validation, opened, lambda: {name: result}, **more)
