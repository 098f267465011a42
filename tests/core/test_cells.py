"""Sums by cells, against a group-by."""

import math

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core import cells, state_tables
from evalframe.core.cells import Sums
from evalframe.core.state import LEVEL


@pytest.fixture(autouse=True)
def few_rows_are_enough(monkeypatch):
    monkeypatch.setattr(cells, "HEAD", 1 << 12)
    monkeypatch.setattr(cells, "_MANY", 0)


LEVELLED = Sums(
    pl.col("x"),
    {"mass": pl.col("mass")},
    {"n": pl.col("one"), "mass_at": pl.col("mass"), "loss": pl.col("loss")},
    others=("rest", "n"),
)
PLAIN = Sums(None, {"n": pl.col("one")}, {})


def rows(levels, seed=0):
    rng = np.random.default_rng(seed)
    count = len(levels)
    return pl.DataFrame(
        {
            "key": pl.Series(["b", "a", None]).gather(rng.integers(0, 3, count)),
            "other": rng.integers(-2, 2, count),
            "x": pl.Series(levels, dtype=pl.Float64),
            "one": rng.integers(0, 2, count).astype(float),
            "mass": rng.random(count),
            "loss": rng.random(count) + 1.0,
        }
    )


def added_up(frame, keys, batches=None):
    """The tables of all rows; in batches of so many rows, if these are given."""
    exprs = {key: pl.col(key) for key in keys}
    if batches is None:
        return cells.added_up(frame.lazy(), exprs, [LEVELLED, PLAIN])
    columns = cells._Columns()
    tables = [cells._Table(sums, columns, 1 << 20) for sums in (LEVELLED, PLAIN)]
    read = frame.select(**exprs, **columns.exprs)
    return cells._added_up(read.iter_slices(batches), cells.Groups(keys), tables)


@pytest.mark.parametrize("keys", [[], ["key"], ["other", "key"]])
@pytest.mark.parametrize("batches", [None, 7, 3_000])
def test_sums_are_those_of_a_group_by(keys, batches):
    rng = np.random.default_rng(1)
    drawn = rng.integers(-30, 70, 10_000) / 100
    levels = [None if k % 7 == 0 else float(x) for k, x in enumerate(drawn)]
    frame = rows(levels if batches != 7 else levels[:200])
    levelled, plain = added_up(frame, keys, batches)
    by = [*keys, "x"]
    naive = frame.group_by(by).agg(
        pl.col("one").sum().alias("n"), pl.col("mass").sum().alias("mass_at"), pl.col("loss").sum()
    )
    filled = levelled.filter(pl.col("mass_at") > 0)  # each group has a row without a level
    assert_frame_equal(
        filled.select(*keys, pl.col(LEVEL).alias("x"), "n", "mass_at", "loss"),
        naive.sort(by, nulls_last=False),
        rel_tol=1e-12,
    )
    groups = frame.with_columns(pl.lit(0).alias(":all")).group_by(":all", *keys)
    totals = groups.agg(
        pl.col("one").sum().alias("n"),
        pl.col("mass").sum(),
        (pl.len() - pl.col("one").sum()).alias("rest"),
    ).sort(keys or ":all")
    whole = levelled.filter(pl.col(LEVEL).is_null())
    expected = totals.select(*keys, "mass", "rest")
    assert_frame_equal(whole.select(*keys, "mass", "rest"), expected, rel_tol=1e-12)
    inside = levelled.filter(pl.col(LEVEL).is_not_null())
    assert inside.select("mass", "rest").sum().row(0) == (0.0, 0.0)
    assert_frame_equal(plain, totals.select(*keys, "n"), rel_tol=1e-12)


def test_the_grid_grows_and_becomes_finer():
    levels = [3.0, None, 5.0, 5.0, -0.5, 0.25, 8.125, 0.25, None, 3.0]
    frame = rows(levels).with_columns(loss=1.0)
    levelled, _ = added_up(frame, [], batches=2)
    counts = dict(levelled.select(LEVEL, "loss").iter_rows())
    assert counts == {None: 2.0, -0.5: 1.0, 0.25: 2.0, 3.0: 2.0, 5.0: 2.0, 8.125: 1.0}


def test_a_group_without_levels_keeps_its_plain_sums():
    ones = {"one": 1.0, "mass": 2.0, "loss": 0.0}
    frame = pl.DataFrame({"key": ["a", "b"], "x": [0.5, None], **ones})
    levelled, _ = added_up(frame, ["key"], batches=1)
    assert levelled.select("key", LEVEL, "n", "mass", "mass_at").rows() == [
        ("a", None, 0.0, 2.0, 0.0),
        ("a", 0.5, 1.0, 0.0, 2.0),
        ("b", None, 1.0, 2.0, 2.0),
    ]


@pytest.mark.parametrize("level", [1 / 3, math.inf, -math.inf, math.nan, 1e9, 1e-7])
def test_other_levels_are_left_to_a_group_by(level):
    frame = rows([0.5] * 9_999 + [level])
    assert added_up(frame, ["key"]) is None


def test_few_rows_and_other_keys_are_left_to_a_group_by():
    frame = rows([0.5] * 10_000)
    assert added_up(frame.head(1_000), ["key"]) is None
    assert added_up(frame.with_columns(key=pl.col("mass")), ["key"]) is None
    assert added_up(frame.with_columns(key=pl.int_range(pl.len())), ["key"]) is not None


def test_evaluate_and_shards_are_as_without_cells(monkeypatch):
    rng = np.random.default_rng(2)
    count = 10_000
    confidence = rng.integers(0, 51, count) / 50
    items = pl.DataFrame(
        {
            "group": rng.choice(["a", "b"], count),
            "prediction": rng.integers(0, 2, count),
            "confidence": confidence,
            "correct": rng.random(count) < confidence,
            "loss": rng.random(count),
        }
    ).with_columns(pl.when(pl.col("confidence") > 0.1).then(pl.col("prediction", "loss")))
    metrics = [ef.coverage(), ef.aurc(), ef.aurc_achievable(), ef.risk_at(0.3)()]
    metrics += [ef.expected_calibration_error(), ef.brier_score()]
    here = ef.evaluate(items, metrics, by="group")
    states = [ef.partial(part, metrics, by="group") for part in (items, items.head(5))]
    merged = ef.finish(ef.merge(*states))
    monkeypatch.setattr(cells, "added_up", lambda *_: None)
    assert_frame_equal(here, ef.evaluate(items, metrics, by="group"), rel_tol=1e-12)
    both = pl.concat([items, items.head(5)])
    assert_frame_equal(merged, ef.evaluate(both, metrics, by="group"), rel_tol=1e-12)


@pytest.mark.parametrize(
    "levels",
    [
        [1.7e18, 1.7e18 + 256],
        [2.0**53 + 2] * 2,
        [1e19] * 2,
        [1e300] * 2,
        [math.inf] * 2,
        [1e308, 0.5],
        [-(2.0**51), 3.0],
    ],
)
def test_levels_that_are_too_large_to_count_by(levels):
    count = 1 << 12
    items = pl.DataFrame({"confidence": np.repeat(levels, count), "loss": [1.0, 0.0] * count})
    expected = items.select(ef.aurc()).item()
    assert ef.evaluate(items, ef.aurc())["estimate"].item() == pytest.approx(expected)
    state = ef.partial(items, ef.aurc())
    assert ef.finish(ef.merge(state, state))["estimate"].item() == pytest.approx(expected)


def test_few_cells_are_left_to_a_group_by(monkeypatch):
    frame = rows(np.arange(1 << 13) % 1_000 / 1_000)
    assert added_up(frame, ["key"]) is not None
    monkeypatch.setattr(cells, "_MANY", 1 << 16)
    assert added_up(frame, ["key"]) is None


def test_cells_that_are_mostly_empty_are_left_to_a_group_by():
    levels = np.random.default_rng(3).integers(0, 40_001, 8_000) / 10_000
    assert added_up(rows(levels), ["key"]) is not None
    assert added_up(rows(levels[:7_000]), ["key"]) is None


@pytest.mark.parametrize("odd", [None, {"confidence": 1 / 3}, {"group": pl.lit("c")}])
@pytest.mark.parametrize("waiting", [1, 1 << 22])
def test_states_are_added_into_a_grid_while_it_suits(monkeypatch, odd, waiting):
    monkeypatch.setattr(cells, "HEAD", 1 << 7)
    monkeypatch.setattr(state_tables, "_WAITING", waiting)
    rng = np.random.default_rng(4)
    parts = [
        pl.DataFrame(
            {
                "group": pl.Series(["a", "b", None]).gather(rng.integers(0, 3, 200)),
                "confidence": rng.integers(0, 101, 200) / 100,
                "loss": rng.random(200),
            }
        )
        for _ in range(5)
    ]
    if odd is not None:
        kind = pl.Enum(["a", "b", "c"]) if "group" in odd else pl.String
        parts[3] = parts[3].with_columns(**odd).cast({"group": kind})
    metrics = [ef.aurc(), ef.augrc(), ef.selective_risk()]
    states = [ef.partial(part, metrics, by="group") for part in parts]
    whole = pl.concat([part.cast({"group": pl.String}) for part in parts])
    expected = ef.evaluate(whole, metrics, by="group")
    found = ef.finish(ef.merge(*states)).with_columns(pl.col("group").cast(pl.String))
    assert_frame_equal(found, expected, rel_tol=1e-12)
