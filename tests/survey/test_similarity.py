"""Similarities: golden values, 50-digit references, and naive programs."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalframe.survey.similarity.distances import (
    cosine_similarity,
    earth_mover_similarity,
    hellinger_distance,
    mode_agreement,
    per_option_accuracy,
    rank_agreement,
    total_variation_distance,
)
from evalframe.survey.similarity.distances import distribution_absolute_error as absolute_error
from evalframe.survey.similarity.distances import (
    distribution_root_mean_squared_error as squared_error,
)
from evalframe.survey.similarity.divergences import (
    jensen_shannon_distance,
    jensen_shannon_similarity,
    kullback_leibler_divergence,
)
from survey.distributions import pairs, value, values


def exact_jensen_shannon(predicted, actual):
    """One minus the distance, of the very floats, to 50 digits."""
    with localcontext() as context:
        context.prec = 60
        p, t = ([Decimal(x) for x in numbers] for numbers in (predicted, actual))
        p, t = ([x / sum(numbers) for x in numbers] for numbers in (p, t))
        m = [(a + b) / 2 for a, b in zip(p, t, strict=True)]
        terms = [x * (x / y).ln() for side in (p, t) for x, y in zip(side, m, strict=True) if x]
        return float(1 - (max(sum(terms), Decimal(0)) / 2 / Decimal(2).ln()).sqrt())


@pytest.mark.parametrize("shift", [0.3, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
def test_nearly_equal_distributions_keep_their_digits(shift):
    rng = np.random.default_rng(7)
    rows = []
    for size in (2, 3, 5, 9):
        actual = rng.dirichlet(np.ones(size))
        predicted = actual.copy()
        predicted[0] += shift
        rows.append((predicted.tolist(), actual.tolist()))
    found = values(jensen_shannon_similarity, *rows)
    assert found == pytest.approx([exact_jensen_shannon(*row) for row in rows], abs=2e-15)


@pytest.mark.parametrize(
    ("predicted", "actual"),
    [
        ([1e-300, 1.0, 0.0], [0.0, 1.0, 1e-16]),
        ([1e-9, 1.0], [0.0, 1.0]),
        ([1.0, 0.0], [1e-14, 1.0]),
        ([5e-324, 5e-324], [5e-324, 0.0]),
        ([1e-200] * 3, [1.0, 2.0, 3.0]),
    ],
)
def test_tiny_shares(predicted, actual):
    found = value(jensen_shannon_similarity, predicted, actual)
    assert found == pytest.approx(exact_jensen_shannon(predicted, actual), abs=2e-12)


def test_sums_that_overflow():
    assert value(total_variation_distance, [1e308, 1e308], [1, 1]) == 0.0
    assert value(jensen_shannon_similarity, [1e308, 1e308], [3, 1]) == pytest.approx(
        exact_jensen_shannon([1, 1], [3, 1]), abs=1e-15
    )


def shares(numbers):
    return [x / math.fsum(numbers) for x in numbers]


def naive(predicted, actual):
    """Every measure by its formula; the keys are functions of this package."""
    p, t = shares(predicted), shares(actual)
    cells = list(zip(p, t, strict=True))
    steps = [sum(p[: i + 1]) - sum(t[: i + 1]) for i in range(len(p))]
    work = sum(map(abs, steps))
    modes = [i for i, x in enumerate(predicted) if x == max(predicted)]
    right = [i for i in modes if actual[i] == max(actual)]
    return {
        jensen_shannon_similarity: exact_jensen_shannon(predicted, actual),
        jensen_shannon_distance: 1 - exact_jensen_shannon(predicted, actual),
        cosine_similarity: sum(a * b for a, b in cells) / math.hypot(*p) / math.hypot(*t),
        earth_mover_similarity: max(0, 1 - work),
        total_variation_distance: sum(abs(a - b) for a, b in cells) / 2,
        hellinger_distance: math.hypot(*(a**0.5 - b**0.5 for a, b in cells)) / 2**0.5,
        kullback_leibler_divergence: sum(
            (b * math.log2(b / a) if a else math.inf) for a, b in cells if b
        ),
        absolute_error: sum(abs(a - b) for a, b in cells) / len(p),
        squared_error: math.sqrt(sum((a - b) ** 2 for a, b in cells) / len(p)),
        mode_agreement: len(right) / len(modes),
    }


COUNTS = st.one_of(st.integers(0, 6), st.integers(0, 100))


@st.composite
def distributions(draw):
    size = draw(st.integers(1, 7))
    sides = st.lists(COUNTS, min_size=size, max_size=size).filter(any)
    return draw(sides), draw(sides)


@settings(max_examples=8, deadline=None)
@given(st.lists(distributions(), min_size=1, max_size=4))
def test_measures_are_those_of_a_naive_program(rows):
    frame = pairs(*rows)
    expected = [naive(*row) for row in rows]
    for measure in expected[0]:
        found = frame.select(measure()).to_series().to_list()
        assert found == pytest.approx([row[measure] for row in expected], abs=1e-7), measure
    ranks = frame.select(rank_agreement()).to_series().to_list()
    for row, tau in zip(rows, ranks, strict=True):
        if min(len(set(side)) for side in row) == 1:  # all tied
            assert tau is None
        else:
            assert tau == pytest.approx(stats.kendalltau(*row).statistic, abs=1e-12)


def test_earth_movers_by_their_range():
    rows = [([1, 0, 0, 0], [0, 0, 0, 1]), ([1, 0, 0, 0], [0, 1, 0, 0]), ([7], [9])]
    assert values(earth_mover_similarity, *rows) == [0.0, 0.0, 1.0]
    found = values(earth_mover_similarity, *rows, normalised=True)
    assert found == pytest.approx([0.0, 2 / 3, 1.0])


def test_kullback_leibler_with_a_floor():
    found = value(kullback_leibler_divergence, [1, 0], [1, 1], epsilon=2**-10)
    assert found == pytest.approx(0.5 * math.log2(0.5) + 0.5 * math.log2(2**9))


def test_per_option_accuracy_of_all_options_in_any_unit():
    rows = ([0.44, 0.56], [40, 60])
    each = [value(per_option_accuracy, *rows, option=option) for option in (0, 1)]
    assert each == pytest.approx([1 - 4 / 12, 1 - 4 / 18])
    assert value(per_option_accuracy, *rows) == pytest.approx(sum(each) / 2)
    assert value(per_option_accuracy, *rows, option=2) is None
    assert value(per_option_accuracy, [1, 1], [1, 1], tolerance=0) == 1.0
