"""Results of an engine are those of one process."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import InputError, ParameterError, RunWarning
from evalframe.engine import shards as shards_module
from evalframe.engine import states as states_module
from evalframe.engine.protocol import TaskError
from evalframe.engine.shuffle import appearing

N = 300
RANDOM = np.random.default_rng(5)
ROWS = pl.DataFrame(
    {
        "item": np.arange(N) // 4,
        "model": np.array(["few", "zero", "none"])[RANDOM.integers(0, 3, N)],
        "topic": pl.Series(np.array(["x", "y", None])[RANDOM.integers(0, 3, N)], dtype=pl.String),
        "confidence": np.where(RANDOM.random(N) < 0.05, np.nan, RANDOM.integers(0, 40, N) / 40),
        "loss": RANDOM.random(N),
        "prediction": pl.Series(RANDOM.integers(0, 3, N)).replace(2, None),
        "sure": RANDOM.random(N),
        "w": RANDOM.random(N),
    }
).with_columns(pl.col("model").cast(pl.Enum(["zero", "none", "few"])))
METRICS = [
    ef.aurc(),
    ef.augrc("loss", "sure").alias("by unique levels"),
    ef.selective_risk(),
    ef.per("item", ef.selective_risk()).alias("nested"),
    ef.coverage,
]


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("items")
    for number in range(6):
        ROWS[number * 50 :][:50].write_parquet(folder / f"{number}.parquet")
    return folder


def same(one, other):
    assert_frame_equal(one, other, rel_tol=1e-12, abs_tol=1e-12)


CALLS = {
    "plain": {},
    "no groups": {"by": None},
    "expressions": {"by": [pl.col("topic").fill_null("z"), pl.col("loss") > 0.5]},
    "weighted": {"weight": "w"},
    "bootstrap": {"by": "topic", "resample": ef.Bootstrap(cluster="item", n=10)},
    "jackknife": {
        "by": "topic",
        "resample": ef.Jackknife(cluster=pl.col("item").cast(pl.String)),
    },
    "within": {
        "by": "topic",
        "resample": ef.Bootstrap(cluster="item", within=pl.col("item") % 5, n=10),
    },
}


@pytest.mark.parametrize("call", CALLS)
def test_evaluate_is_as_in_one_process(files, threads, call):
    arguments = {"metrics": METRICS, "by": ["topic", "model"]} | CALLS[call]
    one = ef.evaluate(files, **arguments)
    same(one, ef.evaluate(files, **arguments, engine=threads))
    frames = [ROWS[:1], ROWS[1:140].lazy(), ROWS[140:]]
    same(one, ef.evaluate(frames, **arguments, engine=threads))


@pytest.mark.parametrize("resample", [ef.Bootstrap(n=40), ef.Linearized()])
def test_rows_are_clusters_by_their_number_in_all_shards(files, threads, resample):
    metrics = [ef.aurc(), ef.selective_risk()]
    one = ef.evaluate(files, metrics, resample=resample)
    same(one, ef.evaluate(files, metrics, resample=resample, engine=threads))


COMPARED = {
    "paired": {"pair_on": "item", "by": "topic"},
    "unpaired": {"paired": False, "resample": ef.Bootstrap(n=30), "by": "topic"},
}


@pytest.mark.parametrize("call", COMPARED)
def test_compare_is_as_in_one_process(files, threads, call):
    arguments = {"resample": ef.Bootstrap(n=30, cluster="item")} | COMPARED[call]
    metrics = [ef.aurc(), ef.selective_risk()]
    one = ef.compare(files, metrics, between="model", **arguments)
    same(one, ef.compare(files, metrics, between="model", engine=threads, **arguments))
    sides = [ROWS.filter(pl.col("model") == model) for model in ("few", "zero")]
    one = ef.compare(sides[0], metrics, other=sides[1], **arguments)
    sides = [[side[:50], side[50:]] for side in sides]
    same(one, ef.compare(sides[0], metrics, other=sides[1], engine=threads, **arguments))


def test_rank_is_as_in_one_process(files, threads):
    arguments = {"between": "model", "by": "topic", "resample": ef.Bootstrap(n=30, cluster="item")}
    one = ef.rank(files, ef.selective_risk(), **arguments)
    same(one, ef.rank(files, ef.selective_risk(), engine=threads, **arguments))


def test_partial_adds_up_all_shards(files, threads, monkeypatch):
    arguments = {"by": ["model", "topic"], "cluster": "item"}
    one = ef.partial(files, METRICS, **arguments)
    assert_frame_equal(one, ef.partial(files, METRICS, engine=threads, **arguments))
    monkeypatch.setattr(shards_module, "_TASK", 1)
    monkeypatch.setattr(shards_module, "_LEAST", 1)
    monkeypatch.setattr(states_module, "MANY", 3)
    assert_frame_equal(one, ef.partial(files, METRICS, engine=threads, **arguments))
    written = []

    def noted(path):
        written.append(path)
        return appearing(path)

    monkeypatch.setattr(states_module, "_LARGE", 0)
    monkeypatch.setattr(states_module, "appearing", noted)
    assert_frame_equal(one, ef.partial(files, METRICS, engine=threads, **arguments))
    assert len(written) > 3
    assert not any(path.exists() for path in written)


def test_what_cannot_be_added_up_is_refused_before_the_engine_is_opened(files):
    for said, arguments in {
        "'loss' declares no state, so its shards do not add up": {"metrics": pl.col("loss").mean()},
        "an engine reads shards": {"frame": ROWS},
        "engine must be": {"engine": "processors"},
    }.items():
        given = {"frame": files, "metrics": ef.aurc(), "engine": "processes"} | arguments
        with pytest.raises(ParameterError, match=said):
            ef.evaluate(**given)
    with pytest.raises(ParameterError, match="begin with a colon"):
        ef.partial(files, ef.aurc(), by=pl.col("topic").alias(":topic"), engine="processes")
    with pytest.raises(ef.EvalframeError, match="needs column 'los'"):
        ef.evaluate(files, ef.selective_risk("los"), engine="processes")


def during(rows, act):
    """A shard; while it is read, something happens."""

    def read(batch):
        act()
        return batch

    return rows.lazy().with_columns(pl.col("loss").map_batches(read, return_dtype=pl.Float64))


@pytest.mark.parametrize("task", [1, 1 << 26])
def test_a_shard_that_is_damaged_meanwhile_is_named(tmp_path, monkeypatch, task):
    """In a task of its own, or in that of the shard during which it is damaged."""
    monkeypatch.setattr(shards_module, "_TASK", task)
    monkeypatch.setattr(shards_module, "_LEAST", task)
    file, other = tmp_path / "b.parquet", tmp_path / "other"
    ROWS.write_parquet(file)
    other.write_bytes(b"PAR1 no more")
    first = during(ROWS, lambda: other.exists() and other.replace(file))
    with ThreadPoolExecutor(1) as pool, pytest.raises(TaskError, match=r"state of .*b\.parquet"):
        ef.evaluate([first, str(file)], ef.aurc(), engine=pool, plan="levels")


def test_files_that_change_meanwhile_are_an_error(tmp_path):
    ROWS.write_parquet(tmp_path / "a.parquet")
    extra = during(ROWS, lambda: ROWS.write_parquet(tmp_path / "a.parquet", compression="gzip"))
    with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match=r"a\.parquet was changed"):
        ef.evaluate(
            [str(tmp_path / "*.parquet"), extra], ef.selective_risk(), engine=pool, plan="levels"
        )


def test_files_that_appear_meanwhile_are_told(tmp_path):
    ROWS.write_parquet(tmp_path / "a.parquet")

    extra = during(ROWS, lambda: ROWS[:3].write_parquet(tmp_path / "b.parquet"))
    with ThreadPoolExecutor(1) as pool, pytest.warns(RunWarning, match=r"not read.*b\.parquet"):
        result = ef.evaluate([str(tmp_path), extra], ef.selective_risk(), engine=pool)
    assert result["n"].item() == 2 * N


def test_every_engine_has_the_numbers_of_one_process(files, engine):
    arguments = {"by": "topic", "resample": ef.Bootstrap(cluster="item", n=20)}
    one = ef.evaluate(files, METRICS, **arguments)
    same(one, ef.evaluate(files, METRICS, engine=engine, **arguments))
