"""Earth mover's similarity: how far answers would have to move along the options."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalframe.core.rules import check_rules
from evalframe.survey.similarity.rules import normalised, truncated
from evalframe.survey.similarity.shapes import over_rows

if TYPE_CHECKING:
    import polars as pl

    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats
    from evalframe.core.typing import IntoExpr


def earth_mover_similarity(
    predicted: IntoExpr = "predicted",
    actual: IntoExpr = "actual",
    *,
    normalised: bool = False,
    rules: Rules = "documented",
) -> pl.Expr:
    """One minus the work W that turns one distribution into the other, an option being one step.

    It is for options on a scale: their order is taken as it is, and `Don't know` at the end is the
    far end of the scale. W lies between 0 and k - 1 for k options, so that the raw similarity is 0
    as soon as W is 1 or more, as when all answers are one step off; on real surveys that is a
    fifth of uniform predictions. Normalised, it is 1 - W / (k - 1) and never saturates.

    Args:
        predicted: List(number) or Array(number): shares, percentages or counts of the options.
        actual: The same, of as many options, in the same order.
        normalised: Whether the work is divided by its range.
        rules: `documented`, or `reference` for the original's numbers.

    Returns:
        Float64 in [0, 1], named `earth_mover_similarity`; 1 for one option. Null where a list is
        null or holds a null or NaN; documented also where lengths differ, a number is negative or
        infinite, or all are 0.

    Raises:
        ParameterError: Unknown rules.

    References:
        Rubner, Tomasi and Guibas (2000); dtef-app 52d79c0, `earth-mover`, which is not normalised.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"predicted": [[0, 1, 0]], "actual": [[1, 0, 0]]})
        >>> answers.select(ef.earth_mover_similarity()).item()
        0.0
        >>> answers.select(ef.earth_mover_similarity(normalised=True)).item()
        0.5
    """
    check_rules(rules)
    kernel = partial(_similarity, by_range=normalised, rules=rules)
    original = rules == "reference"
    return over_rows("earth_mover_similarity", kernel, predicted, actual, any_length=original)


def _similarity(predicted: Floats, actual: Floats, *, by_range: bool, rules: Rules) -> Floats:
    import numpy as np

    p, t = normalised(predicted, rules), normalised(actual, rules)
    if rules == "reference":
        t = truncated(t, len(p))
    work = np.abs(np.cumsum(p - t, axis=0)).sum(axis=0)
    if by_range:
        work /= max(len(p) - 1, 1)
    return np.maximum(1 - work, 0.0)  # type: ignore[no-any-return]
