"""Divergences of two distributions over the same options: Jensen-Shannon, Kullback-Leibler, others.

Logarithms are base 2. The table of differences between the rules stands at the head of
`evalframe.survey.similarity`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalframe.core.rules import check_rules
from evalframe.survey.similarity.rules import (
    EPSILON,
    check_epsilon,
    normalised,
    shares,
    truncated,
    with_totals,
)
from evalframe.survey.similarity.shapes import over_rows

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats
    from evalframe.core.typing import IntoExpr

_BELOW_1 = 1 - 2**-53
_TINIEST = 5e-324


def jensen_shannon_similarity(
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    *,
    epsilon: float | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """One minus the Jensen-Shannon distance (base 2): 1 for equal, 0 for disjoint distributions.

    Both sides are normalised, and shares of 0 add nothing, as 0 log 0 is 0. The value is accurate
    to some 1e-15, also for vectors that are nearly equal.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The same, of as many options, in the same order.
        epsilon: A floor to which smaller shares are raised after normalising, without normalising
            again; None for no floor. 1e-10 with `rules="reference"`.
        rules: `documented`, or `reference` for the original's numbers.

    Returns:
        Float64 in [0, 1], named `jensen_shannon_similarity`. Null where a list is null or holds a
        null or NaN; documented also where lengths differ, a number is negative or infinite, or all
        are 0.

    Raises:
        ParameterError: Unknown rules, or an epsilon outside [0, 1).

    References:
        Lin (1991), Divergence measures based on the Shannon entropy; Endres and Schindelin (2003).
        dtef-app 52d79c0, `js-divergence`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[50, 50], [1, 0]], "actual": [[50, 50], [0, 1]]})
        >>> answers.select(ef.jensen_shannon_similarity()).to_series().to_list()
        [1.0, 0.0]
    """
    return _jensen_shannon("jensen_shannon_similarity", predicted, actual, epsilon, rules)


def jensen_shannon_distance(
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    *,
    epsilon: float | None = None,
    rules: Rules = "documented",
) -> pl.Expr:
    """The square root of the Jensen-Shannon divergence (base 2), a metric with values from 0 to 1.

    It is kept by itself since one minus a similarity near 1 has lost its digits.

    Args:
        predicted: As of `jensen_shannon_similarity`.
        actual: The same.
        epsilon: The same.
        rules: The same. The original's distance can pass 1 where numbers are negative.

    Returns:
        Float64, named `jensen_shannon_distance`, null as the similarity is.

    Raises:
        ParameterError: Unknown rules, or an epsilon outside [0, 1).

    References:
        Endres and Schindelin (2003), A new metric for probability distributions.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[1.0, 0.0]], "actual": [[0.5, 0.5]]})
        >>> round(answers.select(ef.survey.jensen_shannon_distance()).item(), 4)
        0.5579
    """
    return _jensen_shannon("jensen_shannon_distance", predicted, actual, epsilon, rules)


def _jensen_shannon(
    name: str, predicted: IntoExpr, actual: IntoExpr, epsilon: float | None, rules: Rules
) -> pl.Expr:
    check_rules(rules)
    check_epsilon(epsilon)
    original = rules == "reference"
    floor = EPSILON if original and epsilon is None else epsilon or 0.0
    kernel = partial(_root_divergence, floor=floor, rules=rules)
    if name == "jensen_shannon_similarity":
        kernel = partial(_one_minus, kernel=kernel)
    return over_rows(name, kernel, predicted, actual, any_length=original)


def total_variation_distance(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual"
) -> pl.Expr:
    """Half the sum of the absolute differences: the share of answers that would have to move.

    Args:
        predicted: List(number) or Array(number), as of `jensen_shannon_similarity`.
        actual: The same.

    Returns:
        Float64 in [0, 1], named `total_variation_distance`. Null where a list is null or holds a
        null, NaN, negative or infinite number, where all are 0, and where lengths differ.

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
        predicted: List(number) or Array(number), as of `jensen_shannon_similarity`.
        actual: The same.

    Returns:
        Float64 in [0, 1], named `hellinger_distance`, null as `total_variation_distance` is.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> actual = [[0.0, 1.0], [0.25, 0.75]]
        >>> answers = pl.DataFrame({"predicted": [[1, 0]] * 2, "actual": actual})
        >>> answers.select(ef.survey.hellinger_distance().round(4)).to_series().to_list()
        [1.0, 0.7071]
    """
    return over_rows("hellinger_distance", _hellinger, predicted, actual)


def kullback_leibler_divergence(
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    *,
    epsilon: float | None = None,
) -> pl.Expr:
    """Bits lost by taking the prediction for the actual distribution: sum of T log2(T / P).

    Hazard: it is infinite as soon as one option has answers and a predicted share of 0, which
    predictions in whole percentages often have; then every mean over such rows is infinite, too.
    With an epsilon it is finite, but the value hangs on the epsilon: each such option adds its
    share times log2(1 / epsilon). It is not symmetric.

    Args:
        predicted: List(number) or Array(number), as of `jensen_shannon_similarity`.
        actual: The same.
        epsilon: A floor for predicted shares after normalising, without normalising again.

    Returns:
        Float64 in [0, inf], named `kullback_leibler_divergence`, null as `total_variation_distance`
        is. With an epsilon it can be negative, by as much as the floor adds to the sum of shares.

    Raises:
        ParameterError: An epsilon outside [0, 1).

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


def _one_minus(predicted: Floats, actual: Floats, kernel: partial[Floats]) -> Floats:
    import numpy as np

    return np.maximum(1 - kernel(predicted, actual), 0.0)


def _root_divergence(predicted: Floats, actual: Floats, floor: float, rules: Rules) -> Floats:
    import numpy as np

    if not floor and rules == "documented":
        divergence = _divergence(*with_totals(predicted), *with_totals(actual))
    else:
        p, t = normalised(predicted, rules), normalised(actual, rules)
        t = truncated(t, len(p))
        divergence = _floored_divergence(p, t, floor) if floor else _divergence(p, 1.0, t, 1.0)
    return np.sqrt(np.maximum(divergence, 0.0))


def _divergence(
    predicted: Floats, predicted_total: Floats | float, actual: Floats, total: Floats | float
) -> Floats:
    """The divergence as a sum of terms that are not negative, so that none cancels another.

    With s = P + T and d = |P - T| / s, an option adds s/4 ((1+d) log2(1+d) + (1-d) log2(1-d)),
    which is about s d²/4 for small d. Written with P log(P/M) + T log(T/M), terms of the size of d
    would cancel. Predictions are brought to the total of the actual numbers, which saves dividing
    every number. Both matrices are overwritten.
    """
    import numpy as np

    # In place as far as it goes: memory that is new to the process costs more than the logarithms.
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


def _floored_divergence(p: Floats, t: Floats, floor: float) -> Floats:
    """As the original computes it, in its order."""
    import numpy as np

    m = np.maximum((p + t) / 2, floor)
    p, t = np.maximum(p, floor), np.maximum(t, floor)
    halves = [(x * np.log2(x / m)).sum(axis=0) for x in (p, t)]
    return (halves[0] + halves[1]) / 2  # type: ignore[no-any-return]


def _total_variation(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    return np.abs(shares(predicted) - shares(actual)).sum(axis=0) / 2  # type: ignore[no-any-return]


def _hellinger(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    roots = np.sqrt(shares(predicted)) - np.sqrt(shares(actual))
    return np.sqrt((roots * roots).sum(axis=0) / 2)  # type: ignore[no-any-return]


def _kullback_leibler(predicted: Floats, actual: Floats, epsilon: float) -> Floats:
    import numpy as np

    p, t = np.maximum(shares(predicted), epsilon), shares(actual)
    terms = np.where(t == 0, 0.0 * p, t * np.log2(t / p))
    return terms.sum(axis=0)  # type: ignore[no-any-return]
