"""Scores: what failures are worth, exact rounding, prompts, metrics."""

import decimal
import math
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.compat import dtef
from evalframe.core.errors import MissingColumnsError, ParameterError, UnknownNameError
from evalframe.core.metric import registered
from evalframe.evaluation import evaluate, finish, merge
from evalframe.evaluation import partial as partial_state
from evalframe.survey.scoring import (
    STATUSES,
    generation_rate,
    mean_score,
    parse_rate,
    prompt_scores,
    rounded,
    score,
)
from evalframe.survey.similarity.distances import earth_mover_similarity, total_variation_distance
from evalframe.survey.similarity.divergences import jensen_shannon_similarity
from evalframe.testing.laws import check_laws

LIST = pl.List(pl.Float64)


def table(*rows):
    schema = {"predicted": LIST, "actual": LIST, "status": pl.String}
    floats = [(*(x and [float(y) for y in x] for x in row[:2]), row[2]) for row in rows]
    return pl.DataFrame(floats, schema=schema, orient="row")


def scores(frame, scored=score, **parameters):
    return scored(frame, **parameters)["score"].to_list()


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
    assert scores(FAILED, dtef.score) == reference


def test_statuses_are_added_where_there_are_none():
    made = score(FAILED.drop("status"))
    assert made.columns == ["predicted", "actual", "status", "score"]
    expected = ["ok", "unparsed", "unparsed", "length_mismatch", "length_mismatch", "unparsed"]
    assert made["status"].to_list()[:6] == expected
    assert set(made["status"]) <= {*STATUSES}
    told = score(FAILED)
    assert told.drop("score", "status").equals(FAILED.drop("status"))
    stated = pl.col("status").is_not_null() & (pl.col("status") != "ok")
    assert told.filter(FAILED.select(stated).to_series())["status"].equals(
        FAILED.filter(stated)["status"]
    )
    assert not told["status"].null_count()
    again = dtef.score(FAILED.with_columns(score=pl.lit("old")).lazy()).collect()
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
    assert_frame_equal(score(frame), expected)
    frame.write_parquet(tmp_path / "p.parquet", row_group_size=900)
    scan = pl.scan_parquet(tmp_path / "p.parquet")
    assert_frame_equal(score(scan).collect(engine="streaming"), expected)
    assert score(frame.clear()).is_empty()


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


def test_prompts_without_a_score():
    points = pl.DataFrame({"p": [2, 1, 1], "score": [None, 0.5, math.nan]})
    documented = prompt_scores(points, by="p")
    assert documented.rows() == [(1, 0.5, 1), (2, None, 0)]
    assert dtef.prompt_scores(points, by="p").rows()[1] == (2, 0.0, 0)
    named = points.rename({"score": "points"})
    assert_frame_equal(prompt_scores(named, by="p", score="points"), documented)


def test_refusals():
    with pytest.raises(MissingColumnsError, match="score needs column 'actual'"):
        score(FAILED.drop("actual"))
    with pytest.raises(UnknownNameError, match="unknown metric 'cosin'"):
        score(FAILED, metric="cosin")
    with pytest.raises(ParameterError, match="hellinger_distance is not a similarity"):
        score(FAILED, metric="hellinger_distance")
    with pytest.raises(UnknownNameError, match="unknown metric 'mode_agreement'"):
        dtef.score(FAILED, metric="mode_agreement")
    with pytest.raises(ParameterError, match=r"failures must be one of .* Did you mean 'zero'"):
        score(FAILED, failures="zer")
    for decimals in (-1, 11, "two"):
        with pytest.raises(ParameterError, match="round_items must be 0 to 10"):
            score(FAILED, round_items=decimals)
    with pytest.raises(ParameterError, match="predicted must be lists of numbers, but is String"):
        score(FAILED.with_columns(predicted=pl.lit("a")))
    with pytest.raises(MissingColumnsError, match="prompt_scores needs column 'prompt'"):
        prompt_scores(FAILED.with_columns(score=1.0), by="prompt")
    with pytest.raises(pl.exceptions.InvalidOperationError, match="perhaps"):
        score(FAILED.with_columns(status=pl.lit("perhaps")))


def test_metrics_of_scored_tables():
    scored = score(FAILED.with_columns(model=pl.Series(["a", "b"] * 6)))
    result = evaluate(scored, [mean_score(), parse_rate()], by="model")
    ok = scored.group_by("model", maintain_order=True).agg(
        pl.col("score").mean(), (pl.col("status") == "ok").mean()
    )
    expected = [value for row in ok.iter_rows() for value in row[1:]]
    assert result["estimate"].to_list() == pytest.approx(expected)
    assert result.filter(metric="parse_rate")["n_missing"].to_list() == [0, 0]
    assert result.filter(metric="mean_score")["n_missing"].to_list() == [2, 2]
    shards = [partial_state(part, [mean_score()], by="model") for part in (scored[:5], scored[5:])]
    merged = finish(merge(*shards))
    whole = result.filter(metric="mean_score")
    assert_frame_equal(merged.select("model", "estimate"), whole.select("model", "estimate"))
    metrics = [mean_score(), parse_rate(), generation_rate()]
    check_laws(metrics, scored, by="model", cluster=None)
    names = [metric.meta.output_name() for metric in metrics]
    assert {registered()[name].family for name in names} == {"survey"}
