"""Divergences of two distributions over the same options. Logarithms are base 2."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.survey.similarity.lists import check_epsilon, over_rows, shares, with_totals

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


_BELOW_1 = 1 - 2**-53
_TINIEST = 5e-324


def jensen_shannon_similarity(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual", *, epsilon: float | None = None
) -> pl.Expr:
    """One minus the Jensen-Shannon distance (base 2): 1 for equal, 0 for disjoint distributions.

    Both sides are normalised, and shares of 0 add nothing, as 0 log 0 is 0. The value is accurate
    to about 1e-15, also for vectors that are nearly equal.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.
        epsilon: A floor of shares in [0, 1), to which smaller ones are raised after normalising,
            without normalising again; None for no floor.

    Returns:
        Float64 in [0, 1], named `jensen_shannon_similarity`, null as for `cosine_similarity`.

    References:
        Lin (1991), Divergence measures based on the Shannon entropy; Endres and Schindelin (2003).

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[50, 50], [1, 0]], "actual": [[50, 50], [0, 1]]})
        >>> answers.select(ef.jensen_shannon_similarity()).to_series().to_list()
        [1.0, 0.0]
    """
    check_epsilon(epsilon)
    kernel = partial(one_minus, kernel=partial(_distance, floor=epsilon or 0.0))
    return over_rows("jensen_shannon_similarity", kernel, predicted, actual)


def jensen_shannon_distance(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual", *, epsilon: float | None = None
) -> pl.Expr:
    """The square root of the Jensen-Shannon divergence (base 2), a metric with values from 0 to 1.

    Use it instead of one minus a similarity near 1, which has lost its digits.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.
        epsilon: A floor of shares, as for `jensen_shannon_similarity`.

    Returns:
        Float64, named `jensen_shannon_distance`, null as the similarity is.

    References:
        Endres and Schindelin (2003), A new metric for probability distributions.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[1.0, 0.0]], "actual": [[0.5, 0.5]]})
        >>> round(answers.select(ef.survey.jensen_shannon_distance()).item(), 4)
        0.5579
    """
    check_epsilon(epsilon)
    kernel = partial(_distance, floor=epsilon or 0.0)
    return over_rows("jensen_shannon_distance", kernel, predicted, actual)


def kullback_leibler_divergence(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual", *, epsilon: float | None = None
) -> pl.Expr:
    """Bits lost by taking the prediction for the actual distribution: sum of T log2(T / P).

    Hazard: it is infinite as soon as one option has answers and a predicted share of 0, and so is
    every mean over such rows. With an epsilon each such option adds its share times
    log2(1 / epsilon), so the value depends on the epsilon. It is not symmetric.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The actual numbers of the same options in the same order.
        epsilon: A floor for predicted shares, as for `jensen_shannon_similarity`.

    Returns:
        Float64 in [0, inf], named `kullback_leibler_divergence`, null as for `cosine_similarity`.
        With an epsilon it can be negative, by as much as the floor adds to the sum of shares.

    References:
        Kullback and Leibler (1951), On information and sufficiency.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[1, 1], [1, 0]], "actual": [[1, 0], [1, 1]]})
        >>> answers.select(ef.survey.kullback_leibler_divergence()).to_series().to_list()
        [1.0, inf]
    """
    check_epsilon(epsilon)
    kernel = partial(_kullback_leibler, epsilon=epsilon or 0.0)
    return over_rows("kullback_leibler_divergence", kernel, predicted, actual)


def one_minus(
    predicted: Floats, actual: Floats, kernel: Callable[[Floats, Floats], Floats]
) -> Floats:
    """One minus a distance, at least 0."""
    import numpy as np

    return np.maximum(1 - kernel(predicted, actual), 0.0)


def root(divergence: Floats) -> Floats:
    """The distance that belongs to a divergence; rounding below 0 is 0."""
    import numpy as np

    return np.sqrt(np.maximum(divergence, 0.0))


def divergence(
    predicted: Floats, predicted_total: Floats | float, actual: Floats, total: Floats | float
) -> Floats:
    """Jensen-Shannon divergence as a sum of terms >= 0; both matrices are overwritten."""
    import numpy as np

    # With s = P + T and d = |P - T| / s, an option adds s/4 ((1+d) log2(1+d) + (1-d) log2(1-d)),
    # which is about s d^2/4 for small d. Written with P log(P/M) + T log(T/M), terms of the size of
    # d would cancel. Predictions are scaled to the total of the actual numbers, which saves
    # dividing every number. Arrays are reused: new memory costs more than the logarithms.
    predicted *= total / predicted_total
    s = predicted + actual
    d = np.subtract(predicted, actual, out=predicted)
    np.abs(d, out=d)
    d /= np.maximum(s, _TINIEST, out=actual)
    inside = np.minimum(d, _BELOW_1, out=actual)  # at d = 1 the second term is 0 times a number
    terms = np.log1p(inside)
    second = np.log1p(np.negative(inside, out=inside), out=inside)
    d -= 1
    second *= d
    d += 2
    terms *= d
    terms -= second
    terms *= s
    return terms.sum(axis=0) / (4 * np.log(2) * total)  # type: ignore[no-any-return]


def floored_divergence(p: Floats, t: Floats, floor: float) -> Floats:
    """Jensen-Shannon divergence of shares that are raised to a floor."""
    import numpy as np

    m = np.maximum((p + t) / 2, floor)
    p, t = np.maximum(p, floor), np.maximum(t, floor)
    halves = [(x * np.log2(x / m)).sum(axis=0) for x in (p, t)]
    return (halves[0] + halves[1]) / 2  # type: ignore[no-any-return]


def _distance(predicted: Floats, actual: Floats, floor: float) -> Floats:
    if floor:
        return root(floored_divergence(shares(predicted), shares(actual), floor))
    return root(divergence(*with_totals(predicted), *with_totals(actual)))


def _kullback_leibler(predicted: Floats, actual: Floats, epsilon: float) -> Floats:
    import numpy as np

    p, t = np.maximum(shares(predicted), epsilon), shares(actual)
    terms = np.where(t == 0, 0.0 * p, t * np.log2(t / p))
    return terms.sum(axis=0)  # type: ignore[no-any-return]
