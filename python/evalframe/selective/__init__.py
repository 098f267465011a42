"""Selective prediction: how risk grows with coverage when a system may abstain.

Importing it registers the metrics of the family, which are functions of the package itself. What
works on tables, run documents and calibrations are names of this module; they stand in
`evalframe.selective.public` and are loaded when the first of them is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from evalframe.selective import (  # noqa: F401 (they declare the metrics)
    areas,
    calibration_error,
    oracle,
    roc,
    score_error,
    scoring,
    screening,
    severity,
    threshold_choice,
    working_points,
)

if TYPE_CHECKING:
    from evalframe.selective.public import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        public = importlib.import_module("evalframe.selective.public")
        globals().update({each: getattr(public, each) for each in public.__all__})
        if name in globals():
            return globals()[name]
        from evalframe.core.errors import did_you_mean

        hint = did_you_mean(name, public.__all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{hint}")


def __dir__() -> list[str]:
    public = importlib.import_module("evalframe.selective.public")
    return sorted({*globals(), *public.__all__})
