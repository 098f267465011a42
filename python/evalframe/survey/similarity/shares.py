"""Shares of numbers that form a distribution. Matrices hold options by rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.core.errors import ParameterError

if TYPE_CHECKING:
    from evalframe.core.segments import Floats

_SMALL, _LARGE = 1e-100, 1e100


def check_epsilon(epsilon: float | None) -> None:
    """Raise ParameterError unless a floor of shares is None or in [0, 1)."""
    if epsilon is not None and not 0 <= epsilon < 1:
        raise ParameterError(f"epsilon must be a share from 0 to below 1, or None, got {epsilon!r}")


def shares(values: Floats) -> Floats:
    """Shares of numbers that are finite, not negative and not all 0; NaN for other rows."""
    scaled, total = with_totals(values)
    return scaled / total


def with_totals(values: Floats) -> tuple[Floats, Floats]:
    """Return the numbers and their sum in each row; the sum is NaN for invalid rows."""
    import numpy as np

    total = values.sum(axis=0)
    # Very large or very small numbers are scaled by their maximum, so that neither the sum nor
    # the product of a number and a quotient of sums overflows.
    if (extreme := ~((total > _SMALL) & (total < _LARGE))).any():
        most = values.max(axis=0, initial=0.0)
        values = np.where(extreme & (most > 0), values / most, values)
        total = values.sum(axis=0)
        total[~(total > 0)] = np.nan
    if not values.min(initial=0.0) >= 0:
        total[values.min(axis=0, initial=np.inf) < 0] = np.nan
    return values, total
