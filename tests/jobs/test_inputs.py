"""Inputs of jobs: formats, globs, folders and partitions."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.errors import InputError
from evalframe.jobs.inputs import open_items


def test_every_format_gives_the_same_table(folder, items):
    items.write_csv("items.csv")
    items.write_ndjson("items.jsonl")
    items.write_ipc("items.arrow")
    for name in ("items.parquet", "items.csv", "items.jsonl", "items.arrow"):
        table, sources = open_items([name])
        assert_frame_equal(table.collect(), items)
        assert sources[0].describe()["rows"] == items.height


def test_files_globs_and_folders(folder, items):
    (folder / "shards").mkdir()
    for k in range(3):
        items[k * 16 : (k + 1) * 16].write_parquet(f"shards/{k}.parquet")
    for given in (["shards"], ["shards/*.parquet"], [f"shards/{k}.parquet" for k in range(3)]):
        table, sources = open_items(given)
        assert_frame_equal(table.collect(), items)
        assert [source.name for source in sources] == [f"shards/{k}.parquet" for k in range(3)]


def test_hive_partitions_become_columns(folder, items):
    for (mode,), part in items.group_by("mode"):
        (folder / f"run=1/items/mode={mode}").mkdir(parents=True)
        part.drop("mode").write_parquet(f"run=1/items/mode={mode}/part.parquet")
    table, sources = open_items(["run=1/items"])
    found = table.collect().select(items.columns)
    assert_frame_equal(found, items, check_row_order=False)
    assert "run" not in table.collect_schema(), "only what lies below the folder counts"
    assert sources[0].name == "run=1/items/mode=few/part.parquet"


def test_column_order_may_differ_and_inferred_numbers_may_widen(folder):
    Path("a.csv").write_text("x,y\n1,2\n")
    Path("b.csv").write_text("y,x\n0.5,\n")
    table, _ = open_items(["a.csv", "b.csv"])
    assert table.collect().to_dict(as_series=False) == {"x": [1, None], "y": [2.0, 0.5]}


def test_names_are_relative_to_the_folder_given(tmp_path, items):
    items.write_parquet(tmp_path / "items[1].parquet")
    table, sources = open_items(["items[1].parquet"], tmp_path)
    assert table.collect().height == items.height
    assert [source.name for source in sources] == ["items[1].parquet"]


def test_digest(folder):
    Path("a.csv").write_text("x\n1\n")
    described = open_items(["a.csv"])[1][0].describe(digest=True)
    assert described == {
        "name": "a.csv",
        "bytes": 4,
        "rows": 1,
        "sha256": "daff832f802000e645771a60983c76c963f6ee602a6230e45237bd360e91cc1a",
    }


BAD = {
    "absent.parquet": "no file or folder 'absent.parquet'",
    "shards/*.parquet": r"no file matches 'shards/\*.parquet'",
    "empty.parquet": r"empty.parquet is empty \(0 bytes\)",
    "text.parquet": "text.parquet cannot be read .*; is it Parquet, and whole?",
    "short.parquet": "short.parquet cannot be read .*; is it Parquet, and whole?",
    "text.arrow": "text.arrow cannot be read .*; is it Arrow IPC, and whole?",
    "ragged.csv": r"ragged.csv cannot be read \(found more fields .*; is it CSV, and whole?",
    "broken.jsonl": "broken.jsonl cannot be read .*; is it JSON lines, and whole?",
    "items.xlsx": r"items.xlsx: unknown format '.xlsx'; known: .parquet, .csv",
    "bare": "folder 'bare' holds no .parquet file",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(folder, name):
    whole = Path("items.parquet").read_bytes()
    Path("short.parquet").write_bytes(whole[: len(whole) // 2])
    Path("empty.parquet").touch()
    Path("items.xlsx").write_text("x")
    Path("text.parquet").write_text("this is not a table " * 10)
    Path("text.arrow").write_text("this is not a table " * 10)
    Path("broken.jsonl").write_text('{"a": 1}\n{"a":\n')
    Path("ragged.csv").write_text("a,b\n1,2\n3,4,5\n")
    Path("bare").mkdir()
    with pytest.raises(InputError, match=BAD[name]):
        open_items([name])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"a": ["x"], "b": [1]}, "'a' is Int64 in one.parquet and String in two.parquet"),
        ({"a": [0.5], "b": [1]}, "'a' is Int64 in one.parquet and Float64 in two.parquet"),
        ({"a": [1]}, "'b' is Int64 in one.parquet and missing in two.parquet"),
        ({"a": [1], "b": [1], "c": [1]}, "'c' is missing in one.parquet and Int64 in two.parquet"),
    ],
)
def test_shards_whose_schemas_differ(folder, other, message):
    pl.DataFrame({"a": [1], "b": [1]}).write_parquet("one.parquet")
    pl.DataFrame(other).write_parquet("two.parquet")
    with pytest.raises(InputError, match=message):
        open_items(["one.parquet", "two.parquet"])
