"""Metrics that a job names by import path; their modules lie beside the job, or are installed."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evalframe.core.errors import EvalframeError, InputError, ParameterError, did_you_mean
from evalframe.core.loading import load
from evalframe.core.metric import Metric, MetricFunction, registered

if TYPE_CHECKING:
    from types import ModuleType


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
        load(specs[0])
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
            f"{module.replace('.', '/')}.py beside the job file.{_meant(module)}"
        )
    return specs


def _meant(module: str) -> str:
    """A hint if what stands before a colon may be meant for a metric."""
    hint = did_you_mean(module, registered())
    return f" As a metric:{hint}" if hint else ""


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
