"""Agreement on the order of options, the most frequent one, and single percentages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalframe.core.errors import ParameterError
from evalframe.core.typing import IntoExpr
from evalframe.survey.similarity.lists import over_rows
from evalframe.survey.similarity.shares import shares

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.segments import Floats


_LEAST_TOLERANCE, _TOLERANCE_SHARE = 5.0, 0.3


def rank_agreement(predicted: IntoExpr = "predicted", actual: IntoExpr = "actual") -> pl.Expr:
    """Kendall's tau-b over the options: agreement about which options have more answers.

    Pairs of options in the same order minus those in opposite orders, over the geometric mean of
    the pairs that are not tied on either side.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.

    Returns:
        Float64 in [-1, 1], named `rank_agreement`. Null if all options of a side are tied, if
        lengths differ, or if a list is null, contains a null, NaN, negative or infinite number, or
        only zeros.

    References:
        Kendall (1945), The treatment of ties in ranking problems; `scipy.stats.kendalltau`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[5, 3, 2], [1, 2, 3]], "actual": [[7, 2, 1]] * 2})
        >>> answers.select(ef.survey.rank_agreement()).to_series().to_list()
        [1.0, -1.0]
    """
    return over_rows("rank_agreement", _tau_b, predicted, actual)


def mode_agreement(predicted: IntoExpr = "predicted", actual: IntoExpr = "actual") -> pl.Expr:
    """1 if the option predicted to be the most frequent is the most frequent one, else 0.

    Ties have no order: of several predicted modes, the value is the share that are modes of the
    actual distribution, so a uniform prediction of k options gets 1 / k if one option leads.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.

    Returns:
        Float64 in [0, 1], named `mode_agreement`. Null if lengths differ, or if a list is null,
        contains a null, NaN, negative or infinite number, or only zeros.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[6, 4], [5, 5]], "actual": [[9, 1]] * 2})
        >>> answers.select(ef.survey.mode_agreement()).to_series().to_list()
        [1.0, 0.5]
    """
    return over_rows("mode_agreement", _shared_modes, predicted, actual)


def per_option_accuracy(
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    *,
    option: int | None = None,
    tolerance: float | None = None,
) -> pl.Expr:
    """Closeness of predicted percentages: 1 if met, 0 a tolerance away, linear between.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.
        option: Position of a single option, from 0; None for the mean over all options.
        tolerance: In percentage points; by default 30 % of the actual percentage, at least 5. At 0
            only an exact match gets 1.

    Returns:
        Float64 in [0, 1], named `per_option_accuracy`. Null without such an option, if lengths
        differ, or if a list is null, contains a null, NaN, negative or infinite number, or only
        zeros.

    Raises:
        ParameterError: A negative option or a negative tolerance.

    References:
        dtef-app 52d79c0, `per_option_accuracy`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[44, 56]], "actual": [[40, 60]]})
        >>> round(answers.select(ef.survey.per_option_accuracy(option=0)).item(), 4)
        0.6667
    """
    check_option(option, tolerance)
    kernel = partial(_percentages_near, option=option, tolerance=tolerance)
    return over_rows("per_option_accuracy", kernel, predicted, actual)


def check_option(option: int | None, tolerance: float | None) -> None:
    """Raise ParameterError if an option or a tolerance is negative."""
    if option is not None and option < 0:
        raise ParameterError(f"option must be a place from 0, or None for all, got {option!r}")
    if tolerance is not None and not tolerance >= 0:
        raise ParameterError(f"tolerance must be 0 or more percentage points, got {tolerance!r}")


def _tau_b(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    p, t = shares(predicted), shares(actual)
    unknown = np.isnan(p).any(axis=0) | np.isnan(t).any(axis=0)
    concordant, untied_p, untied_t = (np.zeros(p.shape[1]) for _ in range(3))
    for first in range(len(p) - 1):
        # Signs of the raw numbers: normalising could part what is tied.
        up = np.sign(predicted[first + 1 :] - predicted[first])
        right = np.sign(actual[first + 1 :] - actual[first])
        concordant += (up * right).sum(axis=0)
        untied_p += np.abs(up).sum(axis=0)
        untied_t += np.abs(right).sum(axis=0)
    tau = concordant / np.sqrt(untied_p * untied_t)
    return np.where(unknown, np.nan, tau)


def _shared_modes(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    unknown = np.isnan(shares(predicted)).any(axis=0) | np.isnan(shares(actual)).any(axis=0)
    modes = predicted == predicted.max(axis=0, initial=-np.inf)
    shared = modes & (actual == actual.max(axis=0, initial=-np.inf))
    return np.where(unknown, np.nan, shared.sum(axis=0) / modes.sum(axis=0))


def _percentages_near(
    predicted: Floats, actual: Floats, option: int | None, tolerance: float | None
) -> Floats:
    return near(shares(predicted) * 100, shares(actual) * 100, option, tolerance)


def near(predicted: Floats, actual: Floats, option: int | None, tolerance: float | None) -> Floats:
    """Closeness of percentages, NaN without such an option."""
    import numpy as np

    if not len(actual) or (option or 0) >= len(actual):
        return np.full(predicted.shape[1], np.nan)
    if option is not None:
        predicted, actual = predicted[[option]], actual[[option]]
    usual = np.maximum(_LEAST_TOLERANCE, _TOLERANCE_SHARE * actual)
    allowed = usual if tolerance is None else tolerance
    error = np.abs(predicted - actual)
    closeness = np.maximum(0.0, 1 - np.where(error == 0, 0.0, error / allowed))
    return closeness.mean(axis=0)  # type: ignore[no-any-return]
