"""Baselines: the real survey, golden values, a naive program, and what is refused."""

import math
from typing import get_args

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import dtef
from evalframe.compat.dtef import read_survey
from evalframe.core.choices import BaselineKind
from evalframe.core.errors import MissingColumnsError, ParameterError, UnknownNameError
from evalframe.survey.baselines import BASELINES, MODELS, baseline
from evalframe.survey.sample import sample_survey
from evalframe.survey.scoring import score
from evalframe.survey.surveys.tables import population_marginals

KINDS = {"uniform": "uniform", "marginal": "population_marginal", "cross_segment": "cross_segment"}
FIRST_SIX = [f"GD{number}" for number in range(1, 7)]


@pytest.fixture(scope="module")
def rounds(shared):
    return pl.read_parquet(shared / "data/survey/survey.parquet")


def table(*rows, sizes=None):
    """Segments of one question, `gender:0` and so on."""
    count = len(rows)
    return pl.DataFrame(
        {
            "question_id": ["q"] * count,
            "segment_id": [f"gender:{k}" for k in range(count)],
            "sample_size": sizes or [10 * (k + 1) for k in range(count)],
            "actual": [list(map(float, row)) for row in rows],
        }
    )


def naive_similarity(p, t):
    p, t = ([x / sum(v) for x in v] for v in (p, t))
    m = [(a + b) / 2 for a, b in zip(p, t, strict=True)]
    parts = [a * math.log2(a / c) for v in (p, t) for a, c in zip(v, m, strict=True) if a > 0]
    return 1 - math.sqrt(max(0.0, sum(parts) / 2))


@pytest.mark.parametrize("kind", list(KINDS))
def test_real_rounds(rounds, golden, kind):
    expected = golden("survey/statistics")["real_surveys"]
    made = dtef.baseline(rounds, kind)
    assert len(made) == 18_632
    for round_, rows in made.group_by("round"):
        assert rows["score"].mean() == pytest.approx(expected[round_[0]][KINDS[kind]], abs=1e-12)
    pooled = expected["_pooled"]
    first = made.filter(pl.col("round").is_in(FIRST_SIX))
    assert made["score"].mean() == pytest.approx(pooled["all8"][KINDS[kind]], abs=1e-12)
    assert first["score"].mean() == pytest.approx(pooled["GD1_GD6"][KINDS[kind]], abs=1e-12)
    categories = made.group_by("round", "segment_attribute").agg(pl.col("score").mean())
    for round_, category, mean in categories.rows():
        if kind == "marginal":
            stored = expected[round_]["categories"][category]["marginal_score"]
            assert mean == pytest.approx(stored, abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "everywhere", "six"),
    [
        ("uniform", 0.6434, 0.6473),
        ("marginal", 0.8415, 0.8335),
        ("cross_segment", 0.7671, 0.7560),
        ("permutation", 0.7724, 0.7612),
    ],
)
def test_documented_rules_give_the_published_figures(rounds, kind, everywhere, six):
    made = baseline(rounds, kind)
    first = made.filter(pl.col("round").is_in(FIRST_SIX))
    assert round(made["score"].mean(), 4) == everywhere
    assert round(first["score"].mean(), 4) == six
    assert made["model"].unique().to_list() == [MODELS[kind]]


def test_a_permutation_may_leave_segments_where_they_are(golden, rounds):
    relation = golden("survey/statistics")["shuffle_relation"]
    x, segments = relation["mean_off_diagonal"], relation["n_segments"]
    assert x + (1 - x) / segments == pytest.approx(relation["expected_permutation_null"], abs=1e-9)
    asked = rounds.filter(round="GD2")
    cross, permuted = (
        baseline(asked, kind).group_by("question_id").agg(pl.col("score").mean(), n=pl.len())
        for kind in ("cross_segment", "permutation")
    )
    joined = cross.join(permuted, on="question_id")
    expected = joined["score"] + (1 - joined["score"]) / joined["n"]
    assert (joined["score_right"] - expected).abs().max() < 1e-12


def test_random_distributions(golden):
    for case in golden("survey/statistics")["random_dirichlet"]:
        made = dtef.baseline(table(case["truth"]), "dirichlet", n=40_000)
        tolerance = 5 * math.hypot(case["mc_se"], case["sd_single_draw"] / 200)
        assert made["score"].item() == pytest.approx(case["expected_similarity"], abs=tolerance)


SHARES = st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any)


@settings(max_examples=8, deadline=None)
@given(st.lists(SHARES, min_size=1, max_size=6))
def test_kinds_are_those_of_a_naive_program(counts):
    rows = [[x / sum(row) for x in row] for row in counts]
    survey = table(*rows)
    sizes = survey["sample_size"].to_list()
    marginal = [
        sum(n * row[j] for n, row in zip(sizes, rows, strict=True)) / sum(sizes) for j in range(3)
    ]
    found = {kind: baseline(survey, kind)["score"].to_list() for kind in MODELS}
    for i, row in enumerate(rows):
        others = [naive_similarity(other, row) for j, other in enumerate(rows) if j != i]
        assert found["uniform"][i] == pytest.approx(naive_similarity([1, 1, 1], row), abs=1e-7)
        assert found["marginal"][i] == pytest.approx(naive_similarity(marginal, row), abs=1e-7)
        if others:
            cross = sum(others) / len(others)
            assert found["cross_segment"][i] == pytest.approx(cross, abs=1e-7)
            whole = (sum(others) + 1) / (len(others) + 1)
            assert found["permutation"][i] == pytest.approx(whole, abs=1e-7)
        else:
            assert (found["cross_segment"][i], found["permutation"][i]) == (None, 1.0)


def test_order_of_rows_and_other_rounds_change_nothing():
    survey = sample_survey()
    keys = ["round", "segment_id", "question_id"]
    for kind in ("marginal", "cross_segment", "dirichlet"):
        whole = baseline(survey, kind, n=5).sort(keys)
        mixed = baseline(survey.sample(fraction=1, shuffle=True, seed=3), kind, n=5)
        assert_frame_equal(whole, mixed.sort(keys))


def test_a_survey_in_percent_or_as_shares_is_the_same():
    survey = sample_survey()
    for kind in MODELS:
        shares = baseline(survey.drop("percent"), kind)
        assert_frame_equal(shares, baseline(survey.drop("share"), kind))


def test_marginal_without_the_segment_itself():
    survey = table([0.2, 0.8], [0.4, 0.6], [0.0, 1.0], sizes=[100, 300, 0])
    made = baseline(survey, "marginal", oracle=False)
    assert made["predicted"].list.get(0).round(9).to_list() == [0.4, 0.2, 0.35]
    alone = baseline(table([0.2, 0.8]), "marginal", oracle=False)
    assert alone.select("predicted", "score").row(0) == (None, None)


def test_marginal_is_that_of_prompts():
    survey = sample_survey()
    made = dtef.baseline(survey, "marginal")
    expected = population_marginals(survey)
    joined = made.join(expected, on=["round", "question_id"])
    flat = joined.explode("predicted", "percent")
    assert (flat["predicted"] * 100 - flat["percent"]).abs().max() < 1e-9


def test_no_other_segment():
    alone = table([0.2, 0.8])
    assert baseline(alone, "cross_segment")["score"].to_list() == [None]
    original = dtef.baseline(alone, "cross_segment")
    assert original["score"].to_list() == [0.0]


def test_any_metric():
    survey = table([0.2, 0.8], [0.4, 0.6], [1, 0])
    normalised = ef.earth_mover_similarity(normalised=True)
    made = baseline(survey, "cross_segment", metric=normalised)
    assert made["score"].round(9).to_list() == [0.5, 0.6, 0.3]
    named = dtef.baseline(survey, "cross_segment", metric="earth-mover")
    assert named["score"].round(9).to_list() == [0.5, 0.6, 0.3]
    modes = baseline(survey, "cross_segment", metric="mode_agreement")
    assert modes["score"].to_list() == [0.5, 0.5, 0.0]


def test_rows_go_on_into_scores():
    made = baseline(sample_survey(), "marginal")
    assert_frame_equal(score(made.drop("score")).select("score"), made.select("score"))


PRIOR = pl.DataFrame(
    {
        "round": ["A", "A", "A", "B", "B", "C"],
        "question_id": ["a1", "a1", "a2", "b1", "b1", "c1"],
        "segment_id": [f"country:{x}" for x in ("x", "t-rkiye", "x", "x", "turkey", "x")],
        "actual": [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6], [0.5, 0.5], [0.6, 0.4]],
    }
)
QUESTIONS = pl.DataFrame(
    {
        "round": ["A", "A", "B", "C"],
        "question_id": ["a1", "a2", "b1", "c1"],
        "question_text": ["One?", "One?", "One? ", "One?"],
        "options": [["y", "n"]] * 4,
    }
)


def test_prior_round():
    made = baseline(PRIOR, "prior_round", questions=QUESTIONS)
    assert made["prior_round"].to_list() == [None, None, None, "A", "A", "B"]
    assert made["predicted"].to_list() == [None] * 3 + [[0.1, 0.9], [0.2, 0.8], [0.4, 0.6]]
    assert made["score"].null_count() == 3
    other = baseline(PRIOR, "prior_round", questions=QUESTIONS, rounds=["B", "A"])
    assert other["prior_round"].to_list() == ["B", "B", "B", None, None, None]
    same_ids = PRIOR.with_columns(question_id=pl.col("question_id").str.tail(1))
    without = baseline(same_ids, "prior_round")
    assert without["prior_round"].to_list() == [None, None, None, "A", "A", "B"]


def test_prior_rounds_of_the_real_survey(rounds, shared):
    questions = pl.read_parquet(shared / "data/survey/questions.parquet")
    worldwide = [f"GD{number}" for number in range(1, 8)]
    made = baseline(rounds, "prior_round", questions=questions, rounds=worldwide)
    known = made.drop_nulls("score")
    assert len(known) > 5_000
    assert known["score"].mean() > 0.8
    order = {name: number for number, name in enumerate(worldwide)}
    ages = known.select(pl.col("round", "prior_round").replace_strict(order))
    assert (ages["prior_round"] < ages["round"]).all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"kind": "uniforms"}, ParameterError, "got 'uniforms'. Did you mean 'uniform'?"),
        ({"kind": "uniform", "metric": "cosines"}, UnknownNameError, "unknown metric 'cosines'"),
        ({"kind": "uniform", "oracle": False}, ParameterError, 'is for kind="marginal"'),
        ({"kind": "uniform", "rounds": ["1"]}, ParameterError, 'are for kind="prior_round"'),
        ({"kind": "prior_round", "rounds": ["9"]}, ParameterError, "must name rounds"),
        ({"kind": "dirichlet", "n": 0}, ParameterError, "n must be a whole number of draws"),
        ({"kind": "dirichlet", "seed": -1}, ParameterError, "seed must be a whole number"),
        (
            {"kind": "prior_round", "questions": pl.DataFrame({"round": ["a"]})},
            MissingColumnsError,
            "questions needs columns 'question_id', 'question_text'",
        ),
    ],
)
def test_what_is_refused(change, error, message):
    with pytest.raises(error, match=message):
        baseline(table([0.2, 0.8]), **change)


def test_a_marginal_needs_sample_sizes():
    with pytest.raises(ParameterError, match="the survey has none"):
        baseline(table([0.2, 0.8]).drop("sample_size"), "marginal")


def test_a_survey_that_was_read(shared, golden):
    survey = read_survey(shared / "data/survey/dtef_survey_gd5.json")
    expected = golden("survey/statistics")["real_surveys"]["GD5"]
    for kind, stored in KINDS.items():
        made = dtef.baseline(survey, kind)
        assert made["score"].mean() == pytest.approx(expected[stored], abs=1e-12)
    assert baseline(survey, "prior_round")["score"].null_count() == 2_254


def test_each_kind_is_one_baseline():
    assert get_args(BaselineKind) == tuple(BASELINES)
    assert len({*MODELS.values()}) == len(BASELINES)
