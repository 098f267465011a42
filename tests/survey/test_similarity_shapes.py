"""Similarities of lists and arrays of any shape: all ways to ask, what is null, what is refused."""

import math
from functools import partial

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe import survey
from evalframe.compat import dtef
from evalframe.compat.dtef.scoring import SIMILARITIES as DTEF
from evalframe.core.errors import ParameterError
from evalframe.survey.similarity import lists
from evalframe.survey.similarity.distances import (
    cosine_similarity,
    distribution_absolute_error,
    distribution_root_mean_squared_error,
    earth_mover_similarity,
    hellinger_distance,
    mode_agreement,
    per_option_accuracy,
    rank_agreement,
    total_variation_distance,
)
from evalframe.survey.similarity.divergences import (
    jensen_shannon_distance,
    jensen_shannon_similarity,
    kullback_leibler_divergence,
)
from survey.distributions import pairs, values

MEASURES = [
    jensen_shannon_similarity,
    jensen_shannon_distance,
    partial(jensen_shannon_similarity, epsilon=1e-10),
    dtef.jensen_shannon_similarity,
    cosine_similarity,
    dtef.cosine_similarity,
    earth_mover_similarity,
    dtef.earth_mover_similarity,
    partial(earth_mover_similarity, normalised=True),
    total_variation_distance,
    hellinger_distance,
    kullback_leibler_divergence,
    distribution_absolute_error,
    distribution_root_mean_squared_error,
    rank_agreement,
    mode_agreement,
    per_option_accuracy,
    dtef.per_option_accuracy,
]
DOCUMENTED = [each for each in MEASURES if each not in {*DTEF.values()}]

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
def test_what_has_no_value(measure):
    good = [([1.0, 2.0], [2.0, 1.0]), ([1.0, 2.0, 3.0], [3.0, 1.0, 1.0])]
    found = values(measure, *good, *BAD, *good)
    assert found[2:7] == [None] * len(BAD)
    assert found[:2] == found[7:]
    assert None not in found[:2]


@pytest.mark.parametrize("measure", DOCUMENTED)
def test_what_is_not_a_distribution_has_no_value(measure):
    assert values(measure, *UNSOUND) == [None] * len(UNSOUND)


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


def many(rows=800, seed=0):
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
        dtef.jensen_shannon_similarity,
        mode_agreement,
    ],
)
def test_all_ways_to_ask_give_the_same(measure, tmp_path, monkeypatch):
    monkeypatch.setattr(lists, "_CELLS", 1 << 10)
    frame = pl.concat([many(seed=seed) for seed in range(3)], rechunk=False)
    expected = pl.concat([part.select(measure()) for part in frame.iter_slices(100)])
    name = expected.columns[0]
    assert_frame_equal(frame.select(measure()), expected)
    assert_frame_equal(frame.lazy().with_columns(measure()).collect().select(name), expected)
    assert_frame_equal(frame[5:-7].select(measure()), expected[5:-7])
    frame.write_parquet(tmp_path / "pairs.parquet", row_group_size=300)
    scan = pl.scan_parquet(tmp_path / "pairs.parquet")
    assert_frame_equal(scan.select(measure()).collect(engine="streaming"), expected)
    grouped = frame.with_row_index().group_by(pl.col("index") % 3, maintain_order=True)
    means = frame.with_row_index().with_columns(measure())
    assert_frame_equal(
        grouped.agg(measure().mean()),
        means.group_by(pl.col("index") % 3, maintain_order=True).agg(pl.col(name).mean()),
    )


def test_arrays_in_many_parts(monkeypatch):
    monkeypatch.setattr(lists, "_CELLS", 1 << 10)
    rng = np.random.default_rng(3)
    both = [rng.integers(1, 9, (6_000, 4)).astype(float) for _ in range(2)]
    frame = pl.DataFrame(dict(zip(("predicted", "actual"), both, strict=True)))
    assert frame.schema["predicted"] == pl.Array(pl.Float64, 4)
    found = frame.select(total_variation_distance()).to_series().to_numpy()
    p, t = (numbers / numbers.sum(axis=1, keepdims=True) for numbers in both)
    np.testing.assert_allclose(found, np.abs(p - t).sum(axis=1) / 2, atol=1e-15)


def test_a_list_of_very_many_options(monkeypatch):
    monkeypatch.setattr(lists, "_CELLS", 1 << 10)
    size = 30_000
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
    for name in survey.__all__:
        function = getattr(survey, name)
        if "similarity" not in getattr(function, "__module__", ""):
            continue
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
        (partial(jensen_shannon_similarity, epsilon=-1), "epsilon must be a share"),
        (partial(kullback_leibler_divergence, epsilon=1), "epsilon must be a share"),
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
