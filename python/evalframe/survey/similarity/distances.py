"""Distributions as vectors: cosine, work of moving answers, and differences of shares."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalframe.core.typing import IntoExpr
from evalframe.survey.similarity.lists import over_rows
from evalframe.survey.similarity.shares import shares

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.segments import Floats


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
    kernel = partial(_nearness, by_range=normalised)
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


def _nearness(predicted: Floats, actual: Floats, *, by_range: bool) -> Floats:
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
