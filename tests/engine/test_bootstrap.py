"""Resampling on engines gives the numbers of one process, whichever way it goes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.engine import clusters, replicate_sums, replicates, resampling
from evalframe.engine.opening import opened
from evalframe.engine.protocol import TaskError
from evalframe.resample import draws

RNG = np.random.default_rng(3)
ROWS = 1200
ITEMS = pl.DataFrame(
    {
        "model": RNG.choice([*"abc"], ROWS),
        "person": RNG.integers(0, 240, ROWS),
        "task": RNG.integers(0, 3, ROWS),
        "loss": RNG.integers(0, 5, ROWS) / 4,
        "confidence": RNG.integers(0, 4, ROWS) / 4,
    }
).with_columns(country=pl.format("c{}", pl.col("person") % 3))
SHARDS = [ITEMS[:500], ITEMS[:0], ITEMS[500:]]
FLAT = [ef.aurc(), ef.selective_risk()]
# Persons cut tasks, so that a draw computes tasks anew.
NESTED = [ef.per("task", ef.selective_risk()), ef.aurc()]


@pytest.fixture(scope="module")
def engine():
    # Two workers, so that there are two tasks, whose sums are added up.
    with ThreadPoolExecutor(2) as executor, opened(executor) as ready:
        yield ready


@pytest.fixture
def told(monkeypatch):
    """What a terminal would show of the ways that are taken."""
    texts = []
    monkeypatch.setattr(resampling, "tell", texts.append)
    return texts


def poisson(n=20, cluster="person", **options):
    return ef.Bootstrap(cluster=cluster, n=n, draws="poisson", **options)


def same(found, expected):
    assert_frame_equal(
        found.lazy().collect(), expected.collect(), check_exact=False, rel_tol=1e-12, abs_tol=1e-12
    )


def check_evaluated(engine, metrics, by, method, shards=SHARDS):
    expected = ef.evaluate(pl.concat(shards).lazy(), metrics, by=by, resample=method)
    same(ef.evaluate(shards, metrics, by=by, resample=method, engine=engine), expected)
    assert engine.scratch is None or not [*engine.scratch.iterdir()]


@pytest.mark.parametrize(
    ("metrics", "method", "by"),
    [
        (FLAT, poisson(interval="percentile"), None),
        (FLAT, poisson(within="country", interval="expanded"), "model"),
        (FLAT, poisson(interval="normal", cluster=None), None),
        (FLAT, poisson(interval="normal", cluster=None), "model"),
        (NESTED, poisson(interval="basic"), None),
        (NESTED, poisson(interval="basic"), "model"),
    ],
)
def test_replicates_are_added_up_by_shards(engine, told, metrics, method, by):
    check_evaluated(engine, metrics, by, method)
    assert told[0].endswith("Poisson states")


def test_replicates_without_some_clusters_come_in_passes(engine, told, monkeypatch):
    monkeypatch.setattr(replicates, "_HELD", 900)
    monkeypatch.setattr(replicate_sums, "_WEIGHTS", 5000)
    # The third group has none of many clusters that are left out together.
    shards = [part.filter((pl.col("model") != "c") | (pl.col("person") < 9)) for part in SHARDS]
    check_evaluated(engine, [ef.selective_risk()], "model", poisson(cluster=None), shards)
    size = "10 kB a shard (clusters: 53 kB)"
    assert told == [f"replicates: 3 cells x 221 draws = {size}; Poisson states"]


@pytest.mark.parametrize(
    ("method", "by"),
    [
        (poisson(), None),
        (poisson(), "model"),
        (poisson(within="country", interval="expanded"), "model"),
        (ef.Bootstrap(cluster="person", n=20), None),
        (ef.Bootstrap(cluster="person", n=20), "model"),
    ],
)
def test_clusters_that_are_too_many_to_list(engine, monkeypatch, method, by):
    monkeypatch.setattr(clusters, "LISTED", 0)
    monkeypatch.setattr(resampling, "_HERE", 0)
    check_evaluated(engine, FLAT, by, method)
    with pytest.raises(ParameterError, match=r"none has two; name a finer column"):
        ef.evaluate(SHARDS[:1], FLAT, by="person", resample=method, engine=engine)


@pytest.mark.parametrize(
    "method",
    [
        ef.Bootstrap(cluster="person", n=20),
        ef.Bootstrap(cluster="person", n=20, draws="counter"),
        poisson(interval="bca"),
        ef.Jackknife(cluster="person"),
        ef.Linearized(),
    ],
)
def test_groups_are_finished_where_their_clusters_are(engine, told, monkeypatch, method):
    monkeypatch.setattr(resampling, "_HERE", 0)
    metrics = FLAT if method.cluster is None else NESTED
    check_evaluated(engine, metrics, "model", method)
    assert "brought together" in told[0]


@pytest.mark.parametrize("draws", ["poisson", "counter"])
def test_other_processes(process_engine, monkeypatch, draws):
    monkeypatch.setattr(resampling, "_HERE", 0)
    options = {"interval": "expanded", "progress": lambda done, total: None}
    method = ef.Bootstrap(cluster="person", n=20, draws=draws, **options)
    check_evaluated(process_engine, NESTED, "model", method)


def test_units_that_are_drawn_whole(engine, told):
    method = poisson(cluster="task", interval="expanded")
    check_evaluated(engine, NESTED, "model", method)
    assert "units are drawn whole, so clusters are brought together" in told[0]


PAIRS = [
    {"between": "model"},
    {"between": "model", "by": "country", "baseline": "b"},
    {"between": "country", "paired": False},
]


@pytest.mark.parametrize("options", PAIRS)
def test_sides_see_the_same_weights_of_a_cluster(engine, told, options):
    method = poisson(interval="expanded")
    # Systems that share all clusters, and one that lacks some.
    shards = [part.filter((pl.col("model") != "c") | (pl.col("person") > 20)) for part in SHARDS]
    expected = ef.compare(pl.concat(shards).lazy(), FLAT, resample=method, **options)
    same(ef.compare(shards, FLAT, resample=method, engine=engine, **options), expected)
    assert told[0].endswith("Poisson states")


@pytest.mark.parametrize("correction", ["holm", "max_t"])
def test_ranks(engine, told, correction):
    options = {"between": "model", "by": "task", "correction": correction}
    method = poisson(interval="expanded")
    expected = ef.rank(ITEMS.lazy(), FLAT[0], resample=method, **options)
    same(ef.rank(SHARDS, FLAT[0], resample=method, engine=engine, **options), expected)
    assert told[0].endswith("Poisson states")


def test_without_a_folder_for_files(engine, told, monkeypatch):
    monkeypatch.setattr(engine, "scratch", None)
    check_evaluated(engine, FLAT, "model", poisson(interval="percentile"))
    check_evaluated(engine, FLAT, "model", ef.Jackknife(cluster="person"))
    assert told[0].endswith("Poisson states")


def test_shards_without_rows(engine):
    empty = [ITEMS[:0], ITEMS[:0]]
    for by in (None, "model"):
        check_evaluated(engine, FLAT, by, poisson(), empty)


def test_what_cannot_be_resampled_is_refused(engine):
    def refused(error, text, change, metric=FLAT):
        shards = [part.with_columns(change) for part in SHARDS]
        with pytest.raises(error, match=text):
            ef.evaluate(shards, metric, by="model", resample=poisson(), engine=engine)

    refused(ParameterError, "cast the cluster to integers or text", pl.col("person") / 2)
    refused(ParameterError, "at least two clusters in a group", pl.col("model").alias("person"))
    refused(
        ParameterError,
        "null or NaN ids",
        pl.when(pl.col("person") > 0).then("person").alias("person"),
    )
    refused(
        TaskError,
        "sums of .* clusters are infinite",
        pl.when(pl.col("person") > 3).then("loss").otherwise(float("inf")).alias("loss"),
        ef.mean("loss"),
    )


def test_weights_of_any_columns():
    method = poisson(n=30, interval="expanded_bca")
    ids = pl.Series([f"p{number}" for number in range(50)])
    drawn = draws.bootstrap_weights(method, ids)
    columns = replicate_sums.Columns.of(method)
    whole = columns.weights(drawn.hashes, 0, columns.total)
    assert whole.shape == (50, 1 + draws.GROUPS + 30)
    assert (whole[:, 0] == 1).all()
    left = whole[:, 1 : 1 + draws.GROUPS].T
    expected = np.asarray(next(draws.left_out(method, 50, drawn.hashes).chunks(200)))
    np.testing.assert_array_equal(left[(left == 0).any(axis=1)], expected)
    np.testing.assert_array_equal(whole[:, 1 + draws.GROUPS :].T, next(drawn.chunks(30)))
    for first, stop in [(0, 1), (1, 5), (190, 203), (201, 210), (215, 231)]:
        some = columns.weights(drawn.hashes, first, stop)
        np.testing.assert_array_equal(some, whole[:, first:stop])


def test_sums_add_up_and_are_narrow():
    def sums(groups, first, second):
        cells = pl.DataFrame({":group": groups}, schema={":group": pl.UInt32})
        return replicate_sums.Sums(
            cells, {"n": 0, "x": 1 if second else 0, "zero": None}, [first, *second]
        )

    one = sums([0, 1], np.array([[1, 2], [3, 4]], dtype=np.uint16), [np.array([[0.5, 0], [0, 0]])])
    other = sums([1, 2], np.array([[1.0, 1.0], [70000.0, 0.0]]), [])
    total = replicate_sums.added_up([one, other])
    order = total.cells[":group"].arg_sort()
    found = {name: None if n is None else total.arrays[n][order] for name, n in total.place.items()}
    assert found["n"].tolist() == [[1, 2], [4, 5], [70000, 0]]
    assert found["n"].dtype == np.uint32
    assert found["x"].tolist() == [[0.5, 0], [1, 1], [70000, 0]]
    assert found["zero"] is None
