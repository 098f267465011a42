"""Shuffles: rows of equal keys come together, whatever wrote them."""

import datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe.engine.shuffle import buckets_of, read_bucket, split_by_group, write_buckets

KEYS = {
    "text": ["a", "b\0", "a", None, "", "b\0"],
    "number": [0.0, -0.0, float("nan"), None, float("nan"), 1.0],
    "bytes": [b"\xff", b"\xfe", None, b"", b"\xff", b"\xff"],
    "day": [datetime.date(2024, 1, 1), None, *[datetime.date(2024, 1, 2)] * 4],
    "list": [[1, None], [1], [], None, [1, None], [1]],
    "fields": [{"a": 1, "b": "x"}, None, *[{"a": None, "b": "y"}] * 4],
}


@pytest.mark.parametrize("names", [[name] for name in KEYS] + [["text", "number", "day"], []])
def test_rows_of_equal_keys_are_in_one_bucket(names):
    table = pl.DataFrame(KEYS).with_columns(pl.col("text").cast(pl.Categorical).alias("category"))
    table = table.with_columns(bucket=buckets_of(table, names, 5))
    groups = table.group_by(names or [pl.lit(0)]).agg(pl.col("bucket").n_unique())
    assert groups["bucket"].to_list() == [1] * len(groups)
    parts = split_by_group(table, names, 5)
    assert [part["bucket"].unique().to_list() for part in parts if len(part)] == [
        [number] for number in sorted(table["bucket"].unique())
    ]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-3, 3) | st.none()), st.integers(1, 4))
def test_splits_keep_all_rows_in_order(numbers, buckets):
    table = pl.DataFrame({"key": numbers}, schema={"key": pl.Int8}).with_row_index()
    parts = split_by_group(table, ["key"], buckets)
    assert len(parts) == buckets
    assert all(part["index"].is_sorted() for part in parts)
    assert pl.concat(parts).sort("index").equals(table)


def test_buckets_do_not_depend_on_other_rows_or_on_the_width_of_integers():
    table = pl.DataFrame({"key": [7, 1, 300]})
    one = pl.DataFrame({"key": [300]}, schema={"key": pl.Int16})
    assert buckets_of(one, ["key"], 1000)[0] == buckets_of(table, ["key"], 1000)[2]


def test_buckets_of_short_texts_are_about_alike():
    table = pl.DataFrame({"key": [f"{number}" for number in range(10_000)]})
    sizes = [len(part) for part in split_by_group(table, ["key"], 16)]
    assert min(sizes) > 500
    assert max(sizes) < 750
    few = pl.DataFrame({"key": [*"abcdefgh"]})
    assert len({*buckets_of(few, ["key"], 8).tolist()}) > 3


def test_a_file_gives_back_each_bucket_and_is_replaced_whole(tmp_path):
    table = pl.DataFrame({"key": [1, 2, None, 2], "loss": [0.5, None, 1.0, 2.0]})
    path = tmp_path / "0.rows"
    batches = [split_by_group(rows, ["key"], 3) for rows in (table, table.clear(), table[:1])]
    for _ in range(2):
        assert write_buckets(path, batches) == path
    read = [list(read_bucket([path, path], bucket, 3)) for bucket in range(3)]
    assert [file.name for file in tmp_path.iterdir()] == ["0.rows"]
    for bucket, parts in enumerate(read):
        rows = [batch[bucket] for batch in batches if len(batch[bucket])]
        assert len(parts) == 2 * len(rows)
        assert all(part.equals(row) for part, row in zip(parts, rows * 2, strict=True))

    def broken():
        yield batches[0]
        raise OSError(28, "No space left on device")

    before = path.read_bytes()
    with pytest.raises(OSError, match="No space left"):
        write_buckets(path, broken())
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["0.rows"]
