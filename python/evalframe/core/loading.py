"""Modules that are imported from a file, wherever it lies."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


def load(spec: ModuleSpec) -> None:
    """Run a module once, as `import` does, though no path leads to it."""
    if spec.name in sys.modules:
        return
    module = sys.modules[spec.name] = module_from_spec(spec)
    try:
        if spec.loader is not None:
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
