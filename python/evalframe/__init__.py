"""Evaluation metrics for AI systems, as Polars expressions and additive states.

The public names are listed in `__init__.pyi` and imported when they are first used: `ef.aurc`
loads the selective family alone, and the command line answers `--help` without Polars.
"""

from typing import Any

from evalframe.core.lazy import exports

_exported, __dir__, __all__ = exports(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("evalframe")
    return _exported(name)
