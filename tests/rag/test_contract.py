"""The tables of instances and responses: what they must hold, and what is said if they do not."""

import polars as pl
import pytest

from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, MissingColumnsError
from evalframe.rag.contract import instances_contract, responses_contract

INSTANCES = pl.DataFrame(
    {
        "dataset": ["en", "en", "zh_fact"],
        "id": [0, 1, 0],
        "query": ["a?", "b?", "c?"],
        "answers": [[["a"]], [], [["b", "c"], []]],
        "fake_answers": [None, None, ["d"]],
    }
)
RESPONSES = pl.DataFrame(
    {
        "model": ["m", "m", "n"],
        "dataset": ["en", "en", "en"],
        "id": [0, 1, 0],
        "noise_rate": [0.2, 0.2, 1.0],
        "passage_num": [5, 5, 0],
        "correct_passage_rate": [0.0, None, 1.0],
        "response": ["a", None, ""],
        "evaluation": [None, "Yes", None],
    }
)


def instances(**changes):
    return INSTANCES.with_columns(**{name: pl.Series(v) for name, v in changes.items()})


def responses(**changes):
    return RESPONSES.with_columns(**{name: pl.Series(v) for name, v in changes.items()})


@pytest.mark.parametrize("answers", [["a", "b", "c"], [["a"], ["b", "c"], []], [[["a"]], [], [[]]]])
def test_good_tables(answers):
    contract = instances_contract(fake_answers="fake_answers")
    assert validate(instances(answers=answers), contract).rejected == 0
    assert validate(RESPONSES, responses_contract(evaluation="evaluation")).rejected == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"id": [0, 0, 0]},
            r"dataset, id are unique: not so in 1 of 3 rows\n +row 1: dataset='en'",
        ),
        ({"query": ["a", None, "b"]}, "query is present: not so in 1"),
        ({"answers": ["a", None, "b"]}, "answers is present: not so in 1"),
        ({"answers": [["a"], ["b", None], []]}, "answers have a published shape: not so in 1"),
        ({"answers": [[["a"]], [["b", None]], [None]]}, "have a published shape: not so in 2"),
        ({"fake_answers": [["a"], ["b", None], None]}, "fake_answers hold no null: not so in 1"),
    ],
)
def test_bad_instances(changes, message):
    with pytest.raises(ContractError, match=message):
        validate(instances(**changes), instances_contract(fake_answers="fake_answers"))


def test_answers_of_another_type():
    message = r"'answers' \(accepted answers\) is Int64, not a string or a list of texts or [^\n]*$"
    with pytest.raises(ContractError, match=message):
        validate(instances(answers=[1, 2, 3]), instances_contract())
    contract = responses_contract(answers="gold")
    with pytest.raises(
        ContractError, match=r"responses: column 'gold' .* is Int64, not a string or"
    ):
        validate(responses(gold=[1, 2, 3]), contract)
    with pytest.raises(ContractError, match="'fake_answers' is Int64, not a string or a list"):
        validate(
            instances(fake_answers=[1, None, 3]), instances_contract(fake_answers="fake_answers")
        )


DOCUMENTS = {
    "positive": [["p"], [], ["p", "q"]],
    "negative": [["n"], ["n"], []],
    "positive_wrong": [None, [], ["w"]],
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, None),
        ({"positive": [[["p"], []], [], [["q"]]]}, None),
        ({"positive_wrong": [None, None, None]}, None),
        ({"positive": [["p"], None, []]}, "positive is present: not so in 1 of 3"),
        ({"negative": [["p"], None, []]}, "negative is present: not so in 1 of 3"),
        ({"positive": ["p", "q", "r"]}, "'positive' is String, not a list of texts or a list of l"),
        ({"negative": [[["p"]], [], []]}, r"is List\(List\(String\)\), not a list of texts\. Cast"),
        ({"positive_wrong": [[1], [], None]}, "is List.Int64., not a list of texts"),
    ],
)
def test_documents_of_instances(changes, message):
    contract = instances_contract(**{name: name for name in DOCUMENTS})
    table = instances(**(DOCUMENTS | changes))
    if message is None:
        assert validate(table, contract).rejected == 0
        return
    with pytest.raises(ContractError, match=message):
        validate(table, contract)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, None),
        ({"label": [None] * 3, "factlabel": [None] * 3}, None),
        ({"label": [[1, 2], [0], []]}, "label holds only 1, 0 and -1: not so in 1 of 3"),
        ({"label": [[1, None], [None], []]}, "label holds only 1, 0 and -1: not so in 2 of 3"),
        ({"label": [1, 0, 1]}, "column 'label' is Int64, not a list of integers"),
        ({"label": [[1.0], [], []]}, r"column 'label' is List\(Float64\), not a list of integers"),
        ({"factlabel": [1, 5, -1]}, "factlabel is 1 or 0: not so in 2 of 3"),
        ({"factlabel": [True, False, None]}, "column 'factlabel' is Boolean, not an integer"),
    ],
)
def test_labels_of_responses(changes, message):
    table = responses(**({"label": [[1, 0], [-1], None], "factlabel": [1, 0, None]} | changes))
    contract = responses_contract(label="label", factlabel="factlabel")
    if message is None:
        assert validate(table, contract).rejected == 0
        return
    with pytest.raises(ContractError, match=message):
        validate(table, contract)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise_rate": [0.2, 1.5, -0.1]}, r"noise_rate lies in \[0, 1\]: not so in 2 of 3"),
        ({"noise_rate": [0.2, None, 0.1]}, "noise_rate is present"),
        ({"correct_passage_rate": [2.0, None, 0.1]}, "correct_passage_rate lies in"),
        ({"passage_num": [5, -1, 0]}, "passage_num is not negative: not so in 1"),
        ({"passage_num": [5.0, 5.0, 5.0]}, "passage_num' .* is Float64, not an integer"),
        ({"response": [1, 2, 3]}, "column 'response' is Int64, not a string"),
        ({"evaluation": [1, 2, 3]}, "column 'evaluation' is Int64, not a string"),
        ({"model": ["m", None, "n"]}, "model is present"),
        (
            {"id": [0, 0, 0], "correct_passage_rate": [0.0, 0.0, 0.0]},
            "model, dataset, noise_rate, passage_num, correct_passage_rate, id are unique",
        ),
    ],
)
def test_bad_responses(changes, message):
    with pytest.raises(ContractError, match=message):
        validate(responses(**changes), responses_contract(evaluation="evaluation"))


def test_further_keys_tell_runs_apart():
    twice = pl.concat([RESPONSES, RESPONSES]).with_columns(
        temperature=pl.Series([0.2] * 3 + [None] * 3)
    )
    with pytest.raises(ContractError, match="are unique: not so in 3 of 6"):
        validate(twice, responses_contract())
    assert validate(twice, responses_contract(by="temperature")).rejected == 0


def test_columns_of_other_names():
    contract = responses_contract(
        model=None, noise_rate="r", passage_num=None, correct_passage_rate=None, answers="gold"
    )
    assert [column.name for column in contract.columns] == [
        "dataset",
        "id",
        "r",
        "response",
        "gold",
    ]
    assert contract.key == ("dataset", "r", "id")
    with pytest.raises(MissingColumnsError, match="responses needs columns 'gold', 'r'"):
        validate(RESPONSES, contract)
    named = RESPONSES.rename({"noise_rate": "r"}).with_columns(gold=pl.col("response"))
    with pytest.raises(ContractError, match="gold is present"):
        validate(named, contract)
