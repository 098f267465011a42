"""Similarities and distances by geometry, differences of shares, and agreement of orders."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.typing import IntoExpr
from evalframe.survey.similarity.lists import over_rows, shares

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


_LEAST_TOLERANCE, _TOLERANCE_SHARE = 5.0, 0.3


def cosine_similarity(predicted: IntoExpr = "predicted", actual: IntoExpr = "actual") -> pl.Expr:
    """Cosine of the angle between the two vectors; their scale does not matter.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.

    Returns:
        Float64 in [0, 1], named `cosine_similarity`. Null if lengths differ, or if a list is null,
        contains a null, NaN, negative or infinite number, or only zeros.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[3, 4], [1, 0]], "actual": [[30, 40], [0, 1]]})
        >>> answers.select(ef.cosine_similarity()).to_series().to_list()
        [1.0, 0.0]
    """
    return over_rows("cosine_similarity", _cosine, predicted, actual)


def earth_mover_similarity(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual", *, normalised: bool = False
) -> pl.Expr:
    """One minus the work W that turns one distribution into the other, an option being one step.

    For options on a scale: their order is taken as the scale, and a `Don't know` at the end is its
    far end. W lies between 0 and k - 1 for k options, so the raw similarity is 0 as soon as W is 1
    or more, for example if all answers are one step off. Normalised, it is 1 - W / (k - 1).

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.
        normalised: Divide the work by its range.

    Returns:
        Float64 in [0, 1], named `earth_mover_similarity`; 1 for one option. Null as for
        `cosine_similarity`.

    References:
        Rubner, Tomasi and Guibas (2000), The earth mover's distance.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[0, 1, 0]], "actual": [[1, 0, 0]]})
        >>> answers.select(ef.earth_mover_similarity()).item()
        0.0
        >>> answers.select(ef.earth_mover_similarity(normalised=True)).item()
        0.5
    """
    kernel = partial(_earth_mover, by_range=normalised)
    return over_rows("earth_mover_similarity", kernel, predicted, actual)


def total_variation_distance(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual"
) -> pl.Expr:
    """Half the sum of the absolute differences: the share of answers that would have to move.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.

    Returns:
        Float64 in [0, 1], named `total_variation_distance`, null as for `cosine_similarity`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[50, 30, 20]], "actual": [[40, 40, 20]]})
        >>> round(answers.select(ef.survey.total_variation_distance()).item(), 4)
        0.1
    """
    return over_rows("total_variation_distance", _total_variation, predicted, actual)


def hellinger_distance(predicted: IntoExpr = "predicted", actual: IntoExpr = "actual") -> pl.Expr:
    """The Euclidean distance of the square roots of the shares, over the root of 2.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.

    Returns:
        Float64 in [0, 1], named `hellinger_distance`, null as for `cosine_similarity`.

    References:
        Hellinger (1909); Le Cam (1986), Asymptotic methods in statistical decision theory.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> actual = [[0.0, 1.0], [0.25, 0.75]]
        >>> answers = pl.DataFrame({"predicted": [[1, 0]] * 2, "actual": actual})
        >>> answers.select(ef.survey.hellinger_distance().round(4)).to_series().to_list()
        [1.0, 0.7071]
    """
    return over_rows("hellinger_distance", _hellinger, predicted, actual)


def distribution_absolute_error(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual"
) -> pl.Expr:
    """Mean over the options of the absolute difference of the shares (MAE).

    Shares are fractions: times 100 it is the mean error in percentage points. It falls with the
    number of options. To compare questions of different lengths use `total_variation_distance`.

    Args:
        predicted: List(number) or Array(number), normalised first.
        actual: The actual numbers of the same options in the same order.

    Returns:
        Float64 in [0, 1], named `distribution_absolute_error`, null as for `cosine_similarity`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[50, 30, 20]], "actual": [[40, 40, 20]]})
        >>> round(answers.select(ef.survey.distribution_absolute_error()).item(), 4)
        0.0667
    """
    return over_rows("distribution_absolute_error", _absolute_error, predicted, actual)


def distribution_root_mean_squared_error(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual"
) -> pl.Expr:
    """Root of the mean over the options of the squared difference of the shares (RMSE).

    Args:
        predicted: List(number) or Array(number), normalised first.
        actual: The actual numbers of the same options in the same order.

    Returns:
        Float64 in [0, 1], named `distribution_root_mean_squared_error`, null as for
        `cosine_similarity`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[50, 50]], "actual": [[40, 60]]})
        >>> round(answers.select(ef.survey.distribution_root_mean_squared_error()).item(), 4)
        0.1
    """
    return over_rows("distribution_root_mean_squared_error", _squared_error, predicted, actual)


def rank_agreement(predicted: IntoExpr = "predicted", actual: IntoExpr = "actual") -> pl.Expr:
    """Kendall's tau-b over the options: agreement about which options have more answers.

    Pairs of options in the same order minus those in opposite orders, over the geometric mean of
    the pairs that are not tied on either side.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.

    Returns:
        Float64 in [-1, 1], named `rank_agreement`. Null if all options of a side are tied, and as
        for `cosine_similarity`.

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
        Float64 in [0, 1], named `mode_agreement`, null as for `cosine_similarity`.

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
    """Closeness of predicted percentages as in dtef-app: 1 if met, 0 a tolerance away, else linear.

    Args:
        predicted: As for `cosine_similarity`.
        actual: As for `cosine_similarity`.
        option: Position of a single option, from 0; None for the mean over all options.
        tolerance: In percentage points; by default 30 % of the actual percentage, at least 5. At 0
            only an exact match gets 1.

    Returns:
        Float64 in [0, 1], named `per_option_accuracy`. Null without such an option, and as for
        `cosine_similarity`.

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


def product_and_size(predicted: Floats, actual: Floats) -> tuple[Floats, Floats]:
    """The scalar product of two vectors, and the product of their lengths."""
    import numpy as np

    product = (predicted * actual).sum(axis=0)
    size = np.sqrt((predicted * predicted).sum(axis=0)) * np.sqrt((actual * actual).sum(axis=0))
    return product, size


def work(predicted: Floats, actual: Floats) -> Floats:
    """Work that turns shares into others, in steps of one option."""
    import numpy as np

    return np.abs(np.cumsum(predicted - actual, axis=0)).sum(axis=0)  # type: ignore[no-any-return]


def _cosine(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    product, size = product_and_size(shares(predicted), shares(actual))
    return np.minimum(product / size, 1.0)


def _earth_mover(predicted: Floats, actual: Floats, *, by_range: bool) -> Floats:
    import numpy as np

    steps = max(len(predicted) - 1, 1) if by_range else 1
    return np.maximum(1 - work(shares(predicted), shares(actual)) / steps, 0.0)


def _total_variation(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    return np.abs(shares(predicted) - shares(actual)).sum(axis=0) / 2  # type: ignore[no-any-return]


def _hellinger(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    roots = np.sqrt(shares(predicted)) - np.sqrt(shares(actual))
    return np.sqrt((roots * roots).sum(axis=0) / 2)  # type: ignore[no-any-return]


def _absolute_error(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    return np.abs(shares(predicted) - shares(actual)).mean(axis=0)  # type: ignore[no-any-return]


def _squared_error(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    difference = shares(predicted) - shares(actual)
    return np.sqrt((difference * difference).mean(axis=0))  # type: ignore[no-any-return]


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
