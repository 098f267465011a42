"""Distributions as vectors: cosine, absolute and squared errors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalframe.core.rules import check_rules
from evalframe.survey.similarity.rules import shares, truncated
from evalframe.survey.similarity.shapes import over_rows

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats
    from evalframe.core.typing import IntoExpr


def cosine_similarity(
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """Cosine of the angle between the two vectors; their scale does not matter.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The same, of as many options, in the same order.
        rules: `documented`, or `reference` for the original's numbers: negative numbers count, a
            vector of zeros gives 0, and rounding can lead a little above 1.

    Returns:
        Float64 in [0, 1] (reference: about [-1, 1]), named `cosine_similarity`. Null where a list
        is null or holds a null or NaN; documented also where lengths differ, a number is negative
        or infinite, or all are 0.

    Raises:
        ParameterError: Unknown rules.

    References:
        dtef-app 52d79c0, `cosine`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[3, 4], [1, 0]], "actual": [[30, 40], [0, 1]]})
        >>> answers.select(ef.cosine_similarity()).to_series().to_list()
        [1.0, 0.0]
    """
    check_rules(rules)
    kernel = partial(_cosine, rules=rules)
    original = rules == "reference"
    return over_rows("cosine_similarity", kernel, predicted, actual, any_length=original)


def distribution_absolute_error(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual"
) -> pl.Expr:
    """Mean over the options of the absolute difference of the shares (MAE).

    Shares are fractions: times 100 it is the mean error in percentage points. It falls with the
    number of options, so that questions of different lengths do not compare;
    `total_variation_distance` does.

    Args:
        predicted: List(number) or Array(number), normalised first.
        actual: The same, of as many options, in the same order.

    Returns:
        Float64 in [0, 1], named `distribution_absolute_error`. Null where a list is null or holds a
        null, NaN, negative or infinite number, where all are 0, and where lengths differ.

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
        actual: The same, of as many options, in the same order.

    Returns:
        Float64 in [0, 1], named `distribution_root_mean_squared_error`, null as
        `distribution_absolute_error` is.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[50, 50]], "actual": [[40, 60]]})
        >>> round(answers.select(ef.survey.distribution_root_mean_squared_error()).item(), 4)
        0.1
    """
    return over_rows("distribution_root_mean_squared_error", _squared_error, predicted, actual)


def _cosine(predicted: Floats, actual: Floats, rules: Rules) -> Floats:
    import numpy as np

    if rules == "documented":
        predicted, actual = shares(predicted), shares(actual)
    actual = truncated(actual, len(predicted))
    product = (predicted * actual).sum(axis=0)
    size = np.sqrt((predicted * predicted).sum(axis=0)) * np.sqrt((actual * actual).sum(axis=0))
    if rules == "documented":
        return np.minimum(product / size, 1.0)  # type: ignore[no-any-return]
    return np.where(size == 0, 0.0, product / size)


def _absolute_error(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    return np.abs(shares(predicted) - shares(actual)).mean(axis=0)  # type: ignore[no-any-return]


def _squared_error(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    difference = shares(predicted) - shares(actual)
    return np.sqrt((difference * difference).mean(axis=0))  # type: ignore[no-any-return]
