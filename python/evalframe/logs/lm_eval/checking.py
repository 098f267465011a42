"""Published results of lm-evaluation-harness, recomputed from the lines of a task."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evalframe.logs.checking import Check
from evalframe.logs.lines import count_of, inside, number_of
from evalframe.logs.lm_eval.aggregates import (
    AGGREGATIONS,
    MOST_DRAWS,
    OF_METRIC,
    Array,
    standard_error,
)
from evalframe.logs.lm_eval.run import Samples
from evalframe.logs.lm_eval.samples import METRIC, read_lines
from evalframe.logs.table import Wanted

if TYPE_CHECKING:
    from evalframe.logs.reading import Log

_N_REPLICATES = 100_000
"""Replicates of a bootstrap where the results do not say how many."""


def check(log: Log) -> Iterator[Check]:
    """All numbers that are published of a task; those of a group come with its first task."""
    samples = Samples(log.path)
    published = samples.of_task("results")
    if isinstance(published, Mapping):
        lines = read_lines(log.path, Wanted(frozenset()), samples.delimiter)
        for scorer, name in _metrics(published):
            yield from _of_metric(samples, published, lines, scorer, name)
    for group in samples.groups:
        yield from _of_group(samples, group)


def _metrics(published: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Metric and filter of each published score."""
    for key in published:
        metric, comma, name = key.rpartition(",")
        if comma and not metric.endswith("_stderr"):
            yield metric, name


def _of_metric(
    samples: Samples, published: Mapping[str, Any], lines: pl.DataFrame, scorer: str, name: str
) -> Iterator[Check]:
    """The aggregate of a metric, and its standard error."""
    how = _aggregation(samples, scorer)
    score = number_of(published.get(f"{scorer},{name}"))
    error = number_of(published.get(f"{scorer}_stderr,{name}"))
    told = (samples.task, scorer, name)
    x, note = _numbers(lines, how, scorer, name)
    if x is None:
        for metric, number in ((how, score), ("stderr", error)):
            if number is not None:
                yield Check(*told, metric, None, number, None, note)
        return
    if len(x) < (n_documents := samples.n_documents):
        note = f"the file has {len(x):,} of {n_documents:,} lines"
    aggregation, found = AGGREGATIONS[how], None
    if score is not None:
        with np.errstate(all="ignore"):
            found = float(aggregation.value(x[None])[0])
        yield Check(*told, how, None, score, found, note, aggregation.tolerance)
    if error is None:
        return
    n = count_of(inside(samples.results, "config", "bootstrap_iters")) or _N_REPLICATES
    if aggregation.is_resampled and len(x) * n > MOST_DRAWS:
        found, note = None, f"a bootstrap of {n:,} x {len(x):,} lines takes too long"
    else:
        with np.errstate(all="ignore"):
            found = standard_error(aggregation, x, n)
        note = note if found is not None else f"{how} has no standard error"
    yield Check(*told, "stderr", None, error, found, note, aggregation.tolerance)


def _numbers(
    lines: pl.DataFrame, how: str, scorer: str, name: str
) -> tuple[Array | None, str | None]:
    """What is aggregated of a metric and filter, or why there is nothing."""
    if how not in AGGREGATIONS:
        return None, f"the aggregation {how} is not known here"
    if METRIC + scorer not in lines.columns:
        return None, "no line has this metric"
    values = lines.filter(filter=name)[METRIC + scorer].drop_nulls()
    if values.is_empty():
        return None, "no line has this metric and filter"
    try:
        return AGGREGATIONS[how].numbers(values), None
    except (ValueError, TypeError, pl.exceptions.PolarsError) as fault:
        return None, str(fault)


def _aggregation(samples: Samples, scorer: str) -> str:
    """The aggregation of a metric, as the configuration of the task or the program's table says."""
    metrics = inside(samples.of_task("configs"), "metric_list")
    for each in metrics if isinstance(metrics, list) else ():
        named = inside(each, "aggregation")
        if inside(each, "metric") == scorer and isinstance(named, str):
            return named
    return OF_METRIC.get(scorer, "mean")


def _of_group(samples: Samples, group: str) -> Iterator[Check]:
    """The scores of a group, from those of its tasks: weighted by size, or plain means."""
    published = inside(samples.results, "results")
    of_group = inside(published, group)
    tasks = [inside(published, task) for task in samples.tasks_of(group)]
    for scorer, name in _metrics(of_group if isinstance(of_group, Mapping) else {}):
        key, error_key = f"{scorer},{name}", f"{scorer}_stderr,{name}"
        score, error = number_of(of_group[key]), number_of(of_group.get(error_key))
        having = [task for task in tasks if number_of(inside(task, key)) is not None]
        sizes = np.array([number_of(inside(task, "sample_len")) or math.nan for task in having])
        means = np.array([number_of(task[key]) for task in having], float)
        errors = np.array([number_of(inside(task, error_key)) for task in having], float)
        if score is None or not having:
            continue
        weighted, plain = float(means @ sizes / sizes.sum()), float(means.mean())
        is_plain = not math.isclose(score, weighted, rel_tol=1e-9) and math.isclose(score, plain)
        note = "a plain mean of tasks" if is_plain else None
        found = plain if is_plain else weighted
        if is_unknown := math.isnan(found):
            note = "the tasks do not say how many documents they have"
        known = None if is_unknown else found
        yield Check(group, scorer, name, "mean of tasks", None, score, known, note)
        if error is not None:
            pooled = (sizes - 1) * sizes * errors**2
            variance = pooled.sum() / (sizes.sum() - len(sizes)) / sizes.sum()
            if is_plain:
                variance = (errors**2).sum() / len(errors) ** 2
            known = None if math.isnan(variance) else math.sqrt(variance)
            yield Check(group, scorer, name, "stderr", None, error, known, note)
