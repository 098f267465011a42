"""Print every figure beside its limit and its target.

python -m benchmarks            everything, a few minutes
python -m benchmarks --small    each once at its smallest size, so that none can rot
python -m benchmarks bootstrap  one module
"""

from __future__ import annotations

import sys

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
    reading,
    replication,
    selection,
    sorting,
    start,
)
from benchmarks.measure import table

MODULES = {
    "sorting": sorting,
    "bootstrap": bootstrap,
    "calibration": calibration,
    "reading": reading,
    "artifact": artifact,
    "labelling": labelling,
    "selection": selection,
    "distributions": distributions,
    "parsing": parsing,
    "leaderboards": leaderboards,
    "baselines": baselines,
    "bayes_factors": bayes_factors,
    "replication": replication,
    "start": start,
}


def main(words: list[str]) -> int:
    """Run the modules that are named, or all."""
    small = "--small" in words
    names = [word for word in words if not word.startswith("--")] or list(MODULES)
    unknown = sorted(set(names) - set(MODULES))
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; known: {', '.join(MODULES)}", file=sys.stderr)
        return 2
    figures = [figure for name in names for figure in MODULES[name].run(small)]
    print(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
