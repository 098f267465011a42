"""Sign flips and adjusted p-values: golden values, enumeration, and what draws hang on."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe import survey
from evalframe.compat import dtef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.survey.inference import differences
from evalframe.survey.inference.common import adjusted_p_value
from evalframe.survey.inference.differences import sign_flip_test
from survey.stored_scores import model_scores


def pair(a, b):
    """Scores of two models on questions from 0."""
    return pl.DataFrame(
        {
            "model": ["a"] * len(a) + ["b"] * len(b),
            "question_id": [*range(len(a)), *range(len(b))],
            "score": pl.Series([*a, *b], dtype=pl.Float64, strict=False),
        }
    )


def enumerated(a, b):
    differences = [x - y for x, y in zip(a, b, strict=True)]
    observed = abs(sum(differences))
    signs = itertools.product((1, -1), repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(each, differences, strict=True))) for each in signs]
    return sum(total >= observed - 1e-9 for total in sums) / len(sums)


def test_golden_sign_flips(golden):
    cases = golden("survey/statistics")["sign_flip"]
    assert len(cases) >= 5
    for case in cases:
        scores = pair(case["scores_a"], case["scores_b"])
        exact = sign_flip_test(scores, on="question_id", n=2**12)
        assert exact["p_value"].item() == pytest.approx(case["exact_p"], abs=1e-12)
        original = dtef.sign_flip_test(scores, on="question_id")
        if not case["tested"]:
            assert original.select("delta", "p_value").row(0) == (None, None)
            continue
        assert -original["delta"].item() == pytest.approx(case["mean_diff"], abs=1e-12)
        stored = case["exact_p_strict_float"]
        assert original["p_value"].item() == pytest.approx(stored, abs=case["mc"]["abs_tol"])
        drawn = sign_flip_test(scores, on="question_id", n=2 ** len(case["scores_a"]) - 1)
        assert drawn["p_value"].item() == pytest.approx(case["exact_p"], abs=0.25)


def test_golden_pairs_of_models(golden):
    scores = model_scores(golden)
    made = dtef.sign_flip_test(scores, on=["segment_id", "question_id"])
    found = {(row["left"], row["right"]): row for row in made.iter_rows(named=True)}
    pairs = golden("survey/statistics")["dataset"]["pairwise"]
    assert len(pairs) == len(made)
    for case in pairs:
        names = (case["model_a"], case["model_b"])
        row = found[tuple(sorted(names))]
        sign = -1 if names == tuple(sorted(names)) else 1
        assert sign * row["delta"] == pytest.approx(case["mean_diff"], abs=1e-12)
        assert row["n_shared"] == case["shared"]
        assert row["p_value"] == pytest.approx(case["mc"]["p"], abs=case["mc"]["abs_tol_p"])
        assert row["p_adjusted"] == pytest.approx(case["mc"]["p_adj"], abs=0.05)


SCORES = st.lists(st.integers(0, 100), min_size=2, max_size=7)


@settings(max_examples=10, deadline=None)
@given(SCORES, st.randoms())
def test_few_keys_are_enumerated(a, random):
    a = [x / 100 for x in a]
    b = [random.randint(0, 100) / 100 for _ in a]
    made = sign_flip_test(pair(a, b), on="question_id")
    assert made["p_value"].item() == pytest.approx(enumerated(a, b), abs=1e-12)


def test_draws_come_near_the_enumeration():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 10)).round(2)
    made = sign_flip_test(pair(a, b + 0.1), on="question_id", n=1_000)["p_value"].item()
    assert made == pytest.approx(enumerated(a, b + 0.1), abs=0.06)


def test_missing_scores_and_runs():
    scores = pl.DataFrame(
        {
            "model": ["a"] * 5 + ["b"] * 4 + ["c"],
            "question_id": [1, 1, 2, 3, 4, 1, 2, 3, 4, 9],
            "score": [0.2, 0.4, 0.5, 0.6, None, 0.1, 0.1, math.nan, 0.9, 0.5],
        }
    )
    made = sign_flip_test(scores, on="question_id")
    assert made.select("left", "right").rows() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert made["n_shared"].to_list() == [2, 0, 0]
    assert made["estimate_left"].round(9).to_list() == [0.4, None, None]
    assert made["p_value"].to_list() == [0.5, None, None]
    assert made["p_adjusted"].to_list() == [0.5, None, None]


def test_equal_models_and_clear_differences():
    many = np.linspace(0, 1, 200)
    same = sign_flip_test(pair(many, many), on="question_id", n=100)
    assert same["p_value"].item() == 1.0
    apart = pair(many, many + 0.5)
    assert sign_flip_test(apart, on="question_id", n=99)["p_value"].item() == 0.01
    original = dtef.sign_flip_test(apart, on="question_id", n=99)
    assert original["p_value"].item() == 0.0


@pytest.mark.parametrize("room", [survey, dtef])
def test_chunks_and_other_models_change_nothing(golden, monkeypatch, room):
    scores = model_scores(golden)
    keys = ["segment_id", "question_id"]
    whole = room.sign_flip_test(scores, on=keys, n=300)
    monkeypatch.setattr(differences, "_SIGNS", 1_000)
    assert_frame_equal(room.sign_flip_test(scores, on=keys, n=300), whole)
    left, right = whole.select("left", "right").row(0)
    two = scores.filter(pl.col("model").is_in([left, right]))
    alone = room.sign_flip_test(two, on=keys, n=300)
    assert alone["p_value"].item() == whole["p_value"][0]


def test_false_findings_are_as_many_as_said():
    rng = np.random.default_rng(5)
    found = [
        sign_flip_test(pair(*rng.random((2, 30))), on="question_id", n=99)["p_value"].item()
        for _ in range(200)
    ]
    assert np.mean(np.array(found) <= 0.1) < 0.17


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"on": "question"}, MissingColumnsError, "needs column 'question'"),
        ({"between": pl.lit("x").alias("m")}, ParameterError, r"needs two models, found \['x'\]"),
        ({"n": 0}, ParameterError, "n must be a whole number of draws"),
        ({"correction": "no"}, ParameterError, "correction must be one of"),
    ],
)
def test_what_is_refused(change, error, message):
    with pytest.raises(error, match=message):
        sign_flip_test(pair([1, 2], [2, 3]), **{"on": "question_id", **change})


def test_golden_holm(golden):
    for case in golden("survey/statistics")["holm"]:
        tests = pl.DataFrame({"p_value": pl.Series(case["p"], dtype=pl.Float64, strict=False)})
        for room, stored in ((dtef, case["original"]), (survey, case["standard"])):
            made = tests.select(room.adjusted_p_value()).to_series()
            assert made.to_list() == pytest.approx(stored, abs=1e-15)


P_VALUES = st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=12)


@settings(max_examples=12, deadline=None)
@given(P_VALUES)
def test_benjamini_hochberg_against_its_definition(p_values):
    tests = pl.DataFrame({"p_value": pl.Series(p_values, dtype=pl.Float64)})
    made = tests.select(adjusted_p_value(correction="benjamini_hochberg")).to_series().to_list()
    known = [p for p in p_values if p is not None]
    for p, adjusted in zip(p_values, made, strict=True):
        if p is None:
            assert adjusted is None
            continue
        above = [q * len(known) / sum(r <= q for r in known) for q in known if q >= p]
        assert adjusted == pytest.approx(min(above), abs=1e-12)
        assert adjusted <= 1


def test_families_by_group():
    tests = pl.DataFrame({"family": ["x", "x", "y"], "p_value": [0.01, 0.02, 0.03]})
    made = tests.select(adjusted_p_value(correction="bonferroni").over("family")).to_series()
    assert made.to_list() == [0.02, 0.04, 0.03]


def test_corrections_that_are_refused():
    with pytest.raises(ParameterError, match="correction must be one of"):
        adjusted_p_value(correction="sidak")


def test_a_cluster_has_one_sign():
    """Two questions of two segments: of four choices of signs, two are as far from 0."""
    keys = {"segment_id": ["x", "y", "x", "y"], "question_id": [1, 1, 2, 2]}
    a, b = pl.DataFrame({**keys, "score": 0.5}), pl.DataFrame({**keys, "score": 0.75})
    scored = pl.concat([a.with_columns(model=pl.lit("a")), b.with_columns(model=pl.lit("b"))])
    options = {"on": ["segment_id", "question_id"]}
    expected = {"question_id": 2 / 4, "segment_id": 2 / 4, None: 2 / 16}
    for cluster, p in expected.items():
        made = sign_flip_test(scored, cluster=cluster, **options)
        assert made.select("delta", "n_shared", "p_value").row(0) == (0.25, 4, p)
    with pytest.raises(ParameterError, match="draws 'question_id', which is not among the keys"):
        sign_flip_test(scored, on="segment_id")
