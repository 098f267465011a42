"""Sampling noise: golden values of the original, and a simulation for the corrected formula."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from evalframe.core.errors import ParameterError
from evalframe.survey.noise import minimum_sample_size, noise_ceiling, normalised_score
from evalframe.survey.similarity import jensen_shannon_similarity


def pairs(*rows):
    return pl.DataFrame(rows, schema={"n_options": pl.Int64, "sample_size": pl.Int64}, orient="row")


def test_golden_ceilings(golden):
    cases = pl.DataFrame(golden("survey/statistics")["noise_ceiling"])
    made = cases.select(noise_ceiling("k", "n", rules="reference")).to_series()
    assert (made - cases["value"].cast(pl.Float64)).abs().max() < 1e-15


def test_golden_normalised_scores(golden):
    cases = pl.DataFrame(golden("survey/statistics")["normalized_score"]).cast(pl.Float64)
    made = cases.select(normalised_score("raw", rules="reference", ceiling="ceiling")).to_series()
    assert (made - cases["value"]).abs().max() < 1e-15
    ours = cases.select(normalised_score("raw", ceiling="ceiling")).to_series()
    assert (ours.is_null() == (cases["ceiling"] <= cases["uniform"])).all()


def test_real_rounds(shared, golden):
    expected = golden("survey/statistics")["real_surveys"]
    survey = pl.scan_parquet(shared / "data/survey/survey.parquet")
    keys = ["round", "question_id", "segment_id", "segment_attribute", "sample_size"]
    made = (
        survey.group_by(keys)
        .agg(n_options=pl.len())
        .with_columns(noise_ceiling(rules="reference"))
        .collect()
    )
    for round_, rows in made.group_by("round"):
        shares = expected[round_[0]]["noise_ceiling_fraction_above"]
        for threshold, share in shares.items():
            above = (rows["noise_ceiling"] > float(threshold)).mean()
            assert above == pytest.approx(share, abs=1e-12)
        for category, part in rows.group_by("segment_attribute"):
            stored = expected[round_[0]]["categories"][category[0]]
            ceiling = part["noise_ceiling"].mean()
            assert ceiling == pytest.approx(stored["avg_noise_ceiling"], abs=1e-12)
            assert part["sample_size"].mean() == pytest.approx(stored["avg_sample_size"])
    first = made.filter(~pl.col("round").is_in(["GD6UK", "GD7"]))
    assert (first["noise_ceiling"] > 0.7).mean() == pytest.approx(0.54499, abs=1e-5)


@pytest.mark.parametrize("samples", [1, 2])
@pytest.mark.parametrize(("k", "n"), [(2, 100), (4, 50), (4, 400), (7, 200)])
def test_the_corrected_formula_is_what_simulation_gives(k, n, samples):
    rng = np.random.default_rng([k, n])
    truth = rng.dirichlet(np.full(k, 8.0))
    drawn = [rng.multinomial(n, truth, size=4_000).astype(float) for _ in range(2)]
    other = drawn[1] if samples == 2 else np.tile(truth, (4_000, 1))
    frame = pl.DataFrame({"predicted": drawn[0], "actual": other})
    distances = 1 - frame.select(jensen_shannon_similarity()).to_series().to_numpy()
    ceiling = pairs((k, n)).select(noise_ceiling(samples=samples)).item()
    assert 1 - np.sqrt((distances**2).mean()) == pytest.approx(ceiling, abs=0.006)
    if samples == 1:
        original = pairs((k, n)).select(noise_ceiling(rules="reference")).item()
        assert 1 - original == pytest.approx(2 * (1 - ceiling))


def test_what_is_undefined():
    frame = pairs((1, 10), (0, 10), (2, 0), (2, -1), (None, 3), (3, None), (9, 1))
    assert frame.select(noise_ceiling()).to_series().to_list() == [1.0] + [None] * 5 + [0.0]
    original = frame.select(noise_ceiling(rules="reference")).to_series().to_list()
    assert original[:6] == [0.0] * 4 + [None] * 2
    assert original[6] < 0


@pytest.mark.parametrize("rules", ["documented", "reference"])
@pytest.mark.parametrize("ceiling", [0.5, 0.7, 0.9])
def test_the_smallest_sample_reaches_its_ceiling(rules, ceiling):
    frame = pl.DataFrame({"n_options": range(2, 10)})
    needed = frame.with_columns(minimum_sample_size(ceiling=ceiling, rules=rules))
    for fewer, reached in ((0, True), (1, False)):
        sizes = needed.with_columns(sample_size=pl.col("minimum_sample_size") - fewer)
        made = sizes.filter(pl.col("sample_size") > 0).select(noise_ceiling(rules=rules))
        assert ((made.to_series() >= ceiling - 1e-12) == reached).all()


def test_the_smallest_sample_of_few_options():
    frame = pl.DataFrame({"n_options": [0, 1, None]})
    assert frame.select(minimum_sample_size()).to_series().to_list() == [None, 1, None]


def test_what_is_refused():
    with pytest.raises(ParameterError, match="samples must be 1 or 2"):
        noise_ceiling(samples=3)
    with pytest.raises(ParameterError, match="rules must be one of"):
        noise_ceiling(rules="old")
    with pytest.raises(ParameterError, match="the original has one formula"):
        noise_ceiling(samples=2, rules="reference")
    with pytest.raises(ParameterError, match="ceiling must be at least 0 and below 1"):
        minimum_sample_size(ceiling=1)
