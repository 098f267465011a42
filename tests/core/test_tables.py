"""Results as tables: keys, order, plans and chunks."""

import io
import json
import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core import tables
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.kernel import chunks

ITEMS = pl.DataFrame(
    {
        "model": ["a", "a", "a", "b", "b", "b", None, None],
        "mode": [1, 1, 2, 1, 2, 2, 1, 1],
        "person": [1, 2, 3, 1, 2, 3, 1, 2],
        "prediction": [1, 0, None, 2, 1, 0, None, 3],
        "loss": [0.0, 1.0, None, 0.5, 0.0, 1.0, None, 0.25],
        "confidence": [0.9, 0.4, 0.1, 0.7, 0.7, 0.2, None, 0.6],
        "weight": [1.0, 2.0, 1.0, 0.0, 3.0, 1.0, 1.0, 0.5],
    }
)
METRICS = [ef.aurc(), ef.eaurc(), ef.coverage(), ef.risk_at(0.5)(), ef.aurc_achievable()]
RESULT = list(tables.RESULT)


def same(left, right, **options):
    assert_frame_equal(pl.DataFrame(left.lazy().collect()), right.lazy().collect(), **options)


# evaluate


def test_the_result_is_long_and_sorted_by_keys_then_metrics():
    result = ef.evaluate(ITEMS, [ef.coverage, ef.aurc()], by="model")
    assert result.columns == ["model", *RESULT]
    assert dict(result.schema) == {"model": pl.String(), **tables.RESULT}
    assert result["model"].to_list() == [None, None, "a", "a", "b", "b"]
    assert result["metric"].to_list() == ["coverage", "aurc"] * 3
    assert result["n"].to_list() == [2, 2, 3, 3, 3, 3]


@pytest.mark.parametrize("by", [None, "model", ["mode", "model"], [pl.col("person") % 2]])
def test_all_plans_are_one(by):
    first, *others = (
        ef.evaluate(ITEMS, METRICS, by=by, plan=plan) for plan in ("sorted", "levels", "auto")
    )
    for other in others:
        same(first, other)


def test_groups_span_chunks(monkeypatch):
    expected = ef.evaluate(ITEMS, METRICS, by="model", plan="sorted")
    monkeypatch.setattr("evalframe.core.kernel.chunks", lambda starts: chunks(starts, rows=2))
    same(ef.evaluate(ITEMS, METRICS, by="model", plan="sorted"), expected)


def test_a_key_may_be_an_expression_with_a_name():
    first = pl.col("model").fill_null("?").str.to_uppercase().alias("family")
    result = ef.evaluate(ITEMS, ef.coverage, by=[first, "mode"])
    assert result.columns[:2] == ["family", "mode"]
    assert result["family"].to_list() == ["?", "A", "A", "B", "B"]


def test_a_key_may_be_called_like_an_internal_column_or_a_role():
    renamed = ITEMS.with_columns(loss_key=pl.col("model")).rename(
        {"mode": "mass", "person": "items"}
    )
    result = ef.evaluate(renamed, ef.aurc, by=["mass", "items"])
    expected = ef.evaluate(ITEMS, ef.aurc, by=["mode", "person"])
    same(result.rename({"mass": "mode", "items": "person"}), expected)
    by_role = ef.evaluate(ITEMS, ef.aurc, by="confidence")
    assert by_role["confidence"].to_list() == [None, 0.1, 0.2, 0.4, 0.6, 0.7, 0.9]


def test_a_row_that_cannot_be_used_is_counted():
    spoilt = ITEMS.with_columns(pl.Series("confidence", [math.nan, None, None, *[0.5] * 5]))
    result = ef.evaluate(spoilt, ef.aurc(weight="weight"), by="model")
    assert result.select("model", "n", "n_missing").rows() == [
        (None, 2, 0),
        ("a", 1, 2),
        ("b", 3, 0),
    ]


def test_weights_multiply():
    weighted = ef.evaluate(ITEMS, ef.aurc(weight="weight"), weight=pl.col("mode"))
    product = ef.evaluate(ITEMS, ef.aurc(weight=pl.col("weight") * pl.col("mode")))
    same(weighted, product)


def test_metrics_of_different_columns_stand_in_one_table():
    metrics = [ef.aurc().alias("one"), ef.aurc("loss", -pl.col("confidence")).alias("other")]
    result = ef.evaluate(ITEMS, metrics, by="model")
    for name, metric in zip(("one", "other"), metrics, strict=True):
        wide = ITEMS.group_by("model").agg(metric.alias("estimate")).sort("model")
        same(result.filter(metric=name).select("model", "estimate"), wide)


def test_expressions_without_a_state_stand_beside_metrics():
    median = pl.col("loss").median().alias("median_loss")
    result = ef.evaluate(ITEMS, [median, ef.coverage], by="model")
    assert result["metric"].to_list() == ["median_loss", "coverage"] * 3
    assert result.filter(metric="median_loss")["estimate"].to_list() == [0.25, 0.5, 0.5]
    assert result.filter(metric="median_loss")["n_missing"].to_list() == [None] * 3
    whole = ef.evaluate(ITEMS, median)
    assert whole.select("estimate", "n").row(0) == (ITEMS["loss"].median(), 8)


def test_empty_tables():
    grouped = ef.evaluate(ITEMS.clear(), METRICS, by="model")
    assert (grouped.height, grouped.columns) == (0, ["model", *RESULT])
    for plan in ("sorted", "levels"):
        whole = ef.evaluate(ITEMS.clear(), METRICS, plan=plan)
        assert whole["estimate"].to_list() == [0.0, 0.0, 0.0, None, 0.0]
        assert whole["n"].to_list() == [0] * 5


# laziness


class ReadError(Exception):
    pass


@pytest.fixture
def unread():
    """A lazy frame that raises when it is read."""

    def read(with_columns, predicate, n_rows, batch_size):
        raise ReadError
        yield

    return pl.io.plugins.register_io_source(read, schema=ITEMS.schema)


@pytest.mark.parametrize("plan", ["sorted", "levels", "auto"])
def test_nothing_is_read_before_collect(unread, plan):
    result = ef.evaluate(unread, METRICS, by="model", plan=plan)
    assert isinstance(result, pl.LazyFrame)
    assert result.collect_schema().names() == ["model", *RESULT]
    with pytest.raises(ReadError):
        result.collect()


def test_states_are_lazy_too(unread):
    state = ef.partial(unread, METRICS, by="model", cluster="person")
    assert state.collect_schema().names()[:4] == ["model", "person", ":block", ":level"]


# partial, merge, finish


def through_parquet(state):
    file = io.BytesIO()
    state.lazy().collect().write_parquet(file)
    file.seek(0)
    return pl.scan_parquet(file)


@pytest.mark.parametrize("by", [None, "model", ["model", "mode"]])
@pytest.mark.parametrize("cluster", [None, "person"])
def test_shards_through_parquet_are_the_whole(by, cluster):
    shards = [ITEMS[:3], ITEMS[3:7], ITEMS[7:], ITEMS.clear()]
    states = [through_parquet(ef.partial(s, METRICS, by=by, cluster=cluster)) for s in shards]
    merged = ef.merge(states[3], ef.merge(*states[:2]), states[2])
    same(ef.finish(through_parquet(merged)), ef.evaluate(ITEMS, METRICS, by=by))


def test_a_state_keeps_parameters_names_and_weights():
    metrics = [
        ef.aurc(convention="population").alias("x"),
        ef.variant(ef.risk_at(0.5), name="y")(weight="weight"),
    ]
    state = ef.partial(ITEMS, metrics, by="model")
    same(ef.finish(state), ef.evaluate(ITEMS, metrics, by="model"))


def test_a_state_resamples_by_its_cluster():
    method = ef.Bootstrap(cluster="person", n=50, seed=3)
    state = ef.partial(ITEMS, METRICS, cluster="person")
    same(ef.finish(state, resample=method), ef.evaluate(ITEMS, METRICS, resample=method))


def test_metrics_that_share_their_columns_share_their_rows():
    alone = ef.partial(ITEMS, ef.aurc())
    three = ef.partial(ITEMS, [ef.aurc(), ef.augrc(), ef.risk_at(0.5)()])
    assert three[":block"].n_unique() == 1
    assert len(three) == len(alone) < len(ITEMS)


OTHER = {
    "metrics": ef.partial(ITEMS, ef.augrc(), by="model"),
    "parameters": ef.partial(ITEMS, ef.aurc(convention="population"), by="model"),
    "keys": ef.partial(ITEMS, ef.aurc(), by="mode"),
    "clusters": ef.partial(ITEMS, ef.aurc(), by="model", cluster="person"),
}


@pytest.mark.parametrize("difference", OTHER)
def test_states_of_different_things_do_not_add_up(difference):
    state = ef.partial(ITEMS, ef.aurc(), by="model")
    message = (
        r"state 2 holds other metrics, keys or clusters than state 0; .* same partial\(\.\.\.\)"
    )
    with pytest.raises(ParameterError, match=message):
        ef.merge(state, state, OTHER[difference])


def test_states_stacked_by_hand():
    state = ef.partial(ITEMS, ef.aurc(), by="model")
    same(ef.finish(pl.concat([state, state])), ef.finish(ef.merge(state, state)))
    with pytest.raises(ParameterError, match="mixes states of different metrics, keys or clusters"):
        ef.finish(pl.concat([in_words(state), in_words(OTHER["parameters"])], how="diagonal"))


def in_words(state):
    return state.with_columns(pl.col(":block").cast(pl.String))


def of_version(state, version):
    """The state as a program of another version wrote it."""
    marks = state.schema[":block"].categories.to_list()
    changed = [json.dumps(json.loads(mark) | {"version": version}) for mark in marks]
    return in_words(state).with_columns(pl.col(":block").replace(marks, changed))


@pytest.mark.parametrize("version", [2, 3, 4])
def test_states_in_words_and_of_the_versions_before_are_read(version):
    shards = [ef.partial(s, METRICS, by="model", cluster="person") for s in (ITEMS[:4], ITEMS[4:])]
    changed = [of_version(shard, version) for shard in shards]
    for states in (changed, [changed[0], shards[1]], [shards[0], changed[1]]):
        merged = ef.merge(*states)
        assert merged.columns == shards[0].columns
        assert (merged.schema == shards[0].schema) == (version == 4)
        same(ef.finish(merged), ef.evaluate(ITEMS, METRICS, by="model"))


def test_a_state_says_what_it_is_of_once_and_without_rows():
    state = ef.partial(ITEMS, METRICS, by="model")
    kinds = state.schema[":block"].categories
    assert [json.loads(kind)["block"] for kind in kinds] == list(range(len(kinds)))
    assert state[":block"].to_physical().dtype == pl.UInt8
    some = state.filter(pl.col("model") == "a").sample(fraction=1.0, shuffle=True, seed=1)
    same(ef.finish(some), ef.evaluate(ITEMS.filter(pl.col("model") == "a"), METRICS, by="model"))
    assert ef.finish(through_parquet(state.clear().lazy())).collect().is_empty()


STATE = ef.partial(ITEMS, ef.aurc(), cluster="person")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (ef.merge, "there are no states to merge"),
        (
            lambda: ef.merge(ITEMS),
            "the table has no column ':block', so it is no state; make one with",
        ),
        (lambda: ef.finish(ITEMS), "the table has no column ':block'"),
        (lambda: ef.finish(in_words(STATE.clear())), "the state has no rows, and so does not say"),
        (lambda: ef.finish(of_version(STATE, 99)), "the state has version 99, this program reads "),
        (
            lambda: ef.finish(STATE, resample=ef.Jackknife(cluster="item")),
            r"keeps cluster 'person' apart, the resampling asks for 'item'; make .*cluster='item'",
        ),
        (
            lambda: ef.finish(ef.partial(ITEMS, ef.aurc()), resample=ef.Jackknife(cluster="item")),
            "keeps cluster None apart",
        ),
        (
            lambda: ef.partial(ITEMS, [ef.aurc(), pl.col("loss").median()]),
            "'loss' declares no state, so its shards do not add up; declare it with @ef.metric",
        ),
        (
            lambda: ef.partial(ITEMS, ef.aurc(), by="person", cluster="person"),
            "'person' is both a group key and the cluster",
        ),
    ],
)
def test_what_is_no_state(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


# what evaluate refuses


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((ITEMS, [ef.aurc(), ef.aurc()]), {}, r"two metrics are named 'aurc'; .*\.alias\(\.\.\.\)"),
        ((ITEMS, []), {}, "no metrics were given; name at least one"),
        ((ITEMS, ["aurc"]), {}, "expected metrics such as .* got 'aurc'"),
        ((ITEMS, "aurc"), {}, "expected metrics such as .* got 'aurc'"),
        (
            (ITEMS.to_dict(), ef.aurc),
            {},
            "expected a table .*, got dict; pl",
        ),
        ((ITEMS, ef.aurc), {"by": ["model", "model"]}, "keys must have different names"),
        (
            (ITEMS, ef.aurc),
            {"by": pl.col("model").alias("n")},
            "the result has a column 'n' of its own",
        ),
        (
            (ITEMS, pl.col("loss").max()),
            {"weight": "mode"},
            "'loss' declares no state and cannot take",
        ),
    ],
)
def test_what_cannot_be_evaluated(arguments, options, message):
    with pytest.raises(ParameterError, match=message):
        ef.evaluate(*arguments, **options)


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        (
            ef.aurc("los"),
            {},
            r"metric 'aurc' needs column 'los'; the table has \[.* Did you mean 'loss'",
        ),
        (ef.aurc(weight="wait"), {}, "metric 'aurc' needs column 'wait'.*Did you mean 'weight'"),
        (pl.col("lossy").mean(), {}, "metric 'lossy' needs column 'lossy'"),
        (ef.aurc(), {"by": "modle"}, "the grouping needs column 'modle'.* Did you mean 'mode"),
    ],
)
def test_columns_that_are_not_there(metrics, options, message):
    with pytest.raises(MissingColumnsError, match=message):
        ef.evaluate(ITEMS, metrics, **options)


def test_infinite_losses_spoil_no_other_group():
    spoilt = ITEMS.with_columns(loss=pl.when(model="a").then(math.inf).otherwise("loss"))
    for plan in ("sorted", "levels"):
        first, second = (
            ef.evaluate(items, METRICS, by="model", plan=plan) for items in (ITEMS, spoilt)
        )
        keep = pl.col("model").ne_missing("a")
        same(second.filter(keep), first.filter(keep))
        assert not second["estimate"].is_nan().any()


@pytest.mark.parametrize("column", [["a"], [["x"]], [{"x": 1}]])
def test_a_role_that_is_no_number_is_named(column):
    frame = pl.DataFrame({"loss": column, "confidence": [0.5]})
    with pytest.raises(ParameterError, match=r"metric 'aurc': loss must be a number, but .* is "):
        ef.evaluate(frame, ef.aurc())


@pytest.mark.parametrize(
    ("keys", "levels", "starts"),
    [
        ("aaab", [None, 0.5, 0.75, 0.25], [0, 3, 4]),
        ("aabb", [0.5, 0.75, None, 0.25], [0, 2, 4]),
        ("aabb", [0.5, 0.5, None, 0.25], None),
        ("aabb", [0.5, 0.25, None, 0.25], None),
        ("aabb", [0.5, None, 0.25, 0.75], None),
        ("bbaa", [0.5, 0.75, 0.25, 0.75], None),
        ("aabbaa", [0.5, 0.75, 0.25, 0.75, 0.8, 0.9], None),
        ("aabb", [0.5, math.nan, 0.25, math.nan], None),
        ("abcd", [0.5, 0.5, 0.5, 0.5], None),
        ("", [], [0]),
    ],
)
def test_groups_are_ordered_if_keys_and_levels_rise(keys, levels, starts):
    frame = pl.DataFrame({"key": [*keys], "level": pl.Series(levels, dtype=pl.Float64)})
    found = tables.starts_if_ordered(frame.cast({"key": pl.String}), ["key"], "level")
    assert (found if found is None else found.tolist()) == starts


@pytest.mark.parametrize("resample", [None, ef.Jackknife(cluster="person")])
def test_a_single_group_may_be_nan(resample):
    items = pl.DataFrame({"key": [math.nan] * 2, "person": [1, 2], "loss": [0.0, 1.0]})
    metrics = [ef.selective_risk(), ef.per("person", ef.selective_risk())]
    found = ef.evaluate(items, metrics, by="key", resample=resample)
    assert found["estimate"].to_list() == [0.5, 0.5]
