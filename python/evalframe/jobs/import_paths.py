"""Metrics of the user's own, named in a job by import path: `my_metrics:gini`.

Importing a module runs it. So a job can name a metric and nothing else: the path is a dotted module
and a name in it; the module lies in the folder of the job or is installed, is not one of Python's
own, and its text imports evalframe. All this is looked at before anything is run, and what the name
then stands for must be a metric. Other files of the job's folder cannot come in place of installed
modules, since the folder is not put on the path.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evalframe.core.errors import EvalframeError, InputError, ParameterError, did_you_mean
from evalframe.core.metric import Metric

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from evalframe.core.metric import MetricFunction

_PATH = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*:[A-Za-z]\w*", re.ASCII)


def is_import_path(name: str) -> bool:
    """Whether a metric is named by import path; names of metrics hold no colon.

    >>> is_import_path("my_metrics:gini"), is_import_path("aurc")
    (True, False)
    """
    return ":" in name


def metric_at(path: str, folder: Path) -> MetricFunction[Any]:
    """The metric that an import path names. Runs its module, unless that was imported before.

    Args:
        path: A dotted module, a colon and the name of a metric in it.
        folder: Where modules lie that are not installed.

    Raises:
        ParameterError: The path is none, names a module that a job must not, or no metric.
        InputError: There is no such module, or it cannot be imported.
    """
    if not _PATH.fullmatch(path):
        raise ParameterError(
            f"metric {path!r} is no import path; write module:name, such as my_metrics:gini, "
            "without folders, blanks, calls or names that begin with an underscore"
        )
    module, _, name = path.partition(":")
    found = getattr(_imported(module, folder), name, None)
    if isinstance(getattr(found, "metric", None), Metric) and callable(found):
        return cast("MetricFunction[Any]", found)
    declared = _metrics_of(sys.modules[module])
    raise ParameterError(
        f"{path} is no metric, which @ef.metric or ef.variant makes.{did_you_mean(name, declared)} "
        f"Metrics of {module}: {', '.join(declared) or 'none'}"
    )


def _imported(module: str, folder: Path) -> ModuleType:
    if module.partition(".")[0] in sys.stdlib_module_names:
        raise ParameterError(
            f"{module} belongs to Python itself and holds no metric; it was not imported"
        )
    specs = _specs(module, folder)
    _check_text(module, specs[-1])
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
    """Where the module and the packages around it lie, found without running any of them.

    Raises:
        InputError: It is neither in the folder nor installed, or both.
    """
    top, *inner = module.split(".")
    beside = PathFinder.find_spec(top, [str(folder.absolute())])
    installed = importlib.util.find_spec(top)
    if beside is not None and installed is not None and None in (beside.origin, installed.origin):
        # A mere folder, such as one of results, is no package beside a real one.
        beside = None if beside.origin is None else beside
        installed = None if beside is not None else installed
    if beside is not None and installed is not None and not _same(beside, installed):
        raise InputError(
            f"module {top} lies beside the job ({beside.origin}) and elsewhere "
            f"({installed.origin}); rename the first"
        )
    specs = [beside or installed]
    for part in inner:
        package = specs[-1]
        places = None if package is None else package.submodule_search_locations
        if package is None or places is None:
            break
        specs.append(PathFinder.find_spec(f"{package.name}.{part}", places))
    whole = [spec for spec in specs if spec is not None]
    if len(whole) <= len(inner):
        raise InputError(
            f"no module {module}, neither in {str(folder)!r} nor installed; put "
            f"{module.replace('.', '/')}.py beside the job file"
        )
    return whole


def _same(one: ModuleSpec, other: ModuleSpec) -> bool:
    return Path(str(one.origin)).resolve() == Path(str(other.origin)).resolve()


def _check_text(module: str, spec: ModuleSpec) -> None:
    """Raise where a module was not written with evalframe, and so declares no metric."""
    if not spec.origin or Path(spec.origin).suffix != ".py":
        raise ParameterError(f"{module} is no Python file, so it was not imported")
    try:
        tree = ast.parse(Path(spec.origin).read_bytes(), spec.origin)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{module} is not Python: {error}") from None
    names = [
        [str(node.module)] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level)
    ]
    if "evalframe" not in {name.partition(".")[0] for each in names for name in each}:
        raise ParameterError(
            f"{module} ({spec.origin}) does not import evalframe, so it declares no metric; it was "
            "not imported. Name the module that does"
        )


def _load(spec: ModuleSpec) -> None:
    """Run a module once, as `import` does, wherever it lies."""
    if spec.name in sys.modules:
        return
    made = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    try:
        if spec.loader is not None:
            spec.loader.exec_module(made)
    except BaseException:
        del sys.modules[spec.name]
        raise


def _metrics_of(module: ModuleType) -> list[str]:
    made = vars(module).items()
    return [name for name, value in made if isinstance(getattr(value, "metric", None), Metric)]
