"""States as bytes: the same state comes back, and no changed byte goes unnoticed."""

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
