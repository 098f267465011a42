"""Print every figure beside its limit and its target.

python -m benchmarks            every speed and memory, some seven minutes on a quiet machine
python -m benchmarks --small    each once at its smallest size, so that none can rot
python -m benchmarks bootstrap  one module
python -m benchmarks truth      coverage of intervals and false alarms, as tables of their own
python -m benchmarks hard       the same in hard worlds: few, unequal, skewed clusters
python -m benchmarks peers      other packages beside us, as a table of its own
python -m benchmarks size       100,000,000 items, a tenth of which are part of everything
python -m benchmarks states     the same for states of shards
python -m benchmarks engine     the same on engines, and a group of 50,000,000 levels
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
    engine,
    expressions,
    hard,
    labelling,
    leaderboards,
    logs,
    nested,
    parsing,
    peers,
    prediction_files,
    reading,
    replication,
    selection,
    size,
    sorting,
    start,
    states,
    truth,
)
from benchmarks.measure import group, head, verdict

if TYPE_CHECKING:
    from types import ModuleType

_ALL = (
    *(sorting, expressions, bootstrap, nested, start, calibration, reading, logs, artifact),
    *(labelling, selection, prediction_files, distributions, parsing, leaderboards, baselines),
    *(bayes_factors, replication, truth, hard, peers, states, size, engine),
)
MODULES: dict[str, ModuleType] = {each.__name__.rpartition(".")[2]: each for each in _ALL}

ALONE = (truth, hard, peers)
"""What prints a report of its own, if it is named; with others only at the smallest size."""


def main(words: list[str]) -> int:
    """Run the modules that are named, or all."""
    small = "--small" in words
    every = [name for name, module in MODULES.items() if small or module not in ALONE]
    names = [word for word in words if not word.startswith("--")] or every
    unknown = sorted(set(names) - set(MODULES))
    if unknown:
        print(f"unknown benchmark {unknown[0]!r}; known: {', '.join(MODULES)}", file=sys.stderr)
        return 2
    if len(names) == 1 and (alone := MODULES[names[0]]) in ALONE:
        print(alone.report(small=small))
        return 0
    print(head())
    figures = []
    for name in names:
        module = MODULES[name]
        whole = {"whole": True} if module in (states, size, engine) and name in words else {}
        measured = module.run(small, **whole)
        print(group(f"{name}: {_about(module)}", measured), flush=True)
        figures += measured
    if not small:
        print(verdict(figures))
    return 0


def _about(module: ModuleType) -> str:
    """The first line of the documentation."""
    return (module.__doc__ or "").partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
