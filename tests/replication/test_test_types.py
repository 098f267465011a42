"""Names of tests: one reading for Bayes factors, effects, legacy, contract and designs."""

from functools import partial

import polars as pl
import pytest

from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.compat.humanstudy_bench.effects import KIND_NAMES, SOME_KINDS
from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, UnknownNameError
from evalframe.replication import known_test_types, with_evidence
from evalframe.replication.bayes_factors.table import with_bayes_factors
from evalframe.replication.contract import designs_contract, replication_contract
from evalframe.replication.effects.kinds import (
    canonical,
    form_of,
    is_form,
    is_kind,
    kind_of,
    kind_of_test,
)
from evalframe.replication.effects.table import with_effect_sizes
from evalframe.replication.effects.types import TYPES
from evalframe.replication.participants.statistics import participant_statistics

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
    "wilcoxon": None,
    "": None,
}
IN_USE = {
    "ttest_ind": ("t", "independent"),
    "Independent Samples t-Test": ("t", "independent"),
    "Two Sample t-test": ("t", "independent"),
    "ttest_rel": ("t", "paired"),
    "Paired t-test": ("t", "paired"),
    "one-sample t-test": ("t", "one"),
    "ttest_1samp": ("t", "one"),
    "Student\N{RIGHT SINGLE QUOTATION MARK}s t-test": ("t", None),
    "t": ("t", None),
    "welch": ("welch", None),
    "Welch's t-test": ("welch", None),
    "Welch Two Sample t-test": ("welch", None),
    "z": ("z", None),
    "Z-Test": ("z", None),
    "wald": ("wald", None),
    "coefficient": ("coefficient", None),
    "chi-squared": ("chi_square", None),
    "chi2_contingency": ("chi_square", None),
    "Pearson's Chi-squared test": ("chi_square", None),
    "F": ("f", None),
    "anova": ("f", None),
    "f_oneway": ("f", "one_way"),
    "Two-way ANOVA": ("f", "factorial"),
    "Pearson r": ("correlation", None),
    "pearsonr": ("correlation", None),
    "Spearman's rho": ("correlation", "ranks"),
    "mannwhitneyu": ("rank", None),
    "Wilcoxon rank-sum test": ("rank", None),
    "binomtest": ("binomial", None),
    "binom.test": ("binomial", None),
    "Pearson χ²": ("chi_square", None),
    "Wald χ²": ("wald", None),
    "Spearman\N{RIGHT SINGLE QUOTATION MARK}s \N{GREEK SMALL LETTER RHO}": ("correlation", "ranks"),
    "2\N{MULTIPLICATION SIGN}2 ANOVA": ("f", "factorial"),
}
REFUSED = {
    "wilcoxon": "write 'mannwhitneyu' for U of two groups, and of pairs 'z'",
    "Wilcoxon signed-rank test": "Write 'z', with the z of the signed ranks and n1 pairs",
    "ranksums": "Write 'z', or 'mannwhitneyu' with U",
    "fisher_exact": "Write 'p-value', or 'chi-square'",
    "Fisher's exact test": "Write 'p-value', or 'chi-square'",
    "kruskal": "Write 'p-value', with p_value",
    "rm_anova": "or 'ttest_rel' with the root of F",
    "logistic regression": "Write 'coefficient', with estimate, std_error and n_total",
    "signed rank W": "Did you mean 'signed-rank'\\? Then write 'z'",
    "Hotelling's T²": "Write 'p-value'",
    "T²": "Write 'p-value'",
    "R²": "Write 'p-value'",
    "U₁": "unknown test type",
    "two-way mixed ANOVA": "Did you mean 'mixed anova'\\? Then write 'p-value'",
    "matched pairs Wilcoxon": "Did you mean 'wilcoxon matched-pairs'\\? Then write 'z'",
    "Welch t, two-sample (R)": "Did you mean 'welch two-sample t'",
    "Student t (paired)": "Did you mean 'paired t'",
    "hazard ratio": "'hazard ratio'\\. Known:",
}
KEYS = {key: "s" for key in ("model", "study_id", "sub_study_id", "finding_id", "test_id")}


def test_names_in_any_case_and_with_any_separators():
    tests = pl.DataFrame({"test_type": [*SPELLED]})
    kinds = tests.select(kind_of("test_type")).to_series()
    assert kinds.to_list() == [*SPELLED.values()]
    known = tests.filter(kinds.is_not_null())
    for read in readers(known.with_columns(test_id=pl.int_range(pl.len()).cast(pl.String))):
        read()
    for name in tests.filter(kinds.is_null())["test_type"]:
        for read in readers(pl.DataFrame({"test_type": [name]})):
            with pytest.raises(
                (UnknownNameError, ContractError), match=r"unknown test type|is known"
            ):
                read()


def readers(tests):
    """All that reads the names of types."""
    table = tests.with_columns(
        stat=pl.lit(None, pl.Float64),
        **{key: pl.lit(value) for key, value in KEYS.items() if key not in tests.columns},
    )
    return [
        lambda: with_bayes_factors(table, None),
        lambda: with_effect_sizes(table),
        lambda: validate(table, replication_contract()),
    ]


def test_names_in_use_are_the_tests_that_they_name():
    tests = pl.DataFrame({"test_type": [*IN_USE]})
    made = tests.select(kind_of("test_type"), form=form_of("test_type"))
    assert dict(zip(IN_USE, made.rows(), strict=True)) == IN_USE


@pytest.mark.parametrize(("name", "told"), REFUSED.items())
def test_what_is_not_computed_says_what_to_write(name, told):
    row = {"test_type": [name], "stat_human": [9.0], "n1_human": [20], "n2_human": [20]}
    tests = pl.DataFrame(row)
    for read in (lambda t: with_bayes_factors(t, "human"), with_effect_sizes):
        with pytest.raises(UnknownNameError, match=told):
            read(tests)


def test_no_name_stands_for_two_types():
    spelled = [{canonical(name) for name in each.names} for each in TYPES]
    assert len(set.union(*spelled)) == sum(map(len, spelled))
    listed = known_test_types()
    assert listed["kind"].is_null().equals(listed["instead"].is_not_null())
    assert listed.select(kind_of("test_type")).to_series().equals(listed["kind"], check_names=False)


def test_a_pattern_says_the_same_as_the_table():
    every = [name for each in TYPES for name in each.names]
    tests = pl.DataFrame({"test_type": [*every, *SPELLED, *IN_USE, None]})
    tests = tests.with_columns(kind=kind_of("test_type"), form=form_of("test_type"))
    for named, pattern in (("kind", is_kind), ("form", is_form)):
        for each in {*tests[named].drop_nulls()}:
            found = tests.select(pattern("test_type", each)).to_series().fill_null(value=False)
            assert found.to_list() == [name == each for name in tests[named]], each


def test_the_original_keeps_its_own_names():
    tests = pl.DataFrame({"test_type": [*SOME_KINDS, "ttest_rel"]})
    kinds = tests.select(kind_of("test_type", KIND_NAMES)).to_series().to_list()
    assert kinds == [*SOME_KINDS.values(), "t"]
    ranks = pl.DataFrame({"test_type": "wilcoxon", "stat": [30.0], "n1": [10], "n2": [12]})
    made = [
        humanstudy_bench.with_bayes_factors(ranks.with_columns(test_type=pl.lit(name)), None)
        for name in ("wilcoxon", "mannwhitneyu")
    ]
    assert made[0]["bayes_factor"].equals(made[1]["bayes_factor"])
    with pytest.raises(UnknownNameError, match="unknown test type 'z'"):
        humanstudy_bench.with_bayes_factors(ranks.with_columns(test_type=pl.lit("z")), None)


def test_only_some_kinds_have_effects():
    tests = pl.DataFrame({"test_type": ["P Value", "Variance Ratio", "r_jzs"]})
    assert tests.select(kind_of_test("test_type")).to_series().to_list() == [
        *(None, None, "correlation")
    ]


def test_designs_read_names_alike():
    known = next(r for r in designs_contract().rules if r.columns == ("test_type",))
    types = ["Mann-Whitney U test", "p-value", "welch", "z", "two-way anova", "f_oneway"]
    named = pl.DataFrame({"test_type": types})
    assert named.select(known.broken).to_series().to_list() == [False, *[True] * 4, False]


def test_a_design_has_the_samples_that_its_type_says():
    keys = {"study_id": "s", "finding_id": "f"}
    people = {"participant_id": [1, 2, 3], "value": [3.0, 5.0, 4.0], "value_2": [1.0, 1.0, 3.0]}
    responses = pl.DataFrame({**keys, **people})

    def design(test_type, samples):
        row = {**keys, "test_type": test_type, "samples": samples}
        return pl.DataFrame(row, schema_overrides={"samples": pl.String})

    made = [
        participant_statistics(responses, design(*named), by=None)["stat_agent"].item()
        for named in (("ttest_rel", None), ("t-test", "paired"), ("ttest_rel", "paired"))
    ]
    assert made[0] == made[1] == made[2]
    with pytest.raises(ContractError, match="samples are those that the test type says"):
        participant_statistics(responses, design("ttest_rel", "independent"), by=None)


@pytest.mark.parametrize("room", [replication, humanstudy_bench])
def test_unknown_types_are_refused_with_a_suggestion(room):
    tests = pl.DataFrame({"test_type": ["t-test", "t-tset"], "stat_human": [2.0, 2.0]})
    reads = [room.with_effect_sizes, humanstudy_bench.replication_fields]
    for read in [*reads, partial(room.with_bayes_factors, side="human")]:
        with pytest.raises(UnknownNameError, match=r"'t-tset'\. Did you mean 't-test'\?"):
            read(tests)
    with pytest.raises(UnknownNameError, match="unknown test type '3'"):
        room.with_effect_sizes(pl.DataFrame({"test_type": [3]}))


FINISHED = {
    "bayes_factor_human": 9.0,
    "bayes_factor_agent": 4.0,
    "effect_d_human": 0.5,
    "effect_d_agent": 0.25,
    "n_agent": 40,
}


@pytest.mark.parametrize("test_type", ["my own model", None])
def test_what_has_its_bayes_factor_and_effect_needs_no_type(test_type):
    own = {**KEYS, "test_type": test_type, "stat_human": 2.0, "stat_agent": 1.0, **FINISHED}
    other = {"test_type": "t-test", "test_id": "t", "n1_human": 20, "n1_agent": 20}
    other |= {"stat_human": 2.0, "stat_agent": 1.0}
    tests = pl.DataFrame([own, {**dict.fromkeys(own), **KEYS, **other}])
    validate(tests, replication_contract())
    made = with_evidence(tests)
    assert made["test_type"].to_list() == [test_type, "t-test"]
    assert made["pas"].null_count() == 0
    human, agent = 90 / 91, 0.8
    same = 0.9999**2 + 0.0001**2  # both effects are positive
    assert made["pas"][0] == pytest.approx(human * agent * same + (1 - human) * (1 - agent))
    assert made.select(*FINISHED).row(0) == tuple(FINISHED.values())
    assert made["effect_d_human"][1] == pytest.approx(2 / 20**0.5)
    assert made["n_eff"].to_list() == [40, 20]


@pytest.mark.parametrize("lacking", ["bayes_factor_agent", "effect_d_human"])
def test_what_lacks_one_of_them_needs_a_type(lacking):
    row = {**KEYS, "test_type": "my own model", "stat_human": 2.0, "stat_agent": 1.0}
    tests = pl.DataFrame({**row, **FINISHED, lacking: None})
    with pytest.raises(UnknownNameError, match="unknown test type 'my own model'"):
        with_evidence(tests)
    with pytest.raises(ContractError, match="test_type is known: not so in 1 of 1 rows"):
        validate(tests, replication_contract())


def test_a_table_without_types_whose_bayes_factors_are_there():
    made = with_evidence(pl.DataFrame({"stat_human": 2.0, "stat_agent": 1.0, **FINISHED}))
    assert made["pas"].null_count() == 0


def test_p_values_read_samples_from_names():
    sides = {"n1": 16, "n2": 16, "stat": 2.0}
    tests = pl.DataFrame({"test_type": ["ttest_rel", "t-test"], **sides})
    made = tests.select(replication.p_value(n2="n2")).to_series().to_list()
    assert made == pytest.approx([0.06395, 0.05463], abs=1e-5)
