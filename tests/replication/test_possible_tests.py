"""What is impossible of tests: the contract and `with_bayes_factors` never disagree."""

import re

import polars as pl
import pytest

from evalframe.core.contract import validate
from evalframe.core.errors import ContractError
from evalframe.replication.bayes_factors.table import with_bayes_factors
from evalframe.replication.contract import replication_contract

KEYS = {"model": "m", "study_id": "s", "sub_study_id": "a", "finding_id": "F", "test_id": "t"}

CASES = [
    # type, columns, whether it is possible
    ("correlation", {"stat": 0.5, "n": 2}, False),
    ("correlation", {"stat": 0.5, "n": 3}, True),
    ("correlation", {"stat": 0.5, "n": None, "n_total": 2}, False),
    ("correlation", {"stat": 0.5, "n": 9, "n1": 0}, True),
    ("correlation", {"stat": 0.5, "n1": 2}, False),
    ("correlation", {"stat": -1.5}, False),
    ("f-test", {"stat": 4.0, "df1": 2, "df2": 20, "n_total": 3}, False),
    ("f-test", {"stat": 4.0, "df1": 2, "df2": 20, "n_total": 4}, True),
    ("f-test", {"stat": 4.0, "df1": 0.5, "df2": 20}, True),
    ("f-test", {"stat": 4.0, "df1": 0, "df2": 20}, False),
    ("f-test", {"stat": None, "df1": 0, "df2": 20}, True),
    ("binomial", {"k": 2.5, "n": 7}, False),
    ("binomial", {"stat": 2.5, "n1": 7}, False),
    ("binomial", {"k": 2, "n": 7.5}, False),
    ("binomial", {"k": 2, "n": 7, "p0": 0}, False),
    ("binomial", {"k": 2, "n": 7, "p0": None}, True),
    ("binomial", {"k": 8, "n": 7}, False),
    ("chi-square", {"stat": 3.0, "n": 0.5}, False),
    ("chi-square", {"stat": 3.0, "df": 0, "n": 9}, False),
    ("chi-square", {"stat": 3.0, "df1": 1, "df": 0, "n": 9}, True),
    ("chi-square", {"stat": 3.0, "a": -1, "b": 3, "c": 2, "d": 3}, False),
    ("chi-square", {"a": -1, "b": 3, "c": 2, "d": 3}, False),
    ("chi-square", {"a": 1, "b": 3, "c": 2, "d": 3}, True),
    ("t-test", {"stat": 2.0, "n1": 1}, False),
    ("t-test", {"stat": 2.0, "n1": 1, "n2": 2}, True),
    ("t-test", {"stat": 2.0, "n1": 0, "n2": 5}, False),
    ("t-test", {"stat": 2.0, "n1": 9, "n2": 0, "independent": False}, True),
    ("mannwhitneyu", {"stat": 101.0, "n1": 10, "n2": 10}, False),
    ("P Value", {"stat": 1.5}, False),
    ("p-value", {"p_value": 0.5}, True),
    ("variance ratio", {"stat": 2.0, "df1": 4, "df2": 0}, False),
]


def impossible(read):
    """The rows that the error of a function names, up to three of each rule."""
    with pytest.raises(ContractError) as told:
        read()
    return {int(row) for row in re.findall(r"row ([0-9]+):", str(told.value))}


@pytest.mark.parametrize("side", ["human", "agent"])
def test_both_say_the_same(side):
    rows = [
        {**KEYS, "test_id": str(row), "test_type": test_type}
        | {f"{name}_{side}": value for name, value in columns.items()}
        for row, (test_type, columns, _) in enumerate(CASES)
    ]
    tests = pl.DataFrame(rows, infer_schema_length=None, strict=False)
    expected = {row for row, (*_, possible) in enumerate(CASES) if not possible}
    assert impossible(lambda: with_bayes_factors(tests, side)) == expected
    assert impossible(lambda: validate(tests, replication_contract())) == expected
    rest = tests[[row for row in range(len(CASES)) if row not in expected]]
    assert len(with_bayes_factors(rest, side)) == len(rest)
    assert validate(rest, replication_contract()).rejected == 0


def test_a_negative_cell_breaks_one_rule_of_each():
    cells = {f"{cell}_human": [-1, 3] for cell in "ab"} | {f"{c}_human": [3, 3] for c in "cd"}
    tests = pl.DataFrame({**KEYS, "test_type": "chi2", "test_id": ["t", "u"], **cells})
    with pytest.raises(ContractError, match=r"(?s)2 rules broken.*a_human is not.*b_human is not"):
        validate(tests, replication_contract())
    text = r"(?s)1 rule broken.*a, b, c and d are not negative, in chi square tests \(human\): not"
    with pytest.raises(ContractError, match=text):
        with_bayes_factors(tests, "human")
    # Of tests without tables, cells say nothing.
    with_bayes_factors(
        tests.with_columns(test_type=pl.lit("binomial"), stat_human=3, n_human=9), "human"
    )


def test_a_contract_asks_nothing_of_columns_that_are_not_there():
    sizes, values = ("n", "n1", "n2", "n_total"), ("stat", "k", "p_value", "stat")
    for first, second in zip(sizes, values, strict=True):
        tests = pl.DataFrame({**KEYS, "test_type": ["t-test"], f"{first}_human": [5.0]})
        tests = tests.with_columns(pl.lit(0.5).alias(f"{second}_agent"))
        assert validate(tests, replication_contract()).rejected == 0
    assert validate(pl.DataFrame({**KEYS, "stat_human": [2.0]}), replication_contract()).rows == 1
