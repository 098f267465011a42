"""Tables of the selective family: the contracts of items and of classes, and losses of items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, each_once
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.selective.calibration_error import TO_UNIT, is_outside
from evalframe.selective.conventions import NOT_NEGATIVE
from evalframe.selective.total_score import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from evalframe.core.kinds import Kind


def items_contract(
    *,
    confidence: str | Sequence[str] = "confidence",
    prediction: str = "prediction",
    label: str | None = "label",
    loss: str | None = None,
    participant: str | None = "participant_id",
    item: str | None = "item",
    weight: str | None = None,
    cluster: str | None = None,
    by: str | Sequence[str] = (),
    key: Sequence[str] | None = None,
    answers: Kind = "value",
    probability: bool = False,
) -> Contract:
    """The contract of an item table, under the names its columns have.

    A null prediction is an abstention: the row counts, but its label and confidence are never used
    and may be anything. On every other row there is a label, and confidence is a number: NaN would
    sort as the highest of all, and infinity is a signal that broke.

    Args:
        confidence: Columns of confidence, higher is accepted earlier.
        prediction: The answer; null is an abstention.
        label: The true answer; None for a table without one.
        loss: A column that holds the loss, null for an abstention; prediction and label are then
            not required.
        participant: Key of the participant, or None.
        item: Key of the item, or None.
        weight: Weights, 0 or more.
        cluster: Key of the rows that are resampled together, if not the participant.
        by: Columns to group by; null is a group like any other.
        key: Columns that identify a row; by default `by`, participant and item, or none if there is
            no item.
        answers: Kind of prediction and label: `"number"` for a loss that subtracts them.
        probability: True if confidences must lie in [0, 1], as for calibration errors and
            calibrators. Areas rank by any score.

    Returns:
        The contract, for `ef.validate`; its `key` are the columns that identify a row.

    Examples:
        >>> import evalframe as ef
        >>> ef.selective.items_contract(confidence="token_msp", by="model").key
        ('model', 'participant_id', 'item')
    """
    by, confidence = _names(by), _names(confidence)
    if key is None:
        key = (*by, *_names(participant), item) if item else ()
    columns = [Column(name, "key") for name in _names(participant) + _names(item) + _names(cluster)]
    if loss:
        columns += [Column(loss, "number", nullable=True, meaning="null is an abstention")]
    else:
        columns += [Column(prediction, answers, nullable=True, meaning="null is an abstention")]
        columns += [Column(name, answers, where=prediction) for name in _names(label)]
    columns += [
        Column(name, "number", where=loss or prediction, meaning="higher is accepted earlier")
        for name in confidence
    ]
    columns += [Column(name, "number", meaning="0 or more") for name in _names(weight)]
    columns += [Column(name, nullable=True, finite=False) for name in (*by, *key)]
    return Contract(
        "items",
        each_once(columns),
        rules=(
            *(
                _not_negative(name, f"correct {name!r}, or set it to 0 for rows that do not count")
                for name in _names(weight)
            ),
            *(_not_negative(name, NOT_NEGATIVE) for name in _names(loss)),
            *(lies_in_unit(name, loss or prediction) for name in confidence if probability),
        ),
        key=tuple(dict.fromkeys(key)),
        alike=() if loss or not label else ((prediction, label),),
    )


def _names(value: str | Sequence[str] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def lies_in_unit(confidence: str, where: str) -> Rule:
    """The rule that a confidence is a probability, on rows in which another column is not null."""
    return Rule(
        f"{confidence} lies in [0, 1] where {where} is",
        ~is_outside(pl.col(confidence)) | pl.col(where).is_null(),
        (confidence, where),
        f"{TO_UNIT}; a score that only ranks has areas, but no calibration error",
    )


def _not_negative(name: str, remedy: str) -> Rule:
    return Rule(f"{name} is not negative", pl.col(name) >= 0, (name,), remedy)


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

    Returns:
        The contract, for `ef.validate`. It has no key.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> rows = pl.DataFrame({"prediction": ["yes", None], "label": ["depressed", "?"]})
        >>> ef.validate(rows, ef.selective.binary_contract())
        Traceback (most recent call last):
        evalframe.core.errors.ContractError: classes: 1 rule broken (rows are numbered from 0).
          prediction is one of the two classes: not so in 1 of 2 rows
            row 0: prediction='yes'
            Remedy: spell it 'depressed' or 'not_depressed', or set 'prediction' to null.
    """
    classes = [positive, negative]
    spelt = f"spell it {positive!r} or {negative!r}, or set {prediction!r} to null"
    is_label = pl.col(label).is_in(classes) | pl.col(prediction).is_null()
    among = "is one of the two classes"
    return Contract(
        "classes",
        (
            Column(prediction, "value", nullable=True, meaning="null is an abstention"),
            Column(label, "value", where=prediction),
        ),
        rules=(
            Rule(f"{prediction} {among}", pl.col(prediction).is_in(classes), (prediction,), spelt),
            Rule(f"{label} {among} where {prediction} is", is_label, (label, prediction), spelt),
        ),
        alike=((prediction, label),),
    )


def _gap(answered: pl.Expr, true: pl.Expr) -> pl.Expr:
    # As floats, since unsigned integers cannot hold a negative difference.
    return answered.cast(pl.Float64) - true.cast(pl.Float64)


LOSSES: Mapping[str, Callable[[pl.Expr, pl.Expr, float], pl.Expr]] = {
    "abs": lambda answered, true, scale: _gap(answered, true).abs(),
    "abs_norm": lambda answered, true, scale: _gap(answered, true).abs() / scale,
    "squared": lambda answered, true, scale: _gap(answered, true) ** 2,
    "zero_one": lambda answered, true, scale: (answered != true).cast(pl.Float64),
}
"""Losses of a prediction, a label, and the largest possible difference."""


def loss(
    name: str,
    prediction: IntoExpr = "prediction",
    label: IntoExpr = "label",
    *,
    scale: float = 3.0,
) -> pl.Expr:
    """Loss of each item, null where the system abstained.

    A row-level expression for `with_columns`, or for the role `loss` of any metric.

    Args:
        name: `abs`: |prediction - label|. `abs_norm`: the same divided by `scale`. `squared`:
            (prediction - label)^2. `zero_one`: 1 where they differ, 0 where they are equal.
        prediction: The answer; null is an abstention.
        label: The true answer. Numbers, except for `zero_one`, which takes any type that compares.
        scale: The largest possible difference, above 0; 3 is that of PHQ-8 items.

    Returns:
        Float64, named `loss`. Null where the prediction is null; NaN where there is a prediction
        but no label, so that metrics count the item as missing and not as an abstention.

    Raises:
        EvalframeError: No loss has this name, or the scale is not above 0.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"prediction": [3, None, 1], "label": [1, 2, 1]})
        >>> items.select(ef.selective.loss("abs_norm", scale=4.0)).to_series().to_list()
        [0.5, None, 0.0]
    """
    if not scale > 0:
        raise ParameterError(f"scale must be above 0, got {scale!r}; 3 is that of PHQ-8 items")
    if name not in LOSSES:
        raise UnknownNameError.of("loss", name, LOSSES)
    answered, true = as_expr(prediction), as_expr(label)
    unlabelled = pl.when(answered.is_not_null()).then(float("nan"))
    return pl.coalesce(LOSSES[name](answered, true, scale), unlabelled).alias("loss")
