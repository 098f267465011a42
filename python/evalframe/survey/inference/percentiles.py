"""Intervals from replicates, by both rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.core.rules import check_rules

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats


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
