"""The metrics of a job, from their names, entries of job files, or import paths."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

import evalframe as ef
from evalframe.core.errors import (
    EvalframeError,
    InputError,
    ParameterError,
    UnknownNameError,
    did_you_mean,
)
from evalframe.core.metric import Metric, MetricExpr, MetricFunction, lookup, make, registered
from evalframe.jobs.selective import METRICS, PREDICTION, SelectiveJob
from evalframe.selective.conventions import Convention, fraction

if TYPE_CHECKING:
    from types import ModuleType


AREAS = ("aurc_at", "augrc_at")
"""Metrics whose open coverage is the job's area coverage; all others take the coverage grid."""
NUMBERS = ("coverage", "risk")
_PER = "_per_"


class Names(NamedTuple):
    """What metrics may read.

    Attributes:
        roles: The columns that play the roles.
        columns: All columns of the table, if it is known.
    """

    roles: Mapping[str, str]
    columns: Collection[str]


def resolve(
    job: SelectiveJob,
    roles: Mapping[str, str],
    folder: Path = Path(),
    columns: Collection[str] = (),
) -> list[MetricExpr]:
    """The metrics of a job, bound to the columns that play the roles."""
    names = Names(roles, columns)
    conventions = get_args(Convention)
    if job.convention is not None and job.convention not in conventions:
        raise UnknownNameError.of("convention", job.convention, conventions)
    if job.metrics is None:
        metrics = [metric for name in METRICS for metric in _if_defined(job, name, names)]
    else:
        metrics = [metric for entry in job.metrics for metric in _entry(job, entry, names, folder)]
    called = [metric.bound.name for metric in metrics]
    for name in called:
        if called.count(name) > 1:
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


def _if_defined(job: SelectiveJob, name: str, names: Names) -> list[MetricExpr]:
    """A default metric, unless the convention of the job does not define it."""
    try:
        return list(_entry(job, name, names, Path()))
    except ParameterError:
        if job.convention is None:
            raise
        return []


def _entry(
    job: SelectiveJob, entry: str | Mapping[str, Any], names: Names, folder: Path
) -> Iterator[MetricExpr]:
    if not isinstance(entry, str | Mapping):
        raise ParameterError(f"a metric is a name or a table with a name, got {entry!r}")
    arguments = {"name": entry} if isinstance(entry, str) else dict(entry)
    if "per" in arguments:
        yield _per(job, arguments, names, folder)
        return
    written = arguments.get("name")
    if isinstance(written, str) and ":" not in written and _PER in written:
        # As results name it: `accuracy_per_task`, `mean_pas_per_finding_per_study`.
        unit = _last_unit(written, names.columns)
        inner = {**arguments, "name": written.removesuffix(_PER + unit)}
        alias = inner.pop("alias", written)
        yield _per(job, {"per": unit, "metric": inner, "alias": alias}, names, folder)
        return
    if not isinstance(arguments.get("name"), str) or not isinstance(
        arguments.get("alias", ""), str
    ):
        raise ParameterError(f"a metric needs a name, and perhaps an alias, got {arguments}")
    metric, params, preset, called = _named(named := arguments.pop("name"), folder)
    alias = arguments.pop("alias", called)
    if alias == "":
        raise ParameterError(f"the alias of {named} is empty; give it a name, or leave it out")
    own_roles = {role: arguments.pop(role) for role in metric.roles if role in arguments}
    for key in arguments:
        if key not in metric.params:
            raise UnknownNameError.of(
                f"argument of {metric.name}", key, [*metric.params, *metric.roles]
            )
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
    roles = {**names.roles}
    if len(metric.roles) > 1:
        # A loss that is null abstains in place of the prediction; it is no prediction to score.
        roles[PREDICTION] = PREDICTION
    roles = {role: role for role in job.columns} | roles
    columns = {
        role: roles.get(role, column) for role, column in metric.roles.items() if column is not None
    }
    columns |= own_roles
    for choice in [{}] if "coverage" in params else _coverages(job, metric):
        yield make(metric.name, roles=columns, params={**choice, **params}, alias=alias)


def _last_unit(name: str, columns: Collection[str]) -> str:
    """The unit at the end of a name: the longest that is a column, or what is behind `_per_`."""
    parts = name.split(_PER)[1:]
    ends = [_PER.join(parts[first:]) for first in range(len(parts))]
    return next((end for end in ends if end in columns), ends[-1])


def _per(job: SelectiveJob, entry: Mapping[str, Any], names: Names, folder: Path) -> MetricExpr:
    """A metric over units: `per`, `metric` or `columns`, and perhaps `then`, `weight`, `fixed`."""
    known = ("per", "metric", "columns", "then", "weight", "fixed", "alias")
    for key in entry:
        if key not in known:
            raise UnknownNameError.of("argument of per", key, known)
    alias, fixed, columns = entry.get("alias"), entry.get("fixed", False), entry.get("columns", {})
    if alias is not None and not (isinstance(alias, str) and alias):
        raise ParameterError(f"the alias of a per must be a name, got {alias!r}")
    if not isinstance(fixed, bool):
        raise ParameterError(f"fixed of a per must be true or false, got {fixed!r}")
    if not isinstance(columns, Mapping):
        raise ParameterError(f"columns of a per are a table of metrics by name, got {columns!r}")
    if taken := sorted({*columns} & {*inspect.signature(ef.per).parameters}):
        raise ParameterError(f"a column of a per cannot be named {taken[0]!r}; rename it")

    def one(part: Any, within: Names = names) -> MetricExpr:
        found = list(_entry(job, part, within, folder))
        if len(found) > 1:
            raise ParameterError(
                f"{part} is {len(found)} metrics, one for each coverage; name one, such as "
                f"{found[0].bound.name}"
            )
        return found[0]

    weight = entry.get("weight")
    units = entry["per"] if isinstance(entry["per"], list) else [entry["per"]]
    if not all(isinstance(unit, str) for unit in units):
        raise ParameterError(f"per names the columns of a unit, got {entry['per']!r}")
    metric = ef.per(
        [names.roles.get(unit, unit) for unit in units],
        one(entry["metric"]) if "metric" in entry else None,
        weight=one(weight) if isinstance(weight, Mapping) else weight,
        then=one(entry["then"], Names({}, ())) if "then" in entry else None,
        fixed=fixed,
        **{name: one(part) for name, part in columns.items()},
    )
    return metric if alias is None else metric.alias(alias)


def _named(name: str, folder: Path) -> tuple[Metric, dict[str, Any], Mapping[str, Any], str | None]:
    """A metric, what its name says of its parameters, what a variant presets, and its own name."""
    if ":" not in name:
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


_PATH = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*:[A-Za-z]\w*", re.ASCII)


def metric_at(path: str, folder: Path) -> MetricFunction[Any]:
    """The metric that an import path names; runs its module if it was not imported before."""
    if not _PATH.fullmatch(path):
        raise ParameterError(
            f"metric {path!r} is no import path; write module:name, such as my_metrics:gini, "
            "without folders, blanks, calls or names that begin with an underscore"
        )
    name, _, metric = path.partition(":")
    module = _imported(name, folder)
    value = getattr(module, metric, None)
    if _is_metric(value) and callable(value):
        return cast("MetricFunction[Any]", value)
    declared = [key for key, each in vars(module).items() if _is_metric(each)]
    raise ParameterError(
        f"{path} is no metric, which @ef.metric or ef.variant makes."
        f"{did_you_mean(metric, declared)} Metrics of {name}: {', '.join(declared) or 'none'}"
    )


def _is_metric(value: object) -> bool:
    return isinstance(getattr(value, "metric", None), Metric)


def _imported(module: str, folder: Path) -> ModuleType:
    if module.partition(".")[0] in sys.stdlib_module_names:
        raise ParameterError(
            f"{module} belongs to Python itself and holds no metric; it was not imported"
        )
    specs = _specs(module, folder)
    _check_text(module, specs[-1].origin)
    try:
        _load(specs[0])
        return importlib.import_module(module)
    except EvalframeError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{module} ({specs[-1].origin}) cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _specs(module: str, folder: Path) -> list[ModuleSpec]:
    """Specs of the packages around a module and of itself; none of them is run."""
    top, *inner = module.split(".")
    spec = _top_spec(top, folder)
    specs = [] if spec is None else [spec]
    for part in inner:
        places = spec.submodule_search_locations if spec else None
        spec = PathFinder.find_spec(f"{spec.name}.{part}", places) if spec and places else None
        specs += [] if spec is None else [spec]
    if len(specs) <= len(inner):
        raise InputError(
            f"no module {module}, neither in {str(folder)!r} nor installed; put "
            f"{module.replace('.', '/')}.py beside the job file"
        )
    return specs


def _top_spec(name: str, folder: Path) -> ModuleSpec | None:
    """Spec of a module in the folder, or else installed."""
    local = PathFinder.find_spec(name, [str(folder.absolute())])
    installed = importlib.util.find_spec(name)
    if local is None or installed is None:
        return local or installed
    if local.origin is None or installed.origin is None:
        # A mere folder, such as one of results, is no package beside a real one.
        return installed if local.origin is None else local
    if Path(local.origin).resolve() != Path(installed.origin).resolve():
        raise InputError(
            f"module {name} lies beside the job ({local.origin}) and elsewhere "
            f"({installed.origin}); rename the first"
        )
    return local


def _check_text(module: str, origin: str | None) -> None:
    """Raise ParameterError if a module does not import evalframe, and so declares no metric."""
    if not origin or Path(origin).suffix != ".py":
        raise ParameterError(f"{module} is no Python file, so it was not imported")
    try:
        tree = ast.parse(Path(origin).read_bytes(), origin)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{module} is not Python: {error}") from None
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.append(str(node.module))
    if "evalframe" not in {name.partition(".")[0] for name in names}:
        raise ParameterError(
            f"{module} ({origin}) does not import evalframe, so it declares no metric; it was "
            "not imported. Name the module that does"
        )


def _load(spec: ModuleSpec) -> None:
    """Run a module once, as `import` does, wherever it is."""
    if spec.name in sys.modules:
        return
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    try:
        if spec.loader is not None:
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
