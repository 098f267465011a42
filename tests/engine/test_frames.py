"""Frames of engines: their partitions as shards, and states as frames of the engine."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.engine.frames import Partial
from evalframe.engine.spark import _state

N = 200
RANDOM = np.random.default_rng(7)
ROWS = pl.DataFrame(
    {
        "item": np.arange(N) // 4,
        "model": [["few", "zero", None][k] for k in RANDOM.integers(0, 3, N)],
        "confidence": RANDOM.integers(0, 9, N) / 9,
        "loss": pl.Series(RANDOM.integers(0, 3, N)).replace(2, None).cast(pl.Float64),
    }
)
METRICS = [ef.aurc(), ef.coverage("loss"), ef.per("item", ef.selective_risk()).alias("nested")]
KEPT = {"by": "model", "cluster": "item"}
RESAMPLE = ef.Bootstrap(cluster="item", n=20)
ONE = ef.evaluate(ROWS, METRICS, by="model", resample=RESAMPLE)
HEADER = ef.engine.header(METRICS, **KEPT)


def same(result, one=ONE):
    assert_frame_equal(result, one, rel_tol=1e-12, abs_tol=1e-12)


def test_a_state_of_plain_types_says_by_its_header_what_it_is():
    table = ROWS.with_columns(pl.col("model").cast(pl.Categorical)).to_arrow()
    maker = Partial.of(pl.from_arrow(table).schema, metrics=METRICS, **KEPT)
    parts = [maker(table[:0]), maker(table[:70]), maker(table[70:])]
    kinds = {str(kind) for part in parts for kind in part.schema.types}
    assert kinds == {"string", "int64", "int32", "double"}
    assert [part.schema for part in parts] == [maker.state] * 3
    total = pa.concat_tables(parts)
    same(ef.finish(total, header=HEADER, resample=RESAMPLE))
    groups = total.column_names[: total.column_names.index(":level") + 1]
    added = pl.from_arrow(total).group_by(groups).sum()
    same(ef.finish(added, header=HEADER, resample=RESAMPLE))


def test_spark_makes_one_state_of_all_batches_of_a_partition():
    table = ROWS.to_arrow(compat_level=pl.CompatLevel.oldest())
    maker = Partial.of(ROWS.schema, metrics=METRICS, **KEPT)
    batches = list(_state(iter(table.to_batches(max_chunksize=20)), maker, table.schema))
    assert len(batches) == 1
    same(ef.finish(pa.Table.from_batches(batches), header=HEADER, resample=RESAMPLE))
    assert sum(map(len, _state(iter([]), maker, table.schema))) == 0


def test_what_no_header_describes_is_refused():
    state = ef.partial(ROWS, METRICS, **KEPT)
    number = state.with_columns(pl.col(":block").to_physical().cast(pl.Int32))
    with pytest.raises(ParameterError, match="is a number"):
        ef.finish(state, header=HEADER)
    for header in ("no JSON", json.dumps({}), "3"):
        with pytest.raises(ParameterError, match=r"ef\.engine\.header"):
            ef.finish(number, header=header)
    with pytest.raises(ParameterError, match="declares no state"):
        ef.engine.header(pl.col("loss").mean())
    with pytest.raises(ParameterError, match="both a group key and the cluster"):
        ef.engine.header(ef.aurc(), by="item", cluster="item")


@pytest.fixture(scope="module")
def dask_frame():
    dask_dataframe = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    return dask_dataframe.from_pandas(ROWS.to_pandas(), npartitions=3)


def test_partitions_of_dask_are_shards(dask_frame, dask_engine):
    arguments = {"by": "model", "resample": RESAMPLE, "engine": dask_engine}
    same(ef.evaluate(dask_frame, METRICS, **arguments))
    plain = ef.evaluate(ROWS, METRICS, by="model")
    for plan in ("auto", "sorted"):
        same(ef.evaluate(dask_frame, METRICS, by="model", plan=plan, engine=dask_engine), plain)
    state = ef.partial(dask_frame, METRICS, engine=dask_engine, **KEPT)
    same(ef.finish(state, resample=RESAMPLE))
    sides = {"between": "model", "pair_on": "item", "resample": RESAMPLE}
    one = ef.compare(ROWS, ef.aurc(), **sides)
    assert_frame_equal(one, ef.compare(dask_frame, ef.aurc(), engine=dask_engine, **sides))
    with pytest.raises(ParameterError, match="have no numbers"):
        ef.evaluate(dask_frame, METRICS[0], resample=ef.Bootstrap(n=3), engine=dask_engine)
    with pytest.raises(ParameterError, match="a frame of Dask is computed on Dask, not on proc"):
        ef.evaluate(dask_frame, METRICS[0], engine="processes:1")


def test_states_are_a_frame_of_dask(dask_frame):
    state = ef.engine.dask.partial(dask_frame, METRICS, **KEPT)
    groups = [*state.columns[: list(state.columns).index(":level") + 1]]
    added = state.groupby(groups, dropna=False, sort=False).sum().reset_index()
    total = added.compute(scheduler="synchronous")
    assert set(map(type, total.dtypes)) == {pd.ArrowDtype}
    same(ef.finish(total, header=HEADER, resample=RESAMPLE))
    with pytest.raises(MissingColumnsError, match="needs column 'los'"):
        ef.engine.dask.partial(dask_frame, ef.selective_risk("los"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # that Ray gives to itself
def test_blocks_of_ray_are_shards_and_states_a_dataset(ray_engine):
    import ray

    parts = [ROWS[:90].to_arrow(), ROWS[90:].to_arrow()]
    dataset = ray.data.from_arrow(parts)
    same(ef.evaluate(dataset, METRICS, by="model", resample=RESAMPLE, engine=ray_engine))
    plain = ef.evaluate(ROWS, METRICS, by="model")
    same(ef.evaluate(dataset, METRICS, by="model", engine=ray_engine), plain)
    state = ef.engine.ray.partial(dataset, METRICS, **KEPT)
    total = pa.concat_tables(ray.get(state.to_arrow_refs()))
    same(ef.finish(total, header=HEADER, resample=RESAMPLE))
