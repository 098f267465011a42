"""The item table of the selective family: one row per participant and item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, each_once
from evalframe.selective.binning import TO_UNIT, is_outside
from evalframe.selective.conventions import NOT_NEGATIVE

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

    Examples:
        >>> items = items_contract(confidence="token_msp", by="model")
        >>> [column.name for column in items.columns]
        ['participant_id', 'item', 'prediction', 'label', 'token_msp', 'model']
        >>> items.key
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
