"""Intervals from replicates, by both rules, and what draws must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.core.errors import ParameterError
from evalframe.survey.similarity.rules import check_rules

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.survey.similarity.rules import Rules


def percentiles(replicates: Floats, level: float, rules: Rules) -> tuple[Floats, Floats]:
    """The ends of the central part of each column of replicates; NaN where one is NaN.

    Args:
        replicates: Replicates by columns.
        level: The share that lies between the ends.
        rules: `documented` interpolates (type 7); `reference` takes the sorted values at
            `floor(p n)`, counted from 0, for p = (1 - level) / 2 and 1 - p.

    Raises:
        ParameterError: Unknown rules.
    """
    import numpy as np

    check_rules(rules)
    tail = (1.0 - level) / 2.0
    if rules == "documented":
        lower, upper = np.quantile(replicates, [tail, 1.0 - tail], axis=0)
        return lower, upper
    ordered = np.sort(replicates, axis=0)
    ordered[:, np.isnan(ordered[-1])] = np.nan
    # Up to rounding, 0.975 n is whole for the usual numbers of replicates.
    places = [int(p * len(ordered) + 1e-9) for p in (tail, 1.0 - tail)]
    return ordered[places[0]], ordered[min(places[1], len(ordered) - 1)]


def check_draws(n: int, seed: int, level: float | None = None) -> None:
    """Raise where a number of draws, a seed or a level is none.

    Raises:
        ParameterError: It names which, and its domain.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ParameterError(f"n must be a whole number of draws, 1 or more, got {n!r}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed must be a whole number, 0 or more, got {seed!r}")
    if level is not None and not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, got {level!r}; usual is 0.95")
