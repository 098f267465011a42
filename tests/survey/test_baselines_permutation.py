"""The permutation baseline: enumeration, expectation, and draws that hang on the seed alone."""

import itertools

import numpy as np
import polars as pl
import pytest

from evalframe.compat import dtef
from evalframe.core.errors import ParameterError
from evalframe.survey import permutations
from evalframe.survey.baselines import baseline
from evalframe.survey.permutations import Pairwise, permutation_baseline
from evalframe.survey.sample import sample_survey
from evalframe.survey.surveys.tables import as_distributions


def test_permutations_are_even():
    rng = np.random.default_rng(0)
    drawn = np.concatenate([chosen for _, chosen in permutations._permutations(rng, 6_000, 1, 3)])
    counts = [
        (drawn[:, 0] == order).all(axis=1).sum() for order in itertools.permutations(range(3))
    ]
    assert sum(counts) == 6_000
    assert max(abs(count - 1_000) for count in counts) < 150


@pytest.mark.parametrize("size", [1, 2, 16, 17])
def test_each_is_a_permutation(size):
    rng = np.random.default_rng(1)
    for _, chosen in permutations._permutations(rng, 20, 3, size):
        assert (np.sort(chosen, axis=2) == np.arange(size)).all()


def test_mean_is_the_expectation():
    survey = sample_survey()
    made = permutation_baseline(survey, n=2_000)
    exact = baseline(survey, "permutation")
    by_round = exact.group_by("round", maintain_order=True).agg(pl.col("score").mean(), n=pl.len())
    assert made["round"].to_list() == by_round["round"].to_list()
    assert (made["expected"] - by_round["score"]).abs().max() < 1e-12
    assert (made["n_pairs"] == by_round["n"]).all()
    spread = (made["upper"] - made["lower"]) / 4
    assert ((made["mean"] - made["expected"]).abs() < 5 * spread / 2_000**0.5).all()


def test_chunks_change_nothing(monkeypatch):
    survey = sample_survey()
    whole = permutation_baseline(survey, n=50)
    monkeypatch.setattr(permutations, "_CELLS", 100)
    assert permutation_baseline(survey, n=50).equals(whole)
    assert not permutation_baseline(survey, n=50, seed=1).equals(whole)


def test_all_rounds_together():
    survey = sample_survey()
    made = permutation_baseline(survey, by="all", n=100)
    exact = baseline(survey, "permutation")["score"].mean()
    assert made.columns == ["model", "mean", "lower", "upper", "expected", "n_pairs"]
    assert made["expected"].item() == pytest.approx(exact, abs=1e-12)


def test_undefined_similarities_add_nothing():
    survey = pl.DataFrame(
        {
            "question_id": ["q"] * 3,
            "segment_id": ["a", "b", "c"],
            "actual": [[0.5, 0.5], [0.2, 0.8], [1.0, 0.0]],
        }
    )
    known = pl.col("predicted").list.get(0)
    metric = pl.when(known < 1).then(1.0)
    pairwise = Pairwise.of(as_distributions(survey), metric, half=False)
    assert pairwise.means(with_itself=True).tolist() == [1.0] * 3
    assert permutation_baseline(survey, metric=metric, n=20)["mean"].item() == 1.0


def test_published_figure(shared):
    rounds = pl.scan_parquet(shared / "data/survey/survey.parquet")
    first = rounds.filter(pl.col("round").is_in([f"GD{number}" for number in range(1, 7)]))
    made = dtef.permutation_baseline(first.collect(), by="all", n=200)
    assert round(made["mean"].item(), 3) == 0.761
    assert made["n_pairs"].item() == 14_292


def test_what_is_refused():
    with pytest.raises(ParameterError, match='by must be "round" or "all"'):
        permutation_baseline(sample_survey(), by="question")
    with pytest.raises(ParameterError, match="level must lie between 0 and 1"):
        permutation_baseline(sample_survey(), level=95)
