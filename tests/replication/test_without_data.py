"""Findings and studies without data: left out and counted, the same by every function and file."""

import math

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import ParameterError
from evalframe.replication import finding_scores, model_scores, study_scores

TESTS = pl.DataFrame(
    {
        "model": ["a"] * 6 + ["b"] * 2,
        "study_id": ["s1"] * 4 + ["s2"] * 2 + ["s1"] * 2,
        "finding_id": ["F1", "F1", "F2", "F3", "F1", "F1", "F1", "F2"],
        "pas": [0.9, 0.1, 0.0, 0.7, None, math.nan, 0.25, 0.75],
    }
)
LACKING = ["n_studies_without_data", "n_findings_without_data"]


def test_what_has_no_data_is_left_out_and_counted():
    tests = pl.DataFrame({"study_id": ["s1", "s2", "s3"], "pas": [0.8, 0.85, None]})
    tests = tests.with_columns(finding_id=pl.lit("F1"))
    assert finding_scores(tests)["pas"].to_list() == [0.8, 0.85, None]
    studies = study_scores(tests)
    assert studies.select("pas", "n_findings", LACKING[1]).rows() == [
        (0.8, 1, 0),
        (0.85, 1, 0),
        (None, 0, 1),
    ]
    for given_ in (tests, finding_scores(tests), studies):
        found = model_scores(given_)
        assert found["pas"].item() == pytest.approx(0.825)
        assert found.select("n_studies", "n_findings", *LACKING).row(0) == (2, 2, 1, 1)
    without = model_scores(tests[:2])
    assert without.select("pas", *LACKING).row(0) == (pytest.approx(0.825), 0, 0)


def test_chance_for_nothing_is_a_choice_and_counted():
    # Study s2 of model a has no PAS; by chance it has 0.5.
    left_out = model_scores(TESTS)
    assert left_out.select("n_studies", "n_studies_without_data").rows() == [(1, 1), (1, 0)]
    assert left_out["n_missing"].to_list() == [2, 0]
    imputed = model_scores(TESTS, missing="chance")
    assert imputed["pas"].to_list() == pytest.approx(
        [(left_out["pas"][0] + 0.5) / 2, left_out["pas"][1]]
    )
    for level in (finding_scores, study_scores):
        made = level(TESTS, missing="chance")
        again = model_scores(made, missing="chance")
        assert_frame_equal(again, imputed)
    assert imputed.select("n_studies", *LACKING).rows() == [(2, 1, 1), (1, 0, 0)]
    reference = humanstudy_bench.model_scores(TESTS)
    assert reference["n_studies"].to_list() == [2, 1]
    # There a PAS of 0 is none either.
    plain = humanstudy_bench.model_scores(TESTS, missing="skip", finding_rule="mean")
    assert plain.select("n_studies", *LACKING).rows()[0] == (1, 1, 2)


@pytest.mark.parametrize("cluster", ["study_id", "finding_id"])
@pytest.mark.parametrize("interval", ["percentile", "expanded_bca"])
def test_what_has_no_data_is_not_drawn(cluster, interval):
    full = pl.concat([TESTS.drop_nans("pas")] * 2).with_columns(
        study_id=pl.Series([f"s{i // 3}" for i in range(14)]),
        finding_id=pl.Series([f"F{i % 3}" for i in range(14)]),
        pas=pl.Series(np.linspace(0.1, 0.9, 14)),
        model=pl.lit("a"),
    )
    nothing = [
        full[:1].with_columns(study_id=pl.lit("empty"), pas=pl.lit(None, pl.Float64)),
        full[:1].with_columns(finding_id=pl.lit("F9"), pas=pl.lit(math.nan)),
    ]
    method = ef.Bootstrap(cluster=cluster, n=50, interval=interval)
    found, expected = (
        model_scores(each, resample=method) for each in (pl.concat([full, *nothing]), full)
    )
    counts = ["n_missing", *LACKING]
    assert_frame_equal(found.drop(counts), expected.drop(counts), abs_tol=1e-12)
    assert found.select(counts).row(0) == (2, 1, 2)
    none = full.with_columns(pas=pl.lit(None, pl.Float64))
    with pytest.raises(ParameterError, match="the table has no row of a study with a score"):
        model_scores(none, resample=method)
