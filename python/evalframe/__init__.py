"""Evaluation metrics for AI systems, as Polars expressions and additive states.

The public names stand in `evalframe.public`; they are loaded when the first of them is used, so
that `import evalframe` costs nothing, and the command line answers `--help` without Polars.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalframe.public import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            return importlib.import_module("importlib.metadata").version("evalframe")
        if name == "compat":
            return importlib.import_module("evalframe.compat")
        if name.startswith("_") and name != "__all__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # Not by `from evalframe import public`, which would ask this function for it.
        public = importlib.import_module("evalframe.public")
        known = {
            "__all__": public.__all__,
            **{each: getattr(public, each) for each in public.__all__},
        }
        globals().update(known)
        if name in globals():
            return globals()[name]
        from evalframe.core.errors import did_you_mean

        hint = did_you_mean(name, public.__all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{hint}")


def __dir__() -> list[str]:
    public = importlib.import_module("evalframe.public")
    return sorted({*globals(), *public.__all__})
