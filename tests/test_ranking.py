"""Ranks of systems: against plain loops, leaderboards and comparisons, and degenerate tables."""

import itertools
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.resample.ranks import RANKS, max_t_p_values, rank_sets

COLUMNS = [
    *("rank", "model", "metric", "estimate", "std_error", "lower", "upper", "n_clusters"),
    *("drop_rate", *RANKS, "tied_with_best", "margin_to_best", "p_value", "p_adjusted"),
    "n_missing",
]
METHOD = ef.Bootstrap(cluster="item", n=200, seed=3)
PERCENTILE = replace(METHOD, interval="percentile")


def systems(seed=0, items=12, holes=0.0, **means):
    rng = np.random.default_rng(seed)
    shared = rng.normal(0.0, 0.1, items)
    rows = [
        (name, f"i{item:02}", f"t{item % 3}", mean + shared[item] + rng.normal(0.0, 0.1))
        for name, mean in means.items()
        for item in range(items)
        if rng.random() >= holes
    ]
    return pl.DataFrame(rows, schema=["model", "item", "task", "score"], orient="row")


FOUR = systems(a=0.8, b=0.5, c=0.78, d=0.52)


def rank(frame, metric=None, **options):
    metric = ef.mean_score() if metric is None else metric
    return ef.rank(frame, metric, **{"between": "model", "resample": METHOD, **options})


def plain_replicates(frame, method):
    """Mean scores of each model in each replicate, and of all items, in order of the names."""
    items = frame["item"].unique().sort().to_list()
    scores = [dict(part.select("item", "score").rows()) for _, part in by_model(frame)]
    draws = np.random.RandomState(method.seed).randint(0, len(items), (method.n, len(items)))
    drawn = [
        [np.mean([own[items[k]] for k in draw if items[k] in own]) for own in scores]
        for draw in draws
    ]
    return np.array([np.mean([*own.values()]) for own in scores]), np.array(drawn)


def by_model(frame):
    return sorted(frame.group_by("model"))


def plain_ranks(points, drawn, level, clusters):
    """Central ranks and rank sets, in steps, by loops over pairs."""
    places = np.array([[1 + sum(row > value) for value in row] for row in drawn])
    ordered, tail = np.sort(places, axis=0), (1 - level) / 2 * (len(drawn) - 1)
    pairs = [*itertools.permutations(range(len(points)), 2)]
    errors = {(a, b): np.std(drawn[:, a] - drawn[:, b], ddof=1) for a, b in pairs}
    gap = {(a, b): points[a] - points[b] for a, b in pairs}
    away = [{(a, b): (x[a] - x[b] - gap[a, b]) / errors[a, b] for a, b in pairs} for x in drawn]
    freedom = {(a, b): min(clusters[a], clusters[b]) - 1 for a, b in pairs}
    far = {}
    for pair, f in freedom.items():
        t = gap[pair] / errors[pair] / math.sqrt(1 + 1 / f)
        far[pair] = stats.norm.isf(stats.t.sf(t, f))
    beats = dict.fromkeys(pairs, False)
    for _ in pairs:
        worst = [max(x[pair] for pair in pairs if not beats[pair]) for x in away]
        bound = sorted(worst)[math.ceil(level * len(drawn)) - 1]
        beats = {pair: beats[pair] or far[pair] > bound for pair in pairs}
    count = range(len(points))
    least = [1 + sum(beats.get((b, a), False) for b in count) for a in count]
    most = [len(points) - sum(beats.get((a, b), False) for b in count) for a in count]
    return [*ordered[math.floor(tail)]], [*ordered[-1 - math.floor(tail)]], least, most


def plain_p_values(points, drawn):
    """P-values of all pairs by percentiles, and Holm's correction."""
    found = {}
    for a, b in itertools.combinations(range(len(points)), 2):
        gap = drawn[:, a] - drawn[:, b]
        found[a, b] = 2 * (min(sum(gap <= 0), sum(gap >= 0)) + 1) / (len(drawn) + 1)
    adjusted, largest = {}, 0.0
    for number, pair in enumerate(sorted(found, key=found.get)):
        largest = max(largest, min(1.0, found[pair] * (len(found) - number)))
        adjusted[pair] = largest
    return found, adjusted


@pytest.mark.parametrize(
    "frame",
    [
        FOUR,
        systems(holes=0.3, a=0.8, b=0.5, c=0.7),
        systems(items=6, a=0.8, b=0.7, c=0.4, d=0.45, e=0.6, f=0.55),
    ],
)
def test_all_columns_as_by_plain_loops(frame):
    found = rank(frame, resample=PERCENTILE).sort("model")
    assert sorted(found.columns) == sorted(COLUMNS)
    points, drawn = plain_replicates(frame, PERCENTILE)
    assert found["estimate"].to_list() == pytest.approx(points)
    assert found["std_error"].to_list() == pytest.approx(np.std(drawn, axis=0, ddof=1))
    assert found["lower"].to_list() == pytest.approx(np.quantile(drawn, 0.025, axis=0))
    clusters = [part["item"].n_unique() for _, part in by_model(frame)]
    for name, expected in zip(RANKS, plain_ranks(points, drawn, 0.95, clusters), strict=True):
        assert found[name].to_list() == expected, name
    best = int(np.argmax(points))
    for name, tests in zip(("p_value", "p_adjusted"), plain_p_values(points, drawn), strict=True):
        pairs = [tests.get((min(best, a), max(best, a))) for a in range(len(points))]
        assert found[name].to_list() == pytest.approx(pairs), name
    assert found["rank"].to_list() == [1 + sum(points > point) for point in points]
    assert found["n_clusters"].to_list() == clusters


@pytest.mark.parametrize("interval", ["expanded_bca", "percentile", "bca", "normal"])
@pytest.mark.parametrize("correction", ["holm", "bonferroni", "none"])
def test_p_values_are_those_of_compare(interval, correction):
    options = {"resample": replace(METHOD, interval=interval), "correction": correction}
    found = rank(FOUR, **options)
    pairs = ef.compare(FOUR, ef.mean_score(), between="model", **options)
    best = found["model"][0]
    for model, *values in found[1:].select("model", "p_value", "p_adjusted").iter_rows():
        pair = pairs.filter(
            pl.concat_list("left", "right").list.set_difference([best, model]).list.len() == 0
        )
        assert pair.select("p_value", "p_adjusted").row(0) == pytest.approx(values, abs=1e-12)


@pytest.mark.parametrize("metric", [ef.mean_score(), ef.per("task", ef.mean_score())])
def test_estimates_are_those_of_evaluate(metric):
    found = rank(FOUR, metric).sort("model")
    wanted = ef.evaluate(FOUR, metric, by="model", resample=METHOD)
    columns = ["model", "metric", "estimate", "std_error", "lower", "upper", "n_clusters"]
    assert_frame_equal(found.select(columns), wanted.select(columns), abs_tol=1e-12)


@pytest.mark.parametrize("cluster", ["item", "task"])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_ranks_are_those_of_a_leaderboard(cluster, holes):
    frame = systems(items=30, holes=holes, a=0.8, b=0.74, c=0.78, d=0.6, e=0.62)
    halves = frame.with_columns(half=pl.col("item") < "i15")
    rows = halves.rename({"task": "segment_id", "item": "question_id"})
    name = {"item": "question_id", "task": "segment_id"}[cluster]
    method = ef.Bootstrap(cluster=name, n=150, seed=2)
    board = ef.survey.leaderboard(rows, by="half", resample=method)
    metric = ef.per("segment_id", ef.mean_score())
    found = rank(rows, metric, by="half", resample=method)
    shared = [*("half", "rank", "model", "std_error", "lower", "upper", "n_clusters", "drop_rate")]
    shared += [*RANKS, "tied_with_best"]
    assert_frame_equal(found.select(shared), board.select(shared), abs_tol=1e-12)
    assert found["estimate"].to_list() == pytest.approx(board["score"].to_list(), abs=1e-12)


def test_ranks_are_those_of_models_of_replications():
    studies = systems(a=0.7, b=0.55, c=0.68).rename({"item": "study_id", "score": "pas"})
    method = ef.Bootstrap(cluster="study_id", n=100)
    board = ef.replication.model_scores(studies.drop("task"), resample=method).sort("model")
    found = rank(studies, ef.mean_pas(), resample=method).sort("model")
    shared = ["model", "rank", *RANKS, "tied_with_best"]
    assert_frame_equal(found.select(shared), board.select(shared))


def test_order_of_rows_and_names_of_systems_do_not_matter():
    found = rank(FOUR)
    assert_frame_equal(rank(FOUR.sample(fraction=1.0, shuffle=True, seed=1)), found, abs_tol=1e-12)
    names = {"a": "z", "b": "y", "c": "x", "d": "w"}
    renamed = rank(FOUR.with_columns(pl.col("model").replace(names)))
    expected = found.with_columns(pl.col("model").replace(names))
    assert_frame_equal(renamed, expected, abs_tol=1e-12)


def test_equal_systems_are_all_tied():
    one = FOUR.filter(model="a")
    frame = pl.concat([one.with_columns(model=pl.lit(name)) for name in "xyz"])
    found = rank(frame)
    assert found["model"].to_list() == ["x", "y", "z"]
    assert found.select("rank", *RANKS, "tied_with_best").rows() == [(1, 1, 1, 1, 3, True)] * 3
    assert found.select("p_value", "p_adjusted").rows() == [(None, None)] * 3


def test_against_several_best_the_largest_p_value_counts():
    scores = {
        "a": [1.0, 0.0, 1.0, 1.0, 1.0],
        "b": [0.0, 1.0, 1.0, 1.0, 1.0],
        "c": [0.2, 0.0, 0.9, 0.8, 0.9],
    }
    frame = (
        pl.DataFrame(scores)
        .with_row_index("item")
        .unpivot(index="item")
        .rename({"variable": "model", "value": "score"})
    )
    found = rank(frame)
    assert found["rank"].to_list() == [1, 1, 3]
    pairs = ef.compare(frame, ef.mean_score(), between="model", resample=METHOD)
    against = pairs.filter(right="c")
    assert against["p_value"].n_unique() == 2
    assert found["p_value"].to_list() == [None, None, against["p_value"].max()]


def test_two_systems():
    frame = FOUR.filter(pl.col("model").is_in(["a", "b"]))
    found = rank(frame)
    assert found.select("model", "rank", *RANKS, "tied_with_best").rows() == [
        ("a", 1, 1, 1, 1, 1, True),
        ("b", 2, 2, 2, 2, 2, False),
    ]
    assert found["p_value"].to_list()[1] == found["p_adjusted"].to_list()[1] < 0.05


def test_the_lowest_is_best_where_the_metric_says_so():
    losses = FOUR.with_columns(loss=-pl.col("score"))
    high, low = rank(FOUR), rank(losses, ef.selective_risk())
    assert_frame_equal(
        low.select("model", "rank", *RANKS, "tied_with_best", "p_value", "p_adjusted"),
        high.select("model", "rank", *RANKS, "tied_with_best", "p_value", "p_adjusted"),
        abs_tol=1e-12,
    )
    assert low["estimate"].to_list() == pytest.approx([-x for x in high["estimate"]])


@pytest.mark.parametrize("metric", [ef.mean("score"), ef.per("task", ef.mean("score"))])
def test_a_metric_without_direction_needs_the_best_end(metric):
    with pytest.raises(ParameterError, match='best="highest" or best="lowest"'):
        rank(FOUR, metric)
    up, down = rank(FOUR, metric, best="highest"), rank(FOUR, metric, best="lowest")
    assert up["model"].to_list() == down["model"].to_list()[::-1] == ["a", "c", "b", "d"]


def test_groups_are_ranked_apart_and_are_one_family():
    both = pl.concat([FOUR.with_columns(half=pl.lit(half)) for half in ("x", "y")])
    found, alone = rank(both, by="half"), rank(FOUR)
    columns = [name for name in COLUMNS if name != "p_adjusted"]
    for half in ("x", "y"):
        assert_frame_equal(found.filter(half=half).select(columns), alone.select(columns))
    pairs = ef.compare(both, ef.mean_score(), between="model", by="half", resample=METHOD)
    assert found["p_adjusted"].min() == pytest.approx(pairs["p_adjusted"].min())
    assert found.columns == ["half", *COLUMNS]


def test_one_system_has_no_rank_unless_other_groups_have_two():
    with pytest.raises(ParameterError, match=r"needs two systems, found \['a'\].*ef.evaluate"):
        rank(FOUR.filter(model="a"))
    with pytest.raises(ParameterError, match="in a group, of whose keys"):
        rank(FOUR, by=pl.col("model").alias("again"))
    frame = FOUR.with_columns(half=pl.col("model") == "a")
    lone = rank(frame, by="half").filter("half")
    assert lone.select(*RANKS, "tied_with_best", "p_value").rows() == [(1, 1, 1, 1, True, None)]


def test_of_a_system_with_one_cluster_nothing_is_known():
    frame = FOUR.filter((pl.col("model") != "b") | (pl.col("item") == "i00"))
    row = rank(frame).filter(model="b").row(0, named=True)
    assert (row["n_clusters"], row["std_error"], row["p_value"]) == (1, None, None)
    assert (row["rank_lower"], row["rank_set_lower"], row["rank_set_upper"]) == (None, 1, 4)


def test_a_system_without_an_estimate_has_no_rank():
    missing = pl.when(pl.col("model") != "b").then("score")
    found = rank(FOUR.with_columns(score=missing))
    assert found["model"].to_list()[-1] == "b"
    assert found.select("rank", *RANKS, "tied_with_best", "p_value").row(-1) == (None,) * 7
    others = rank(FOUR.filter(pl.col("model") != "b"))
    assert_frame_equal(found[:-1].select(RANKS), others.select(RANKS))


def test_strata_level_and_weights():
    options = {"resample": replace(METHOD, within="task"), "level": 0.8}
    found = rank(FOUR, **options)
    narrow = replace(METHOD, within="task", level=0.8)
    assert_frame_equal(found, rank(FOUR, resample=narrow))
    twice = rank(pl.concat([FOUR, FOUR]), **options)
    assert_frame_equal(rank(FOUR.with_columns(k=2), weight="k", **options), twice, abs_tol=1e-12)


def test_lazy_in_lazy_out():
    lazy = rank(FOUR.lazy())
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), rank(FOUR))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"resample": ef.Jackknife(cluster="item")}, "use ef.Bootstrap"),
        ({"resample": ef.Bootstrap()}, "rank: rows are not independent"),
        ({"correction": "fdr"}, "correction must be one of"),
        ({"best": "top"}, "best must be one of"),
        ({"level": 95}, "level"),
        ({"metric": [ef.mean_score(), ef.coverage()]}, "one metric, got 2"),
        ({"metric": pl.col("score").mean()}, "declares no state"),
        ({"between": pl.col("model").alias("rank")}, "a column 'rank' of its own"),
        ({"metric": ef.per("model", ef.mean_score())}, "group key and a unit"),
        ({"resample": ef.Bootstrap(cluster=pl.lit(1).alias("c"))}, "cluster"),
    ],
)
def test_refusals_say_what_to_do(options, message):
    with pytest.raises(ParameterError, match=message):
        rank(FOUR, **options)


def test_missing_columns_are_named():
    with pytest.raises(MissingColumnsError, match="system"):
        rank(FOUR, between="system")


def test_rank_sets_and_max_t_are_the_golden_ones(golden):
    cases = [case for case in golden("inference/ranks")["cases"] if case["kind"] == "all_pairs"]
    assert len(cases) == 20
    for case in cases:
        given, expected = case["inputs"], case["expected"]
        points, drawn = np.array(given["estimate"]), np.array(given["replicates"])
        board, many = np.zeros(len(points), dtype=np.int64), np.full(len(points), np.inf)
        lower, upper, _ = rank_sets(points, drawn, board, given["level"], many)
        assert lower.tolist() == expected["stepdown_lower"], case["id"]
        assert upper.tolist() == expected["stepdown_upper"], case["id"]
        assert (lower == 1).tolist() == expected["tied_with_best"], case["id"]
        left, right, p = max_t_p_values(points, drawn, board, many)
        found = dict(zip(zip(left.tolist(), right.tolist(), strict=True), p.tolist(), strict=True))
        pairs = [found[a, b] for a, b in expected["pairs"]]
        assert pairs == pytest.approx(expected["p_adjusted_romano_wolf"], abs=1e-12), case["id"]


def test_replicates_within_strata_of_two_vary_by_half_and_are_widened():
    rng = np.random.default_rng(4)
    points, away = rng.normal(0.0, 3.0, 6), rng.normal(0.0, 1.0, (199, 6))
    board, many = np.zeros(6, dtype=np.int64), np.full(6, 10**12)
    near = points / np.sqrt(2.0)
    sets = rank_sets(points, points + away, board, 0.95, many, many // 2)
    *same, margin = rank_sets(near, near + away, board, 0.95, many)
    np.testing.assert_array_equal(sets[:2], same)
    np.testing.assert_allclose(sets[2], margin * np.sqrt(2.0))
    assert (sets[0] > rank_sets(points, points + away, board, 0.95, many)[0]).sum() == 0
    (*_, p), (*_, expected) = (
        max_t_p_values(each, each + away, board, many, strata)
        for each, strata in ((points, many // 2), (near, 1))
    )
    np.testing.assert_array_equal(p, expected)


def test_beyond_its_margin_a_difference_from_the_best_is_certain():
    rng = np.random.default_rng(5)
    board, many, away = np.zeros(2, dtype=np.int64), np.full(2, 12), rng.normal(size=(399, 2))
    margin = 1.0
    for factor, tied in ((1.0, None), (0.999, True), (1.001, False)):
        points = np.array([0.0, -factor * margin])
        lower, _, (nothing, margin) = rank_sets(points, points + away, board, 0.95, many)
        assert tied is None or (lower[1] == 1) == tied
        assert np.isnan(nothing)
    # By a t of 11 degrees and errors widened by 12 / 11, as the normal quantile of the deviations.
    gaps = away[:, 0] - away[:, 1]
    error = np.std(gaps, ddof=1)
    bound = np.sort(np.abs(gaps) / error)[int(np.ceil(0.95 * 399)) - 1]
    t = stats.t.isf(stats.norm.sf(bound), 11)
    assert margin == pytest.approx(t * error * np.sqrt(12 / 11))


def test_max_t_by_hand():
    # Replicates move one of two entries. Errors of differences are 1 to the third, else sqrt(2).
    drawn = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]) * np.sqrt(1.5)
    points = np.array([3.0, 2.0, 0.0])
    left, right, p = max_t_p_values(points, points + drawn, np.zeros(3, np.int64), np.full(3, 1e12))
    found = dict(zip(zip(left.tolist(), right.tolist(), strict=True), p.tolist(), strict=True))
    # No deviation, at most sqrt(1.5), is as large as 3 or 2; each is as large as the rest, 0.71.
    assert found == pytest.approx({(0, 2): 1 / 5, (1, 2): 1 / 5, (0, 1): 1.0})


def test_max_t_of_rank():
    holm, joint = rank(FOUR), rank(FOUR, correction="max_t")
    assert_frame_equal(joint.drop("p_adjusted"), holm.drop("p_adjusted"))
    least = 1 / (METHOD.n + 1)
    for row in joint[1:].select("p_value", "p_adjusted", "tied_with_best").iter_rows(named=True):
        assert max(least, row["p_value"]) <= row["p_adjusted"] <= 1
        assert row["tied_with_best"] == (row["p_adjusted"] > 0.05)
    two = FOUR.filter(pl.col("model").is_in(["a", "c"]))
    both = pl.concat([two.with_columns(half=pl.lit(half)) for half in ("x", "y")])
    alone, again = rank(two, correction="max_t"), rank(both, by="half", correction="max_t")
    (p,) = alone["p_adjusted"].drop_nulls()
    assert again["p_adjusted"].drop_nulls().to_list() == pytest.approx([min(1.0, 2 * p)] * 2)


def test_what_is_drawn_of_a_metric_of_units():
    nested = rank(FOUR, ef.per("task", ef.mean_score()))
    columns = ["n_units", "n_units_missing", "drawn", "unit_drop_rate"]
    assert nested.columns == [*COLUMNS, *columns]
    wanted = ef.evaluate(FOUR, ef.per("task", ef.mean_score()), by="model", resample=METHOD)
    assert_frame_equal(nested.sort("model").select(columns), wanted.select(columns))
    with pytest.raises(ParameterError, match="a column 'drawn' of its own"):
        rank(FOUR, ef.per("task", ef.mean_score()), by=pl.lit(1).alias("drawn"))


def test_fewer_clusters_than_systems_go_by_bonferroni():
    # Five clusters span four dimensions; the largest deviation of six systems is not seen in them.
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(6, 5))
    drawn = rng.multinomial(5, [0.2] * 5, 400) / 5 @ scores.T
    board, five = np.zeros(6, dtype=np.int64), np.full(6, 5)
    margin = np.nanmax(rank_sets(scores.mean(axis=1), drawn, board, 0.95, five)[2])
    gaps = drawn - drawn[:, [scores.mean(axis=1).argmax()]]
    t = stats.t.isf(0.05 / 30, 4)  # of 30 ordered pairs
    assert margin == pytest.approx(t * gaps.std(axis=0, ddof=1).max() * np.sqrt(5 / 4))


def test_what_differs_alike_is_as_certain_as_flips_of_signs():
    points = np.array([1.0, 0.0])
    for clusters, is_certain in ((5, False), (6, True)):
        sizes = np.full(2, clusters)
        same = np.tile(points, (99, 1))
        lower, *_ = rank_sets(points, same, np.zeros(2, dtype=np.int64), 0.95, sizes)
        assert (lower[1] == 2) == is_certain, clusters
