"""Any frame in: Polars as it came, other libraries' tables and paths eager out."""

import importlib
import inspect
import re

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import InputError, ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame

ITEMS = pl.DataFrame(
    {"who": ["a", "a", "b"], "loss": [0.0, 1.0, None], "confidence": [0.9, 0.1, 0.5]}
)
EXPECTED = ef.evaluate(ITEMS, ef.aurc(), by="who")


@pytest.mark.parametrize(
    "of",
    [
        pl.DataFrame.to_pandas,
        lambda items: items.to_pandas().set_index("who", append=True),
        lambda items: items.to_pandas().iloc[[2, 0, 1]],
        pl.DataFrame.to_arrow,
        lambda items: items.to_arrow().to_reader(),
        lambda items: duckdb.from_arrow(items.to_arrow()),
    ],
    ids=["pandas", "index of pandas", "shuffled pandas", "pyarrow", "a stream read once", "duckdb"],
)
def test_tables_of_other_libraries(of):
    result = ef.evaluate(of(ITEMS), ef.aurc(), by="who")
    assert isinstance(result, pl.DataFrame)
    assert_frame_equal(result, EXPECTED)


def test_polars_as_it_came():
    assert isinstance(EXPECTED, pl.DataFrame)
    lazy = ef.evaluate(ITEMS.lazy(), ef.aurc(), by="who")
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), EXPECTED)


def test_paths(tmp_path):
    for k in range(3):
        ITEMS[k : k + 1].write_parquet(tmp_path / f"{k}.parquet")
    ITEMS.write_csv(tmp_path / "all.csv")
    for path in (tmp_path, str(tmp_path / "*.parquet"), tmp_path / "all.csv"):
        assert_frame_equal(ef.evaluate(path, ef.aurc(), by="who"), EXPECTED)
    with pytest.raises(InputError, match=r"no file or folder '.*nothing'"):
        ef.evaluate(tmp_path / "nothing", ef.aurc())


def test_surveys_of_other_libraries(tmp_path):
    keys = {"question_id": ["q", "q"], "segment_id": ["age:old", "age:young"]}
    survey = pl.DataFrame({**keys, "actual": [[0.25, 0.75], [0.5, 0.5]]})
    survey.write_parquet(tmp_path / "survey.parquet")
    expected = ef.survey.as_distributions(survey)
    for other in (survey.to_pandas(), survey.to_arrow(), tmp_path / "survey.parquet"):
        result = ef.survey.as_distributions(other)
        assert isinstance(result, pl.DataFrame)
        assert_frame_equal(result, expected)
        assert ef.survey.as_survey(other).questions["question_id"].to_list() == ["q"]


def test_states_of_files_are_merged(tmp_path):
    for k in range(3):
        ef.partial(ITEMS[k : k + 1], ef.aurc(), by="who").write_parquet(tmp_path / f"{k}.parquet")
    total = ef.merge(*(tmp_path / f"{k}.parquet" for k in range(3)))
    assert isinstance(total, pl.DataFrame)
    assert_frame_equal(ef.finish(total), EXPECTED)


def test_numbers_of_arrow_are_not_copied():
    table = pa.table({"loss": pa.array([0.5] * 1000)})
    seen = []

    @any_frame
    def look(frame: Frame) -> None:
        values = frame["loss"].to_numpy(allow_copy=False)
        seen.append(values.__array_interface__["data"][0])

    look(table)
    assert seen == [table["loss"].chunk(0).buffers()[1].address]


def test_each_of_several_tables():
    @any_frame
    def kinds(*frames: Frame, name: str) -> list[type]:
        return [type(frame) for frame in frames]

    assert kinds(ITEMS.to_arrow(), ITEMS, ITEMS.to_pandas(), name="x") == [pl.DataFrame] * 3


def test_what_is_no_table():
    with pytest.raises(ParameterError, match=r"expected a table, got pandas\..*Series"):
        ef.evaluate(pd.Series([1, 2]), ef.aurc())
    mixed = pd.DataFrame({"loss": [1, "a"], "confidence": [1, 2]})
    with pytest.raises(ParameterError, match=r"DataFrame cannot be read .*'a'.*convert"):
        ef.evaluate(mixed, ef.aurc())


ROOMS = ["", ".selective", ".rag", ".survey", ".replication", ".logs"]
ROOMS += [f".compat.{name}" for name in ("ai_psychiatrist", "rgb", "dtef", "humanstudy_bench")]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_function_takes_any_frame(room):
    module = importlib.import_module(f"evalframe{room}")
    for name in dir(module):
        function = getattr(module, name)
        if name == "merge" or not inspect.isfunction(function):
            continue
        kinds = [str(each.annotation) for each in inspect.signature(function).parameters.values()]
        if any(re.search(r"\bFrame\b", kind) for kind in kinds):
            assert hasattr(function, "__wrapped__"), f"{name} lacks @any_frame or @like_input"
