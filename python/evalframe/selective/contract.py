"""The item table of the selective family: one row per item that a participant was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.contract import Column, Contract, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

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
) -> Contract:
    """The contract of an item table, under the names its columns have.

    A null prediction is an abstention: the row counts, but its label and confidence are never used
    and may be anything. On every other row there is a label, and confidence is a number: NaN would
    sort as the highest of all, and infinity is a signal that broke.

    Args:
        confidence: Columns of confidence, higher is accepted earlier.
        prediction: What was answered; null is an abstention.
        label: What is true; None for a table without it.
        loss: A column that holds the loss, null for an abstention; prediction and label are then
            not asked for.
        participant: Who answered; None if rows do not say.
        item: What was asked; None if rows do not say.
        weight: Weights, 0 or more.
        cluster: What is resampled together, if not the participant.
        by: Columns to group by; null is a group like any other.
        key: Columns that identify a row; by default `by`, participant and item, or none if there is
            no item.
        answers: What prediction and label hold: `"number"` for a loss that subtracts them.

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
        _each_once(columns),
        rules=tuple(_not_negative(name) for name in _names(weight)),
        key=tuple(dict.fromkeys(key)),
        alike=() if loss or not label else ((prediction, label),),
    )


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


def _each_once(columns: list[Column]) -> tuple[Column, ...]:
    """A column in several roles is held to the first of them, which asks the most."""
    first = {column.name: column for column in reversed(columns)}
    return tuple(column for column in columns if first[column.name] is column)


def _not_negative(weight: str) -> Rule:
    remedy = f"correct {weight!r}, or set it to 0 for rows that are not to count"
    return Rule(f"{weight} is not negative", pl.col(weight) >= 0, (weight,), remedy)
