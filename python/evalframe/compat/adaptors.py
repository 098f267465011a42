"""Public names of a program, with docstrings that are completed by what they stand in for.

The docstring of an adaptor says what differs. Arguments that it does not explain, its result and
its errors are those of the function of the same name in the program's family, or in `evalframe`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import Any

from evalframe.compat import PROGRAMS
from evalframe.core import lazy
from evalframe.core.declaration import entries, joined, sections


def exports(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a program, as `core.lazy.exports` does.

    >>> from evalframe.compat import rgb
    >>> "passage_num: Number of documents" in rgb.select_documents.__doc__
    True
    """
    exported, names, public = lazy.exports(package, file)
    family = f"evalframe.{PROGRAMS[package.rpartition('.')[2]]}"

    def attribute(name: str) -> Any:
        value = exported(name)
        places = [place for place in (family, "evalframe") if name in import_module(place).__all__]
        if places and isinstance(value, FunctionType):
            value.__doc__ = _completed(value, f"{places[0]}.{name}")
        return value

    return attribute, names, public


def _completed(adaptor: FunctionType, path: str) -> str:
    """The docstring of an adaptor of the function at a path."""
    body, own = sections(inspect.getdoc(adaptor) or "")
    written, parameters = entries(own.get("Args", "")), inspect.signature(adaptor).parameters
    if not parameters.keys() - written.keys():  # it stands for itself
        return inspect.getdoc(adaptor) or ""
    module, _, name = path.rpartition(".")
    _, other = sections(inspect.getdoc(getattr(import_module(module), name)) or "")
    written = entries(other.get("Args", "")) | written
    arguments = "\n".join(written[each] for each in parameters)
    body += f"\n\nAll else is as in `{path}`; the head of the module lists what differs."
    if "Examples" in other:
        other["Examples"] = f"    Of `{path}`, which is called alike:\n\n{other['Examples']}"
    return joined(body, other | own | {"Args": arguments})
