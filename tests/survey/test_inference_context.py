"""Context tests, gap decomposition and experiments: golden values and degenerate inputs."""

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from evalframe import survey
from evalframe.compat import dtef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.survey.inference import context
from evalframe.survey.inference.context import context_test
from evalframe.survey.inference.differences import welch_test
from evalframe.survey.inference.gap import gap_decomposition, gap_summary
from survey.stored_scores import model_scores


def test_golden_context_tests(golden):
    made = dtef.context_test(model_scores(golden))
    found = {row["model"]: row for row in made.iter_rows(named=True)}
    cases = golden("survey/statistics")["dataset"]["context_per_model"]
    assert len(cases) == len(made)
    for case in cases:
        row = found[case["model"]]
        assert row["slope"] == pytest.approx(case["slope"], abs=1e-12)
        assert row["n_points"] == case["data_points"]
        assert row["context_levels"] == case["context_levels"]
        assert row["p_value"] == pytest.approx(case["mc"]["p"], abs=case["mc"]["abs_tol_p"])
        assert row["p_adjusted"] == pytest.approx(case["mc"]["p_adj"], abs=0.1)


def test_golden_context_tests_of_categories(golden):
    category = pl.col("segment_id").str.extract("^([^:]*):").alias("category")
    scores = model_scores(golden).with_columns(category).drop_nulls("category")
    made = dtef.context_test(scores, by=["model", "category"])
    found = {(row["model"], row["category"]): row for row in made.iter_rows(named=True)}
    cases = golden("survey/statistics")["dataset"]["context_by_category"]
    assert len(cases) >= 20
    for case in cases:
        row = found[case["model"], case["category"].lower()]
        assert row["slope"] == pytest.approx(case["slope"], abs=1e-12)
        assert row["n_points"] == case["data_points"]
        assert row["p_value"] == pytest.approx(case["mc"]["p"], abs=case["mc"]["abs_tol_p"])


def points(slope, noise=0.0, keys=12):
    rng = np.random.default_rng(2)
    counts = np.tile([0, 5, 10], keys)
    level = np.repeat(rng.random(keys), 3)
    score = level + slope * counts + noise * rng.standard_normal(3 * keys)
    question = np.repeat(np.arange(keys), 3)
    return pl.DataFrame(
        {"model": "a", "question_id": question, "context_count": counts, "score": score}
    )


def test_slopes_within_keys():
    made = context_test(points(0.01), on="question_id", n=99)
    assert made["slope"].item() == pytest.approx(0.01)
    assert made["p_value"].item() == 0.01
    original = dtef.context_test(points(0.01), on="question_id", n=99)
    assert original["p_value"].item() == 0.0
    falling = context_test(points(-0.01), on="question_id", n=99)
    assert falling["p_value"].item() == 1.0
    level = context_test(points(0.0), on="question_id", n=99)
    assert level["p_value"].item() == 1.0


def test_keys_without_a_slope_are_left_out(monkeypatch):
    scores = points(0.01, 0.1).vstack(
        pl.DataFrame(
            {
                "model": ["a", "b", "b", "a"],
                "question_id": [90, 1, 1, 91],
                "context_count": [5, 5, 5, None],
                "score": [0.5, 0.2, 0.4, 0.1],
            }
        )
    )
    made = context_test(scores, on="question_id", n=200)
    assert made.select("model", "n_keys", "n_points", "context_levels").rows() == [("a", 12, 36, 3)]
    monkeypatch.setattr(context, "_CELLS", 100)
    assert context_test(scores, on="question_id", n=200).equals(made)
    nothing = context_test(scores.filter(model="b"), on="question_id")
    assert nothing.schema == made.schema
    assert not len(nothing)


def test_context_columns():
    with pytest.raises(MissingColumnsError, match="context_test needs column 'segment_id'"):
        context_test(points(0.1))


def gaps(cases, **change):
    frame = pl.DataFrame(
        {
            "predicted": [list(map(float, case["prediction"])) for case in cases],
            "actual": [list(map(float, case["truth"])) for case in cases],
            "marginal": [list(map(float, case["marginal"])) for case in cases],
        }
    )
    return dtef.gap_decomposition(frame.with_columns(**change))


def test_golden_gaps(golden):
    cases = golden("survey/statistics")["gap"]
    assert len(cases) >= 20
    made = gaps(cases)
    names = {
        "direction": "directional_accuracy",
        "magnitude": "magnitude_ratio",
        "truth_shift": "truth_shift",
        "model_shift": "model_shift",
    }
    for name, stored in names.items():
        expected = [float(str(case[stored]).replace("Infinity", "inf")) for case in cases]
        assert made[name].to_list() == pytest.approx(expected, abs=1e-12)


def test_gaps_of_other_units_and_of_nothing():
    answers = pl.DataFrame(
        {
            "model": ["a"] * 5,
            "predicted": [[0.6, 0.4], [50, 50], [60, 40], None, [1, 2, 3]],
            "actual": [[70, 30], [70, 30], [50, 50], [70, 30], [70, 30]],
            "marginal": [[50, 50]] * 5,
        },
        strict=False,
    )
    made = gap_decomposition(answers)
    assert made["direction"].round(9).to_list() == [1.0] + [None] * 4
    assert made["magnitude"].round(9).to_list() == [0.5, 0.0] + [None] * 3
    assert made["truth_shift"].is_null().to_list() == [False] * 3 + [True] * 2
    summary = gap_summary(made)
    assert summary.select("n", "n_skipped", "share_right_direction").row(0) == (2, 1, 1.0)
    far = gap_summary(made, min_shift=99).row(0, named=True)
    assert (far["mean_direction"], far["n"], far["n_skipped"]) == (None, 0, 3)
    original = dtef.gap_summary(made, min_shift=99).row(0, named=True)
    assert (original["mean_direction"], original["mean_overshoot"]) == (0.0, 0.0)


def test_gaps_that_are_refused():
    with pytest.raises(MissingColumnsError, match="gap_decomposition needs column 'marginal'"):
        gap_decomposition(pl.DataFrame({"predicted": [[1.0]], "actual": [[1.0]]}))
    with pytest.raises(ParameterError, match="min_shift must be 0 or more"):
        gap_summary(pl.DataFrame(), min_shift=-1)


def runs(a, b):
    sides = ["a"] * len(a) + ["b"] * len(b)
    return pl.DataFrame({"condition": sides, "score": pl.Series([*a, *b], dtype=pl.Float64)})


def test_golden_experiments(golden):
    cases = golden("survey/statistics")["welch"]
    both = [case for case in cases if case["a"] and case["b"]]
    assert len(both) >= 5
    for case in both:
        # The original takes the first less the second, as here the right less the left.
        swapped = runs(case["b"], case["a"])
        made = dtef.welch_test(swapped).row(0, named=True)
        assert made["t"] == pytest.approx(case["t"], abs=1e-9)
        assert made["df"] == pytest.approx(case["df"], abs=1e-9)
        assert made["p_value"] == pytest.approx(case["p_normal_approx"], abs=1e-12)
        assert made["cohens_d"] == pytest.approx(case["cohens_d"], abs=1e-9)
        assert made["effect"] == case["label"]


def test_welch_against_scipy():
    rng = np.random.default_rng(3)
    a, b = rng.random(5), rng.random(9) + 0.2
    made = welch_test(runs(a, b)).row(0, named=True)
    expected = stats.ttest_ind(b, a, equal_var=False)
    assert made["t"] == pytest.approx(expected.statistic)
    assert made["df"] == pytest.approx(expected.df)
    assert made["p_value"] == pytest.approx(expected.pvalue)


@pytest.mark.parametrize(
    ("room", "nothing", "degrees", "effect"),
    [(survey, (None, None), (None, None), None), (dtef, (0.0, 1.0), (3.0, 0.0), "negligible")],
)
def test_experiments_without_variation(room, nothing, degrees, effect):
    for frame in (runs([1, 1], [2, 2]), runs([1], [2, 3]), runs([1], [1])):
        made = room.welch_test(frame)
        assert made.select("t", "p_value").row(0) == nothing
    # `welchTTest` of the original: n + n - 2, and 0 where a side has fewer than two.
    three_and_two = room.welch_test(runs([1, 1, 1], [2, 2]))["df"].item()
    one_and_two = room.welch_test(runs([1], [2, 3]))["df"].item()
    assert (three_and_two, one_and_two) == degrees
    assert room.welch_test(runs([1], [1]))["effect"].item() == effect


def test_experiments_by_group_and_by_name():
    frame = pl.concat(
        [runs([1, 2, 4], [3, 4, 6]).with_columns(k=pl.lit(k)) for k in ("y", "x")]
        + [runs([5, math.nan], []).with_columns(k=pl.lit("z"))]
    )
    made = welch_test(frame, by="k")
    assert made["k"].to_list() == ["x", "y", "z"]
    assert made["delta"].round(9).to_list() == [2.0, 2.0, None]
    assert made["n_left"].to_list() == [3, 3, 1]
    turned = welch_test(frame, by="k", conditions=("b", "a"))
    assert turned["delta"].round(9).to_list() == [-2.0, -2.0, None]


def test_experiments_that_are_refused():
    with pytest.raises(ParameterError, match=r"compares two conditions, found \['a'\]"):
        welch_test(runs([1, 2], []))
    with pytest.raises(MissingColumnsError, match="welch_test needs column 'arm'"):
        welch_test(runs([1], [2]), between="arm")
