"""Public names that are imported when they are first used, as the package's stub lists them.

`__init__.pyi` beside a package's `__init__.py` imports each public name from its module: type
checkers read it, and so does `exports`, so that every name is written once.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def exports(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package.

    >>> import evalframe as ef
    >>> ef.aucr
    Traceback (most recent call last):
    AttributeError: module 'evalframe' has no attribute 'aucr'. Did you mean 'aurc'?
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    modules = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def attribute(name: str) -> Any:
        if name not in modules:
            message = f"module {package!r} has no attribute {name!r}"
            if name.startswith("_"):
                raise AttributeError(message)
            from evalframe.core.errors import did_you_mean

            raise AttributeError(f"{message}.{did_you_mean(name, modules)}")
        if modules[name] == package:
            value = importlib.import_module(f"{package}.{name}")
        else:
            value = getattr(importlib.import_module(str(modules[name])), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute, lambda: sorted(modules), [*modules]
