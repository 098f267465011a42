"""Classification of the predicted rows: accuracy, precision, recall, F1, four counts, and AUROC.

A null prediction is an abstention: the row is valid, but not in these metrics. If nothing is
predicted, every value is null, also the counts. A prediction without a label is missing. Classes
can have any type; `positive` is one of them, and all others are negative.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.metric import metric, sharing
from evalframe.core.rows import as_expr
from evalframe.core.state import Axis, State, Totals, before, own, ratio
from evalframe.core.typing import IntoExpr, Role
from evalframe.selective.total_score import NEGATIVE, POSITIVE
from evalframe.selective.working_points import coverage

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr

_CLASSES = ("prediction", "label")
_SHARE, _NUMBER = (0.0, 1.0), (0.0, float("inf"))


@metric(family="selective", direction="maximize", range=_SHARE, labels=_CLASSES)
def accuracy(
    prediction: Role = "prediction", label: Role = "label", *, weight: Role = None
) -> State:
    """Share of the predicted rows whose prediction is the label, with any number of classes.

    An abstention is no error and counts in `n`, so that a system can gain by not answering: show
    `coverage` beside it.

    Raises:
        ParameterError: Predictions and labels have types of which none can equal another.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": ["a", "b", None], "label": ["a", "c", "a"]})
        >>> rows.select(ef.accuracy()).item()
        0.5
    """
    return State(
        sums={
            "mass": pl.when(prediction.is_not_null()).then(weight),
            "correct": pl.when(is_same(prediction, label)).then(weight),
        },
        finish=lambda t: ratio(t.correct, t.mass),
        valid=_labelled(prediction, label),
    )


def _counted(
    finish: Callable[[Totals], pl.Expr],
    prediction: Role = "prediction",
    label: Role = "label",
    *,
    weight: Role = None,
    positive: str | int | float | bool = True,
) -> State:
    """A metric of the four counts."""
    said, is_so = is_class(prediction, positive), is_class(label, positive)
    return State(
        sums={
            "true_positives": pl.when(said & is_so).then(weight),
            "false_positives": pl.when(said & ~is_so).then(weight),
            "true_negatives": pl.when(~(said | is_so)).then(weight),
            "false_negatives": pl.when(~said & is_so).then(weight),
        },
        finish=finish,
        valid=_labelled(prediction, label),
    )


def _labelled(prediction: pl.Expr, label: pl.Expr) -> pl.Expr:
    return prediction.is_null() | label.is_not_null()


@sharing(_counted, family="selective", direction="maximize", range=_SHARE, labels=_CLASSES)
def precision(t: Totals) -> pl.Expr:
    """Share of the rows predicted positive that are: TP / (TP + FP).

    Returns:
        Null if nothing is predicted positive.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": ["ill", "ill"], "label": ["ill", "well"]})
        >>> rows.select(ef.precision(positive="ill")).item()
        0.5
    """
    return ratio(t.true_positives, t.true_positives + t.false_positives)


@sharing(_counted, family="selective", direction="maximize", range=_SHARE, labels=_CLASSES)
def recall(t: Totals) -> pl.Expr:
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
    return ratio(t.true_positives, t.true_positives + t.false_negatives)


@sharing(_counted, family="selective", direction="maximize", range=_SHARE, labels=_CLASSES)
def f1_score(t: Totals) -> pl.Expr:
    """Harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN).

    Returns:
        0.0 if no positive row is predicted positive; null if no predicted row is positive or
        predicted positive.

    References:
        van Rijsbergen (1979), Information retrieval.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [True, True, False], "label": [True, False, False]})
        >>> rows.select(ef.f1_score()).item()
        0.6666666666666666
    """
    hits = 2 * t.true_positives
    return ratio(hits, hits + t.false_positives + t.false_negatives)


@sharing(_counted, family="selective", direction="maximize", range=_NUMBER, labels=_CLASSES)
def true_positives(t: Totals) -> pl.Expr:
    """Number of positive rows predicted positive.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [True, True], "label": [True, False]})
        >>> rows.select(ef.true_positives()).item()
        1.0
    """
    return _if_predicted(t, t.true_positives)


@sharing(_counted, family="selective", direction="minimize", range=_NUMBER, labels=_CLASSES)
def false_positives(t: Totals) -> pl.Expr:
    """Number of negative rows predicted positive.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [True, True], "label": [True, False]})
        >>> rows.select(ef.false_positives()).item()
        1.0
    """
    return _if_predicted(t, t.false_positives)


@sharing(_counted, family="selective", direction="maximize", range=_NUMBER, labels=_CLASSES)
def true_negatives(t: Totals) -> pl.Expr:
    """Number of negative rows predicted negative.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [False, False], "label": [True, False]})
        >>> rows.select(ef.true_negatives()).item()
        1.0
    """
    return _if_predicted(t, t.true_negatives)


@sharing(_counted, family="selective", direction="minimize", range=_NUMBER, labels=_CLASSES)
def false_negatives(t: Totals) -> pl.Expr:
    """Number of positive rows predicted negative, without abstentions.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": [False, None], "label": [True, True]})
        >>> rows.select(ef.false_negatives()).item()
        1.0
    """
    return _if_predicted(t, t.false_negatives)


def _if_predicted(t: Totals, count: pl.Expr) -> pl.Expr:
    wrong = t.false_positives + t.false_negatives
    return pl.when(t.true_positives + t.true_negatives + wrong > 0).then(count)


@metric(family="selective", direction="maximize", range=_SHARE, labels=_CLASSES)
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
        prediction: The predicted class, if rows can be abstentions: where it is null the row is
            valid but left out of the ranking, whatever its score. By default none is.

    Returns:
        Null if only one class is there.

    References:
        Hanley & McNeil (1982), The meaning and use of the area under a receiver operating
        characteristic (ROC) curve.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"score": [0.9, 0.6, 0.6, 0.1], "label": [1, 1, 0, 0]})
        >>> items.select(ef.auroc()).item()
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


def binary_metrics(
    prediction: IntoExpr = "predicted_class",
    label: IntoExpr = "actual_class",
    score: IntoExpr = "min_total",
    *,
    positive: str | int | float | bool = POSITIVE,
    negative: str | int | float | bool | None = NEGATIVE,
    weight: IntoExpr | None = None,
) -> list[MetricExpr]:
    """All metrics of a binary classification that may abstain, over the table `total_scores`.

    Args:
        prediction: Predicted class; null is an abstention.
        label: True class.
        score: Score for AUROC, among the rows that have a prediction and a score.
        positive: The positive class.
        negative: The negative class. A predicted row with another class is missing, counted in
            `n_missing`; `binary_contract` finds such rows. None takes every other class for
            negative.
        weight: Weight of each row.

    Returns:
        Expressions for `evaluate` or `agg`: `coverage_binary`, `accuracy`, `precision`, `recall`,
        `f1_score`, `auroc` and the four counts. They can be combined with
        `total_score_metrics()`, whose coverage has another name.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> people = pl.DataFrame({"said": ["ill", "ill"], "is": ["ill", "well"], "n": [12, 15]})
        >>> metrics = ef.selective.binary_metrics("said", "is", "n", positive="ill", negative=None)
        >>> ef.evaluate(people, metrics).select("metric", "estimate").row(2)
        ('precision', 0.5)
    """
    if negative is not None:
        classes = positive, negative
        valid = (_is_any(as_expr(role), classes) for role in (prediction, label))
        label = pl.when(pl.all_horizontal(valid)).then(as_expr(label))
    sided = (precision, recall, f1_score)
    counts = (true_positives, false_positives, true_negatives, false_negatives)
    return [
        coverage(prediction, weight=weight).alias("coverage_binary"),
        accuracy(prediction, label, weight=weight),
        *(one(prediction, label, weight=weight, positive=positive) for one in sided),
        auroc(score, label, prediction, weight=weight, positive=positive),
        *(count(prediction, label, weight=weight, positive=positive) for count in counts),
    ]


def _is_any(label: pl.Expr, classes: tuple[str | int | float | bool, ...]) -> pl.Expr:
    return pl.any_horizontal(is_class(label, each) for each in classes)


# Polars refuses to compare some types, with an error about its plan; the errors here are about the
# metric. Expressions of the same columns are one object, so metrics of the same classes share sums.


def is_class(label: pl.Expr, positive: str | int | float | bool) -> pl.Expr:
    """True if a label is the class, null without a label."""
    if label.meta.is_column():
        return _is_class_of_column(label.meta.output_name(), positive)
    return _is_class(label, positive)


def is_same(prediction: pl.Expr, label: pl.Expr) -> pl.Expr:
    """True if two classes are equal, null if either is null."""
    if prediction.meta.is_column() and label.meta.is_column():
        return _is_same_of_columns(prediction.meta.output_name(), label.meta.output_name())
    return _row_by_row(_same, prediction, label)


@functools.lru_cache(maxsize=None, typed=True)  # 1 and True are equal, but messages differ
def _is_class_of_column(name: str, positive: str | int | float | bool) -> pl.Expr:
    return _is_class(pl.col(name), positive)


@functools.cache
def _is_same_of_columns(prediction: str, label: str) -> pl.Expr:
    return _row_by_row(_same, pl.col(prediction), pl.col(label))


def _is_class(label: pl.Expr, positive: str | int | float | bool) -> pl.Expr:
    def compared(columns: Sequence[pl.Series]) -> pl.Series:
        (column,) = columns
        # Without a frame, which takes longer than the comparison.
        if not isinstance(positive, str):
            if column.dtype == pl.Boolean and positive in (0, 1):
                return column if positive else ~column
            if column.dtype in (pl.Int32, pl.Int64) and positive in (0, 1):
                return column == int(positive)
        values = pl.col(column.name)
        if isinstance(positive, str):
            fits, same = _kind(column) in ("text", None), values == positive
        else:  # a text of digits is a number
            fits, same = True, values.cast(pl.Float64) == float(positive)
        try:
            if fits:
                return column.to_frame().select(same).to_series()
        except pl.exceptions.PolarsError:
            pass
        raise ParameterError(_not_among(column, positive))

    return _row_by_row(compared, label)


def _not_among(column: pl.Series, positive: str | int | float | bool) -> str:
    example = column.drop_nulls().head(1).to_list()
    such = f", such as {example[0]!r}" if example else ""
    write = f", such as positive={example[0]!r}" if example else ""
    return (
        f"the classes in {column.name!r} are {_kind(column)}{such}, and positive={positive!r} is "
        f"none of them; name the positive class{write}"
    )


def _same(columns: Sequence[pl.Series]) -> pl.Series:
    prediction, label = columns
    kinds = {_kind(prediction), _kind(label)} - {None}
    try:
        # Polars calls a Boolean and a text different.
        if len(kinds) < 2:
            return prediction == label
    except pl.exceptions.PolarsError:
        pass
    raise ParameterError(
        f"the classes in {prediction.name!r} are {prediction.dtype}, those in {label.name!r} are "
        f"{label.dtype}, and none can equal another; cast one to the type of the other"
    )


def _kind(column: pl.Series) -> str | None:
    """The kind of the classes in words; None if all are null."""
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return "numbers"
    return None if column.dtype == pl.Null else f"of type {column.dtype}"


def _row_by_row(function: Callable[[Sequence[pl.Series]], pl.Series], *exprs: pl.Expr) -> pl.Expr:
    return pl.map_batches(exprs, function, return_dtype=pl.Boolean, is_elementwise=True)
