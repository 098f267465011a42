"""Strict ECS, replication rates and fields of whole tables."""

import math

import polars as pl
import pytest
import scipy.stats
from polars.testing import assert_frame_equal

from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import ContractError, MissingColumnsError, ParameterError

Z = [0.1, -2.0, 1.5, None, 0.3, math.inf, 2.2, -0.4]
TESTS = pl.DataFrame(
    {
        "model": ["a"] * 8,
        "study_id": ["s1"] * 5 + ["s2"] * 3,
        "sub_study_id": ["1", "1", "2", "2", "2", "1", "1", "1"],
        "finding_id": ["F1", "F1", "F1", "F2", "F3", "F1", "F2", "F2"],
        "z_difference": Z,
    }
)


def chi2(*z):
    return scipy.stats.chi2.sf(sum(x * x for x in z), len(z))


def stouffer(*p):
    return scipy.stats.norm.sf(sum(scipy.stats.norm.isf(p)) / len(p) ** 0.5)


def test_strict_ecs_of_findings_by_both_keys():
    found = humanstudy_bench.strict_ecs(TESTS, "finding")
    wanted = [chi2(0.1, -2.0), chi2(1.5), 0.0, chi2(0.3), 0.0, chi2(2.2, -0.4)]
    assert found["ecs_strict"].to_list() == [pytest.approx(p, rel=1e-12) for p in wanted]
    assert found["n_tests"].to_list() == [2, 1, 0, 1, 0, 2]
    assert found["n_missing"].to_list() == [0, 0, 1, 0, 1, 0]
    joined = humanstudy_bench.strict_ecs(TESTS, "finding", finding_key="finding_id")
    assert joined[0, "ecs_strict"] == pytest.approx(chi2(0.1, -2.0, 1.5), rel=1e-12)


def test_strict_ecs_of_studies_and_overall():
    tests = TESTS.with_columns(pl.col("z_difference").replace(math.inf, 1.0))
    tests = tests.filter(pl.col("z_difference").is_not_null())
    p = [chi2(0.1, -2.0), chi2(1.5), chi2(0.3), chi2(1.0), chi2(2.2, -0.4)]
    studies = humanstudy_bench.strict_ecs(tests)
    assert studies.columns == [
        *("model", "study_id", "ecs_strict", "n_findings", "n_tests", "n_missing")
    ]
    assert studies["ecs_strict"].to_list() == [
        pytest.approx(stouffer(*p[:3])),
        pytest.approx(stouffer(*p[3:])),
    ]
    assert studies["n_findings"].to_list() == [3, 2]
    overall = humanstudy_bench.strict_ecs(tests, "overall")
    assert overall["ecs_strict"].item() == pytest.approx(stouffer(*p))
    alone = humanstudy_bench.strict_ecs(tests, "overall", by=())
    assert alone["ecs_strict"].item() == pytest.approx(overall["ecs_strict"].item(), rel=1e-12)
    mean = humanstudy_bench.strict_ecs(tests, "overall", study_rule="mean")
    assert mean["ecs_strict"].item() == pytest.approx(sum(p) / 5)


def test_pooling_knows_no_order_of_rows_and_no_engine():
    tests = pl.concat([TESTS.with_columns(model=pl.lit(m)) for m in ("a", "b", "c")])
    made = humanstudy_bench.strict_ecs(tests)
    shuffled = humanstudy_bench.strict_ecs(tests.sample(fraction=1.0, shuffle=True, seed=3).lazy())
    assert_frame_equal(shuffled.collect(engine="streaming"), made, rel_tol=1e-12)


def test_nothing_known_is_0():
    empty = TESTS.with_columns(z_difference=pl.lit(None, pl.Float64))
    assert humanstudy_bench.strict_ecs(empty)["ecs_strict"].to_list() == [0.0, 0.0]
    assert humanstudy_bench.strict_ecs(TESTS.clear()).is_empty()


def test_refusals():
    with pytest.raises(ParameterError, match=r"level must be one of .* Did you mean 'study'"):
        humanstudy_bench.strict_ecs(TESTS, "studies")
    with pytest.raises(ParameterError, match="finding_key must be one of"):
        humanstudy_bench.strict_ecs(TESTS, finding_key="id")
    with pytest.raises(ParameterError, match="rule must be one of"):
        humanstudy_bench.finding_consistency(rule="fisher")
    with pytest.raises(MissingColumnsError, match="strict_ecs needs column 'z'"):
        humanstudy_bench.strict_ecs(TESTS, z="z")
    with pytest.raises(MissingColumnsError, match="replication_rates needs column 'replicated'"):
        replication.replication_rates(TESTS)
    with pytest.raises(ParameterError, match="level must be one of"):
        replication.replication_rates(TESTS, "overall")
    with pytest.raises(MissingColumnsError, match="replication_fields needs column 'test_type'"):
        humanstudy_bench.replication_fields(TESTS)


def test_replicated_tests():
    tests = pl.DataFrame(
        {
            "p_value_agent": [0.01, 0.01, 0.05, None, 0.2],
            "p_value_human": [0.2, 0.01, 0.01, 0.01, None],
            "direction_match": [True, True, True, True, False],
        }
    )
    made = tests.select(
        usual=replication.replicated(),
        hub=replication.replicated(p_value_human="p_value_human"),
        strict=replication.replicated(significance_level=pl.lit(0.001)),
        original=humanstudy_bench.replicated(),
    )
    assert made["usual"].to_list() == [True, True, False, None, False]
    assert made["hub"].to_list() == [False, True, False, None, None]
    assert made["strict"].to_list() == [False, False, False, None, False]
    assert made["original"].to_list() == [True, True, False, False, False]


def test_rates_of_findings_studies_and_models():
    tests = TESTS.with_columns(
        replicated=pl.Series([True, False, True, None, True, False, False, True]),
        weight=pl.Series([3.0, 1, 1, 1, 1, 1, 1, None]),
        importance=pl.Series([2.0, 2, 1, 1, 1, 1, 1, 1]),
    )
    roles = {"test_weight": "weight", "finding_weight": "importance"}
    findings = replication.replication_rates(tests, "finding", **roles)
    assert findings["replication_rate"].to_list() == [0.75, 1.0, None, 1.0, 0.0, 0.5]
    studies = replication.replication_rates(tests, "study", **roles)
    assert studies["replication_rate"].to_list() == [(1.5 + 1 + 1) / 4, 0.25]
    assert studies["passes"].to_list() == [True, False]
    model = replication.replication_rates(tests, **roles).row(0, named=True)
    assert model == {
        "model": "a",
        "replication_rate": (0.875 + 0.25) / 2,
        "pass_rate": 0.5,
        "n_studies": 2,
        "n_tests": 7,
        "n_missing": 1,
    }
    original = humanstudy_bench.replication_rates(tests, "finding", **roles)
    assert original["replication_rate"].to_list() == [0.75, 1.0, 0.0, 1.0, 0.0, 0.5]


def test_tests_with_unusable_weights_or_results_are_counted():
    tests = TESTS.head(4).with_columns(
        replicated=pl.Series([1.0, 0.0, math.nan, 1.0]), weight=pl.Series([3.0, -1.0, 1.0, 1.0])
    )
    model = replication.replication_rates(tests, test_weight="weight").row(0, named=True)
    # The first and the last finding of the study have one test each, the second none that is known.
    assert model["replication_rate"] == 1.0
    assert (model["n_tests"], model["n_missing"]) == (2, 2)
    unknown = replication.replication_rates(tests[2:3], "study").row(0, named=True)
    assert unknown["replication_rate"] is unknown["passes"] is None
    assert (unknown["n_tests"], unknown["n_missing"]) == (0, 1)
    infinite = tests.with_columns(importance=math.inf)
    rate = replication.replication_rates(infinite, finding_weight="importance")
    assert rate["replication_rate"].item() is None


@pytest.mark.parametrize(
    ("by", "text"),
    [
        ("n_tests", "the result has a column 'n_tests' of its own"),
        (["model", "study_id"], "the result has a column 'study_id' of its own"),
        (["model", "model"], "keys must have different names"),
        (3, "expected a column name or a Polars expression, got 3"),
    ],
)
def test_group_keys_that_are_none(by, text):
    tests = TESTS.with_columns(n_tests=1, replicated=True)
    for function in (humanstudy_bench.strict_ecs, replication.replication_rates):
        with pytest.raises(ParameterError, match=text):
            function(tests, by=by)


def test_roles_that_are_no_columns():
    with pytest.raises(ParameterError, match="expected a column name or a Polars expression"):
        humanstudy_bench.strict_ecs(TESTS, z=3)
    with pytest.raises(ParameterError, match="finding_key must be one of"):
        replication.replication_rates(TESTS, finding_key="id")


def test_fields_take_numbers_alone_and_leave_other_columns():
    tests = pl.DataFrame({"test_type": ["t-test"], "direction_human": ["positive"]})
    with pytest.raises(ContractError, match="'direction_human' is String, not a number"):
        humanstudy_bench.replication_fields(tests)
    with pytest.raises(ContractError, match="'stat_human' is String, not a number"):
        humanstudy_bench.replication_fields(tests.select("test_type", stat_human=pl.lit("abc")))
    nan = tests.with_columns(direction_human=math.nan, stat_human=2.0, n1_human=20)
    own = nan.with_columns(pl.lit("u").alias(":kind"), pl.lit("v").alias(":own:stat_human"))
    made = humanstudy_bench.replication_fields(own)
    assert made.select(":kind", ":own:stat_human").row(0) == ("u", "v")
    assert made["direction_human"].item() == 1


def sides():
    return pl.DataFrame(
        {
            "test_type": ["t-test", "f-test", "binomial", "p-value"],
            "report_human": ["t(79) = 2.66, p = .01", "F(1, 78) = 4, p < .06", "24 of 48", "p = 1"],
            "stat_human": [None, None, 24.0, None],
            "n_human": [None, None, 48, None],
            "p0_human": [None, None, 0.25, None],
            "stat_agent": [-2.66, 4.0, 12.0, 2.0],
            "n1_agent": [40, 40, None, None],
            "n2_agent": [41, 40, None, None],
            "n_agent": [None, None, 48, None],
            "p0_agent": [None, None, 0.25, None],
            "direction_human": [None, 1, None, None],
        }
    )


def test_fields_of_a_table_without_statistics():
    bare = humanstudy_bench.replication_fields(pl.DataFrame({"test_type": ["t-test"]}))
    row = bare.row(0, named=True)
    assert row["p_value_human"] is row["z_difference"] is row["effect_size_agent"] is None
    assert row["replication_consistency"] == 0.0
    assert row["direction_human"] == 1
    assert row["n_eff"] == 1
    assert humanstudy_bench.replication_fields(sides().clear()).is_empty()


def test_fields_by_every_engine():
    many = pl.concat([sides().with_columns(row=pl.lit(i)) for i in range(100)])
    made = humanstudy_bench.replication_fields(many.lazy())
    streamed = made.collect(engine="streaming")
    assert_frame_equal(streamed, made.collect(engine="in-memory"), rel_tol=1e-12)
    assert streamed["row"].is_sorted()


@pytest.mark.parametrize(
    ("pi", "significant", "repaired"),
    [(0.8, True, 0.8), (0.5, False, 0.5), (0.8, False, 0.04 / 1.04), (0.2, True, 25 / 26)],
)
def test_repairs(pi, significant, repaired):
    frame = pl.DataFrame({"pi_human": [pi], "is_significant_human": [significant]})
    assert frame.select(humanstudy_bench.repaired_posterior()).item() == pytest.approx(repaired)
