"""From metric names, as people write them, to metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import evalframe as ef
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.metric import Metric, MetricExpr, lookup, make, registered
from evalframe.jobs.import_paths import is_import_path, metric_at
from evalframe.jobs.selective.job import METRICS, PREDICTION, SelectiveJob
from evalframe.selective.conventions import Convention, fraction

AREAS = ("aurc_at", "augrc_at")
"""Metrics whose open coverage is the job's area coverage; all others take the coverage grid."""
NUMBERS = ("coverage", "risk")


def resolve(job: SelectiveJob, roles: Mapping[str, str], folder: Path = Path()) -> list[MetricExpr]:
    """The metrics of a job, bound to the columns that play the roles."""
    conventions = get_args(Convention)
    if job.convention is not None and job.convention not in conventions:
        raise UnknownNameError.of("convention", job.convention, conventions)
    if job.metrics is None:
        metrics = [metric for name in METRICS for metric in _if_defined(job, name, roles)]
    else:
        metrics = [metric for entry in job.metrics for metric in _entry(job, entry, roles, folder)]
    names = [metric.bound.name for metric in metrics]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                f"metric {name!r} is asked for twice; name it once, or give one an alias in a job "
                "file"
            )
    return metrics


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


def parse(name: str) -> tuple[Metric, dict[str, Any]]:
    """A metric and the parameters that the name of a variant spells out."""
    for metric in _candidates(name):
        if name == metric.name:
            return metric, {}
        if metric.label and (match := re.fullmatch(_pattern(metric.label), name)):
            return metric, {key: float(value) for key, value in match.groupdict().items()}
    raise UnknownNameError.of("metric", name, registered())


def _candidates(name: str) -> Iterator[Metric]:
    """Public metrics by name, or by name without a number, before all others are loaded."""
    for each in (name, re.sub(r"_[-+.e\d]+$", "", name)):
        if each in ef.__all__:
            yield lookup(each)
    yield from registered().values()


def _if_defined(job: SelectiveJob, name: str, roles: Mapping[str, str]) -> list[MetricExpr]:
    """A default metric, unless the convention of the job does not define it."""
    try:
        return list(_entry(job, name, roles, Path()))
    except ParameterError:
        if job.convention is None:
            raise
        return []


def _entry(
    job: SelectiveJob, entry: str | Mapping[str, Any], roles: Mapping[str, str], folder: Path
) -> Iterator[MetricExpr]:
    arguments = {"name": entry} if isinstance(entry, str) else dict(entry)
    if not isinstance(arguments.get("name"), str) or not isinstance(
        arguments.get("alias", ""), str
    ):
        raise ParameterError(f"a metric needs a name, and perhaps an alias, got {arguments}")
    metric, params, preset, called = _named(named := arguments.pop("name"), folder)
    alias = arguments.pop("alias", called)
    if alias == "":
        raise ParameterError(f"the alias of {named} is empty; give it a name, or leave it out")
    for key in arguments:
        if key not in metric.params:
            raise UnknownNameError.of(f"argument of {metric.name}", key, metric.params)
        if key in params:
            raise ParameterError(
                f"{named} has its {key} in its name; leave out {key}, or name it {metric.name!r}"
            )
    params = {**preset, **params, **arguments}
    for key, value in params.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if key in NUMBERS and not number:
            raise ParameterError(f"{key} of {metric.name} must be a number, got {value!r}")
        if not isinstance(value, str | int | float):
            raise ParameterError(f"{key} of {metric.name} must be a single value, got {value!r}")
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
    for choice in [{}] if "coverage" in params else _coverages(job, metric):
        yield make(metric.name, roles=columns, params={**choice, **params}, alias=alias)


def _named(name: str, folder: Path) -> tuple[Metric, dict[str, Any], Mapping[str, Any], str | None]:
    """A metric, what its name says of its parameters, what a variant presets, and its own name."""
    if not is_import_path(name):
        return *parse(name), {}, None
    function = metric_at(name, folder)
    return function.metric, {}, function.preset, function.output_name


def _coverages(job: SelectiveJob, metric: Metric) -> list[dict[str, Any]]:
    """The coverages of the job for a metric that needs one."""
    if "coverage" not in metric.params:
        return [{}]
    if metric.name in AREAS:
        return [{"coverage": job.area_coverage}]
    return [{"coverage": coverage} for coverage in job.coverage_grid]


def _pattern(label: str) -> str:
    """A regular expression for the names that a label can format."""
    parts = re.split(r"\{(\w+)\}", label)
    number = r"(?P<{}>\d*\.?\d+(?:[eE][+-]?\d+)?)"
    return "".join(
        number.format(part) if k % 2 else re.escape(part) for k, part in enumerate(parts)
    )
