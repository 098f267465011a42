"""Sampling noise: a simulation of the formula, and what is undefined."""

import numpy as np
import polars as pl
import pytest

from evalframe.compat import dtef
from evalframe.core.errors import ParameterError
from evalframe.survey.noise import minimum_sample_size, noise_ceiling
from evalframe.survey.similarity.divergences import jensen_shannon_similarity


def pairs(*rows):
    return pl.DataFrame(rows, schema={"n_options": pl.Int64, "sample_size": pl.Int64}, orient="row")


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
        original = pairs((k, n)).select(dtef.noise_ceiling()).item()
        assert 1 - original == pytest.approx(2 * (1 - ceiling))


def test_what_is_undefined():
    frame = pairs((1, 10), (0, 10), (2, 0), (2, -1), (None, 3), (3, None), (9, 1))
    assert frame.select(noise_ceiling()).to_series().to_list() == [1.0] + [None] * 5 + [0.0]
    original = frame.select(dtef.noise_ceiling()).to_series().to_list()
    assert original[:6] == [0.0] * 4 + [None] * 2
    assert original[6] < 0


@pytest.mark.parametrize("ceiling", [0.5, 0.7, 0.9])
def test_the_smallest_sample_reaches_its_ceiling(ceiling):
    frame = pl.DataFrame({"n_options": range(2, 10)})
    needed = frame.with_columns(minimum_sample_size(ceiling=ceiling))
    for fewer, reached in ((0, True), (1, False)):
        sizes = needed.with_columns(sample_size=pl.col("minimum_sample_size") - fewer)
        made = sizes.filter(pl.col("sample_size") > 0).select(noise_ceiling())
        assert ((made.to_series() >= ceiling - 1e-12) == reached).all()


def test_the_smallest_sample_of_few_options():
    frame = pl.DataFrame({"n_options": [0, 1, None]})
    assert frame.select(minimum_sample_size()).to_series().to_list() == [None, 1, None]


def test_what_is_refused():
    with pytest.raises(ParameterError, match="samples must be 1 or 2"):
        noise_ceiling(samples=3)
    with pytest.raises(ParameterError, match="ceiling must be at least 0 and below 1"):
        minimum_sample_size(ceiling=1)
