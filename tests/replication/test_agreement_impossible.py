"""Scores of what is impossible, of rows without a study, and of tests that stand for several."""

import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import ParameterError
from evalframe.replication import inverse_variance_pas
from evalframe.replication.agreement.ecs import ecs
from evalframe.replication.agreement.findings import finding_scores
from evalframe.replication.agreement.metrics import mean_pas, pooled_pas
from evalframe.replication.agreement.studies import domain_scores, model_scores, study_scores
from evalframe.replication.uncertainty.differences import model_differences

RULES = ("fisher_z", "mean_z", "weighted_mean", "mean")


def of_a_finding(**columns):
    """Tests of one finding."""
    count = len(next(iter(columns.values())))
    return pl.DataFrame({"study_id": ["s"] * count, "finding_id": ["F"] * count, **columns})


def of_findings(parts):
    """Tests of several findings."""
    names = [pl.lit(f"F{place}").alias("finding_id") for place in range(len(parts))]
    return pl.concat(
        [part.with_columns(name) for part, name in zip(parts, names, strict=True)], how="diagonal"
    )


def each(frame):
    """Of every finding: PAS, tests that count, and tests that do not."""
    return frame.sort("finding_id").select("pas", "n_tests", "n_missing").rows()


def one(frame):
    """The only row: PAS, tests that count, and tests that do not."""
    return frame.select("pas", "n_tests", "n_missing").row(0)


@pytest.mark.parametrize("rule", RULES)
def test_an_impossible_pas_is_missing_by_every_rule(rule):
    impossible = [1.5, -0.5, math.inf, -math.inf, math.nan, None, 1.0 + 1e-6]
    beside = [of_a_finding(pas=[bad, 0.25]) for bad in impossible]
    alone = [of_a_finding(pas=pl.Series([bad], dtype=pl.Float64)) for bad in impossible]
    assert each(finding_scores(of_findings(beside), rule=rule)) == [(0.25, 1, 1)] * 7
    found = finding_scores(of_findings(alone), rule=rule, missing="skip")
    assert each(found) == [(None, 0, 1)] * 7
    # Rounding is not impossible.
    rounded = of_findings([of_a_finding(pas=[share]) for share in (1.0 + 1e-12, -1e-12)])
    assert each(finding_scores(rounded, rule=rule)) == [(1.0, 1, 0), (0.0, 1, 0)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["n_eff", "test_weight", "finding_weight"])
def test_a_test_with_an_impossible_weight_is_missing_by_every_rule(rule, name):
    impossible = [math.inf] if name == "n_eff" else [math.inf, -1.0]
    parts = [of_a_finding(pas=[0.75, 0.25], **{name: [bad, 2.0]}) for bad in impossible]
    count = len(impossible)
    assert each(finding_scores(of_findings(parts), rule=rule)) == [(0.25, 1, 1)] * count
    first = of_findings([part[:1] for part in parts])
    found = finding_scores(first, rule=rule, missing="skip")
    assert each(found) == [(None, 0, 1)] * count
    assert found["z_pas"].null_count() == count


@pytest.mark.parametrize("rule", RULES)
def test_a_weight_that_is_not_given_is_1(rule):
    for name in ("n_eff", "test_weight"):
        tests = of_a_finding(pas=[0.5, 0.5], **{name: [math.nan, 1.0]})
        assert one(finding_scores(tests, rule=rule)) == (0.5, 2, 0)


def test_posteriors_that_do_not_sum_to_1_are_missing():
    ways = ("pi_plus", "pi_minus", "pi_zero")
    ones = {f"{way}_{side}": [1.0] for way in ways for side in ("human", "agent")}
    assert one(finding_scores(of_a_finding(**ones), missing="skip")) == (None, 0, 1)
    assert one(humanstudy_bench.finding_scores(of_a_finding(**ones)))[0] == 3.0
    # Nor do they make a ceiling for a PAS that is given.
    found = finding_scores(of_a_finding(**ones, pas=[0.75]), missing="skip")
    assert found.select("pas", "pas_normalised").row(0) == (0.75, None)


def test_the_original_computes_with_the_impossible():
    assert one(humanstudy_bench.finding_scores(of_a_finding(pas=[1.5])))[0] == 1.5
    tests = of_a_finding(pas=[0.7, 0.7], test_weight=[-1.0, 2.0])
    found = humanstudy_bench.finding_scores(tests, rule="weighted_mean")
    assert one(found) == (pytest.approx(0.7), 2, 0)


FINDINGS = pl.DataFrame(
    {
        "study_id": ["s", "s"],
        "finding_id": ["F1", "F2"],
        "pas": [0.75, 0.25],
        "n_tests": [3, 2],
        "n_missing": [0, 1],
    }
)


@pytest.mark.parametrize("rule", ["mean", "mean_z", "weighted_mean"])
def test_an_impossible_finding_does_not_count_in_its_study(rule):
    for name, bad in (
        ("pas", 1.5),
        ("pas", math.inf),
        ("finding_weight", -1.0),
        ("finding_weight", math.inf),
    ):
        findings = FINDINGS.with_columns(pl.Series(name, [bad, 0.25]))
        found = study_scores(findings, rule=rule).row(0, named=True)
        assert found["pas"] == pytest.approx(0.25), name
        assert (found["n_findings"], found["n_tests"], found["n_missing"]) == (1, 2, 4)


def test_an_impossible_study_does_not_count_in_its_model():
    for bad in (1.5, math.inf, math.nan, None):
        studies = pl.DataFrame({"study_id": ["s1", "s2"], "pas": [bad, 0.25]}, strict=False)
        found = model_scores(studies.with_columns(n_tests=3, n_missing=1))
        assert found.select("pas", "n_studies", "n_tests", "n_missing").row(0) == (0.25, 1, 3, 5)
        assert studies.select(mean_pas()).item() == 0.25
        assert studies.select(pooled_pas()).item() == pytest.approx(0.25)
        counted = ef.evaluate(studies, mean_pas())
        assert counted.select("n", "n_missing").row(0) == (1, 1)
        pooled = studies.select(inverse_variance_pas("pas", pl.lit(0.1))).item()
        assert pooled["pas"] == 0.25
    normalised = pl.DataFrame({"study_id": ["a", "b"], "pas": 0.5, "pas_normalised": [3.0, -0.5]})
    assert model_scores(normalised)["pas_normalised"].item() == -0.5


@pytest.mark.parametrize("rule", RULES)
def test_weights_repeat_tests(rule):
    cases = [[1.0], [0.0], [0.3], [1.0, 0.2], [1.0, 1.0]]
    parts = [of_a_finding(pas=shares, n_eff=[7.0, 3.0][: len(shares)]) for shares in cases]
    times = [part.with_columns(w=times) for times in (1, 2, 3) for part in parts]
    repeated = [pl.concat([part] * times) for times in (1, 2, 3) for part in parts]
    found = finding_scores(of_findings(times), rule=rule, weight="w").sort("finding_id")
    expected = finding_scores(of_findings(repeated), rule=rule).sort("finding_id")
    assert found["pas"].to_list() == pytest.approx(expected["pas"].to_list(), abs=1e-14)


def test_a_single_test_keeps_its_pas_and_two_are_pooled():
    assert one(finding_scores(of_a_finding(pas=[1.0])))[0] == 1.0
    twice = one(finding_scores(of_a_finding(pas=[1.0], w=[2]), weight="w"))[0]
    assert twice == pytest.approx(1.0 - 5e-7, abs=1e-15)
    half = one(finding_scores(of_a_finding(pas=[1.0], w=[0.5]), weight="w"))[0]
    assert half == 1.0


def test_certain_tests_of_both_kinds_cancel():
    assert one(finding_scores(of_a_finding(pas=[1.0, 0.0])))[0] == 0.5


WITHOUT = pl.DataFrame(
    {
        "study_id": ["s1", "s2", None, None, None],
        "finding_id": ["F1", "F1", "F1", "F1", "F2"],
        "domain": ["A", "A", "A", None, None],
        "pas": [0.75, 0.25, 1.0, 1.0, 1.0],
        "effect_d_human": [0.1, 0.5, 0.2, 0.3, 0.4],
        "effect_d_agent": [0.2, 0.4, 0.2, 0.3, 0.4],
    }
)


def test_tests_without_a_study_are_missing_as_in_the_ecs():
    assert ecs(WITHOUT).select("n_tests", "n_missing").row(0) == (2, 3)
    findings = finding_scores(WITHOUT)
    counts = findings.select("study_id", "pas", "z_pas", "n_tests", "n_missing").rows()
    assert counts[:2] == [(None, None, None, 0, 2), (None, None, None, 0, 1)]
    for given in (WITHOUT, findings, study_scores(WITHOUT)):
        found = model_scores(given)
        assert found.select("pas", "n_studies", "n_findings").row(0) == (0.5, 2, 2)
        assert found.select("n_tests", "n_missing").row(0) == (2, 3)
    studies = study_scores(WITHOUT)
    assert studies.row(0, named=True) == {
        "study_id": None,
        "domain": "A",
        "pas": None,
        "n_findings": 0,
        "n_findings_without_data": 0,
        "n_tests": 0,
        "n_two_way": None,
        "n_missing": 3,
    }
    assert domain_scores(WITHOUT)["pas"].to_list() == [0.5]


def test_tests_without_a_study_are_dropped_by_the_originals_rules():
    found = humanstudy_bench.study_scores(WITHOUT)
    assert found["study_id"].to_list() == ["s1", "s2"]
    assert humanstudy_bench.model_scores(WITHOUT)["n_missing"].item() == 0


@pytest.mark.parametrize("cluster", ["study_id", "finding_id"])
def test_tests_without_a_study_are_not_drawn(cluster):
    known = pl.concat(
        [WITHOUT[:2].with_columns(finding_id=pl.lit(name)) for name in ("F1", "F2", "F3")]
    ).with_columns(pas=pl.Series([0.1, 0.4, 0.5, 0.6, 0.9, 0.8]))
    tests = pl.concat([known, WITHOUT[2:]])
    method = ef.Bootstrap(cluster=cluster, n=20)
    found, expected = (model_scores(each, resample=method) for each in (tests, known))
    assert_frame_equal(found.drop("n_missing"), expected.drop("n_missing"), abs_tol=1e-12)
    two = [
        pl.concat([each.with_columns(model=pl.lit("a")), each.with_columns(model=pl.lit("b"))])
        for each in (tests, known)
    ]
    pairs = [model_differences(each, resample=method, metrics=["pas"]) for each in two]
    assert_frame_equal(*pairs, abs_tol=1e-12)


def test_findings_of_several_parts_are_not_pooled_again():
    tests = of_a_finding(pas=[0.9, 0.1], sub_study_id=["x", "y"])
    assert study_scores(tests, finding_key="finding_id")["n_findings"].item() == 1
    findings = finding_scores(tests)
    for call in (study_scores, model_scores):
        with pytest.raises(ParameterError, match=r"already separate by sub-study, and finding_k"):
            call(findings, finding_key="finding_id")
    pooled = finding_scores(tests, finding_key="finding_id")
    assert study_scores(pooled, finding_key="finding_id")["n_findings"].item() == 1
