"""Similarities of dtef-app 52d79c0, where they differ from those of `evalframe.survey`.

| | evalframe.survey | dtef |
|---|---|---|
| shares of 0 in Jensen-Shannon | add nothing: 0 log 0 is 0 | are raised to 1e-10 once normalised: \
disjoint distributions get 1.6e-9 and not 0. `epsilon=0` raises nothing |
| numbers that are all 0 | null | the uniform distribution; cosine 0 |
| negative numbers | null | count in sums and cosines, and are raised to 1e-10 in Jensen-Shannon; \
a vector with sum 0 is uniform |
| lists of different lengths | null | as many options as are predicted; null if fewer are actual |
| empty lists | null | Jensen-Shannon and earth mover's 1, cosine 0 |
| cosine | of shares, at most 1 | of the numbers, up to rounding above 1 |
| per-option accuracy | of percentages | of the numbers; 0 for different lengths |
| numbers whose sum is too large for a float | scaled first | what infinite sums lead to |
| Brier score with a wrong number of probabilities | 0 | 0.1 |

A null list, and a list with a null or NaN, give null in both.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from evalframe.core.typing import IntoExpr
from evalframe.survey.similarity import individual
from evalframe.survey.similarity.distances import check_option, near, product_and_size, work
from evalframe.survey.similarity.divergences import divergence, floored_divergence, one_minus, root
from evalframe.survey.similarity.lists import check_epsilon, over_rows

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.segments import Floats
    from evalframe.survey.similarity.individual import IndividualKind


EPSILON = 1e-10
"""The floor of shares."""

_MISMATCH = 0.1


def jensen_shannon_similarity(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual", *, epsilon: float = EPSILON
) -> pl.Expr:
    """`js-divergence`: one minus the distance, of shares raised to `epsilon`."""
    check_epsilon(epsilon)
    kernel = partial(one_minus, kernel=partial(_distance, floor=epsilon))
    return over_rows("jensen_shannon_similarity", kernel, predicted, actual, any_length=True)


def jensen_shannon_distance(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual", *, epsilon: float = EPSILON
) -> pl.Expr:
    """The distance in `js-divergence`; above 1 if numbers are negative."""
    check_epsilon(epsilon)
    kernel = partial(_distance, floor=epsilon)
    return over_rows("jensen_shannon_distance", kernel, predicted, actual, any_length=True)


def cosine_similarity(predicted: IntoExpr = "predicted", actual: IntoExpr = "actual") -> pl.Expr:
    """`cosine`: of the raw numbers, 0 if a vector is 0, and not limited to 1."""
    return over_rows("cosine_similarity", _cosine, predicted, actual, any_length=True)


def earth_mover_similarity(
    predicted: IntoExpr = "predicted", actual: IntoExpr = "actual"
) -> pl.Expr:
    """`earth-mover`: one minus the work, at least 0."""
    return over_rows("earth_mover_similarity", _nearness, predicted, actual, any_length=True)


def per_option_accuracy(
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    *,
    option: int | None = None,
    tolerance: float | None = None,
) -> pl.Expr:
    """`per_option_accuracy`: the raw numbers are percentages."""
    check_option(option, tolerance)
    kernel = partial(_near, option=option, tolerance=tolerance)
    return over_rows("per_option_accuracy", kernel, predicted, actual, any_length=True)


def individual_score(
    response: IntoExpr = "response", actual: IntoExpr = "actual", *, kind: IndividualKind = "brier"
) -> pl.Expr:
    """`individual_metric`: probabilities of 0 alone are uniform; 0.1 for a wrong number of them."""
    kernels = {"brier": _brier, "binary": _hit, "confidence": _confidence}
    return individual.score_by(kernels, response, actual, kind)


SIMILARITIES: dict[str, Callable[..., pl.Expr]] = {
    each.__name__: each
    for each in (
        jensen_shannon_similarity,
        cosine_similarity,
        earth_mover_similarity,
        per_option_accuracy,
    )
}
"""The metrics of `dtef.score`."""


def _shares(values: Floats) -> Floats:
    """Any numbers over their sum, and uniform if the sum is 0."""
    import numpy as np

    total = values.sum(axis=0)
    return np.where(total == 0, 1 / max(len(values), 1), values / total)


def _cut(values: Floats, length: int) -> Floats:
    """The first `length` options, NaN if there are fewer."""
    import numpy as np

    if len(values) >= length:
        return values[:length]
    return np.full((length, values.shape[1]), np.nan)


def _distance(predicted: Floats, actual: Floats, floor: float) -> Floats:
    p, t = _shares(predicted), _cut(_shares(actual), len(predicted))
    return root(floored_divergence(p, t, floor) if floor else divergence(p, 1.0, t, 1.0))


def _cosine(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    product, size = product_and_size(predicted, _cut(actual, len(predicted)))
    return np.where(size == 0, 0.0, product / size)


def _nearness(predicted: Floats, actual: Floats) -> Floats:
    import numpy as np

    p, t = _shares(predicted), _cut(_shares(actual), len(predicted))
    return np.maximum(1 - work(p, t), 0.0)


def _near(predicted: Floats, actual: Floats, option: int | None, tolerance: float | None) -> Floats:
    import numpy as np

    if len(predicted) != len(actual):
        return np.zeros(predicted.shape[1])
    return near(predicted, actual, option, tolerance)


def _brier(stated: Floats, actual: Floats) -> Floats:
    import numpy as np

    truth = _shares(actual)
    if not len(stated) or len(stated) != len(truth):
        score = np.full(actual.shape[1], _MISMATCH if len(stated) else 0.0)
    else:
        score = individual.brier(_shares(stated), truth)
    return individual.where_valid(score, truth)


def _hit(stated: Floats, actual: Floats) -> Floats:
    return individual.hit(stated[0], _shares(actual))


def _confidence(stated: Floats, actual: Floats) -> Floats:
    truth = _shares(actual)
    return individual.where_valid(individual.at_mode(_shares(stated), truth), truth)
