"""Corrections of p-values that are one family of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


def adjusted_p_values(p_values: Floats, correction: str) -> Floats:
    """P-values corrected for being one family; NaN is no test and is not counted.

    `holm` and `bonferroni` bound the chance of any false finding, `benjamini_hochberg` the expected
    share of false findings. See Holm (1979); Benjamini and Hochberg (1995).
    """
    tests = int((~np.isnan(p_values)).sum())
    if correction == "none":
        return p_values
    if correction == "bonferroni":
        return np.minimum(p_values * tests, 1.0)
    order = np.argsort(p_values, kind="stable")  # NaN stands last
    rank = np.arange(len(p_values))
    adjusted = np.empty_like(p_values)
    if correction == "benjamini_hochberg":
        scaled = p_values[order] * tests / (rank + 1)
        scaled[:tests] = np.minimum.accumulate(scaled[:tests][::-1])[::-1]
        adjusted[order] = scaled
        return adjusted
    stepped = np.minimum(p_values[order] * (tests - rank), 1.0)
    adjusted[order] = np.maximum.accumulate(stepped)
    return adjusted
