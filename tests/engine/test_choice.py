"""States or shuffled rows: estimated from first rows, told, and the same numbers."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
import polars as pl
import pytest

import evalframe as ef
from evalframe.core.tables import Keys
from evalframe.engine import choice, exact
from evalframe.engine.choice import Look, looked
from evalframe.engine.executors import OnExecutor
from evalframe.engine.protocol import EngineError
from evalframe.engine.shards import shards_of


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with ThreadPoolExecutor(1) as executor:
        adapter = OnExecutor(executor)
        adapter.scratch = tmp_path_factory.mktemp("scratch")
        yield adapter


def items(rows, decimals=None):
    rng = np.random.default_rng(0)
    confidence = rng.random(rows)
    return pl.DataFrame(
        {
            "model": rng.integers(0, 5, rows),
            "confidence": confidence if decimals is None else confidence.round(decimals),
            "loss": rng.integers(0, 2, rows) / 1.0,
        }
    )


def look(engine, frame, metrics, by=None, shards=4):
    cuts = [len(frame) * number // shards for number in range(shards + 1)]
    parts = [frame[first:end] for first, end in itertools.pairwise(cuts)]
    return looked(engine, shards_of(parts), [metric.bound for metric in metrics], Keys.of(by))


def test_a_state_of_unique_levels_has_a_row_for_each_row(engine):
    found = look(engine, items(200_000), [ef.aurc()], "model", shards=9)
    assert found.rows == pytest.approx(200_000, rel=1e-3)
    assert found.cells == found.rows
    assert found.size > 200_000 * 8 * 4


@pytest.mark.parametrize(
    ("decimals", "by", "cells"), [(2, None, 101), (2, "model", 505), (4, None, 10_001)]
)
def test_a_state_of_few_levels_is_small(engine, decimals, by, cells):
    found = look(engine, items(200_000, decimals), [ef.aurc(), ef.selective_risk()], by)
    assert found.cells == pytest.approx(cells, rel=0.05)
    assert found.plan == "levels"


def test_units_are_groups_of_a_state(engine):
    found = look(engine, items(200_000, 2), [ef.per("model", ef.aurc())])
    assert found.cells == pytest.approx(505, rel=0.05)


def test_an_estimate_in_words():
    assert Look(1000, 10, 1_000_000).told() == (
        "a state has about 10 groups and levels of 1,000 rows, 1 MB"
    )
    told = Look(50_000_000, 50_000_000, 2_800_000_000).told()
    assert told.startswith("levels are nearly unique: a state has about 50,000,000 groups")


@pytest.mark.parametrize("plan", ["auto", "sorted", "levels"])
def test_every_plan_gives_the_numbers_of_one_process(engine, plan):
    frame = items(3000)
    metrics = [ef.aurc(), ef.selective_risk()]
    with (
        mock.patch.multiple(choice, LIMIT=1000, SMALL=0),
        mock.patch.object(exact, "LARGE", 1000),
        mock.patch.object(choice, "tell") as told,
        mock.patch.object(exact, "tell", told),
    ):
        table = ef.evaluate([frame[:1000], frame[1000:]], metrics, engine=engine, plan=plan)
    expected = ef.evaluate(frame, metrics)
    assert table.schema == expected.schema
    assert table["estimate"].to_list() == pytest.approx(expected["estimate"].to_list(), rel=1e-12)
    words = [each.args[0] for each in told.call_args_list]
    shuffled = (
        "rows are shuffled by group into 1 bucket, those of 1 large group by 1 range of levels"
    )
    nearly = (
        "levels are nearly unique: a state has about 3,000 groups and levels of 3,000 rows, 0 MB"
    )
    assert words == {"auto": [nearly, shuffled], "sorted": [shuffled], "levels": []}[plan]


def test_a_shuffle_without_a_folder_names_the_argument(engine):
    frame = items(100)
    lonely = OnExecutor(engine.executor)
    with pytest.raises(EngineError, match=r"no folder is known .* scratch=\.\.\.\)"):
        ef.evaluate([frame], ef.aurc(), engine=lonely, plan="sorted")
