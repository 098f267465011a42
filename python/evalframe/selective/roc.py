"""Area under the receiver operating characteristic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.state import Axis, State, before, own, ratio
from evalframe.selective.classes import is_class

if TYPE_CHECKING:
    from evalframe.core.typing import Role


@metric(family="selective", direction="maximize", range=(0.0, 1.0), labels=("label", "prediction"))
def auroc(
    score: Role = "score",
    label: Role = "label",
    prediction: Role = None,
    *,
    weight: Role = None,
    positive: str | int | float | bool = True,
) -> State:
    """Chance that a positive row has a higher score than a negative one, ties counting a half.

    The Mann-Whitney statistic over the number of pairs. With confidence as the score and whether
    the answer is correct as the label, it says how well confidence ranks answers.

    Args:
        score: Higher speaks for the positive class; any scale.
        label: The true class. A row without label or score is missing.
        prediction: The predicted class, if rows can be abstentions: where it is null the row is
            valid but left out of the ranking, whatever its score. By default none is.
        positive: The positive class; every other label is negative. Booleans are 1 and 0.

    Returns:
        Null where only one class is there.

    References:
        Hanley & McNeil (1982), The meaning and use of the area under a receiver operating
        characteristic (ROC) curve; ai-psychiatrist 36e9fba, `auroc`, on the rows that have a
        prediction and a score.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.roc import auroc
        >>> items = pl.DataFrame(
        ...     {"confidence": [0.9, 0.6, 0.6, 0.1], "correct": [True, True, False, False]}
        ... )
        >>> items.select(auroc("confidence", "correct")).item()
        0.875
    """
    answered = pl.lit(value=True) if prediction is None else prediction.is_not_null()
    scored = label.is_not_null() & score.is_not_nan().fill_null(value=False)
    is_positive = is_class(label, positive)
    axis = Axis(
        level=score,
        where=answered,
        sums={
            "positives": pl.when(answered & is_positive).then(weight),
            "negatives": pl.when(answered & ~is_positive).then(weight),
        },
        terms={"pairs": own.positives * (before.negatives + own.negatives / 2)},
    )
    return State(
        axes=(axis,),
        finish=lambda t: ratio(t.pairs, t.positives * t.negatives),
        valid=scored if prediction is None else prediction.is_null() | scored,
    )
