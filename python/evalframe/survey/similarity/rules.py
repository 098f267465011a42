"""Distributions made of shares, by both rules: what is normalised how, and what is no distribution.

Matrices hold options by rows, as `evalframe.survey.similarity.shapes` hands them over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.core.errors import ParameterError

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats

EPSILON = 1e-10
"""What the original raises smaller shares to."""

_SMALL, _LARGE = 1e-100, 1e100


def check_epsilon(epsilon: float | None) -> None:
    """Raise where a floor of shares is no share.

    Raises:
        ParameterError: It lies outside [0, 1).
    """
    if epsilon is not None and not 0 <= epsilon < 1:
        raise ParameterError(f"epsilon must be a share from 0 to below 1, or None, got {epsilon!r}")


def normalised(values: Floats, rules: Rules) -> Floats:
    """Shares that sum to 1 in each row, NaN where there are none."""
    return shares(values) if rules == "documented" else original_shares(values)


def shares(values: Floats) -> Floats:
    """Shares of numbers that are finite, not negative and not all 0; NaN for other rows."""
    sized, total = with_totals(values)
    return sized / total


def with_totals(values: Floats) -> tuple[Floats, Floats]:
    """Numbers and their sum in each row, NaN for rows of which `shares` are NaN.

    Rows of very large or very small numbers are scaled, so that sums do not overflow and the
    product of a number and a quotient of sums does not either.
    """
    import numpy as np

    total = values.sum(axis=0)
    if (wild := ~((total > _SMALL) & (total < _LARGE))).any():
        most = values.max(axis=0, initial=0.0)
        values = np.where(wild & (most > 0), values / most, values)
        total = values.sum(axis=0)
        total[~(total > 0)] = np.nan
    if not values.min(initial=0.0) >= 0:
        total[values.min(axis=0, initial=np.inf) < 0] = np.nan
    return values, total


def original_shares(values: Floats) -> Floats:
    """Shares as the original has them: any numbers over their sum, and uniform if that is 0."""
    import numpy as np

    total = values.sum(axis=0)
    return np.where(total == 0, 1 / max(len(values), 1), values / total)


def truncated(values: Floats, length: int) -> Floats:
    """The first options, NaN for those that are not there: what the original's loops see."""
    import numpy as np

    if len(values) >= length:
        return values[:length]
    return np.full((length, values.shape[1]), np.nan)
