"""Names of tests: one reading for Bayes factors, effects, legacy, contract and designs."""

from __future__ import annotations

import polars as pl
import pytest

from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, UnknownNameError
from evalframe.replication import legacy
from evalframe.replication.bayes_factors import with_bayes_factors
from evalframe.replication.contract import designs_contract, replication_contract
from evalframe.replication.effects import with_effect_sizes
from evalframe.replication.effects.kinds import (
    FURTHER_NAMES,
    SOME_KINDS,
    is_kind,
    is_named,
    kind_of,
    kind_of_test,
)

SPELLED = {
    "T Test": "t",
    "t.test": "t",
    "T_JZS": "t",
    "Chi Square Test": "chi_square",
    "Mann-Whitney U test": "rank",
    "ANOVA test": "f",
    "Variance Ratio": "variance_ratio",
    "variance-ratio test": "variance_ratio",
    "P Value": "p_value",
    "directional p-value": "directional_p_value",
    "test": None,
    "t-tset": None,
    "": None,
}
EVERY = [*SOME_KINDS, *FURTHER_NAMES, *SPELLED, None]


@pytest.mark.parametrize(("name", "kind"), SPELLED.items())
def test_names_in_any_case_and_with_any_separators(name: str, kind: str | None) -> None:
    tests = pl.DataFrame({"test_type": [name]})
    assert tests.select(kind_of("test_type")).item() == kind
    keys = {key: "s" for key in ("model", "study_id", "sub_study_id", "finding_id", "test_id")}
    table = tests.with_columns(
        stat=pl.lit(None, pl.Float64), **{k: pl.lit(v) for k, v in keys.items()}
    )
    readers = [
        lambda: with_bayes_factors(table, None),
        lambda: with_effect_sizes(table),
        lambda: legacy.replication_fields(table),
        lambda: validate(table, replication_contract()),
    ]
    for read in readers:
        if kind is None:
            with pytest.raises(
                (UnknownNameError, ContractError), match=r"unknown test type|is known"
            ):
                read()
        else:
            read()


def test_a_pattern_says_the_same_as_the_table() -> None:
    tests = pl.DataFrame({"test_type": EVERY}).with_columns(kind=kind_of("test_type"))
    for kind in {*SOME_KINDS.values(), *FURTHER_NAMES.values()}:
        found = tests.select(is_kind("test_type", kind)).to_series().fill_null(value=False)
        assert found.to_list() == [named == kind for named in tests["kind"]], kind


def test_only_some_kinds_have_effects() -> None:
    tests = pl.DataFrame({"test_type": ["P Value", "Variance Ratio", "r_jzs"]})
    assert tests.select(kind_of_test("test_type")).to_series().to_list() == [
        *(None, None, "correlation")
    ]


def test_designs_read_names_alike() -> None:
    ranked = pl.DataFrame({"test_type": ["SPEARMAN", "spearman test", "pearson"]})
    assert ranked.select(is_named("test_type", "spearman")).to_series().to_list() == [
        *(True, True, False)
    ]
    known = next(r for r in designs_contract().rules if r.columns == ("test_type",))
    named = pl.DataFrame({"test_type": ["Mann-Whitney U test", "p-value"]})
    assert named.select(known.broken).to_series().to_list() == [False, True]


@pytest.mark.parametrize("rules", ["documented", "reference"])
def test_unknown_types_are_refused_with_a_suggestion(rules: str) -> None:
    tests = pl.DataFrame({"test_type": ["t-test", "t-tset"], "stat_human": [2.0, 2.0]})
    for read in (with_effect_sizes, legacy.replication_fields, with_bayes_factors):
        with pytest.raises(UnknownNameError, match=r"'t-tset'\. Did you mean 't-test'\?"):
            read(tests, rules=rules) if read is not with_bayes_factors else read(
                tests, "human", rules=rules
            )
    with pytest.raises(UnknownNameError, match="unknown test type '3'"):
        with_effect_sizes(pl.DataFrame({"test_type": [3]}), rules=rules)
