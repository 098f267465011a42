"""Classification of the predicted rows: accuracy, precision, recall, F1, four counts, and AUROC.

A null prediction is an abstention: the row is valid, but not in these metrics. If nothing is
predicted, every value is null, also the counts. A prediction without a label is missing. Classes
can have any type; `positive` is one of them, and all others are negative.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.state import Axis, State, Totals, before, own, ratio
from evalframe.core.typing import Role
from evalframe.selective.classes import is_class, is_same

_CLASSES = ("prediction", "label")
_ANY = float("inf")


@metric(family="selective", direction="maximize", range=(0.0, 1.0), labels=_CLASSES)
def accuracy(
    prediction: Role = "prediction", label: Role = "label", *, weight: Role = None
) -> State:
    """Share of the predicted rows whose prediction is the label, with any number of classes.

    Returns:
        Null if nothing is predicted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": ["a", "b", None], "label": ["a", "c", "a"]})
        >>> rows.select(ef.accuracy()).item()
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

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": ["ill", "ill"], "label": ["ill", "well"]})
        >>> rows.select(ef.precision(positive="ill")).item()
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

    A system that abstains on the positives that it would miss has a better recall: report coverage
    with it.

    Returns:
        Null if no predicted row is positive.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [True, False, None], "label": [True, True, True]})
        >>> rows.select(ef.recall()).item()
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
        0.0 if no positive row is predicted positive; null if no predicted row is positive or
        predicted positive.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [True, True, False], "label": [True, False, False]})
        >>> rows.select(ef.f1_score()).item()
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
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [True, True, None], "label": [True, False, True]})
        >>> rows.select(ef.true_positives()).item()
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
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [True, True, None], "label": [True, False, False]})
        >>> rows.select(ef.false_positives()).item()
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
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [False, False, None], "label": [True, False, False]})
        >>> rows.select(ef.true_negatives()).item()
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
    """Number of positive rows predicted negative, without abstentions.

    Returns:
        Null if nothing is predicted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [False, False, None], "label": [True, False, True]})
        >>> rows.select(ef.false_negatives()).item()
        1.0
    """
    return _counted(prediction, label, weight, positive, finish=_count("false_negatives"))


@metric(family="selective", direction="maximize", range=(0.0, 1.0), labels=("label", "prediction"))
def auroc(
    score: Role = "score",
    label: Role = "label",
    prediction: Role = None,
    *,
    weight: Role = None,
    positive: str | int | float | bool = True,
) -> State:
    """Probability that a positive row has a higher score than a negative one; ties count half.

    The Mann-Whitney statistic over the number of pairs. With confidence as the score and the
    correctness of the answer as the label, it measures how well confidence ranks answers.

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
        characteristic (ROC) curve.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame(
        ...     {"confidence": [0.9, 0.6, 0.6, 0.1], "correct": [True, True, False, False]}
        ... )
        >>> items.select(ef.auroc("confidence", "correct")).item()
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
