"""Shuffles and ranges of levels: the same numbers as one process, for every metric."""

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest import mock

import numpy as np
import polars as pl
import pytest

import evalframe as ef
from evalframe.core import tables
from evalframe.core.errors import ParameterError
from evalframe.core.per import Per
from evalframe.core.tables import Keys
from evalframe.engine import exact, ranges
from evalframe.engine import shards as shards_module
from evalframe.engine.executors import OnExecutor
from evalframe.engine.protocol import TaskError, call
from evalframe.engine.ranges import Cuts
from evalframe.engine.shards import shards_of
from test_laws import every


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with ThreadPoolExecutor(1) as executor:
        adapter = OnExecutor(executor)
        adapter.scratch = tmp_path_factory.mktemp("scratch")
        yield adapter


def one_of_each(exprs):
    """Each metric with one choice of its parameters."""
    return list({expr.metric.name: expr for expr in exprs}.values())


@contextmanager
def sizes(*, large, rows, bucket=20, step=1, few=1 << 30, batch=1 << 19):
    """Other sizes than those of large data.

    Each shard is a task, and of a range the rows of each are sorted alone.
    """
    with (
        mock.patch.multiple(
            exact, LARGE=large, WHOLE=large, BUCKET=bucket, _STEP=step, _FEW=few, _BATCH=batch
        ),
        mock.patch.multiple(shards_module, _TASK=1, _LEAST=1),
        mock.patch.multiple(ranges, ROWS=rows, in_chunks=lambda parts, _: parts),
    ):
        yield


def items(rows, seed=0):
    """Rows with ties, missing and infinite values, and weights of 0."""
    rng = np.random.default_rng(seed)

    def column(values):
        return pl.Series([values[number] for number in rng.integers(0, len(values), rows)])

    confidences = [0.1, 0.5, 0.0, -0.0, -3.0, math.inf, -math.inf, math.nan, None]
    confidences += [number / 16 for number in range(16)]
    numbers = [0, 1, 2, 3, None]
    return pl.DataFrame(
        {
            "model": column(["a", "a", "a", "b", None]),
            "person": column([*range(7)]),
            **{name: column(numbers) for name in ("prediction", "label", "score")},
            "item_index": column([0, 1, 2]),
            "loss": column([None, math.nan, *(number / 8 for number in range(17))]),
            "confidence": column(confidences),
            "correct": column([0.0, 1.0, 1.0, 0.5, None, math.nan]),
            "weight": column([0.0, 0.5, 1.0, 1.0, 2.0, 3.0]),
            "noise_rate": column([1.0, 1.0, 0.2, None, math.nan]),
            "factlabel": column([0, 1, 1, None]),
            "evaluation": column([None, "Yes", "No, not addressed", ""]),
            "status": column(["ok", "ok", "unparsed", "failed", None]),
            "groups_found": column([None, [], [1], [1, 1], [1, 0], [0], [-1], [-1, 1]]),
        }
    )


def flat(exprs):
    return [expr for expr in exprs if not isinstance(expr.bound, Per)]


def shuffled(engine, shards, exprs, by=None):
    keys = Keys.of(by)
    bounds = [expr.bound for expr in exprs]
    long = exact.shuffled(engine, shards_of(shards), bounds, keys)
    assert not [*engine.scratch.iterdir()]
    return tables.finished(long, keys, [bound.name for bound in bounds])


def check_equal(table, expected):
    assert table.schema == expected.schema
    keys = expected.columns[: expected.columns.index("metric") + 1]
    assert table.select(keys).equals(expected.select(keys))
    for name in ("estimate", "n", "n_missing"):
        left, right = table[name], expected[name]
        same = left.is_close(right, rel_tol=1e-12, abs_tol=1e-12).fill_null(
            left.is_null() & right.is_null()
        )
        wrong = pl.concat([expected.filter(~same), table.filter(~same)])
        assert same.all(), wrong.select(*keys, name)


@pytest.mark.parametrize(
    ("rows", "weight", "by"), [(1 << 20, "weight", None), (80, "weight", "model"), (9, None, None)]
)
def test_ranges_of_every_metric_are_one_process(engine, rows, weight, by):
    frame = items(64 if by is None else 160)
    exprs = flat(every(weight)) if rows == 9 else one_of_each(flat(every(weight)))
    shards = [frame[:30], frame[30:31], frame[31:31], frame[31:]]
    with sizes(large=1, rows=rows):
        table = shuffled(engine, shards, exprs, by)
    check_equal(table, ef.evaluate(frame, exprs, by=by))


SOME = [
    ef.aurc(),
    ef.eaurc(weight="weight"),
    ef.aurc_achievable(),
    ef.auroc("confidence", "label", positive=1),
    ef.expected_calibration_error(bins=5),
    ef.expected_calibration_error(bins=7, binning="equal_mass").alias("of equal mass"),
    ef.risk_at(0.5)(),
    ef.coverage(),
    ef.quantile("loss", q=0.25),
]


TWO = ["model", pl.col("person") % 2]


@pytest.mark.parametrize(
    ("given", "by"),
    [
        ({"large": 1 << 20, "rows": 10}, TWO),
        ({"large": 100, "rows": 10}, None),
        ({"large": 100, "rows": 10}, "model"),
        ({"large": 100, "rows": 10, "few": 1}, TWO),
        ({"large": 40, "rows": 30, "few": 4, "step": 5, "batch": 16}, None),
        ({"large": 40, "rows": 30, "few": 4, "step": 5, "batch": 16}, TWO),
    ],
)
def test_large_groups_by_ranges_and_others_in_buckets_are_one_process(engine, given, by):
    frame = items(200, seed=1)
    with sizes(**given):
        table = shuffled(engine, [frame[:120], frame[120:]], SOME, by)
    check_equal(table, ef.evaluate(frame, SOME, by=by))


def test_metrics_of_units_are_shuffled_with_their_group(engine):
    frame = items(200)
    nested = [ef.per("person", ef.aurc()), ef.aurc()]
    with sizes(large=1000, rows=10):
        table = shuffled(engine, [frame[:120], frame[120:]], nested, "model")
    check_equal(table, ef.evaluate(frame, nested, by="model"))
    told = r"'aurc_per_person' is over units, .* more than 100 rows, such as {'model': 'a'}. Round"
    with sizes(large=100, rows=10), pytest.raises(ParameterError, match=told):
        shuffled(engine, [frame], nested, "model")
    assert not [*engine.scratch.iterdir()]


@pytest.mark.parametrize("by", [None, "model"])
def test_shards_without_rows(engine, by):
    frame = items(3)
    table = shuffled(engine, [frame.clear(), frame.clear()], SOME, by)
    check_equal(table, ef.evaluate(frame.clear(), SOME, by=by))


@pytest.mark.parametrize("plan", ["levels", "sorted"])
def test_keys_and_clusters_of_other_rows_are_refused(engine, plan):
    shards, top = [items(3)], pl.col("loss").max()
    with pytest.raises(ParameterError, match="'loss' is computed from other rows"):
        ef.evaluate(shards, SOME, by=top, plan=plan, engine=engine)
    with pytest.raises(ParameterError, match="'loss' is computed from other rows"):
        ef.evaluate(shards, SOME, resample=ef.Jackknife(cluster=top), engine=engine)
    with pytest.raises(ParameterError, match="'loss' is computed from other rows"):
        ef.partial(shards[0], SOME, by=top)


def test_cuts_part_no_ties_and_follow_the_weight():
    levels = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 5.0, 5.0])
    owners = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    with mock.patch.object(ranges, "ROWS", 20):
        cuts = Cuts.of(owners, levels, np.full(8, 10.0), 3)
    assert cuts.owners.tolist() == [0, 0, 1, 2]
    rows = np.array([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 9.0, 5.0, 5.0])
    numbers = cuts.numbers(np.array([0] * 7 + [1, 2]), rows)
    assert numbers.tolist() == [0, 0, 0, 0, 0, 1, 1, 2, 3]


class Repeating(OnExecutor):
    """An engine that runs each task twice, as engines do when a worker is lost too late."""

    def stream(self, task, items):
        for place, item in enumerate(items):
            call(task, item)
            yield place, call(task, item)


def test_a_task_that_is_repeated_replaces_its_own_file(engine):
    twice = Repeating(engine.executor, scratch=engine.scratch)
    frame = items(200, seed=1)
    with sizes(large=100, rows=10):
        table = shuffled(twice, [frame[:120], frame[120:]], SOME, "model")
    check_equal(table, ef.evaluate(frame, SOME, by="model"))


def test_nothing_is_left_of_a_shuffle_that_fails(engine, tmp_path):
    frame, shard = items(100), tmp_path / "b.parquet"
    frame.write_parquet(shard)
    shards = shards_of([frame, str(shard)])
    shard.write_bytes(b"PAR1 no more")
    with pytest.raises(TaskError, match=r"sample of .*b\.parquet"):
        shuffled(engine, shards, SOME)
    assert not [*engine.scratch.iterdir()]


def test_other_processes_split_and_finish(process_engine):
    rng = np.random.default_rng(0)
    levels, count = rng.permutation(100_000), 100_000
    frame = pl.DataFrame({"confidence": levels / count, "loss": rng.integers(0, 2, count) / 1.0})
    frame = frame.with_columns(correct=1 - pl.col("loss"))
    metrics = [
        ef.aurc(),
        ef.auroc("confidence", "correct", positive=1),
        ef.expected_calibration_error(bins=15),
    ]
    shards = [frame[: count // 3], frame[count // 3 :]]
    with sizes(large=50_000, rows=20_000, few=4):
        table = ef.evaluate(shards, metrics, engine=process_engine, plan="sorted")
    check_equal(table, ef.evaluate(frame, metrics))
    assert not [*process_engine.scratch.iterdir()]
