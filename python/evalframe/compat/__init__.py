"""Published programs: their files, their artifacts, and their numbers where they differ from ours.

One package per program. Each function has the name and the arguments of the documented function
that it stands in for. Only `jobs` imports this package.
"""

import importlib
from typing import Any

PROGRAMS = {
    "ai_psychiatrist": "selective",
    "humanstudy_bench": "replication",
    "rgb": "rag",
    "dtef": "survey",
}
"""The programs and their families."""

__all__ = sorted(PROGRAMS)


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
