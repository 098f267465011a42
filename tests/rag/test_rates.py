"""Counters and rates: weights, intervals, and columns that are missing."""

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.rag.counting import COUNTERS, RATES

SCHEMA = {
    "label": pl.List(pl.Int8),
    "factlabel": pl.Int8,
    "noise_rate": pl.Float64,
    "evaluation": pl.String,
}


def responses(labels, factlabels=None, noise_rate=0.0, evaluations=None):
    nothing = [None] * len(labels)
    columns = [labels, factlabels or nothing, [noise_rate] * len(labels), evaluations or nothing]
    return pl.DataFrame(dict(zip(SCHEMA, columns, strict=True)), schema=SCHEMA)


def rates(frame, **options):
    return ef.rag.rates(frame, **options)


def row(frame, **options):
    return rates(frame, **options).row(0, named=True)


def test_responses_without_a_label_can_count_as_wrong():
    frame = responses([[1], None, None], [1, None, None], 0.2)
    found = row(frame, dropped="wrong")
    assert (found["n"], found["n_dropped"], found["n_wrong"]) == (3, 2, 2)
    assert found["accuracy"] == found["error_detection_rate"] == 1 / 3
    assert row(frame)["accuracy"] == 1.0


LABELS = st.one_of(st.none(), st.lists(st.sampled_from([0, 1]), max_size=3), st.just([-1]))
TEXTS = st.sampled_from([None, "Yes", "not addressed", "No"])
ROWS = st.tuples(
    st.sampled_from(["a", "b", None]),
    st.integers(0, 4),
    LABELS,
    st.sampled_from([0, 1, 1, None]),
    st.sampled_from([0.0, 1.0, 0.2, None]),
    TEXTS,
    st.sampled_from([0.0, 1.0, 2.0, 0.5]),
)
NAMES = {"model": pl.String, "id": pl.Int64, **SCHEMA, "weight": pl.Float64}


@settings(max_examples=10, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=25), st.sampled_from([None, "weight"]))
def test_rates_are_the_metrics_and_counts_add_up(rows, weight):
    frame = pl.DataFrame(rows, schema=NAMES, orient="row")
    table = rates(frame, by="model", weight=weight)
    split = table["n_correct"] + table["n_rejected"] + table["n_wrong"]
    assert split.to_list() == table["n"].to_list()
    metrics = [metric.alias(name) for name, metric in RATES.items()]
    long = ef.evaluate(frame, metrics, by="model", weight=weight)
    wide = long.pivot("metric", index="model", values="estimate").sort("model")
    assert_frame_equal(wide, table.select("model", *RATES), rel_tol=1e-12)


def test_weights_are_frequencies():
    frame = responses([[1], [0], [-1]], [1, 0, 0]).with_columns(weight=pl.Series([2.0, 1.0, 0.0]))
    twice = frame[[0, 0, 1]]
    expected = rates(twice).cast({name: pl.Float64 for name in COUNTERS})
    found = rates(frame.with_columns(evaluation=pl.lit(None, pl.String)), weight="weight")
    assert_frame_equal(found, expected)


def test_wilson_intervals_are_of_the_counts():
    frame = responses([[1]] * 3 + [[0]] * 7, [1, 1] + [0] * 8)
    found = row(frame, intervals="wilson")
    z2, p, n = 1.959963984540054**2, 0.3, 10
    centre, half = p + z2 / (2 * n), math.sqrt(z2) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    assert found["accuracy_lower"] == pytest.approx((centre - half) / (1 + z2 / n))
    assert found["accuracy_upper"] == pytest.approx((centre + half) / (1 + z2 / n))
    assert found["error_correction_rate"] == 1.0
    assert found["error_correction_rate_lower"] == pytest.approx(1 / (1 + z2 / 2))
    assert found["judge_rejection_rate_lower"] is None
    nothing = row(responses([]), intervals="wilson")
    assert nothing["n"] == 0
    assert all(value is None for name, value in nothing.items() if name not in COUNTERS)


def test_wilson_intervals_are_of_the_rows_that_a_rate_looks_at():
    labels = [[1], [1], [0], [0]] * 25
    some = responses(labels, [1] + [0] * 9 + [None] * 90).with_columns(
        noise_rate=pl.Series([1.0] * 10 + [None] * 90)
    )
    whole, alone = row(some, intervals="wilson"), row(some.head(10), intervals="wilson")
    assert whole["n_fact_checked"] == 10
    for name in ("error_detection_rate", "error_correction_rate", "all_rate"):
        for end in ("", "_lower", "_upper"):
            assert whole[name + end] == alone[name + end], name
    assert whole["accuracy_lower"] > alone["accuracy_lower"]


def test_resampled_intervals_are_those_of_evaluate():
    labels = [[k % 3 % 2] for k in range(40)]
    frame = responses(labels).with_columns(
        model=pl.Series(["a", "b"] * 20), id=pl.Series([k // 2 for k in range(40)])
    )
    resample = ef.Bootstrap(cluster="id", n=200, seed=3)
    found = rates(frame, by="model", resample=resample)
    expected = ef.evaluate(frame, ef.answer_accuracy(), by="model", resample=resample)
    for end in ("lower", "upper"):
        assert found[f"accuracy_{end}"].to_list() == expected[end].to_list()
    whole = rates(frame, resample=resample)
    assert whole["accuracy_lower"].item() < whole["accuracy"].item()


def test_what_a_table_lacks_is_null_and_no_rows_are_no_error():
    found = row(pl.DataFrame({"label": [[1], [0]]}))
    assert (found["n"], found["accuracy"]) == (2, 0.5)
    lacking = [name for name in (*COUNTERS, *RATES) if "judge" in name or "error" in name]
    assert all(found[name] is None for name in [*lacking, "all_rate"])
    empty = row(responses([]))
    assert (empty["n"], empty["n_dropped"], empty["accuracy"]) == (0, 0, None)
    assert rates(responses([]), by="noise_rate").height == 0
    untyped = row(pl.DataFrame({"label": [[], None]}))
    assert (untyped["n"], untyped["n_wrong"], untyped["n_dropped"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("frame", "options", "error", "message"),
    [
        (pl.DataFrame({"lable": [[1]]}), {}, MissingColumnsError, "Did you mean 'lable'"),
        (pl.DataFrame({"label": [1]}), {}, ParameterError, "label must be lists of integers"),
        (
            responses([[1]]).with_columns(factlabel=pl.lit("1")),
            {},
            ParameterError,
            "factlabel must be a number, but is String",
        ),
        (
            responses([[1]]).with_columns(noise_rate=pl.lit("0.2")),
            {},
            ParameterError,
            "noise_rate must be a number",
        ),
        (responses([[1]]), {"by": "model"}, MissingColumnsError, "'model'"),
        (responses([[1]]), {"weight": "w"}, MissingColumnsError, "'w'"),
        (responses([[1]]), {"dropped": "no"}, ParameterError, "dropped must be one of"),
        (responses([[1]]), {"intervals": "normal"}, ParameterError, "intervals must be one of"),
        (responses([[1]]), {"intervals": "wilson", "level": 2}, ParameterError, "level"),
        (
            responses([[1]]).with_columns(n=1),
            {"by": "n"},
            ParameterError,
            "the result has a column 'n' of its own",
        ),
        (
            responses([[1]]),
            {"intervals": "wilson", "resample": ef.Jackknife(cluster="noise_rate")},
            ParameterError,
            "not both",
        ),
    ],
)
def test_refusals(frame, options, error, message):
    with pytest.raises(error, match=message):
        rates(frame, **options)


def test_a_scan_streams(tmp_path):
    frame = responses([[k % 2] for k in range(2_000)]).with_columns(model=pl.lit("a"))
    frame.write_parquet(tmp_path / "labelled.parquet", row_group_size=500)
    lazy = ef.rag.rates(pl.scan_parquet(tmp_path / "labelled.parquet"), by="model")
    assert_frame_equal(lazy.collect(engine="streaming"), rates(frame, by="model"))
