"""States as bytes: the same state comes back, and no changed byte goes unnoticed."""

import math
from datetime import date

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import InputError
from evalframe.core.state_files import packed, unpacked

ITEMS = pl.DataFrame(
    {
        "model": ["a", "a", "b", None],
        "loss": [0.25, None, 1.0, 0.5],
        "confidence": [0.75, 0.5, None, 0.125],
    }
)
STATE = ef.partial(ITEMS, [ef.aurc(), ef.selective_risk()], by="model")


def test_a_state_comes_back_from_bytes_and_from_a_file(tmp_path):
    path = tmp_path / "state"
    path.write_bytes(packed(STATE))
    assert_frame_equal(unpacked(packed(STATE)), STATE)
    assert_frame_equal(unpacked(path), STATE)


ODD = [None, 0.0, 0.1, 0.3, -7.25, 1e6, 2.0**60, 1e300, math.inf, -math.inf, math.nan, 1 / 3]
DAYS = pl.Series([date(2026, 1, 1), None]).gather([k % 2 for k in range(len(ODD))])


@pytest.mark.parametrize(
    "levels", [ODD, ODD[:5], [1e6 + k / 1e6 for k in range(9)], [2.0**60], [None], [math.nan], []]
)
def test_any_numbers_and_keys_come_back(levels):
    table = pl.DataFrame(
        {
            "day": DAYS.head(len(levels)),
            "share": pl.Series(ODD[: len(levels)], dtype=pl.Float64),
            ":block": pl.Series(["b"] * len(levels), dtype=pl.Enum(["a", "b"])),
            ":level": pl.Series(levels, dtype=pl.Float64),
            ":odd": pl.Series(ODD[: len(levels)], dtype=pl.Float64),
            ":ones": pl.Series([1.0] * len(levels), dtype=pl.Float64),
        }
    )
    for each in (table, table.drop(":block", "day"), table.select("day"), table.drop(":level")):
        assert_frame_equal(unpacked(packed(each)), each, check_exact=True)


def test_whole_sums_and_levels_of_few_decimals_take_few_bytes():
    levels = pl.Series([k / 10_000 for k in range(10_000)])
    rows = {"group": "a", ":level": levels, ":n": 2.0, ":loss": levels.round()}
    assert len(packed(pl.DataFrame(rows))) < 3_000


@pytest.mark.parametrize("state", [STATE, STATE.clear()])
def test_each_flipped_bit_is_noticed(state):
    data = packed(state)
    for place in range(0, len(data), max(1, len(data) // 50)):
        changed = bytearray(data)
        changed[place] ^= 1
        with pytest.raises(InputError, match="no state, or were cut off or changed"):
            unpacked(bytes(changed))


def test_a_file_that_was_cut_off_is_named(tmp_path):
    path = tmp_path / "half.state"
    for kept in (0, 7, 100):
        path.write_bytes(packed(STATE)[:kept])
        with pytest.raises(InputError, match=rf"half\.state: {kept} bytes .* make the state anew"):
            unpacked(path)
