"""Shards: found, checked and sized by the driver, read by workers."""

import pickle

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.errors import InputError, ParameterError
from evalframe.core.scan import scan
from evalframe.engine import shards as module
from evalframe.engine.shards import joined, shards_of

ROWS = pl.DataFrame({"g": ["a", "b"] * 500, "x": range(1000)})


@pytest.fixture
def folder(tmp_path):
    for day in range(4):
        (tmp_path / f"day={day}").mkdir()
        ROWS[250 * day :][:250].write_parquet(tmp_path / f"day={day}" / "rows.parquet")
    return tmp_path


def rows_of(shards):
    """The rows of shards that have travelled."""
    again = [pickle.loads(pickle.dumps(shard)).scan() for shard in shards]
    return pl.concat(again).collect()


def test_a_folder_is_read_together_in_as_many_tasks_as_slots(folder):
    shards = shards_of(folder)
    assert [shard.size for shard in shards.parts] == [
        file.stat().st_size for file in sorted(folder.rglob("*.parquet"))
    ]
    for slots, tasks in ((1, 1), (2, 2), (3, 3), (9, 4)):
        batches = shards.batches(slots)
        assert len(batches) == tasks
        rows = rows_of(batches)
        assert rows.schema == shards.schema
        assert_frame_equal(rows.drop("day"), ROWS)
    assert str(shards.batches(2)[0]).startswith("2 shards, ")
    assert shards.batches(1)[0].rows.explain().count("Parquet SCAN") == 1


def test_a_large_file_is_divided_between_its_row_groups(tmp_path, monkeypatch):
    ROWS.write_parquet(tmp_path / "rows.parquet", row_group_size=100)
    monkeypatch.setattr(module, "_TASK", 1000)
    monkeypatch.setattr(module, "_LARGE", 2000)
    batches = shards_of(str(tmp_path / "rows.parquet")).batches(2)
    assert len(batches) > 2
    assert "rows 0 to " in str(batches[0])
    assert all(shard.count() % 100 == 0 for shard in batches)
    assert_frame_equal(rows_of(batches), ROWS)


def test_a_delta_table_is_divided_at_its_version(tmp_path, monkeypatch):
    for part in (ROWS[:600], ROWS[600:]):
        part.write_delta(tmp_path / "table", mode="append")
    shards = shards_of(tmp_path / "table")
    ROWS.write_delta(tmp_path / "table", mode="append")
    monkeypatch.setattr(module, "_TASK", 1000)
    monkeypatch.setattr(module, "_LARGE", 2000)
    batches = shards.batches(2)
    assert len(batches) > 2
    assert_frame_equal(rows_of(batches).sort("x"), ROWS)


def test_lists_mix_paths_and_frames_whose_numbers_widen(tmp_path):
    ROWS.write_csv(tmp_path / "rows.csv")
    wide = ROWS.select("x", "g").cast({"x": pl.Float64})
    shards = shards_of([str(tmp_path / "rows.csv"), wide, wide.lazy()])
    assert shards.schema == {"g": pl.String, "x": pl.Float64}
    expected = pl.concat([wide.select("g", "x")] * 3)
    assert_frame_equal(rows_of(shards.parts), expected)
    assert_frame_equal(rows_of(shards.batches(1)), expected)


def test_rows_are_numbered_as_in_one_table(folder):
    shards = shards_of(folder).with_row_index("row").with_columns(pl.lit("left").alias("side"))
    rows = rows_of(shards.batches(3))
    assert rows.schema == shards.schema
    assert rows["row"].to_list() == list(range(1000))
    assert (rows["row"] == rows["x"]).all()
    other = shards_of([ROWS[:3]]).with_row_index("row")
    both = joined([shards, other.with_columns(pl.lit("right").alias("side"))])
    assert len(both.parts) == 5


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (ROWS.cast({"g": pl.Int64}, strict=False), "'g' is String in .* and Int64 in frame 1"),
        (ROWS.drop("x"), "'x' is Int64 in .* and missing in frame 1"),
    ],
)
def test_columns_of_all_shards_are_alike(folder, other, said):
    with pytest.raises(InputError, match=said):
        shards_of([str(folder / "day=0" / "rows.parquet"), other])


def test_files_that_change_are_an_error_and_new_ones_are_told(folder):
    shards = shards_of(folder)
    shards.check_unchanged()
    assert shards.appeared() == []
    new = folder / "day=2" / "more.parquet"
    ROWS.write_parquet(new)
    shards.check_unchanged()
    assert shards.appeared() == [str(new)]
    ROWS.write_parquet(folder / "day=0" / "rows.parquet")
    with pytest.raises(InputError, match=r"rows\.parquet was changed while it was read"):
        shards.check_unchanged()
    (folder / "day=0" / "rows.parquet").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        shards.check_unchanged()


def test_a_damaged_file_is_named_where_it_is_read(folder):
    file = folder / "day=1" / "rows.parquet"
    data = bytearray(file.read_bytes())
    shards = shards_of(folder)
    data[4:200] = bytes(196)
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"day=1.rows\.parquet"):
        rows_of(shards.parts)


def test_a_file_that_would_count_twice_is_refused(folder):
    with pytest.raises(InputError, match=r"rows\.parquet is named twice"):
        shards_of([folder / "day=0" / "rows.parquet", folder / "day=0" / "*.parquet"])
    (folder / "day=0" / "same.parquet").hardlink_to(folder / "day=1" / "rows.parquet")
    told = r"rows\.parquet and .*same\.parquet are one file, so its rows would count twice"
    for opens in (shards_of, scan):
        with pytest.raises(InputError, match=told):
            opens(folder)


@pytest.mark.parametrize("source", [ROWS, ROWS.lazy(), [], 7, None])
def test_what_has_no_shards_is_refused(source):
    with pytest.raises(ParameterError, match="an engine reads shards"):
        shards_of(source)
