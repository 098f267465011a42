"""Intervals of scores and ranks: against evaluate, a naive bootstrap, and degenerate tables."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.resample import draws
from evalframe.resample.ranks import rank_sets, ranked
from evalframe.survey.boards.leaderboard import leaderboard
from evalframe.survey.boards.rows import segment_scores
from evalframe.survey.scoring import mean_score

SEGMENTS = [f"country:{name}" for name in ("chad", "fiji", "iran", "mali", "oman", "peru")]
QUESTIONS = [f"q{k}" for k in range(12)]


def table(models=4, seed=0, holes=0.1):
    rng = np.random.default_rng(seed)
    rows = [
        (f"m{model}", segment, question, 0.9 - 0.1 * model + 0.1 * rng.standard_normal())
        for model in range(models)
        for segment in SEGMENTS
        for question in QUESTIONS
        if rng.random() >= holes
    ]
    return pl.DataFrame(rows, schema=["model", "segment_id", "question_id", "score"], orient="row")


def naive_over_questions(rows, method):
    """The two stages of each replicate, question by question."""
    questions = rows["question_id"].unique().sort()
    weights = np.concatenate([*draws.bootstrap_weights(method, questions).chunks(100)])
    scores = {key: group for key, group in rows.group_by("model", "segment_id")}
    made = {}
    for model in rows["model"].unique():
        values = []
        for weight in weights:
            by_question = dict(zip(questions, weight, strict=True))
            means = []
            for segment in SEGMENTS:
                group = scores[model, segment]
                mass = np.array([by_question[q] for q in group["question_id"]])
                if mass.sum():
                    means.append((mass * group["score"].to_numpy()).sum() / mass.sum())
            values.append(np.mean(means))
        made[model] = np.quantile(values, [0.025, 0.975])
    return made


def test_over_questions_as_a_naive_program():
    rows = table()
    method = ef.Bootstrap(cluster="question_id", n=60, seed=3, interval="percentile")
    found = leaderboard(rows, resample=method)
    expected = naive_over_questions(rows, method)
    for model, lower, upper in found.select("model", "lower", "upper").iter_rows():
        assert (lower, upper) == pytest.approx(tuple(expected[model]), abs=1e-12)
    assert found["n_clusters"].to_list() == [12] * 4


@pytest.mark.parametrize("interval", ["percentile", "bca", "normal"])
@pytest.mark.parametrize("weighted", [False, True])
def test_over_segments_as_evaluate(interval, weighted):
    rows = table().with_columns(
        sample_size=pl.col("segment_id").rank("dense").cast(pl.Float64) * 10
    )
    method = ef.Bootstrap(cluster="segment_id", n=200, seed=1, interval=interval)
    weighting = "sample_size" if weighted else "segment"
    found = leaderboard(rows, weighting=weighting, resample=method).sort("model")
    metric = mean_score(weight="sample_size") if weighted else mean_score()
    wanted = ef.evaluate(segment_scores(rows), metric, by="model", resample=method)
    for name, other in (("score", "estimate"), ("std_error",) * 2, ("lower",) * 2, ("upper",) * 2):
        assert found[name].to_list() == pytest.approx(wanted[other].to_list(), abs=1e-12)


@pytest.mark.parametrize("cluster", ["name", "region"])
@pytest.mark.parametrize("draws_", ["reference", "poisson"])
def test_over_whole_segments_by_any_name_as_evaluate(cluster, draws_):
    region = pl.col("segment_id").replace_strict(dict(zip(SEGMENTS, "aaabbc", strict=True)))
    named = {"name": pl.col("segment_id"), "region": region}
    rows = table().with_columns(**named)
    method = ef.Bootstrap(cluster=cluster, n=200, seed=1, draws=draws_)
    found = leaderboard(rows, resample=method).sort("model")
    segments = segment_scores(rows).with_columns(**named)
    wanted = ef.evaluate(segments, mean_score(), by="model", resample=method)
    for name in ("std_error", "lower", "upper", "drop_rate"):
        assert found[name].to_list() == pytest.approx(wanted[name].to_list(), abs=1e-12)
    assert found["n_clusters"].to_list() == wanted["n_clusters"].to_list()


def test_over_regions_as_a_naive_program():
    region = pl.col("segment_id").replace_strict(dict(zip(SEGMENTS, "aabbcc", strict=True)))
    rows = table(models=2).with_columns(region=region)
    method = ef.Bootstrap(cluster="region", n=40, seed=2, interval="percentile")
    found = leaderboard(rows, resample=method)
    regions = pl.Series(["a", "b", "c"])
    weights = np.concatenate([*draws.bootstrap_weights(method, regions).chunks(40)])
    means = segment_scores(rows).with_columns(region=region)
    for model, lower, upper in found.select("model", "lower", "upper").iter_rows():
        part = means.filter(model=model)
        mass = weights[:, part["region"].rank("dense").to_numpy() - 1]
        scores = (mass * part["score"].to_numpy()).sum(axis=1) / mass.sum(axis=1)
        assert (lower, upper) == pytest.approx(tuple(np.quantile(scores, [0.025, 0.975])))


def test_whole_segments_of_one_group_do_not_change_another():
    rows = table(models=2).with_columns(half=pl.lit("x"), part=pl.col("segment_id"))
    cut = rows.with_columns(half=pl.lit("y"), part=pl.col("question_id"))
    method = ef.Bootstrap(cluster="part", n=50, draws="counter")
    both = leaderboard(pl.concat([rows, cut]), by="half", resample=method)
    for half, alone in (("x", rows), ("y", cut)):
        expected = leaderboard(alone, by="half", resample=method)
        assert_frame_equal(both.filter(half=half), expected, abs_tol=1e-12)


@pytest.mark.parametrize("draws_", ["reference", "counter", "poisson"])
def test_of_a_model_with_one_cluster_nothing_is_known(draws_):
    rows = pl.DataFrame(
        {
            "model": ["a"] * 4 + ["one"],
            "segment_id": [*(f"country:{k}" for k in range(4)), "country:0"],
            "score": [0.5, 0.6, 0.7, 0.8, 0.99],
        }
    )
    method = ef.Bootstrap(cluster="segment_id", n=300, seed=1, draws=draws_)
    found = leaderboard(rows, resample=method)
    assert found["model"].to_list() == ["one", "a"]
    one, other = found.rows(named=True)
    assert (one["std_error"], one["lower"], one["upper"], one["n_clusters"]) == (None,) * 3 + (1,)
    assert (one["rank_lower"], one["rank_upper"]) == (None, None)
    assert (other["n_clusters"], other["lower"] < other["score"] < other["upper"]) == (4, True)
    assert found.select("rank_set_lower", "rank_set_upper").rows() == [(1, 2)] * 2
    assert found["tied_with_best"].to_list() == [True, True]
    wanted = ef.evaluate(rows, mean_score(), by="model", resample=method)
    assert wanted.select("std_error", "lower", "n_clusters").row(1) == (None, None, 1)


def test_repeated_items_weigh_no_more_where_questions_do():
    rows = table(models=1, holes=0)
    halves = [rows.with_columns(score=pl.col("score") + step) for step in (-0.01, 0.01)]
    few = rows["segment_id"] == SEGMENTS[0]
    repeated = pl.concat([rows.filter(~few), *(half.filter(few) for half in halves)])
    method = ef.Bootstrap(cluster="question_id", n=50)
    expected = leaderboard(rows, weighting="question", resample=method)
    found = leaderboard(repeated, weighting="question", resample=method)
    for name in ("score", "std_error", "lower", "upper"):
        assert found[name].to_list() == pytest.approx(expected[name].to_list(), abs=1e-12)


def test_nothing_to_resample():
    method = ef.Bootstrap(cluster="question_id", n=10)
    for rows in (table().clear(), table().with_columns(score=pl.lit(None))):
        with pytest.raises(ParameterError, match="nothing to resample, as no item has a score"):
            leaderboard(rows, resample=method)


@pytest.mark.parametrize("level", ["segment", "category", "question"])
@pytest.mark.parametrize("draws_", ["reference", "counter", "poisson"])
def test_every_level_has_intervals_around_its_scores(level, draws_):
    cluster = "segment_id" if level == "question" else "question_id"
    method = ef.Bootstrap(cluster=cluster, n=100, draws=draws_)
    found = leaderboard(table(), level, resample=method)
    assert (found["lower"] <= found["score"] + 1e-9).all()
    assert (found["upper"] >= found["score"] - 1e-9).all()
    assert (found["rank_set_lower"] <= found["rank"]).all()
    assert (found["rank_set_upper"] >= found["rank"]).all()
    assert (found["rank_lower"] <= found["rank_upper"]).all()


def test_segments_drawn_within_regions_as_evaluate():
    region = pl.col("segment_id").replace_strict(dict(zip(SEGMENTS, "aaabbb", strict=True)))
    rows = table().with_columns(region=region)
    method = ef.Bootstrap(cluster="segment_id", within="region", n=100, interval="percentile")
    found = leaderboard(rows, resample=method).sort("model")
    segments = segment_scores(rows).with_columns(region=region)
    wanted = ef.evaluate(segments, mean_score(), by="model", resample=method)
    for name in ("std_error", "lower", "upper"):
        assert found[name].to_list() == pytest.approx(wanted[name].to_list(), abs=1e-12)


def test_models_are_paired():
    # The second model is always a little worse, though both vary much more between questions.
    rng = np.random.default_rng(0)
    hard = {question: rng.random() for question in QUESTIONS}
    rows = [
        (model, segment, question, hard[question] - loss)
        for model, loss in (("a", 0.0), ("b", 0.001))
        for segment in SEGMENTS
        for question in QUESTIONS
    ]
    frame = pl.DataFrame(rows, schema=["model", "segment_id", "question_id", "score"], orient="row")
    found = leaderboard(frame, resample=ef.Bootstrap(cluster="question_id", n=200))
    assert found["lower"][0] < found["score"][1]
    assert found["tied_with_best"].to_list() == [True, False]
    assert found.select("rank_lower", "rank_upper").rows() == [(1, 1), (2, 2)]


def test_equal_models_are_tied():
    one = table(models=1)
    same = pl.concat([one, one.with_columns(model=pl.lit("twin"))])
    found = leaderboard(same, resample=ef.Bootstrap(cluster="question_id", n=50))
    assert found["tied_with_best"].to_list() == [True, True]
    assert found.select("rank_set_lower", "rank_set_upper").rows() == [(1, 2), (1, 2)]


def test_a_single_cluster_says_nothing():
    rows = table().filter(pl.col("question_id") == "q1")
    method = ef.Bootstrap(cluster="question_id", n=10)
    with pytest.raises(ParameterError, match="needs two clusters"):
        leaderboard(rows, resample=method)
    with pytest.raises(ParameterError, match=r"resample must be ef.Bootstrap\(...\)"):
        leaderboard(rows, resample=ef.Jackknife(cluster="question_id"))
    holed = table().with_columns(question_id=pl.when(pl.col("score") > 0.5).then("question_id"))
    with pytest.raises(ParameterError, match="the cluster of the bootstrap is null"):
        leaderboard(holed, resample=method)


def test_weighting_by_question_resamples_questions_whole():
    rows, method = table(holes=0), ef.Bootstrap(cluster="question_id", n=50)
    segment = leaderboard(rows, resample=method)
    question = leaderboard(rows, weighting="question", resample=method)
    for name in ("score", "lower", "upper"):
        assert segment[name].to_list() == pytest.approx(question[name].to_list(), abs=1e-12)


def test_rank_sets_hold_what_is_certain():
    rng = np.random.default_rng(0)
    points = np.array([0.9, 0.5, 0.49, np.nan])
    drawn = points + 0.01 * rng.standard_normal((500, 4))
    lower, upper, _ = rank_sets(points, drawn, np.zeros(4, dtype=np.int64), 0.95, np.full(4, 30))
    assert lower[:3].tolist() == [1, 2, 2]
    assert upper[:3].tolist() == [1, 3, 3]
    assert np.isnan([lower[3], upper[3]]).all()


def test_ranks_of_ties_and_of_nothing():
    found = ranked(np.array([[0.5, 0.5, 0.9, np.nan]]))
    assert found[0, :3].tolist() == [2, 2, 1]
    assert np.isnan(found[0, 3])


def test_units_of_both_kinds_are_refused_unless_they_are_fixed():
    # One stray row puts 1 of 20 segments into a second region: its errors were once those of means
    # within segments, for all segments, unsaid.
    rows = [
        {
            "model": model,
            "segment_id": f"country:{segment}",
            "question_id": f"q{question}",
            "region": f"r{segment % 5}",
            "score": (segment * 7 + question * 3 + (model == "b")) % 11 / 10,
        }
        for model in "ab"
        for segment in range(20)
        for question in range(4)
    ]
    scored = pl.DataFrame(rows)
    method = ef.Bootstrap(cluster="region", n=50)
    whole = ef.survey.leaderboard(scored, resample=method)
    stray = pl.col("segment_id").eq("country:0") & pl.col("question_id").eq("q3")
    mixed = scored.with_columns(region=pl.when(stray).then(pl.lit("r1")).otherwise("region"))
    with pytest.raises(
        ef.EvalframeError, match=r"1 units of 'segment_id' lie in several .*'region'"
    ):
        ef.survey.leaderboard(mixed, resample=method)
    fixed = ef.survey.leaderboard(mixed, resample=method, fixed=True)
    assert fixed["score"].to_list() == pytest.approx(whole["score"].to_list(), abs=1e-12)
    assert (fixed["std_error"] > 0).all()


def test_gaps_and_deviations_have_the_errors_of_metrics_of_units():
    rows = [
        {
            "model": model,
            "segment_id": f"{category}:{segment}",
            "question_id": f"q{question}",
            "score": (segment * 7 + question * 3 + (model == "b") * segment) % 11 / 10,
        }
        for model in "ab"
        for category in ("country", "age")
        for segment in range(4)
        for question in range(6)
    ]
    scored = pl.DataFrame(rows)
    method = ef.Bootstrap(cluster="question_id", n=100)
    columns = ["std_error", "lower", "upper", "n_clusters", "drop_rate"]
    category = pl.col("segment_id").str.split(":").list.first().alias("category")
    mean = ef.mean("score")
    gaps = ef.evaluate(
        scored,
        ef.per("segment_id", mean, then=ef.spread()),
        by=["model", category],
        resample=method,
    )
    found = ef.survey.disparity(scored, resample=method).sort("model", "category")
    assert_frame_equal(found.select("gap"), gaps.select(gap="estimate"), abs_tol=1e-12)
    assert_frame_equal(found.select(columns), gaps.select(columns), abs_tol=1e-12)
    expected = ef.evaluate(
        scored, ef.per("segment_id", mean, then=ef.deviation()), by="model", resample=method
    )
    found = ef.survey.consistency(scored, resample=method).sort("model")
    assert_frame_equal(found.select(columns), expected.select(columns), abs_tol=1e-12)
    questions = ef.survey.question_disparity(scored, resample=ef.Bootstrap(cluster="segment_id"))
    assert questions["n_clusters"].unique().to_list() == [8]
    assert questions["std_error"].is_not_null().all()
    plain = ef.survey.question_disparity(scored)
    assert_frame_equal(questions.select(plain.columns), plain)
