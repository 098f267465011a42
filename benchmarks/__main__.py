"""Print every figure beside its limit and its target.

python -m benchmarks            every speed and memory, some seven minutes on a quiet machine
python -m benchmarks --small    each once at its smallest size, so that none can rot
python -m benchmarks bootstrap  one module
python -m benchmarks truth      coverage of intervals and false alarms, as tables of their own
python -m benchmarks size       100,000,000 items, a tenth of which are part of everything
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks import (
    artifact,
    baselines,
    bayes_factors,
    bootstrap,
    calibration,
    distributions,
    labelling,
    leaderboards,
    parsing,
    prediction_files,
    reading,
    replication,
    selection,
    size,
    sorting,
    start,
    truth,
)
from benchmarks.measure import group, head, verdict

if TYPE_CHECKING:
    from types import ModuleType

MODULES = {
    "sorting": (2, sorting),
    "bootstrap": (2, bootstrap),
    "start": (2, start),
    "calibration": (3, calibration),
    "reading": (3, reading),
    "artifact": (3, artifact),
    "labelling": (4, labelling),
    "selection": (4, selection),
    "prediction_files": (4, prediction_files),
    "distributions": (5, distributions),
    "parsing": (5, parsing),
    "leaderboards": (5, leaderboards),
    "baselines": (5, baselines),
    "bayes_factors": (6, bayes_factors),
    "replication": (6, replication),
    "truth": (7, truth),
    "size": (7, size),
}
"""Each with the issue that names its targets."""

ALONE = ("truth",)
"""What takes long, and runs only if it is named, or small."""


def main(words: list[str]) -> int:
    """Run the modules that are named, or all."""
    small = "--small" in words
    every = [name for name in MODULES if small or name not in ALONE]
    names = [word for word in words if not word.startswith("--")] or every
    unknown = sorted(set(names) - set(MODULES))
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; known: {', '.join(MODULES)}", file=sys.stderr)
        return 2
    if names == ["truth"]:
        print(truth.report(small=small))
        return 0
    print(head())
    figures = []
    for name in names:
        issue, module = MODULES[name]
        whole = {"whole": True} if module is size and name in words else {}
        measured = module.run(small, **whole)
        print(group(f"{name}, issue {issue}: {_about(module)}", measured), flush=True)
        figures += measured
    if not small:
        print(verdict(figures))
    return 0


def _about(module: ModuleType) -> str:
    """The first line of the documentation."""
    return (module.__doc__ or "").partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
