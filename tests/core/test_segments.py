"""Sums and hulls within segments, against loops over them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.core import kernel, segments

RNG = np.random.default_rng(0)


def cut(values, starts):
    return [values[a:b] for a, b in itertools.pairwise(starts)]


def joined(parts):
    return np.concatenate([np.asarray(part, dtype=float) for part in parts] or [[]])


# Empty segments at either end and inside, one segment, equal lengths, no segment.
LENGTHS = [[], [0], [5], [0, 3, 0, 0, 1, 4, 0], [2, 2, 2], [1] * 6, [3000, 1, 70_000], [70_000]]


@pytest.fixture(params=LENGTHS, ids=str)
def starts(request):
    return segments.starts_of(np.array(request.param, dtype=np.int64))


@pytest.fixture
def values(starts):
    return RNG.integers(-8, 9, starts[-1]) / 8


def test_starts_are_the_ends_of_the_segments_before():
    assert segments.starts_of(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]


def test_totals(values, starts):
    assert segments.totals(values, starts).tolist() == [part.sum() for part in cut(values, starts)]


def test_totals_until(values, starts):
    ends = starts[:-1] + RNG.integers(0, 2**20, len(starts) - 1) % (np.diff(starts) + 1)
    expected = [values[a:b].sum() for a, b in zip(starts, ends, strict=False)]
    assert segments.totals_until(values, starts, ends).tolist() == expected


def test_first_reaching_searches_every_segment_for_its_own_bound(starts):
    rising = joined(np.sort(RNG.integers(0, 100, n)) for n in np.diff(starts))
    bounds = RNG.integers(0, 120, len(starts) - 1).astype(float)
    expected = [
        next((a + i for i, value in enumerate(part) if value >= bound), -1)
        for a, part, bound in zip(starts, cut(rising, starts), bounds, strict=False)
    ]
    assert segments.first_reaching(rising, starts, bounds).tolist() == expected


def test_nothing_is_found_among_nan():
    rising, starts = np.full(3, np.nan), np.array([0, 3])
    assert segments.first_reaching(rising, starts, np.zeros(1)).tolist() == [-1]


def test_reduce_fills_empty_segments(values, starts):
    expected = [part.max() if len(part) else -1.0 for part in cut(values, starts)]
    assert segments.reduce(np.fmax, values, starts, -1.0).tolist() == expected


def test_running_sums(values, starts):
    # Eighths add up exactly, in any order.
    expected = joined(np.cumsum(part) for part in cut(values, starts))
    np.testing.assert_array_equal(segments.running(values, starts), expected)


def test_before_shifts_within_segments(values, starts):
    expected = joined([0.0, *part[:-1]] if len(part) else [] for part in cut(values, starts))
    np.testing.assert_array_equal(segments.before(values, starts), expected)


def test_boundaries_are_the_first_rows_of_runs(starts):
    levels = np.round(RNG.random(starts[-1]) * 3)
    expected = [
        a + i
        for a, part in zip(starts[:-1], cut(levels, starts), strict=True)
        for i in range(len(part))
        if i == 0 or part[i] != part[i - 1]
    ]
    assert segments.boundaries(levels, starts).tolist() == expected


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(("count", "most"), [(0, 4), (1, 4), (3, 4), (70_000, 4), (9, 40_000)])
def test_levels_are_ordered_within_any_number_of_segments(count, most, descending):
    rng = np.random.default_rng(count)
    starts = segments.starts_of(rng.integers(0, most, count))
    levels = rng.integers(0, 3, starts[-1]).astype(float)
    levels[::7] = np.nan
    order = segments.order_within(levels, starts, descending=descending)
    segment = np.repeat(np.arange(count), np.diff(starts))
    expected = np.lexsort([-levels if descending else levels, segment])
    assert sorted(order) == list(range(len(levels)))
    np.testing.assert_array_equal(segment[order], segment)
    np.testing.assert_array_equal(levels[order], levels[expected])


def test_zeros_of_both_signs_are_one_level_and_so_are_infinities():
    levels = np.array([np.inf, np.inf, 0.0, -0.0, -np.inf, -np.inf])
    assert segments.boundaries(levels, np.array([0, 6])).tolist() == [0, 2, 4]


def test_collapse_adds_up_equal_levels():
    levels = np.array([2.0, 2.0, 1.0, 1.0, 1.0, 3.0])
    sums = {"x": np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])}
    made, added, starts = kernel.collapse(levels, sums, np.array([0, 4, 4, 6]))
    assert made.tolist() == [2.0, 1.0, 1.0, 3.0]
    assert added["x"].tolist() == [3.0, 12.0, 16.0, 32.0]
    assert starts.tolist() == [0, 2, 2, 4]


def test_a_segment_does_not_lend_its_rounding_to_the_next():
    values = np.concatenate([np.full(1001, 1e8 + 0.1), np.full(500, 0.1)])
    running = segments.running(values, np.array([0, 1001, 1501]))
    expected = float(Fraction(0.1) * 500)
    assert running[-1] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("lengths", [[3, 2, 70_000, 4], [2, 3, 1]])
def test_an_infinity_stays_in_its_segment(lengths):
    starts = segments.starts_of(np.array(lengths))
    values = RNG.integers(0, 9, starts[-1]) / 8
    tame = segments.running(values, starts)
    values[1] = np.inf
    running = segments.running(values, starts)
    assert running[: lengths[0]].tolist() == [tame[0]] + [np.inf] * (lengths[0] - 1)
    np.testing.assert_array_equal(running[lengths[0] :], tame[lengths[0] :])


def test_long_running_sums_keep_their_digits():
    values = 1e8 + RNG.integers(0, 1024, 1 << 21) / 1024
    exact = np.cumsum(np.round(values * 1024).astype(np.int64))
    running = segments.running(values, np.array([0, len(values)]))
    assert np.max(np.abs(running * 1024 - exact) / exact) < 1e-14


def hull_of(x, y):
    """The lower hull's vertices by the monotone chain, exactly."""
    points = [(Fraction(a), Fraction(b)) for a, b in zip(x, y, strict=True)]
    stack = []
    for index, (px, py) in enumerate(points):
        while len(stack) > 1:
            (ox, oy), (ax, ay) = points[stack[-2]], points[stack[-1]]
            if (ax - ox) * (py - oy) > (ay - oy) * (px - ox):
                break
            stack.pop()
        stack.append(index)
    return stack


def check_hull(*curves):
    x, y = (joined(curve[axis] for curve in curves) for axis in (0, 1))
    starts = segments.starts_of(np.array([len(curve[0]) for curve in curves], dtype=np.int64))
    expected = [hull_of(*curve) for curve in curves]
    vertices = np.zeros(len(x), dtype=bool)
    vertices[segments.lower_hull(x, y, starts)] = True
    assert [np.flatnonzero(part).tolist() for part in cut(vertices, starts)] == expected


CURVES = st.lists(st.integers(0, 20), max_size=25).map(
    lambda heights: (np.arange(len(heights)) + 1.0, np.array(heights, dtype=float))
)


@settings(max_examples=80, deadline=None)
@given(st.lists(CURVES, max_size=4))
def test_hulls(curves):
    check_hull(*curves)


def arc(points, low=None):
    """A convex parabola, perhaps ending in a low point that undercuts it."""
    x = np.arange(points, dtype=float)
    y = x**2
    if low is not None:
        y[-1] = low
    return x, y


@pytest.mark.parametrize("low", [None, -1.0, -1e6, 500.0])
def test_a_long_convex_arc_that_ends_in_a_low_point(low):
    check_hull(arc(2000, low), arc(3), arc(700, 0.0), ([], []), arc(500, -7.0))


def test_a_concave_and_a_straight_curve_are_their_chord():
    x = np.arange(1000.0)
    check_hull((x, np.sqrt(x)), (x, 3 * x))
