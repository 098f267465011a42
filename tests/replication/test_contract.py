"""The contract of tests."""

import re

import polars as pl
import pytest

from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, MissingColumnsError
from evalframe.replication.contract import (
    designs_contract,
    missing_tests,
    replication_contract,
    responses_contract,
)
from replication.participant_data import design_of, responses_of

KEY = {"model": "m", "study_id": "s1", "sub_study_id": "a", "finding_id": "F1", "test_id": "t"}
T = {"stat_human": 2.0, "n1_human": 20, "n2_human": 20}
F = {"stat_agent": 4.0, "df1_agent": 1, "df2_agent": 78, "n_total_agent": 80}
CHI = {"stat_human": 4.0, "df1_human": 1, "n_total_human": 80}
POSTERIORS = {"pi_plus_agent": 0.7, "pi_minus_agent": 0.1, "pi_zero_agent": 0.2}


def table_of(cases):
    """A row for each type and its columns, numbered as tests."""
    rows = [
        {**KEY, "test_id": str(row), "test_type": test_type, **columns}
        for row, (test_type, columns, *_) in enumerate(cases)
    ]
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


GOOD = [
    ("t-test", T),
    ("t_test", {"stat_human": -300.0, "n1_human": 2, "n2_human": None}),
    ("T test", {"stat_human": 2.0, "n1_human": 1, "n2_human": 2, "p_value_human": 0.0}),
    ("ANOVA", F),
    ("correlation", {"stat_human": -1.0, "n_human": 3}),
    ("chi-square", {**CHI, "a_human": 0, "b_human": 2, "c_human": 3, "d_human": 75}),
    ("mannwhitneyu", {"stat_agent": 0.0, "n1_agent": 3, "n2_agent": 4}),
    ("binomial", {"k_agent": 7, "n_agent": 7, "p0_agent": 0.5, "direction_agent": -1}),
    ("p-value", {"p_value_human": 0.03}),
    ("2x3 anova", F),
    ("welch", T | {"df_human": 31.7}),
    ("wald", CHI),
    ("z", {"stat_human": -2.0, "n1_human": 1}),
    ("coefficient", {"estimate_human": 1.0, "std_error_human": 0.5, "n_total_human": 90}),
    ("coefficient", {"stat_human": 2.0, "n_human": 90}),
    (None, {"pi_human": 1.0, "pi_agent": 0.0, "pas": 0.0}),
    (None, {**POSTERIORS, "prior_odds_human": 0.1, "test_weight": 0.0}),
    ("t-test", {"stat_human": float("nan"), "n1_human": None, "n2_human": float("nan")}),
    ("pearson", {"stat_human": float("nan"), "pas": float("nan")}),
    (None, {"pi_plus_agent": None, "pi_minus_agent": 0.9, "pi_zero_agent": 0.9}),
]


def test_good_and_missing_values_pass():
    assert validate(table_of(GOOD), replication_contract()).rows == len(GOOD)


BAD = [
    ("t-tset", {}, "test_type is known: not so in 1 of 33 rows"),
    ("t-test", T | {"n1_human": 1, "n2_human": 1}, "n1 and n2 are 1 or more, and 3 or more"),
    ("t-test", T | {"n1_human": 1, "n2_human": None}, "n1 is 2 or more without n2"),
    ("t-test", T | {"n2_human": -3}, "n2_human is not negative"),
    ("anova", F | {"stat_agent": -0.1}, "stat is an F, not negative"),
    ("anova", F | {"df1_agent": 0}, "df1 is above 0"),
    ("f-test", F | {"df2_agent": 0}, "df2 is above 0"),
    ("f-test", F | {"n_total_agent": 2}, r"n_total is above df1 \+ 1"),
    ("pearson", {"stat_agent": 1.01}, "stat is a correlation from -1 to 1"),
    ("spearman", {"stat_human": -3.2}, "give r itself"),
    ("pearson", {"stat_human": 0.1, "n_human": 2}, "n is 3 or more"),
    ("2x3 anova", F | {"n_total_agent": None}, "n_total is known, as it does not follow"),
    ("welch", T, "df is known, as Welch's does not follow"),
    ("wald", CHI | {"stat_human": -1.0}, "write 'z' for an estimate over its standard error"),
    ("z", T | {"n2_human": 0}, "n1 and n2 are 1 or more, in z tests"),
    ("coefficient", {"estimate_human": 1.0, "std_error_human": -1.0}, "std_error_human is not"),
    ("chi2", CHI | {"stat_human": -1.0}, "stat is a chi-square, not"),
    ("chi2", CHI | {"df1_human": 0}, "df1 is above 0"),
    ("chi2", {"b_human": -1.0}, "b_human is not negative"),
    ("mannwhitneyu", {"stat_agent": 13.0, "n1_agent": 3, "n2_agent": 4}, "give U, not z"),
    ("mannwhitneyu", {"stat_agent": 0.0, "n1_agent": 0, "n2_agent": 4}, "n1 and n2 are 1 or"),
    ("binomial", {"k_human": 8, "n_human": 7}, "k is a whole number from 0 to n"),
    ("binomial", {"k_human": -1, "n_human": 7}, "k_human is not negative"),
    ("binomial", {"p0_human": 1.5}, r"p0_human lies in \[0, 1\]"),
    (None, {"p_value_agent": 1.01}, r"p_value_agent lies in \[0, 1\]"),
    (None, {"pas": 1.0001}, r"pas lies in \[0, 1\]"),
    (None, {"pi_human": -0.1}, r"pi_human lies in \[0, 1\]"),
    (None, POSTERIORS | {"pi_zero_agent": 0.3}, "posteriors sum to 1"),
    (None, {"direction_human": 2}, "direction_human is 1, -1 or 0"),
    (None, {"prior_odds_human": -1.0}, "prior_odds_human is not negative"),
    (None, {"test_weight": -1.0}, "test_weight is not negative"),
    (None, {"finding_id": None}, "a study has findings"),
    (None, {"study_id": None}, "study_id is present"),
]


def test_bad_values_are_told():
    with pytest.raises(ContractError) as told:
        validate(table_of(BAD), replication_contract(), examples=len(BAD))
    rules = re.split(r"\n  (?=\S)", str(told.value))
    for row, (_, _, rule) in enumerate(BAD):
        assert any(re.search(rule, each) and f" row {row}:" in each for each in rules), rule
    with pytest.raises(ContractError, match="'stat_human' is String, not a number"):
        validate(table_of([(None, {"stat_human": "t = 2"})]), replication_contract())


def test_the_error_lists_rows_and_names():
    table = pl.DataFrame({**KEY, "test_type": ["t-test", "ttset"], "test_id": ["t", "u"]})
    with pytest.raises(ContractError) as told:
        validate(table, replication_contract())
    assert "row 1: model='m', study_id='s1'" in str(told.value)
    assert "test_type='ttset'" in str(told.value)
    assert "Remedy: write one of anova, binomial, chi-square" in str(told.value)


def test_repeats_are_found():
    table = pl.DataFrame({**KEY, "test_type": ["t-test"] * 2, "run": [1, 2]})
    with pytest.raises(ContractError, match=r"are unique.*\n.*\(as row 0\)"):
        validate(table, replication_contract())
    assert validate(table, replication_contract(by="run")).rejected == 0
    with pytest.raises(MissingColumnsError, match="'sub_study_id'"):
        validate(table.drop("sub_study_id"), replication_contract(by="run"))
    contract = replication_contract(model=None, sub_study_id=None, test_id=None, by=["run"])
    assert validate(table.drop("sub_study_id", "test_id", "model"), contract).rows == 2


def test_rows_can_be_set_apart(tmp_path):
    table = pl.DataFrame({**KEY, "test_id": ["t", "u"], "pas": [0.5, 1.5]})
    rejected = tmp_path / "rejected.parquet"
    found = validate(table, replication_contract(), on_invalid="quarantine", quarantine=rejected)
    assert (found.rejected, found.valid.collect()["test_id"].to_list()) == (1, ["t"])
    assert pl.read_parquet(rejected)["broken_rules"].to_list() == [["pas lies in [0, 1]"]]


def test_published_human_tests_pass(shared):
    published = pl.read_parquet(shared / "data/replication/human_tests.parquet")
    names = ["stat", "n1", "n2", "df1", "df2", "n_total", "p0", "independent", "direction"]
    tests = published.select(
        "study_id",
        "sub_study_id",
        "finding_id",
        pl.col("test_idx").alias("test_id"),
        pl.col("bf_family").alias("test_type"),
        *(pl.col(name).alias(f"{name}_human") for name in names),
        *(pl.col(f"pi_h_{way}").alias(f"pi_{way}_human") for way in ("plus", "minus", "zero")),
    )
    # A finding without human sizes, for which the original takes the agents'.
    known = tests.filter(~(pl.col("n1_human") + pl.col("n2_human") == 0).fill_null(value=False))
    assert len(known) == 146
    assert validate(known, replication_contract(model=None)).rejected == 0
    with pytest.raises(
        ContractError,
        match=r"n1 and n2 are 1 or more, and 3 or more together, in t tests \(human\)",
    ):
        validate(tests, replication_contract(model=None))


def test_responses_and_designs():
    import numpy as np

    responses = responses_of(np.random.default_rng(0), 5).with_columns(weight=pl.lit(1.0))
    contract = responses_contract(model=None, value_2="value_2", weight="weight")
    assert validate(responses, contract).rejected == 0
    assert validate(design_of(), designs_contract()).rejected == 0
    with pytest.raises(ContractError, match=r"participant_id.* are unique"):
        validate(pl.concat([responses, responses.head(1)]), contract)
    with pytest.raises(ContractError, match="weight is whole"):
        validate(responses.with_columns(weight=0.5), contract)
    with pytest.raises(ContractError, match="value is finite"):
        validate(responses.with_columns(value=float("inf")), contract)
    with pytest.raises(ContractError, match="participant_id is present"):
        validate(responses.with_columns(participant_id=None), contract)
    yes = responses.with_columns(value=pl.col("value") > 0)
    assert validate(yes, contract).rejected == 0


def test_missing_tests_are_told():
    rows = [("a", "s1", None), ("a", "s1", "F2"), ("b", "s1", None), ("c", "s1", "F2")]
    tests = pl.DataFrame(rows, schema=["model", "study_id", "finding_id"], orient="row")
    assert missing_tests(tests.lazy()).collect().rows() == [("b", "s1", "F2"), ("c", "s1", None)]
    assert missing_tests(tests.filter(model="a")).is_empty()
    with pytest.raises(MissingColumnsError, match="'who'"):
        missing_tests(tests, model="who")
