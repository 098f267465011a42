"""What is found at paths, and outputs that would be read as inputs."""

import os
from pathlib import Path

import pytest

from evalframe.core.errors import InputError, OutputError
from evalframe.core.scan import find
from evalframe.jobs.inputs import open_items
from evalframe.jobs.paths import refuse_inputs


@pytest.fixture
def hive(folder, items):
    """A folder of two partitions, the second behind a link, with other things in between."""
    for k, place in enumerate(("in/model=001", "elsewhere")):
        Path(place).mkdir(parents=True)
        items[24 * k : 24 * (k + 1)].write_parquet(f"{place}/part.PARQUET")
    Path("in/model=002").symlink_to("../elsewhere")
    Path("in/model=002/loop").symlink_to("../in")
    for other in ("README.md", ".part.parquet.crc", ".hidden.parquet", "part.parquet.tmp"):
        Path("in/model=001", other).write_text("no table")
    return folder


def test_what_is_found_is_what_is_read(hive, items):
    table, sources = open_items(["in"])
    assert [s.name for s in sources] == [f"in/model=00{k}/part.PARQUET" for k in (1, 2)]
    assert sum(source.describe()["rows"] for source in sources) == items.height
    counts = table.collect().group_by("model", maintain_order=True).len()
    assert counts.rows() == [("001", 24), ("002", 24)], "partitions are text"


def test_partitions_of_uneven_depth(hive, items):
    items.write_parquet("in/stray.parquet")
    with pytest.raises(InputError, match=r"'model' is String in in/model=001.*missing in in/stray"):
        open_items(["in"])


def test_names_of_partitions_are_unquoted(folder, items):
    for value in ("a%20b", "__HIVE_DEFAULT_PARTITION__"):
        Path(f"in/site={value}").mkdir(parents=True)
        items.write_parquet(f"in/site={value}/0.parquet")
    table, _ = open_items(["in"])
    assert set(table.collect()["site"]) == {"a b", None}


def test_partitions_in_another_order(folder, items):
    for place in ("in/a=1/b=2", "in/b=2/a=1"):
        Path(place).mkdir(parents=True)
        items.with_columns(a="item", b="item").write_parquet(f"{place}/0.parquet")
    table, _ = open_items(["in"])
    assert table.select("a", "b").collect().unique().rows() == [("1", "2")]


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: Path(path).symlink_to("nothing")])
def test_what_is_no_file(folder, make):
    Path("in").mkdir()
    make("in/pipe.parquet")
    with pytest.raises(InputError, match=r"in/pipe.parquet (is not a regular|cannot be read \(No)"):
        open_items(["in"])


@pytest.mark.parametrize(
    ("given", "output", "message"),
    [
        ("items.parquet", "items.parquet", "items.parquet is one of the inputs"),
        ("items.parquet", "link.parquet", "link.parquet is one of the inputs"),
        ("in", "in/out.parquet", "out.parquet would be read as an input next time, by 'in'"),
        ("in", "in/deep/er/out.parquet", "would be read as an input next time"),
        ("in", "elsewhere/out.parquet", "would be read as an input next time"),
        ("*.parquet", "out.parquet", r"would be read as an input next time, by '\*\.parquet'"),
        ("**/*.parquet", "in/model=001/out.parquet", "would be read as an input next time"),
    ],
)
def test_no_output_is_an_input(hive, given, output, message):
    Path("link.parquet").symlink_to("items.parquet")
    files = find([given])
    with pytest.raises(OutputError, match=message):
        refuse_inputs(Path(output), files, [given], Path())


@pytest.mark.parametrize(
    ("given", "output"),
    [("items.parquet", "out.parquet"), ("in", "in/out.csv"), ("it*.parquet", "out.parquet")],
)
def test_other_outputs_are_fine(hive, given, output):
    refuse_inputs(Path(output), find([given]), [given], Path())
