"""Similarities: golden values, 50-digit references, naive programs, shapes, and what is null."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import stats

from evalframe.core.errors import ParameterError
from evalframe.survey import similarity
from evalframe.survey.similarity import (
    cosine_similarity,
    earth_mover_similarity,
    hellinger_distance,
    jensen_shannon_distance,
    jensen_shannon_similarity,
    kullback_leibler_divergence,
    mode_agreement,
    per_option_accuracy,
    rank_agreement,
    total_variation_distance,
)
from evalframe.survey.similarity import (
    distribution_absolute_error as absolute_error,
)
from evalframe.survey.similarity import (
    distribution_root_mean_squared_error as squared_error,
)

MEASURES = [
    jensen_shannon_similarity,
    jensen_shannon_distance,
    partial(jensen_shannon_similarity, epsilon=1e-10),
    partial(jensen_shannon_similarity, rules="reference"),
    cosine_similarity,
    partial(cosine_similarity, rules="reference"),
    earth_mover_similarity,
    partial(earth_mover_similarity, rules="reference"),
    partial(earth_mover_similarity, normalised=True),
    total_variation_distance,
    hellinger_distance,
    kullback_leibler_divergence,
    absolute_error,
    squared_error,
    rank_agreement,
    mode_agreement,
    per_option_accuracy,
    partial(per_option_accuracy, rules="reference"),
]
DOCUMENTED = [each for each in MEASURES if getattr(each, "keywords", {}).get("rules") is None]


def pairs(*rows, dtype=pl.List(pl.Float64)):  # noqa: B008  (a dtype is a constant)
    schema = {"predicted": dtype, "actual": dtype}
    return pl.DataFrame(rows, schema=schema, orient="row", strict=False)


def values(measure, *rows, **parameters):
    return pairs(*rows).select(measure(**parameters)).to_series().to_list()


def value(measure, predicted, actual, **parameters):
    return values(measure, (predicted, actual), **parameters)[0]


def floats(numbers):
    return [math.nan if number is None else float(number) for number in numbers]


def test_golden_values(golden):
    cases = golden("survey/distribution_metrics")["cases"]
    assert len(cases) >= 160
    frame = pairs(*((floats(c["predicted"]), floats(c["expected"])) for c in cases))
    found = frame.select(
        js=jensen_shannon_similarity(rules="reference"),
        js_swapped=jensen_shannon_similarity("actual", "predicted", rules="reference"),
        cosine=cosine_similarity(rules="reference"),
        emd=earth_mover_similarity(rules="reference"),
    )
    for case, row in zip(cases, found.iter_rows(named=True), strict=True):
        for name, got in row.items():
            # The tolerance of a case is for its logarithms alone; ours are as good.
            expected = case[name]
            assert got == (expected if expected is None else pytest.approx(expected, abs=1e-15))


def test_golden_values_without_the_floor(golden):
    cases = [c for c in golden("survey/distribution_metrics")["cases"] if c["js_noeps"] is not None]
    frame = pairs(*((floats(c["predicted"]), floats(c["expected"])) for c in cases))
    documented, original = jensen_shannon_similarity(), partial(jensen_shannon_similarity)
    found = frame.select(
        documented, original(epsilon=0, rules="reference").alias("without_a_floor")
    )
    for case, (ours, theirs) in zip(cases, found.iter_rows(), strict=True):
        assert theirs == pytest.approx(case["js_noeps"], abs=1e-14)
        if case["tag"] in ("all_zero", "negative_zero_sum"):
            assert ours is None
        else:
            assert ours == pytest.approx(case["js_noeps"], abs=1e-14)


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


@settings(max_examples=30, deadline=None)
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


def test_golden_per_option_accuracy(golden):
    for case in golden("survey/distribution_metrics")["per_option_accuracy"]:
        rows = (floats(case["predicted"]), floats(case["expected"]))
        found = value(
            per_option_accuracy,
            *rows,
            option=case["option_index"],
            tolerance=case["tolerance"],
            rules="reference",
        )
        assert found == pytest.approx(case["score"], abs=1e-12)


def test_per_option_accuracy_of_all_options_in_any_unit():
    rows = ([0.44, 0.56], [40, 60])
    each = [value(per_option_accuracy, *rows, option=option) for option in (0, 1)]
    assert each == pytest.approx([1 - 4 / 12, 1 - 4 / 18])
    assert value(per_option_accuracy, *rows) == pytest.approx(sum(each) / 2)
    assert value(per_option_accuracy, *rows, option=2) is None
    assert value(per_option_accuracy, [1, 1], [1, 1], tolerance=0) == 1.0


BAD = [
    (None, [1.0, 2.0]),
    ([1.0, 2.0], None),
    (None, None),
    ([1.0, None], [1.0, 2.0]),
    ([1.0, math.nan], [1.0, 2.0]),
]
UNSOUND = [
    ([1.0, 2.0], [1.0, 2.0, 3.0]),
    ([1.0, -2.0], [1.0, 2.0]),
    ([1.0, 2.0], [math.inf, 2.0]),
    ([math.inf, math.inf], [1.0, 2.0]),
    ([0.0, 0.0], [1.0, 2.0]),
    ([], []),
    ([], [1.0]),
]


@pytest.mark.parametrize("measure", MEASURES)
def test_what_has_no_value_by_either_rules(measure):
    good = [([1.0, 2.0], [2.0, 1.0]), ([1.0, 2.0, 3.0], [3.0, 1.0, 1.0])]
    found = values(measure, *good, *BAD, *good)
    assert found[2:7] == [None] * len(BAD)
    assert found[:2] == found[7:]
    assert None not in found[:2]


@pytest.mark.parametrize("measure", DOCUMENTED)
def test_what_has_no_value_documented(measure):
    assert values(measure, *UNSOUND) == [None] * len(UNSOUND)


def test_the_original_takes_what_is_no_distribution():
    original = partial(values, rules="reference")
    assert original(jensen_shannon_similarity, ([], []), ([0, 0], [1, 1])) == [1.0, 1.0]
    assert original(cosine_similarity, ([], []), ([0, 0], [1, 1]), ([-1, 0], [1, 0])) == [0, 0, -1]
    assert original(earth_mover_similarity, ([], []), ([1, 2], [1])) == [1.0, None]
    assert original(per_option_accuracy, ([1, 2], [1]), ([], [])) == [0.0, None]


@pytest.mark.parametrize("measure", MEASURES)
def test_lists_arrays_and_numbers_of_other_types(measure):
    rows = [([1, 2, 3], [3, 2, 2]), (None, [1, 1, 1]), ([5, 0, 5], [5, 1, 5])]
    expected = pairs(*rows).select(measure())
    for dtype in (
        pl.Array(pl.Float64, 3),
        pl.Array(pl.Int16, 3),
        pl.List(pl.UInt8),
        pl.List(pl.Float32),
        pl.List(pl.Decimal(10, 2)),
    ):
        found = pairs(*rows).cast(dtype).select(measure())
        assert_frame_equal(found, expected)
    mixed = pairs(*rows).with_columns(pl.col("actual").cast(pl.Array(pl.Float64, 3)))
    assert_frame_equal(mixed.select(measure()), expected)


def many(rows=8_000, seed=0):
    """Pairs of 1 to 9 options with nulls, zeros and different lengths among them."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 10, rows)
    flat = rng.integers(0, 20, (rows, 10)).astype(float)
    made = [row[:size].tolist() for row, size in zip(flat, sizes, strict=True)]
    others = [
        row[: size + (place % 31 == 0)].tolist()
        for place, (row, size) in enumerate(zip(flat[::-1], sizes, strict=True))
    ]
    made[::17] = [None] * len(made[::17])
    return pairs(*zip(made, others, strict=True))


@pytest.mark.parametrize(
    "measure",
    [
        jensen_shannon_similarity,
        partial(jensen_shannon_similarity, rules="reference"),
        mode_agreement,
    ],
)
def test_all_ways_to_ask_give_the_same(measure, tmp_path):
    frame = pl.concat([many(seed=seed) for seed in range(3)], rechunk=False)
    expected = pl.concat([part.select(measure()) for part in frame.iter_slices(1_000)])
    name = expected.columns[0]
    assert_frame_equal(frame.select(measure()), expected)
    assert_frame_equal(frame.lazy().with_columns(measure()).collect().select(name), expected)
    assert_frame_equal(frame[5:-7].select(measure()), expected[5:-7])
    frame.write_parquet(tmp_path / "pairs.parquet", row_group_size=3_000)
    scan = pl.scan_parquet(tmp_path / "pairs.parquet")
    assert_frame_equal(scan.select(measure()).collect(engine="streaming"), expected)
    grouped = frame.with_row_index().group_by(pl.col("index") % 3, maintain_order=True)
    means = frame.with_row_index().with_columns(measure())
    assert_frame_equal(
        grouped.agg(measure().mean()),
        means.group_by(pl.col("index") % 3, maintain_order=True).agg(pl.col(name).mean()),
    )


def test_arrays_in_many_parts():
    rng = np.random.default_rng(3)
    lists = [rng.integers(1, 9, (600_000, 4)).astype(float) for _ in range(2)]
    frame = pl.DataFrame(dict(zip(("predicted", "actual"), lists, strict=True)))
    assert frame.schema["predicted"] == pl.Array(pl.Float64, 4)
    found = frame.select(total_variation_distance()).to_series().to_numpy()
    p, t = (numbers / numbers.sum(axis=1, keepdims=True) for numbers in lists)
    np.testing.assert_allclose(found, np.abs(p - t).sum(axis=1) / 2, atol=1e-15)


def test_a_list_of_very_many_options():
    size = 300_000
    frame = pairs((list(range(1, size + 1)), [1] * size), ([1, 2], [2, 1]), (None, [1]))
    found = frame.select(total_variation_distance()).to_series().to_list()
    p, t = np.arange(1, size + 1) / (size * (size + 1) / 2), np.full(size, 1 / size)
    assert found == [pytest.approx(np.abs(p - t).sum() / 2), pytest.approx(1 / 3), None]


def test_columns_are_names_expressions_or_constants():
    frame = pl.DataFrame({"p": [[1.0, 3.0], [2.0, 2.0]], "t": [[1.0, 1.0], [1.0, 1.0]]})
    expected = frame.select(total_variation_distance("p", "t")).to_series().to_list()
    made = frame.select(total_variation_distance(pl.col("p") * 5, pl.lit([1.0, 1.0])))
    assert made.to_series().to_list() == expected == [0.25, 0.0]
    assert made.columns == ["total_variation_distance"]


@pytest.mark.parametrize("measure", MEASURES)
def test_no_rows_and_nothing_but_nulls(measure):
    empty = pairs().select(measure())
    assert empty.dtypes == [pl.Float64]
    assert empty.is_empty()
    nothing = pl.DataFrame({"predicted": [None, None], "actual": [[1.0], None]})
    assert nothing.select(measure()).to_series().to_list() == [None, None]


def test_every_expression_is_named_after_itself():
    frame = pairs(([1], [1]))
    for name in similarity.__all__:
        function = getattr(similarity, name)
        if name in {
            "similarity_table",
            "answer_letter",
            "answer_probabilities",
            "individual_score",
        }:
            continue
        assert frame.lazy().select(function()).collect_schema() == {name: pl.Float64}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (partial(jensen_shannon_similarity, rules="original"), "unknown rules 'original'; known"),
        (partial(jensen_shannon_similarity, epsilon=-1), "epsilon must be a share"),
        (partial(kullback_leibler_divergence, epsilon=1), "epsilon must be a share"),
        (partial(cosine_similarity, rules=""), "unknown rules"),
        (partial(earth_mover_similarity, rules=""), "unknown rules"),
        (partial(per_option_accuracy, option=-1), "option must be a place from 0"),
        (partial(per_option_accuracy, tolerance=-1), "tolerance must be 0 or more"),
        (partial(cosine_similarity, 3), "expected a column name"),
    ],
)
def test_bad_arguments(ask, message):
    with pytest.raises(ParameterError, match=message):
        ask()


@pytest.mark.parametrize("column", [["a"], [1.0], [["a"]], [[[1.0]]]])
def test_columns_that_hold_no_lists_of_numbers(column):
    frame = pl.DataFrame({"predicted": column, "actual": [[1.0]]})
    with pytest.raises(Exception, match="column 'predicted' must hold lists of numbers, but is"):
        frame.select(jensen_shannon_similarity())
