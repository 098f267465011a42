"""The contract of items."""

import math

import polars as pl
import pytest

from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, MissingColumnsError
from evalframe.selective.contract import items_contract

ITEMS = pl.DataFrame(
    {
        "participant_id": [1, 1, 2, 2],
        "item": ["Sleep", "Tired", "Sleep", "Tired"],
        "prediction": [0, None, 3, 1],
        "label": [0, None, 2, 1],
        "confidence": [0.9, math.nan, 0.5, 1.0],
    }
)


def replaced(column, *values):
    return ITEMS.with_columns(pl.Series(column, values, strict=False))


def test_abstained_rows_need_neither_label_nor_confidence():
    assert validate(ITEMS, items_contract()).rejected == 0


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            replaced("confidence", 0.9, 0.8, math.nan, 1.0),
            r"confidence is finite where prediction is: not so in 1 of 4 rows\n"
            r"    row 2: participant_id=2, item='Sleep', confidence=nan, prediction=3",
        ),
        (replaced("confidence", 0.9, 0.8, -math.inf, 1.0), "confidence is finite .*\n.*=-inf"),
        (replaced("confidence", 0.9, 0.8, None, 1.0), "confidence is present where prediction is"),
        (
            replaced("label", 0, 1, None, 1),
            r"label is present where prediction is: .*\n    row 2: ",
        ),
        (replaced("label", 0.0, 1.0, math.nan, 1.0), "label is finite where prediction is"),
        (replaced("prediction", 0.0, math.nan, 3.0, 1.0), r"prediction is finite: .*\n    row 1: "),
        (replaced("item", "Sleep", None, "Sleep", "Tired"), "item is present"),
        (replaced("participant_id", 1, None, 2, 2), "participant_id is present"),
        (
            replaced("item", "Sleep", "Sleep", "Sleep", "Tired"),
            r"participant_id, item are unique: not so in 1 of 4 rows\n"
            r"    row 1: participant_id=1, item='Sleep' \(as row 0\)",
        ),
    ],
)
def test_bad_rows(frame, message):
    with pytest.raises(ContractError, match=message):
        validate(frame, items_contract())


@pytest.mark.parametrize(
    ("column", "dtype", "message"),
    [
        (
            "confidence",
            pl.String,
            r"'confidence' \(higher is accepted earlier\) is String, not a num",
        ),
        ("participant_id", pl.Float64, r"'participant_id' is Float64, .*cast\(pl.Int64\)"),
        (
            "label",
            pl.String,
            "columns 'prediction' and 'label' are compared, but are Int64 and Str",
        ),
    ],
)
def test_wrong_types(column, dtype, message):
    with pytest.raises(ContractError, match=message):
        validate(ITEMS.cast({column: dtype}), items_contract())


def test_words_are_answers_but_cannot_be_subtracted():
    words = ITEMS.cast({"prediction": pl.String, "label": pl.String})
    assert validate(words, items_contract()).rows == 4
    with pytest.raises(ContractError, match=r"'prediction' .* is String, not a number"):
        validate(words, items_contract(answers="number"))


def test_messages_speak_of_the_columns_that_the_user_named():
    frame = ITEMS.rename({"prediction": "answer", "confidence": "token_msp"})
    assert validate(frame, items_contract(prediction="answer", confidence="token_msp")).rows == 4
    with pytest.raises(MissingColumnsError, match=r"'token_mps'; .* Did you mean 'token_msp'\?"):
        validate(frame, items_contract(prediction="answer", confidence=["token_msp", "token_mps"]))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0, -0.5, 0.0], "w is not negative: .*\n    row 2: .* w=-0.5"),
        ([1.0, math.inf, 1.0, 0.0], "w is finite: .*\n    row 1: "),
        ([1.0, None, 1.0, 0.0], "w is present: .*\n    row 1: "),
    ],
)
def test_weights_count_on_every_row(weights, message):
    with pytest.raises(ContractError, match=message):
        validate(ITEMS.with_columns(w=pl.Series(weights)), items_contract(weight="w"))


def test_a_loss_column_stands_for_prediction_and_label():
    contract = items_contract(loss="loss")
    frame = ITEMS.drop("prediction", "label").with_columns(loss=pl.Series([0.0, None, 1.0, 0.0]))
    assert validate(frame, contract).rows == 4
    with pytest.raises(ContractError, match=r"loss is finite: not so in 1 of 4 .*\n    row 1: "):
        validate(frame.with_columns(pl.col("loss").fill_null(math.nan)), contract)
    with pytest.raises(ContractError, match="confidence is finite where loss is"):
        validate(frame.with_columns(pl.col("loss").fill_null(0.5)), contract)


def test_percent_are_refused_where_confidences_are_probabilities():
    percent = replaced("confidence", 90, 870, 50, -1)
    assert validate(percent, items_contract()).rows == 4  # areas rank by any score
    contract = items_contract(probability=True)
    message = (
        r"confidence lies in \[0, 1\] where prediction is: not so in 3 of 4 rows\n    row 0: .*=90"
        r"[^!]*Remedy: divide percent by 100; a score that only ranks has areas"
    )
    with pytest.raises(ContractError, match=message):
        validate(percent, contract)
    assert validate(percent.with_columns(pl.col("confidence").abs() / 870), contract).rows == 4
    with pytest.raises(ContractError, match="1 rule broken"):  # not two
        validate(replaced("confidence", 0.9, 0.8, math.inf, 1.0), contract)


def test_the_key_follows_the_groups():
    two_modes = pl.concat(ITEMS.with_columns(mode=pl.lit(mode)) for mode in ("few", None))
    with pytest.raises(ContractError, match="participant_id, item are unique: not so in 4 of 8"):
        validate(two_modes, items_contract())
    assert validate(two_modes, items_contract(by="mode")).rows == 8
    assert validate(two_modes, items_contract(key=("mode", "participant_id", "item"))).rows == 8
    assert validate(two_modes, items_contract(item=None)).rows == 8


def test_tables_without_participants_or_labels():
    frame = ITEMS.select("prediction", "confidence", question=pl.Series(["q1", "q2", "q3", None]))
    anonymous = items_contract(participant=None, item=None, label=None)
    assert validate(frame, anonymous).rows == 4
    with pytest.raises(ContractError, match="question is present"):
        validate(frame, items_contract(participant=None, item=None, label=None, cluster="question"))


def test_a_column_in_two_roles_keeps_the_stricter():
    contract = items_contract(by="participant_id", cluster="participant_id")
    assert contract.key == ("participant_id", "item")
    with pytest.raises(ContractError, match=r"1 rule broken.*\n  participant_id is present"):
        validate(replaced("participant_id", 1, None, 2, 2), contract)
