"""Errors of scores and their correlation with the truth, over the predicted rows."""

from __future__ import annotations

import polars as pl

from evalframe.core.metric import MetricExpr, metric
from evalframe.core.per import per
from evalframe.core.rows import all_hold
from evalframe.core.state import Axis, State, Totals, level, own, ratio, total
from evalframe.core.typing import Role


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def mean_absolute_error(
    prediction: Role = "prediction", label: Role = "label", *, weight: Role = None
) -> State:
    """Mean of |prediction - label| over the predicted rows.

    Over items it is the MAE_w of a run: every predicted item counts the same. A prediction without
    a label, or NaN on either side, is missing.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> totals = pl.DataFrame({"prediction": [12, None, 8], "label": [13, 15, 10]})
        >>> totals.select(ef.mean_absolute_error()).item()
        1.5
    """
    answered = prediction.is_not_null()
    return State(
        sums={
            "mass": pl.when(answered).then(weight),
            "error": pl.when(answered).then(weight * (prediction - label).abs()),
        },
        finish=lambda t: ratio(t.error, t.mass),
        valid=scored(prediction, label),
    )


@metric(family="selective", direction="minimize", range=(0.0, float("inf")))
def root_mean_squared_error(
    prediction: Role = "prediction", label: Role = "label", *, weight: Role = None
) -> State:
    """Root of the mean of (prediction - label)^2 over the predicted rows.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> totals = pl.DataFrame({"prediction": [1, 7, None], "label": [0, 0, 0]})
        >>> totals.select(ef.root_mean_squared_error()).item()
        5.0
    """
    answered = prediction.is_not_null()
    return State(
        sums={
            "mass": pl.when(answered).then(weight),
            "squared_error": pl.when(answered).then(weight * (prediction - label) ** 2),
        },
        finish=lambda t: ratio(t.squared_error, t.mass).sqrt(),
        valid=scored(prediction, label),
    )


@metric(family="selective", direction="minimize", range=(0.0, float("inf")), labels=["item"])
def macro_mean_absolute_error(
    prediction: Role = "prediction",
    label: Role = "label",
    item: Role = "item_index",
    *,
    weight: Role = None,
) -> MetricExpr:
    """Mean over items of each item's mean absolute error: the MAE_item of a run.

    It is `ef.per(item, ef.mean_absolute_error())`: each item with a prediction has the same weight,
    draws of clusters that cut through the items change the rows of each, and `fixed=True` is said
    there.

    Args:
        item: The item, of any type. A row without one is missing.
        weight: Weight of each row within its item.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"item_index": [0, 0, 1], "prediction": [3, 1, 4], "label": 0})
        >>> items.select(ef.macro_mean_absolute_error()).item()
        3.0
    """
    return per(item, mean_absolute_error(prediction, label, weight=weight))


@metric(family="selective", direction="maximize", range=(-1.0, 1.0))
def pearson_correlation(
    prediction: Role = "prediction", label: Role = "label", *, weight: Role = None
) -> State:
    """Pearson's correlation of predictions and labels over the predicted rows.

    Squares and products are taken about the means, per distinct value of either side, since sums
    of raw squares lose digits: with means 10^k standard deviations from 0 about 15 - k digits are
    correct. This sorts the rows by either side, as a rank metric does.

    Returns:
        Null if fewer than two rows are predicted, or all predictions or all labels are the same.

    References:
        Pearson (1895), Notes on regression and inheritance in the case of two parents.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> totals = pl.DataFrame({"prediction": [1, 2, 3, None], "label": [2, 6, 4, 0]})
        >>> round(totals.select(ef.pearson_correlation()).item(), 12)
        0.5
    """
    answered = prediction.is_not_null()
    mass = pl.when(answered).then(weight)
    labels = pl.when(answered).then(weight * label)
    from_mean = level - total.predictions / total.mass
    labels_from_mean = own.labels - own.mass * (total.labels / total.mass)
    by_prediction = Axis(
        level=prediction,
        where=answered,
        sums={"mass": mass, "labels": labels},
        terms={
            "prediction_squares": own.mass * from_mean**2,
            "products": from_mean * labels_from_mean,
        },
        maxima=_ends("prediction"),
    )
    by_label = Axis(
        level=label,
        where=answered,
        sums={"mass": mass},
        terms={"label_squares": own.mass * (level - total.labels / total.mass) ** 2},
        maxima=_ends("label"),
    )

    def finish(t: Totals) -> pl.Expr:
        apart = t.prediction_high > -t.minus_prediction_low
        labels_apart = t.label_high > -t.minus_label_low
        # Two roots, since the product of the squares would leave the floats much earlier.
        scale = t.prediction_squares.sqrt() * t.label_squares.sqrt()
        return pl.when(apart & labels_apart).then((t.products / scale).clip(-1.0, 1.0))

    return State(
        sums={"predictions": weight * prediction, "labels": labels},
        axes=(by_prediction, by_label),
        finish=finish,
        valid=scored(prediction, label),
    )


def scored(prediction: pl.Expr, *needed: pl.Expr) -> pl.Expr:
    """True for an abstention, or a number with all the numbers it needs."""
    return prediction.is_null() | all_hold(*(expr.is_not_nan() for expr in (prediction, *needed)))


def _ends(name: str) -> dict[str, pl.Expr]:
    """The highest level that has mass, and minus the lowest."""
    return {
        f"{name}_high": pl.when(own.mass > 0).then(level),
        f"minus_{name}_low": pl.when(own.mass > 0).then(-level),
    }
