"""Scores: golden item scores, what failures are worth, exact rounding, prompts, metrics."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from functools import partial

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.core.errors import MissingColumnsError, ParameterError, UnknownNameError
from evalframe.core.metric import registered
from evalframe.evaluation import evaluate, finish, merge
from evalframe.evaluation import partial as partial_state
from evalframe.survey.metrics import generation_rate, mean_score, parse_rate
from evalframe.survey.scoring import STATUSES, prompt_scores, rounded, score
from evalframe.survey.similarity import (
    earth_mover_similarity,
    jensen_shannon_similarity,
    total_variation_distance,
)
from evalframe.testing import check_laws

LIST = pl.List(pl.Float64)


def table(*rows):
    schema = {"predicted": LIST, "actual": LIST, "status": pl.String}
    floats = [(*(x and [float(y) for y in x] for x in row[:2]), row[2]) for row in rows]
    return pl.DataFrame(floats, schema=schema, orient="row")


def scores(frame, **parameters):
    return score(frame, **parameters).collect()["score"].to_list()


@pytest.mark.parametrize("metric", ["js-divergence", "cosine", "earth-mover"])
def test_golden_scores(golden, metric):
    cases = [c for c in golden("survey/distribution_metrics")["cases"] if "scored" in c]
    assert len(cases) >= 140
    frame = table(*((c["predicted"], c["expected"], None) for c in cases))
    expected = [case["scored"][metric] for case in cases]
    items = scores(frame, metric=metric, rules="reference")
    assert items == [case["item_score"] for case in expected]
    points = scores(frame, metric=metric, rules="reference", round_items=None)
    assert points == pytest.approx([case["clamped"] for case in expected], abs=1e-12)


def test_golden_statuses_and_scores_of_parsed_responses(golden):
    cases = [c for c in golden("survey/parser")["cases"] if c["metric"] == "js-divergence"]
    vectors = [[math.nan if x is None else x for x in c["values"] or []] for c in cases]
    rows = zip(
        (vector if case["values"] else None for vector, case in zip(vectors, cases, strict=True)),
        (case["expected"] for case in cases),
        (case["status"] for case in cases),
        strict=True,
    )
    finite = [all(map(math.isfinite, map(float, vector))) for vector in vectors]
    frame = table(*rows).filter(pl.Series(finite))
    expected = [case["item_score"] for case, kept in zip(cases, finite, strict=True) if kept]
    assert scores(frame, rules="reference") == expected
    # The statuses that the lists imply are those that are stated.
    assert scores(frame.drop("status"), rules="reference") == expected
    derived = score(frame.drop("status")).collect()["status"]
    assert derived.to_list() == frame["status"].to_list()


FAILED = table(
    ([1, 1], [1, 3], "ok"),
    (None, [1, 3], "unparsed"),
    (None, [1, 3], "length_mismatch"),
    ([1], [1, 3], "length_mismatch"),
    ([1], [1, 3], "ok"),
    (None, [1, 3], "failed"),
    ([0, 0], [1, 3], "ok"),
    ([2, -1], [1, 3], "ok"),
    ([1, 1], None, "ok"),
    (None, None, "unparsed"),
    ([1, 1], [0, 0], "ok"),
    (None, [1, 3], None),
)
GOOD = 1 - 0.22081


def test_what_failures_are_worth():
    documented = [GOOD, 0, 0, 0, 0, None, 0, 0, None, None, None, 0]
    assert scores(FAILED) == pytest.approx(documented, abs=1e-4)
    left_out = [GOOD, *[None] * 11]
    assert scores(FAILED, failures="null") == pytest.approx(left_out, abs=1e-4)
    assert scores(FAILED, failures="zero") == scores(FAILED)
    reference = [0.78, 0, 0.1, 0.1, 0.1, None, 0.78, 0, None, 0, 1, 0]
    assert scores(FAILED, rules="reference") == reference
    zero = [0 if value == 0.1 else value for value in reference]
    assert scores(FAILED, rules="reference", failures="zero") == zero


def test_statuses_are_added_where_there_are_none():
    made = score(FAILED.drop("status")).collect()
    assert made.columns == ["predicted", "actual", "status", "score"]
    expected = ["ok", "unparsed", "unparsed", "length_mismatch", "length_mismatch", "unparsed"]
    assert made["status"].to_list()[:6] == expected
    assert set(made["status"]) <= {*STATUSES}
    told = score(FAILED).collect()
    assert told.drop("score", "status").equals(FAILED.drop("status"))
    stated = pl.col("status").is_not_null() & (pl.col("status") != "ok")
    assert told.filter(FAILED.select(stated).to_series())["status"].equals(
        FAILED.filter(stated)["status"]
    )
    assert not told["status"].null_count()
    again = score(FAILED.with_columns(score=pl.lit("old")).lazy(), rules="reference").collect()
    assert again.columns == ["predicted", "actual", "status", "score"]


def test_metrics_are_names_or_expressions():
    frame = FAILED.head(1)
    moved = scores(frame, metric=1 - total_variation_distance())
    assert moved == pytest.approx([0.75])
    assert scores(frame, metric="earth_mover_similarity") == pytest.approx([0.75])
    assert scores(frame, metric=earth_mover_similarity(normalised=True)) == pytest.approx([0.75])
    named = frame.rename({"predicted": "p", "actual": "t"})
    assert scores(named, predicted="p", actual=pl.col("t") * 2) == pytest.approx([GOOD], abs=1e-4)


def test_arrays_rows_in_order_and_streaming(tmp_path):
    rng = np.random.default_rng(0)
    numbers = {
        name: rng.integers(1, 9, (5_000, 3)).astype(float) for name in ("predicted", "actual")
    }
    frame = pl.DataFrame(numbers).with_row_index()
    expected = frame.with_columns(status=pl.lit("ok"), score=jensen_shannon_similarity())
    assert_frame_equal(score(frame).collect(), expected)
    frame.write_parquet(tmp_path / "p.parquet", row_group_size=900)
    scan = pl.scan_parquet(tmp_path / "p.parquet")
    assert_frame_equal(score(scan).collect(engine="streaming"), expected)
    assert score(frame.clear()).collect().is_empty()


def test_golden_rounding(golden):
    cases = golden("survey/distribution_metrics")["rounding_2dp"]
    found = pl.DataFrame({"x": [case["x"] for case in cases]}).select(rounded("x"))
    assert found["x"].to_list() == [case["item_score"] for case in cases]


@pytest.mark.parametrize("decimals", [0, 1, 2, 3, 7, 10])
def test_rounding_is_that_of_the_decimal_expansion(decimals):
    rng = np.random.default_rng(decimals)
    step = 10.0**-decimals
    ties = (rng.integers(0, 10**6, 2_000) + 0.5) * step
    exact = rng.integers(0, 2_000, 2_000) / 1024
    numbers = np.concatenate(
        [
            *(ties, np.nextafter(ties, 0), np.nextafter(ties, 9e9), exact),
            rng.normal(size=2_000) * 1e3,
            [0.0, -0.125, 5e-324, 1e300, -1e16, 2.0**52, 2.0**52 - 0.5, 1 - 2**-53],
        ]
    )
    with decimal.localcontext() as context:
        context.prec = 400
        places = Decimal(1).scaleb(-decimals)
        expected = [
            float(Decimal(x).quantize(places, rounding=decimal.ROUND_HALF_UP))
            for x in numbers.tolist()
        ]
    found = pl.DataFrame({"x": numbers}).select(rounded("x", decimals))["x"]
    assert found.to_list() == expected


def test_rounding_of_what_is_no_number():
    frame = pl.DataFrame({"x": [None, math.inf, -math.inf]})
    assert frame.select(rounded("x"))["x"].to_list() == [None, math.inf, -math.inf]
    assert math.isnan(pl.DataFrame({"x": [math.nan]}).select(rounded("x")).item())


def test_golden_prompt_scores(golden):
    cases = golden("survey/distribution_metrics")["pooled_prompt_scores"]
    points = pl.DataFrame(
        {"prompt": list(range(len(cases))), "score": [case["point_scores"] for case in cases]},
        schema_overrides={"score": LIST},
        strict=False,
    ).explode("score")
    by_original = partial(prompt_scores, points, by="prompt", rules="reference")
    found = by_original().collect()
    assert found["score"].to_list() == [case["prompt_score"] for case in cases]
    assert found["n_points"].sum() == points["score"].count()
    means = by_original(round_items=None).collect()["score"].to_list()
    assert means == pytest.approx([case["mean_clamped"] for case in cases], abs=1e-12)


def test_prompts_without_a_score():
    points = pl.DataFrame({"p": [2, 1, 1], "score": [None, 0.5, math.nan]})
    documented = prompt_scores(points, by="p").collect()
    assert documented.rows() == [(1, 0.5, 1), (2, None, 0)]
    assert prompt_scores(points, by="p", rules="reference").collect().rows()[1] == (2, 0.0, 0)
    named = points.rename({"score": "points"})
    assert_frame_equal(prompt_scores(named, by="p", score="points").collect(), documented)


def test_refusals():
    with pytest.raises(MissingColumnsError, match="score needs column 'actual'"):
        score(FAILED.drop("actual"))
    with pytest.raises(UnknownNameError, match="unknown metric 'cosin'"):
        score(FAILED, metric="cosin")
    with pytest.raises(ParameterError, match="hellinger_distance is none of which more is better"):
        score(FAILED, metric="hellinger_distance")
    with pytest.raises(ParameterError, match="the original has no mode_agreement"):
        score(FAILED, metric="mode_agreement", rules="reference")
    with pytest.raises(ParameterError, match="rules must be one of"):
        score(FAILED, rules="strict")
    with pytest.raises(ParameterError, match=r"failures must be one of .* Did you mean 'zero'"):
        score(FAILED, failures="zer")
    for decimals in (-1, 11, "two"):
        with pytest.raises(ParameterError, match="round_items must be 0 to 10"):
            score(FAILED, round_items=decimals)
    with pytest.raises(ParameterError, match="predicted must be lists of numbers, but is String"):
        score(FAILED.with_columns(predicted=pl.lit("a")))
    with pytest.raises(MissingColumnsError, match="prompt_scores needs column 'prompt'"):
        prompt_scores(FAILED.with_columns(score=1.0), by="prompt")
    with pytest.raises(ParameterError, match="decimals must be 0 to 10"):
        rounded("x", 11)
    with pytest.raises(pl.exceptions.InvalidOperationError, match="perhaps"):
        score(FAILED.with_columns(status=pl.lit("perhaps"))).collect()


def test_metrics_of_scored_tables():
    scored = score(FAILED.with_columns(model=pl.Series(["a", "b"] * 6))).collect()
    result = evaluate(scored, [mean_score(), parse_rate()], by="model").collect()
    ok = scored.group_by("model", maintain_order=True).agg(
        pl.col("score").mean(), (pl.col("status") == "ok").mean()
    )
    expected = [value for row in ok.iter_rows() for value in row[1:]]
    assert result["estimate"].to_list() == pytest.approx(expected)
    assert result.filter(metric="parse_rate")["n_missing"].to_list() == [0, 0]
    assert result.filter(metric="mean_score")["n_missing"].to_list() == [2, 2]
    shards = [partial_state(part, [mean_score()], by="model") for part in (scored[:5], scored[5:])]
    merged = finish(merge(*shards)).collect()
    whole = result.filter(metric="mean_score")
    assert_frame_equal(merged.select("model", "estimate"), whole.select("model", "estimate"))
    metrics = [mean_score(), parse_rate(), generation_rate()]
    check_laws(metrics, scored, by="model", cluster=None)
    names = [metric.meta.output_name() for metric in metrics]
    assert {registered()[name].family for name in names} == {"survey"}
