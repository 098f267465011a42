"""States of several metrics, which share blocks."""

import pickle

import polars as pl
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.asked import states_of
from evalframe.core.nested import estimates
from evalframe.core.states import States
from evalframe.core.tables import Keys
from evalframe.evaluation import estimates_of

ITEMS = pl.DataFrame(
    {
        "model": ["a", "a", "b", "b"],
        "person": [1, 2, 1, 2],
        "loss": [0.0, 1.0, None, 0.5],
        "confidence": [0.9, 0.9, 0.1, 0.7],
    }
)
METRICS = [metric.bound for metric in (ef.aurc(), ef.selective_risk(), ef.risk_at(0.5), ef.augrc())]


def states(cluster=None):
    return States.of(ITEMS.lazy(), METRICS, Keys.of("model"), cluster)


def test_metrics_of_the_same_columns_and_order_share_a_block():
    assert [[use.number for use in block.uses] for block in states().blocks] == [[0, 2, 3], [1]]


def test_rows_and_their_sums_give_the_same_estimates():
    expected = estimates(states(), "sorted")
    for other in (states(), states().collected(), states(pl.col("person")).collected()):
        assert_frame_equal(estimates(other), expected)


def test_some_of_the_metrics_use_the_tables_of_all():
    collected = states().collected()
    expected = estimates(collected).filter(pl.col("metric").is_in(["augrc"]))
    one = collected.of_metrics([3])
    assert one.tables[0] is collected.tables[0]
    assert_frame_equal(estimates(one), expected)


def test_states_survive_pickling():
    collected = states(pl.col("person")).collected()
    again = pickle.loads(pickle.dumps(collected))
    assert again.cluster == "person"
    assert_frame_equal(estimates(again), estimates(collected))


def test_states_are_collected_with_the_counts_of_a_contract(tmp_path):
    ITEMS.write_parquet(tmp_path / "items.parquet")
    items, contract = pl.scan_parquet(tmp_path / "items.parquet"), ef.Contract("items", ())
    method = ef.Bootstrap(cluster="person", n=10)
    states = states_of(items, [ef.aurc(), ef.selective_risk()], by="model", cluster="person")
    queries = [contract.query(items), *states.tables]
    assert pl.explain_all(queries).count("CACHE[id:") == len(queries), "one scan for all"
    counts, *tables = pl.collect_all(queries)
    assert ef.validate(items, contract, counts=counts).rows == len(ITEMS)
    expected = ef.evaluate(ITEMS, [ef.aurc(), ef.selective_risk()], by="model", resample=method)
    result = estimates_of(states.with_tables(tables), method)
    assert_frame_equal(result, expected.lazy().collect())
