"""Binary classification that may abstain: all its metrics, and the contract of its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.contract import Column, Contract, Rule
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.selective.classes import is_class
from evalframe.selective.screening import (
    accuracy,
    auroc,
    f1_score,
    false_negatives,
    false_positives,
    precision,
    recall,
    true_negatives,
    true_positives,
)
from evalframe.selective.total_score import NEGATIVE, POSITIVE
from evalframe.selective.working_points import coverage

if TYPE_CHECKING:
    from evalframe.core.metric import MetricExpr


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
        negative: The negative class. A predicted row of which one class is neither is missing and
            counted in `n_missing`; `binary_contract` finds such rows, where the original stops.
            None takes every other class for negative.
        weight: Weight of each row.

    Returns:
        Expressions for `evaluate` or `agg`: `coverage_binary`, `accuracy`, `precision`, `recall`,
        `f1_score`, `auroc` and the four counts. They can be combined with
        `total_score_metrics()`, whose coverage has another name.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> people = pl.DataFrame(
        ...     {
        ...         "predicted_class": ["depressed", None, "depressed", "not_depressed"],
        ...         "actual_class": ["depressed", "depressed", "not_depressed", "not_depressed"],
        ...         "min_total": [12, 9, 15, 3],
        ...     }
        ... )
        >>> ef.evaluate(people, ef.selective.binary_metrics()).head(6).select("metric", "estimate")
        shape: (6, 2)
        ┌─────────────────┬──────────┐
        │ metric          ┆ estimate │
        │ ---             ┆ ---      │
        │ str             ┆ f64      │
        ╞═════════════════╪══════════╡
        │ coverage_binary ┆ 0.75     │
        │ accuracy        ┆ 0.666667 │
        │ precision       ┆ 0.5      │
        │ recall          ┆ 1.0      │
        │ f1_score        ┆ 0.666667 │
        │ auroc           ┆ 0.5      │
        └─────────────────┴──────────┘
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


def binary_contract(
    prediction: str = "prediction",
    label: str = "label",
    *,
    positive: str | int | bool = POSITIVE,
    negative: str | int | bool = NEGATIVE,
) -> Contract:
    """The contract of a table of binary classes: on predicted rows both are one of the two.

    The metrics take every class but `positive` for negative, so a misspelt one would go unseen.
    A row without a prediction is exempt, whatever its label.

    Args:
        prediction: Column of the predicted class; null is an abstention.
        label: Column of the true class.
        positive: The positive class.
        negative: The negative class.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> from evalframe.core.contract import validate
        >>> rows = pl.DataFrame({"prediction": ["yes", None], "label": ["depressed", "?"]})
        >>> validate(rows, ef.selective.binary_contract())
        Traceback (most recent call last):
        evalframe.core.errors.ContractError: classes: 1 rule broken (rows are numbered from 0).
          prediction is one of the two classes: not so in 1 of 2 rows
            row 0: prediction='yes'
            Remedy: spell it 'depressed' or 'not_depressed', or set 'prediction' to null.
    """
    classes = [positive, negative]
    spelt = f"spell it {positive!r} or {negative!r}, or set {prediction!r} to null"
    abstained = pl.col(prediction).is_null()
    return Contract(
        "classes",
        (
            Column(prediction, "value", nullable=True, meaning="null is an abstention"),
            Column(label, "value", where=prediction),
        ),
        rules=(
            Rule(
                f"{prediction} is one of the two classes",
                pl.col(prediction).is_in(classes),
                (prediction,),
                spelt,
            ),
            Rule(
                f"{label} is one of the two classes where {prediction} is",
                pl.col(label).is_in(classes) | abstained,
                (label, prediction),
                spelt,
            ),
        ),
        alike=((prediction, label),),
    )
