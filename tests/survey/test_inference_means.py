"""Bootstraps of means and of respondents: golden values, a naive program, and coverage."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.compat import dtef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.survey.baselines import baseline
from evalframe.survey.inference import means, respondent_draws
from evalframe.survey.inference.means import mean_intervals, weighted_means
from evalframe.survey.inference.respondents import respondent_differences, respondent_intervals
from evalframe.survey.sample import sample_survey
from evalframe.survey.scoring import mean_score, score
from survey.stored_scores import model_scores


def group(values):
    return pl.DataFrame({"model": "a", "score": pl.Series(values, dtype=pl.Float64)})


def test_golden_means(golden):
    for case in golden("survey/statistics")["bootstrap_mean"]:
        made = dtef.mean_intervals(group(case["scores"]), n=20_000)
        if not case["scores"]:
            assert not len(made)
            continue
        assert made["mean"].item() == pytest.approx(case["mean"], abs=1e-12)
        ends = [case["mc"]["lo"], case["mc"]["hi"]]
        tolerance = case["mc"]["abs_tol"]
        assert made.select("lower", "upper").row(0) == pytest.approx(ends, abs=tolerance)


def test_golden_models(golden):
    keys = ["model", "segment_id"]
    segments = model_scores(golden).group_by(keys).agg(pl.col("score").mean())
    made = dtef.mean_intervals(segments, n=4_000)
    found = {row["model"]: row for row in made.iter_rows(named=True)}
    for case in golden("survey/statistics")["dataset"]["bootstrap"]:
        row = found[case["model"]]
        assert row["mean"] == pytest.approx(case["mean"], abs=1e-12)
        ends = [case["mc"]["lo"], case["mc"]["hi"]]
        assert [row["lower"], row["upper"]] == pytest.approx(ends, abs=case["mc"]["abs_tol"])


def test_means_of_one_row_and_of_missing_values(monkeypatch):
    frame = pl.DataFrame(
        {"model": ["a", "b", "b", "b", "c"], "score": [0.5, 0.1, None, 0.3, float("nan")]}
    )
    made = mean_intervals(frame, n=50)
    assert made.select("model", "n").rows() == [("a", 1), ("b", 2)]
    assert made.select("lower", "upper").row(0) == (None, None)
    assert made.select("lower", "upper").row(1) == pytest.approx((0.1, 0.3))
    original = dtef.mean_intervals(frame, n=50)
    assert original.row(0) == ("a", 0.5, 0.5, 0.5, 1)
    monkeypatch.setattr(means, "_CELLS", 2)
    assert_frame_equal(mean_intervals(frame, n=50), made)
    whole = frame.filter(model="b").drop("model")
    assert mean_intervals(whole, by=[], n=50).columns == ["mean", "lower", "upper", "n"]


def test_golden_weighted_means(golden):
    for case in golden("survey/statistics")["weighted_mean"]:
        frame = group(case["values"]).with_columns(
            sample_size=pl.Series(case["sample_sizes"], dtype=pl.Int64)
        )
        made = weighted_means(frame)
        if case["values"]:
            expected = case["sqrt_n_weighted"]
            assert made["weighted_mean"].item() == pytest.approx(expected, abs=1e-12)


def test_weighted_ranks():
    frame = pl.DataFrame(
        {
            "model": ["a", "a", "b", "b", "c", "c"],
            "score": [0.9, 0.3, 0.5, 0.6, 0.5, 0.6],
            "sample_size": [10, 1000, 10, 1000, 10, None],
        }
    )
    made = weighted_means(frame)
    assert made["model"].to_list() == ["a", "b", "c"]
    assert made["rank_change"].to_list() == [-2, 1, 0]
    assert made["n_unweighted"].to_list() == [0, 0, 1]
    weight = pl.col("sample_size").sqrt()
    by_metric = frame.filter(model="a").select(mean_score(weight=weight)).item()
    assert made["weighted_mean"][0] == pytest.approx(by_metric)
    original = dtef.weighted_means(frame).filter(model="c")
    expected = (0.5 * 10**0.5 + 0.6 * 30**0.5) / (10**0.5 + 30**0.5)
    assert original["weighted_mean"].item() == pytest.approx(expected)


def answers(*cases):
    """One row for each prediction, truth and number of respondents, each a model of its own."""
    rows = [
        {
            "model": f"m{k}",
            "round": "r",
            "segment_id": "gender:x",
            "question_id": f"q{k}",
            "predicted": None if p is None else [float(x) for x in p],
            "actual": [float(x) for x in t],
            "sample_size": n,
        }
        for k, (p, t, n) in enumerate(cases)
    ]
    return score(pl.DataFrame(rows), round_items=None)


def test_golden_respondents(golden):
    cases = golden("survey/statistics")["bootstrap_truth"]
    scored = answers(*((case["prediction"], case["truth"], case["n"]) for case in cases))
    made = dtef.respondent_intervals(scored, n=10_000)
    for case, row in zip(cases, made.iter_rows(named=True), strict=True):
        for name, stored in (("mean", "mean"), ("lower", "lo"), ("upper", "hi")):
            expected = case["mc"][stored]
            assert row[name] == pytest.approx(expected, abs=case["mc"]["abs_tol"])


def scored_sample():
    survey = sample_survey()
    made = [baseline(survey, kind) for kind in ("uniform", "marginal")]
    others = baseline(survey, "marginal", oracle=False)
    return pl.concat([*made, others.with_columns(model=pl.lit("others"))])


def test_intervals_of_leaderboard_means():
    scored = scored_sample()
    made = respondent_intervals(scored, n=100)
    segments = scored.group_by("model", "round", "segment_id").agg(pl.col("score").mean())
    expected = segments.group_by("model").agg(pl.col("score").mean()).sort("model")
    assert made["model"].to_list() == expected["model"].to_list()
    assert (made["estimate"] - expected["score"]).abs().max() < 1e-12
    assert (made["lower"] < made["estimate"]).all()
    assert (made["upper"] > made["estimate"]).all()
    assert (made["bias"] < 0).all()
    items = respondent_intervals(scored, n=20, average="items")
    plain = scored.group_by("model").agg(pl.col("score").mean()).sort("model")
    assert (items["estimate"] - plain["score"]).abs().max() < 1e-12


def test_draws_hang_on_the_seed_alone(monkeypatch):
    scored = scored_sample()
    whole = respondent_intervals(scored, n=30)
    monkeypatch.setattr(respondent_draws, "_CELLS", 500)
    assert_frame_equal(respondent_intervals(scored, n=30), whole)
    mixed = scored.sample(fraction=1, shuffle=True, seed=1)
    assert_frame_equal(respondent_intervals(mixed, n=30), whole)
    alone = respondent_intervals(scored.filter(model="others"), n=30)
    assert_frame_equal(alone, whole.filter(model="others"))


def test_differences_are_paired():
    scored = scored_sample()
    made = respondent_differences(scored, n=100)
    spread = dict(respondent_intervals(scored, n=100).select("model", "std_error").rows())
    close = made.filter(left="baseline:population-marginal", right="others").row(0, named=True)
    assert close["std_error"] < spread["others"] / 4
    assert not made["within_noise"].any()
    assert (made["p_value"] == 2 / 101).all()


def test_what_is_within_sampling_noise():
    truth = [0.5, 0.5]
    near, far = answers(([0.52, 0.48], truth, 40)), answers(([0.9, 0.1], truth, 40))
    other = answers(([0.47, 0.53], truth, 40)).with_columns(model=pl.lit("other"))
    for frame, expected in ((near, True), (far, False)):
        made = respondent_differences(pl.concat([frame, other]), n=400)
        assert made["within_noise"].item() is expected
        assert (made["p_value"].item() > 0.05) is expected


def test_spread_is_that_of_new_samples():
    rng = np.random.default_rng(4)
    truth, size = np.array([0.5, 0.3, 0.2]), 200
    predicted = [0.3, 0.3, 0.4]
    samples = rng.multinomial(size, truth, size=400) / size
    scores = answers(*((predicted, each, size) for each in samples))["score"].to_numpy()
    made = respondent_intervals(answers((predicted, samples[0], size)), n=2_000)
    assert made["std_error"].item() == pytest.approx(scores.std(), rel=0.2)


def test_unread_answers_keep_their_score():
    scored = answers((None, [0.5, 0.5], 10), ([1, 2, 3], [0.5, 0.5], 10), ([1, 1], [0.5, 0.5], 10))
    made = respondent_intervals(scored, n=20)
    assert made["std_error"].to_list()[:2] == [0.0, 0.0]
    assert made["std_error"][2] > 0


@pytest.mark.parametrize("size", [None, 0])
def test_sample_sizes_that_are_not_known(size):
    scored = answers(([1, 1], [1, 1], 10)).with_columns(sample_size=pl.lit(size, dtype=pl.Int64))
    with pytest.raises(ParameterError, match="sample_size must be 1 or more respondents"):
        respondent_intervals(scored)


def test_what_is_refused():
    scored = answers(([1, 1], [1, 1], 10))
    with pytest.raises(ParameterError, match=r"needs two models, found \['m0'\]"):
        respondent_differences(scored)
    with pytest.raises(ParameterError, match="average must be"):
        respondent_intervals(scored, average="rounds")
    with pytest.raises(MissingColumnsError, match="needs column 'actual'"):
        respondent_intervals(scored.drop("actual"))
    with pytest.raises(MissingColumnsError, match="mean_intervals needs column 'score'"):
        mean_intervals(scored.drop("score"))
    with pytest.raises(ParameterError, match="level must lie between 0 and 1"):
        mean_intervals(scored, level=95)
