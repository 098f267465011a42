"""The tables that files are written from: scores of all levels, by hand."""

import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from compat.humanstudy_bench.file_data import RUNS, results_of, table_of
from evalframe.compat.humanstudy_bench import (
    benchmark_summary,
    detailed_stats,
    result_tables,
)
from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    ParameterError,
)
from evalframe.replication.agreement.ecs import ecs
from evalframe.replication.agreement.studies import model_scores, study_scores


def test_scores_of_all_levels_by_hand():
    results = results_of(titles={"s2": "Two"})
    # Fisher's z of 0.8 and 0.2 cancel; a single test keeps its PAS; then plain means.
    # Effects 2, 0, 1 weigh 1/2, 1/4, 1/4, agents' are one more: 2 * 11/16 / (2 * 11/16 + 1).
    assert results.findings.select("finding_idx", "finding_id", "n_tests").rows() == [
        (0, "F2", 2),
        (1, "F10", 1),
        (0, "F1", 1),
    ]
    assert results.findings["pas"].to_list() == pytest.approx([0.5, 0.7, 0.9])
    assert results.studies["study_id"].to_list() == ["s1", "s2", "s3"]
    assert results.studies["ecs"].to_list() == [pytest.approx(11 / 19), None, None]
    assert results.studies["pas"].to_list()[:2] == pytest.approx([0.6, 0.9])
    assert results.studies["pas"].to_list()[2] is None
    assert results.studies["title"].to_list()[1:] == ["Two", "No tests"]
    assert results.studies.select("n_tests", "n_effects").rows() == [(3, 3), (1, 0), (0, 0)]
    model = results.models.row(0, named=True)
    assert model["pas"] == pytest.approx(0.75)
    assert (model["n_studies"], model["n_tests"], model["n_effects"]) == (2, 4, 3)
    assert (model["total_prompt_tokens"], model["total_completion_tokens"]) == (100, None)
    assert (model["total_tokens"], model["total_cost"], model["missing_rate"]) == (160, 0.25, 0.25)
    assert (model["slope"], model["intercept"]) == pytest.approx((1.0, 1.0))
    assert results.pooling.finding_rule == "fisher_z"
    assert results.pooling.study_rule == "mean"


def test_scores_are_those_of_the_package():
    results = result_tables(table_of())
    assert_frame_equal(
        results.studies.select("model", "study_id", "pas"),
        study_scores(table_of()).select("model", "study_id", "pas"),
    )
    assert_frame_equal(
        results.models.select("model", "pas"),
        model_scores(table_of()).select("model", "pas"),
    )
    assert results.models["ecs"].to_list() == ecs(table_of())["ecs"].to_list()


def test_scores_by_the_rules_of_the_original():
    results = results_of(numbers="original")
    # Weighted 3 to 1; then z of tests: half of that of 0.7, whose odds become their root.
    assert results.findings["pas"].to_list() == pytest.approx([0.65, 0.7, 0.9])
    assert results.studies["pas"].to_list()[0] == pytest.approx(1 / (1 + math.sqrt(3 / 7)))
    # Not divided by the number of tests: 2 * 2 / (2 + 2 + 1).
    assert results.studies["ecs"].to_list()[0] == pytest.approx(0.8)
    assert results.studies["total_tokens"].to_list() == [150, 10, 0]
    chosen = results_of(numbers="original", finding_rule="mean", study_rule="weighted_mean")
    assert chosen.findings["pas"].to_list() == pytest.approx([0.5, 0.7, 0.9])
    assert chosen.pooling.study_rule == "weighted_mean"


def test_nothing_to_pool_is_null_unless_asked_for():
    tests = table_of(pas=[None, 0.7, None, None])
    assert result_tables(tests).findings["pas"].to_list() == [None, 0.7, None]
    assert result_tables(tests).studies["pas"].to_list() == [0.7, None]
    fallback = result_tables(tests, missing="chance")
    assert fallback.findings["pas"].to_list() == [0.5, 0.7, 0.5]
    without = result_tables(table_of(pas=None)).models
    assert without.select("pas", "n_studies").row(0) == (None, 0)


def test_pas_comes_from_posteriors_where_there_is_no_column():
    two = table_of(pas=None, pi_human=[1.0, 0.5, 1.0, 0.0], pi_agent=[0.75, 0.5, 1.0, 1.0])
    # Effects have signs, from which the PAS would be three-way.
    three_way = result_tables(two).tests["pas"].to_list()
    assert three_way == pytest.approx([0.75, 0.25 * (0.9999**2 + 0.0001**2) + 0.25, 0.5, 0.0])
    two = two.drop("effect_d_human", "effect_d_agent")
    assert result_tables(two).tests["pas"].to_list() == [0.75, 0.5, 1.0, 0.0]
    three = {
        f"pi_{way}_{side}": [1 / 3] * 4
        for way in ("plus", "minus", "zero")
        for side in ("human", "agent")
    }
    assert result_tables(two.with_columns(**{k: pl.Series(v) for k, v in three.items()})).tests[
        "pas"
    ].to_list() == pytest.approx([1 / 3] * 4)


def test_findings_of_one_id_in_several_sub_studies():
    tests = table_of(sub_study_id=[None, "x", "x", "y"])
    assert len(result_tables(tests).findings) == 4
    merged = result_tables(tests, finding_key="finding_id").findings
    assert merged.select("sub_study_id", "finding_id", "n_tests").rows() == [
        (None, "F2", 2),
        (None, "F10", 1),
        (None, "F1", 1),
    ]


def test_findings_are_ordered_as_the_original_orders_them():
    ids = ["F10", "f2", "Fb", "F2x", "G1", "F", None, "F1", "F12345678901234567890"]
    tests = pl.DataFrame({"finding_id": ids}).with_columns(
        model=pl.lit("m"), study_id=pl.lit("s"), sub_study_id=pl.lit("b"), pas=0.5
    )
    first = tests.head(1).with_columns(sub_study_id=pl.lit(None, pl.String))
    found = result_tables(pl.concat([tests, first])).findings
    others = [None, "F", "F12345678901234567890", "Fb", "G1"]
    assert found["finding_id"].to_list() == ["F10", "F1", "F2x", "f2", "F10", *others]
    assert found["finding_idx"].to_list() == list(range(10))


@pytest.mark.parametrize(
    ("changes", "error", "told"),
    [
        ({"model": None}, MissingColumnsError, "tests needs column 'model'"),
        ({"finding_id": None}, MissingColumnsError, "tests needs column 'finding_id'"),
        ({"pas": ["x"] * 4}, ContractError, "column 'pas' is String, not a number"),
        ({"test_id": ["t"] * 4}, ContractError, "test_id are unique: not so in 1 of 4 rows"),
        ({"test_id": None}, ContractError, "finding_id are unique"),
        ({"direction_human": [2, 0, 0, 0]}, ContractError, "direction_human is 1, -1 or 0"),
        ({"model": [None] * 4}, ContractError, "model is present"),
    ],
)
def test_tests_that_break_the_contract(changes, error, told):
    with pytest.raises(error, match=told):
        result_tables(table_of(**changes))


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Int8, pl.Int64])
def test_signs_and_counts_of_any_type(dtype):
    signs = pl.Series([1, -1, 0, None], dtype=dtype)
    tests = table_of(direction_human=signs, direction_agent=signs)
    if dtype.is_float():
        unknown = pl.when(pl.col("test_id") != "second").then("direction_agent").otherwise(math.nan)
        tests = tests.with_columns(direction_agent=unknown.cast(dtype))
    runs = RUNS.with_columns(n_participants=pl.Series([40, 20, None], dtype=dtype))
    results = result_tables(tests, runs=runs)
    for side in ("human", "agent"):
        found = results.tests[f"direction_{side}"]
        assert (found.dtype, found.to_list()) == (pl.Int8, [1, -1, 0, None])
    assert results.studies["n_participants"].to_list() == [40, 20, None]
    assert len(detailed_stats(result_tables(tests))) == 4


def test_totals_of_the_largest_counts_are_exact():
    runs = RUNS.with_columns(total_tokens=pl.lit(2**53))
    assert result_tables(table_of(), runs=runs).models["total_tokens"].item() == 3 * 2**53


def test_runs_and_arguments_that_break_theirs():
    with pytest.raises(ContractError, match="tests: the table has no rows"):
        result_tables(table_of().clear())
    with pytest.raises(MissingColumnsError, match="runs needs column 'study_id'"):
        result_tables(table_of(), runs=RUNS.drop("study_id"))
    with pytest.raises(ContractError, match="model, study_id are unique"):
        result_tables(table_of(), runs=pl.concat([RUNS, RUNS]))
    for tokens in (0.5, -1, 2**53 + 2, 2**63 - 1, math.inf):
        with pytest.raises(
            ContractError, match=r"total_tokens is a whole number from 0 to 2\*\*53"
        ):
            result_tables(table_of(), runs=RUNS.with_columns(total_tokens=tokens))
    with pytest.raises(ContractError, match="column 'total_tokens' is String, not a number"):
        result_tables(table_of(), runs=RUNS.with_columns(total_tokens=pl.lit("9")))
    for titles in ({"s": chr(0xD800)}, {chr(0xD800): "t"}):
        with pytest.raises(ParameterError, match=r"titles.* has half of a character"):
            result_tables(table_of(), titles=titles)
    with pytest.raises(ParameterError, match=r"titles\['s'\] must be a text, but is 3"):
        result_tables(table_of(), titles={"s": 3})
    with pytest.raises(ParameterError, match="created_at has half of a character"):
        benchmark_summary(results_of(), created_at=chr(0xD800))
    with pytest.raises(ParameterError, match=r"numbers must be one of .*'original'"):
        result_tables(table_of(), numbers="documentd")
    with pytest.raises(ParameterError, match="rule of findings must be one of"):
        result_tables(table_of(), finding_rule="median")
    with pytest.raises(ParameterError, match="missing must be one of"):
        result_tables(table_of(), missing="zero")
    with pytest.raises(ParameterError, match=r"version must be one of \['head', 'legacy'\]"):
        benchmark_summary(results_of(), version="old")
