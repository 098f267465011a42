"""Input that tests and intervals must not take silently, or must take as what it is."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe import survey
from evalframe.compat import dtef
from evalframe.core.errors import ParameterError
from evalframe.survey import (
    adjusted_p_value,
    context_test,
    gap_decomposition,
    gap_summary,
    permutation_baseline,
    respondent_intervals,
    score,
    sign_flip_test,
    weighted_means,
    welch_test,
)
from evalframe.survey.sample import sample_survey

ANSWER = {
    "model": "a",
    "round": "1",
    "segment_id": "gender:male",
    "question_id": "q",
    "predicted": [0.5, 0.5],
    "actual": [0.5, 0.5],
    "sample_size": 100,
    "score": 1.0,
}


def answers(*changes):
    return pl.DataFrame([ANSWER | change for change in changes])


@pytest.mark.parametrize("room", [survey, dtef])
def test_an_answer_of_another_length_keeps_its_score(room):
    shorter = {"predicted": [60.0, 40.0], "actual": [0.5, 0.3, 0.2], "score": 0.1}
    found = room.respondent_intervals(answers(shorter)).row(0, named=True)
    assert found["estimate"] == found["lower"] == found["upper"] == 0.1
    assert found["mean"] == pytest.approx(0.1)


@pytest.mark.parametrize("truth", [None, [0.0, 0.0], [-1.0, 2.0], [float("nan"), 1.0], []])
def test_a_truth_that_is_none_keeps_its_scores(truth):
    rows = answers({}, {"question_id": "r", "actual": truth, "sample_size": None, "score": 0.25})
    found = respondent_intervals(rows, n=50).row(0, named=True)
    assert found["estimate"] == 0.625
    assert found["n"] == 2


def test_repeated_rows_are_averaged():
    rows = answers({}, {"score": 0.5}, {"question_id": "r", "score": 0.5})
    for average in ("segments", "items"):
        found = respondent_intervals(rows, n=10, average=average)
        assert found["estimate"].item() == 0.625


@pytest.mark.parametrize(
    "change", [{"actual": [0.6, 0.4]}, {"sample_size": 50}], ids=["actual", "size"]
)
def test_one_truth_for_all_models(change):
    with pytest.raises(ParameterError, match="differ for 1, such as"):
        respondent_intervals(answers({}, {"model": "b"} | change))


@pytest.mark.parametrize("size", [None, 0.5, float("inf"), float("nan"), -3.0])
def test_sample_sizes_that_are_none(size):
    with pytest.raises(ParameterError, match="must be 1 or more respondents"):
        respondent_intervals(answers({"sample_size": size}))


def test_models_without_a_name():
    with pytest.raises(ParameterError, match="the model is null in 1 rows"):
        respondent_intervals(answers({}, {"model": None}))
    with pytest.raises(ParameterError, match="the model is null in 1 rows"):
        sign_flip_test(answers({}, {"model": None}))


@pytest.mark.parametrize("test", [sign_flip_test, context_test])
def test_keys_that_are_none(test):
    with pytest.raises(ParameterError, match="on is empty"):
        test(answers({}).with_columns(context_count=0), on=[])


@pytest.mark.parametrize(
    "predicted", [[60, None], [0, 0], [float("nan"), 1], [-60, 160], [float("inf"), 1], None]
)
def test_a_prediction_that_is_no_distribution_has_no_gap(predicted):
    rows = pl.DataFrame(
        {
            "model": ["a", "a"],
            "predicted": [predicted, [60, 40]],
            "actual": [[70, 30]] * 2,
            "marginal": [[50, 50]] * 2,
        },
        strict=False,
    )
    gaps = gap_decomposition(rows)
    assert gaps["direction"][0] is gaps["magnitude"][0] is None
    summed = gap_summary(gaps).row(0, named=True)
    assert summed["mean_direction"] == pytest.approx(1.0)
    assert summed["mean_magnitude"] == pytest.approx(0.5)


def test_rounding_is_no_variance():
    runs = pl.DataFrame({"condition": ["a"] * 3 + ["b"] * 3, "score": [0.1] * 3 + [0.7] * 3})
    found = welch_test(runs).row(0, named=True)
    assert found["t"] is found["p_value"] is found["cohens_d"] is None
    assert found["delta"] == pytest.approx(0.6)


def test_a_condition_without_name_is_none():
    runs = pl.DataFrame({"condition": ["a", "a", "b", "b", None], "score": [1.0, 2, 3, 4, 9]})
    assert welch_test(runs)["n_right"].item() == 2


def test_a_condition_without_runs():
    runs = pl.DataFrame({"condition": ["b", "b"], "score": [1.0, 2.0]})
    with pytest.raises(ParameterError, match="compares two conditions"):
        welch_test(runs, conditions=("a", "b"))
    found = dtef.welch_test(runs, conditions=("a", "b"))
    assert found.select("t", "p_value", "cohens_d", "n_left").row(0) == (0.0, 1.0, 0.0, 0)


def test_golden_welch_without_runs(golden):
    cases = [case for case in golden("survey/statistics")["welch"] if not case["a"]]
    for case in cases:
        runs = pl.DataFrame(
            {"condition": ["b"] * len(case["b"]), "score": case["b"]},
            schema={"condition": pl.String, "score": pl.Float64},
        )
        found = dtef.welch_test(runs, conditions=("a", "b"))
        assert found.select("t", "df", "p_value").row(0) == (0.0, 0.0, 1.0)


def test_p_values_outside_their_domain():
    tests = pl.DataFrame({"p_value": [-0.2, 0.01, 1.5, float("nan"), 0.02]})
    found = tests.select(adjusted_p_value())["p_adjusted"].to_list()
    assert found == [None, 0.02, None, None, 0.02]


def test_a_sample_size_below_zero_is_unknown():
    scored = pl.DataFrame({"model": ["a"] * 3, "score": [0.5, 0.8, 0.2], "sample_size": [4, 1, -3]})
    found = weighted_means(scored).row(0, named=True)
    assert found["weighted_mean"] == pytest.approx(0.6)
    assert found["n_unweighted"] == 1


def test_permutations_hang_on_the_round_alone():
    survey = sample_survey()
    whole = permutation_baseline(survey, n=50)
    assert permutation_baseline(survey.sample(fraction=1, shuffle=True, seed=1), n=50).equals(whole)
    first = whole["round"][0]
    alone = permutation_baseline(survey.filter(pl.col("round") == first), n=50)
    assert_frame_equal(alone, whole.head(1))


@pytest.mark.parametrize("decimals", [2.5, True, -1, 11, "two"])
def test_decimals_that_are_none(decimals):
    with pytest.raises(ParameterError, match="round_items must be 0 to 10"):
        score(answers({}), round_items=decimals)
