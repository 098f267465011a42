"""Classification of the predicted rows: accuracy, precision, recall, F1 and the four counts.

A null prediction is an abstention: the row is valid and counts in `coverage`, but in nothing here.
Where nothing is predicted every value is null, the counts too. A prediction without a label is
missing. Classes may have any type; `positive` names one, and all others are negative, so that with
several classes each metric speaks of one against the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.state import State, ratio
from evalframe.selective.classes import is_class, is_same

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalframe.core.state import Totals
    from evalframe.core.typing import Role

_CLASSES = ("prediction", "label")
_ANY = float("inf")


@metric(family="selective", direction="maximize", range=(0.0, 1.0), labels=_CLASSES)
def accuracy(
    prediction: Role = "prediction", label: Role = "label", *, weight: Role = None
) -> State:
    """Share of the predicted rows whose prediction is the label, with any number of classes.

    Returns:
        Null if nothing is predicted.

    References:
        ai-psychiatrist 36e9fba, `accuracy`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.screening import accuracy
        >>> rows = pl.DataFrame({"prediction": ["a", "b", None], "label": ["a", "c", "a"]})
        >>> rows.select(accuracy()).item()
        0.5
    """
    answered = prediction.is_not_null()
    return State(
        sums={
            "mass": pl.when(answered).then(weight),
            "correct": pl.when(is_same(prediction, label)).then(weight),
        },
        finish=lambda t: ratio(t.correct, t.mass),
        valid=_labelled(prediction, label),
    )


@metric(family="selective", direction="maximize", range=(0.0, 1.0), labels=_CLASSES)
def precision(
    prediction: Role = "prediction",
    label: Role = "label",
    *,
    weight: Role = None,
    positive: str | int | float | bool = True,
) -> State:
    """Share of the rows predicted positive that are: TP / (TP + FP).

    Returns:
        Null if nothing is predicted positive.

    References:
        ai-psychiatrist 36e9fba, `precision`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.screening import precision
        >>> rows = pl.DataFrame({"prediction": ["ill", "ill"], "label": ["ill", "well"]})
        >>> rows.select(precision(positive="ill")).item()
        0.5
    """
    return _counted(prediction, label, weight, positive, finish=_precision)


@metric(family="selective", direction="maximize", range=(0.0, 1.0), labels=_CLASSES)
def recall(
    prediction: Role = "prediction",
    label: Role = "label",
    *,
    weight: Role = None,
    positive: str | int | float | bool = True,
) -> State:
    """Share of the positive rows that are predicted so: TP / (TP + FN), the sensitivity.

    Rows without a prediction are not in it: a system that abstains on the positives it would miss
    has the better recall. Report coverage beside it.

    Returns:
        Null where no predicted row is positive.

    References:
        ai-psychiatrist 36e9fba, `recall`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.screening import recall
        >>> rows = pl.DataFrame({"prediction": [True, False, None], "label": [True, True, True]})
        >>> rows.select(recall()).item()
        0.5
    """
    return _counted(prediction, label, weight, positive, finish=_recall)


@metric(family="selective", direction="maximize", range=(0.0, 1.0), labels=_CLASSES)
def f1_score(
    prediction: Role = "prediction",
    label: Role = "label",
    *,
    weight: Role = None,
    positive: str | int | float | bool = True,
) -> State:
    """Harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN).

    Returns:
        0.0 where positives are missed or wrongly seen and none is found. Null where no predicted
        row is positive or predicted so.

    References:
        ai-psychiatrist 36e9fba, `f1`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.screening import f1_score
        >>> rows = pl.DataFrame({"prediction": [True, True, False], "label": [True, False, False]})
        >>> rows.select(f1_score()).item()
        0.6666666666666666
    """

    def finish(t: Totals) -> pl.Expr:
        hits = 2 * t.true_positives
        return ratio(hits, hits + t.false_positives + t.false_negatives)

    return _counted(prediction, label, weight, positive, finish=finish)


@metric(family="selective", direction="maximize", range=(0.0, _ANY), labels=_CLASSES)
def true_positives(
    prediction: Role = "prediction",
    label: Role = "label",
    *,
    weight: Role = None,
    positive: str | int | float | bool = True,
) -> State:
    """Number of positive rows predicted positive.

    Returns:
        Null if nothing is predicted.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.screening import true_positives
        >>> rows = pl.DataFrame({"prediction": [True, True, None], "label": [True, False, True]})
        >>> rows.select(true_positives()).item()
        1.0
    """
    return _counted(prediction, label, weight, positive, finish=_count("true_positives"))


@metric(family="selective", direction="minimize", range=(0.0, _ANY), labels=_CLASSES)
def false_positives(
    prediction: Role = "prediction",
    label: Role = "label",
    *,
    weight: Role = None,
    positive: str | int | float | bool = True,
) -> State:
    """Number of negative rows predicted positive.

    Returns:
        Null if nothing is predicted.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.screening import false_positives
        >>> rows = pl.DataFrame({"prediction": [True, True, None], "label": [True, False, False]})
        >>> rows.select(false_positives()).item()
        1.0
    """
    return _counted(prediction, label, weight, positive, finish=_count("false_positives"))


@metric(family="selective", direction="maximize", range=(0.0, _ANY), labels=_CLASSES)
def true_negatives(
    prediction: Role = "prediction",
    label: Role = "label",
    *,
    weight: Role = None,
    positive: str | int | float | bool = True,
) -> State:
    """Number of negative rows predicted negative.

    Returns:
        Null if nothing is predicted.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.screening import true_negatives
        >>> rows = pl.DataFrame({"prediction": [False, False, None], "label": [True, False, False]})
        >>> rows.select(true_negatives()).item()
        1.0
    """
    return _counted(prediction, label, weight, positive, finish=_count("true_negatives"))


@metric(family="selective", direction="minimize", range=(0.0, _ANY), labels=_CLASSES)
def false_negatives(
    prediction: Role = "prediction",
    label: Role = "label",
    *,
    weight: Role = None,
    positive: str | int | float | bool = True,
) -> State:
    """Number of positive rows predicted negative; abstentions are none.

    Returns:
        Null if nothing is predicted.

    Examples:
        >>> import polars as pl
        >>> from evalframe.selective.screening import false_negatives
        >>> rows = pl.DataFrame({"prediction": [False, False, None], "label": [True, False, True]})
        >>> rows.select(false_negatives()).item()
        1.0
    """
    return _counted(prediction, label, weight, positive, finish=_count("false_negatives"))


def _counted(
    prediction: pl.Expr,
    label: pl.Expr,
    weight: pl.Expr,
    positive: str | int | float | bool,
    *,
    finish: Callable[[Totals], pl.Expr],
) -> State:
    said, is_so = is_class(prediction, positive), is_class(label, positive)
    return State(
        sums={
            "true_positives": pl.when(said & is_so).then(weight),
            "false_positives": pl.when(said & ~is_so).then(weight),
            "true_negatives": pl.when(~said & ~is_so).then(weight),
            "false_negatives": pl.when(~said & is_so).then(weight),
        },
        finish=finish,
        valid=_labelled(prediction, label),
    )


def _precision(t: Totals) -> pl.Expr:
    return ratio(t.true_positives, t.true_positives + t.false_positives)


def _recall(t: Totals) -> pl.Expr:
    return ratio(t.true_positives, t.true_positives + t.false_negatives)


def _count(name: str) -> Callable[[Totals], pl.Expr]:
    def finish(t: Totals) -> pl.Expr:
        wrong = t.false_positives + t.false_negatives
        predicted = t.true_positives + t.true_negatives + wrong
        return pl.when(predicted > 0).then(getattr(t, name))

    return finish


def _labelled(prediction: pl.Expr, label: pl.Expr) -> pl.Expr:
    return prediction.is_null() | label.is_not_null()
