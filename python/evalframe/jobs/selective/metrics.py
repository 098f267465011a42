"""The metrics of a selective job, with its coverages, convention and columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.metric import Metric, MetricExpr, lookup, make
from evalframe.jobs.metrics import Call, Reading
from evalframe.jobs.selective import METRICS, PREDICTION, SelectiveJob
from evalframe.selective.conventions import Convention, fraction

AREAS = ("aurc_at", "augrc_at")
"""Metrics whose open coverage is the job's area coverage; all others take the coverage grid."""
NUMBERS = ("coverage", "risk")


def resolve(
    job: SelectiveJob,
    roles: Mapping[str, str],
    folder: Path = Path(),
    columns: Collection[str] = (),
) -> list[MetricExpr]:
    """The metrics of a job, bound to the columns that play the roles."""
    conventions = get_args(Convention)
    if job.convention is not None and job.convention not in conventions:
        raise UnknownNameError.of("convention", job.convention, conventions)
    reading = Reading(folder, partial(_bound, job), columns)
    if job.metrics is not None:
        return reading.metrics(job.metrics, roles)
    return [metric for name in METRICS for metric in _if_defined(job, reading, name, roles)]


def has_default_convention(job: SelectiveJob) -> bool:
    """True if the job has the default convention."""
    return job.convention in (None, lookup("aurc").params["convention"])


def reads_probabilities(metric: MetricExpr) -> bool:
    """True if the metric takes confidences as probabilities, as ours with a role `correct` do."""
    return metric.metric.family == "selective" and "correct" in metric.metric.roles


def left_out(job: SelectiveJob, metrics: Sequence[MetricExpr]) -> list[str]:
    """The default metrics that are not among the job's since its convention lacks them."""
    present = {expr.metric.name for expr in metrics}
    return [name for name in METRICS if job.metrics is None and name not in present]


def _if_defined(
    job: SelectiveJob, reading: Reading, name: str, roles: Mapping[str, str]
) -> list[MetricExpr]:
    """A default metric, unless the convention of the job does not define it."""
    try:
        return list(reading.read(name, roles))
    except ParameterError:
        if job.convention is None:
            raise
        return []


def _bound(job: SelectiveJob, call: Call, roles: Mapping[str, str]) -> Iterator[MetricExpr]:
    """The metric of a call, or several if the job has coverages for it."""
    metric, params = call.metric, dict(call.params)
    for key, value in params.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if key in NUMBERS and not number:
            raise ParameterError(f"{key} of {metric.name} must be a number, got {value!r}")
    if "coverage" in params:
        params["coverage"] = fraction("coverage", params["coverage"])
    if "risk" in params:
        params["risk"] = float(params["risk"])
        if not params["risk"] >= 0:
            raise ParameterError(f"risk of {metric.name} must be at least 0, got {params['risk']}")
    if "convention" in metric.params and job.convention is not None:
        params.setdefault("convention", job.convention)
    if len(metric.roles) > 1:
        # A loss that is null abstains in place of the prediction; it is no prediction to score.
        roles = {**roles, PREDICTION: PREDICTION}
    roles = {role: role for role in job.columns} | {**roles}
    columns = {
        role: roles.get(role, column) for role, column in metric.roles.items() if column is not None
    }
    columns |= call.columns
    for choice in [{}] if "coverage" in params else _coverages(job, metric):
        yield make(metric.name, roles=columns, params={**choice, **params}, alias=call.alias)


def _coverages(job: SelectiveJob, metric: Metric) -> list[dict[str, Any]]:
    """The coverages of the job for a metric that needs one."""
    if "coverage" not in metric.params:
        return [{}]
    if metric.name in AREAS:
        return [{"coverage": job.area_coverage}]
    return [{"coverage": coverage} for coverage in job.coverage_grid]
