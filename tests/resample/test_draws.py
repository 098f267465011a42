"""Draws of clusters, against a reference generator."""

import functools

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.resample import contraction, draws, paired, products, replicates

IDS = pl.Series(["p3", "p1", "p2", "p10", "ünï"])
KINDS = ["reference", "counter", "poisson"]


def bootstrap(kind="reference", n=20, seed=42):
    return ef.Bootstrap(cluster="person", n=n, seed=seed, draws=kind)


def all_of(weights, chunk=7):
    return np.concatenate([np.asarray(part) for part in weights.chunks(chunk)])


def weights(kind, ids=IDS, chunk=7, **options):
    return all_of(draws.bootstrap_weights(bootstrap(kind, **options), ids), chunk)


@pytest.mark.parametrize(
    ("seed", "clusters", "first"),
    [
        (0, 5, [[4, 0, 3, 3, 3], [1, 3, 2, 4, 0], [0, 4, 2, 1, 0]]),
        (7, 3, [[0, 1, 2], [0, 1, 2], [0, 1, 2]]),
        (42, 41, [[38, 28, 14, 7, 20], [25, 1, 19, 27, 6], [23, 0, 7, 23, 10]]),
        (123, 1000, [[510, 365, 382, 322, 988], [264, 527, 863, 159, 26], [870, 124, 653, 332]]),
    ],
)
def test_the_reference_generator(seed, clusters, first):
    for chunk in (1, 2, 3):
        drawn = np.concatenate(list(draws.indices(bootstrap(n=3, seed=seed), clusters, chunk)))
        assert drawn.shape == (3, clusters)
        assert [row[: len(f)].tolist() for row, f in zip(drawn, first, strict=True)] == first


def test_weights_count_the_drawn():
    drawn = np.concatenate(list(draws.indices(bootstrap(), 5, 7)))
    expected = [np.bincount(row, minlength=5).tolist() for row in drawn]
    assert weights("reference").tolist() == expected


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_do_not_matter(kind):
    once = weights(kind, chunk=20)
    for chunk in (1, 3, 19, 1000):
        np.testing.assert_array_equal(weights(kind, chunk=chunk), once)


@pytest.mark.parametrize("kind", KINDS)
def test_seeds_matter(kind):
    np.testing.assert_array_equal(weights(kind, seed=1), weights(kind, seed=1))
    assert (weights(kind, seed=1) != weights(kind, seed=2)).any()


@pytest.mark.parametrize("kind", ["counter", "poisson"])
def test_more_replicates_begin_with_the_same(kind):
    np.testing.assert_array_equal(weights(kind, n=50)[:20], weights(kind, n=20))


def test_poisson_weights_of_a_cluster_do_not_depend_on_the_others():
    whole = weights("poisson")
    for places in ([0], [3, 1], [4, 2, 0]):
        np.testing.assert_array_equal(weights("poisson", IDS.gather(places)), whole[:, places])


def test_poisson_draws_of_numbers_are_those_of_their_text():
    # Groups of clusters that BCa leaves out belong to ids, too, whatever their order.
    found = [
        ef.evaluate(ITEMS.with_columns(person=ids), METRICS, resample=bootstrap("poisson"))
        for ids in (pl.col("person"), pl.col("person").cast(pl.String))
    ]
    same(*found)


def test_poisson_draws_take_no_floats():
    for ids in (pl.col("person") / 1, pl.struct(a="person", b=pl.lit(0.5))):
        with pytest.raises(ParameterError, match="cast the cluster to integers or text"):
            spread(ITEMS.with_columns(person=ids), "poisson")


@pytest.mark.parametrize("kind", KINDS)
def test_weights_have_the_moments_of_a_bootstrap(kind):
    ids = pl.Series(range(100))
    drawn = weights(kind, ids, n=2000, chunk=2000)
    if kind != "poisson":
        assert (drawn.sum(axis=1) == 100).all()
    # Mean 1 and variance about 1 with standard errors of about 0.002 and 0.004.
    assert drawn.mean() == pytest.approx(1, abs=0.01)
    assert drawn.var() == pytest.approx(1 if kind == "poisson" else 0.99, abs=0.02)
    between = np.corrcoef(drawn, rowvar=False)[np.triu_indices(100, 1)]
    assert abs(between.mean()) < 0.02
    assert abs(np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1]) < 0.01


def test_poisson_probabilities():
    shares = np.bincount(weights("poisson", pl.Series(range(500)), n=400).astype(int).ravel())
    expected = np.exp(-1) / np.array([1, 1, 2, 6])
    np.testing.assert_allclose(shares[:4] / shares.sum(), expected, atol=0.005)


def test_the_hash_is_fnv_1a():
    # Published test vectors of the function.
    known = {"": 0xCBF29CE484222325, "a": 0xAF63DC4C8601EC8C, "foobar": 0x85944171F73967E8}
    assert draws.stable_hash(pl.Series(list(known))).tolist() == list(known.values())
    assert len({*draws.stable_hash(pl.Series(["a", "a\0", "a\0\0", "ü"])).tolist()}) == 4


def test_left_out_and_nudged():
    for weights, bumped in [(draws.nudged(3, -1.0), 0.0), (draws.nudged(3, 0.5), 1.5)]:
        expected = np.where(np.eye(3), bumped, 1.0)
        parts = list(weights.chunks(2))
        assert [len(part) for part in parts] == [2, 1]
        np.testing.assert_array_equal(
            np.concatenate([part @ np.eye(3) for part in parts]), expected
        )
        owner = np.array([2, 0, 2, 1])
        columns = np.concatenate([part[:, owner] for part in parts])
        np.testing.assert_array_equal(columns, expected[:, owner])
        some, sums = np.array([0, 2]), np.array([[1.0, 2.0], [4.0, 8.0]])
        picked = np.concatenate([products.picked(part, some, sums) for part in parts])
        np.testing.assert_array_equal(picked, expected[:, some] @ sums)


def test_swaps_move_a_cluster_from_one_side_to_the_other():
    left, right = (all_of(paired.swaps(bootstrap(n=200), 6, side)) for side in (0, 1))
    own, other = left[:, :6], left[:, 6:]
    assert set(np.unique(left)) == {0, 1}
    np.testing.assert_array_equal(own + other, np.ones((200, 6)))
    np.testing.assert_array_equal(right, np.concatenate([other, own], axis=1))
    assert own.mean() == pytest.approx(0.5, abs=0.05)


RNG = np.random.default_rng(5)
ITEMS = pl.DataFrame(
    {
        "model": ["a"] * 60 + ["b"] * 60 + ["c"] * 30,
        "person": [*range(20)] * 6 + [*range(10)] * 3,
        "loss": RNG.integers(0, 9, 150) / 8,
        "confidence": RNG.integers(0, 5, 150) / 4,
    }
)
METRICS = [ef.aurc(), ef.eaugrc(), ef.selective_risk()]


def same(left, right):
    assert_frame_equal(left, right, check_exact=False, rel_tol=1e-12, abs_tol=1e-12)


def spread(frame, kind="reference", by="model"):
    return ef.evaluate(frame, METRICS, by=by, resample=bootstrap(kind, n=40))


@functools.cache
def whole(kind):
    return spread(ITEMS, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_neither_chunks_nor_row_order_change_an_interval(kind, monkeypatch):
    expected = whole(kind)
    same(spread(ITEMS.sample(fraction=1, shuffle=True, seed=1), kind), expected)
    monkeypatch.setattr(replicates, "CELLS", 1000)
    monkeypatch.setattr(replicates, "WEIGHTS", 100)
    same(spread(ITEMS, kind), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_of_the_same_clusters_share_their_draws(kind):
    alone = ITEMS.filter(model="a")
    twice = pl.concat([alone, alone.with_columns(model=pl.lit("y"))])
    result = spread(twice, kind)
    x, y = (result.filter(model=name).drop("model") for name in "ay")
    same(x, y)


METHODS = [bootstrap("poisson"), bootstrap(), ef.Jackknife(cluster="person"), ef.Linearized()]


@pytest.mark.parametrize("method", METHODS)
def test_sums_per_level_are_a_product_or_gathered(method, monkeypatch):
    metrics = [ef.aurc(), ef.aurc_achievable(), ef.risk_at(0.5)(), ef.coverage_at_risk(0.3)()]
    results = []
    for dense in (0, 1_000_000):
        monkeypatch.setattr(contraction, "_DENSE", dense)
        results.append(ef.evaluate(ITEMS, metrics, by="model", resample=method))
    # A derivative by a nudge of 1e-4 keeps twelve digits of the values, not of itself.
    rtol = 1e-7 if isinstance(method, ef.Linearized) else 1e-12
    assert_frame_equal(*results, check_exact=False, rel_tol=rtol, abs_tol=rtol)


@pytest.mark.parametrize("kind", ["reference", "counter"])
def test_a_group_has_the_interval_it_has_alone(kind):
    together = whole(kind)
    for model in "abc":
        alone = spread(ITEMS.filter(model=model), kind)
        same(together.filter(model=model), alone)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_resampled_by_the_same_draws_as_states(kind):
    plain = [metric.bound.expr for metric in METRICS]
    items = ITEMS.with_columns(pl.format("p{}", "person").alias("person"))
    rows = ef.evaluate(items, plain, by="model", resample=bootstrap(kind, n=40))
    columns = ["std_error", "lower", "upper"]
    states = spread(items, kind=kind)
    np.testing.assert_allclose(rows.select(columns), states.select(columns), rtol=1e-12)


@pytest.mark.parametrize("metric", [ef.aurc(), pl.col("loss").median()])
def test_a_row_needs_a_cluster(metric):
    frame = ITEMS.with_columns(person=pl.when(pl.col("person") > 0).then("person"))
    with pytest.raises(ParameterError, match="null or NaN ids, and a row without a cluster cannot"):
        ef.evaluate(frame, metric, resample=bootstrap())


@pytest.mark.parametrize("kind", KINDS)
def test_clusters_of_a_stratum_make_an_interval_wider_whatever_draws_them(kind):
    items = pl.DataFrame({"person": range(40), "loss": RNG.random(40)})
    items = items.with_columns(pl.format("s{}", pl.col("person") % 4).alias("study"))
    method = ef.Bootstrap(cluster="person", within="study", n=400, draws=kind, interval="expanded")
    found = ef.evaluate(items, ef.selective_risk(), resample=method)
    # 36 degrees of freedom: the ends of 0.95 are where those of 0.967 are by percentiles.
    width = found.select((pl.col("upper") - pl.col("lower")) / pl.col("std_error")).item()
    assert width == pytest.approx(4.2, abs=0.4)
