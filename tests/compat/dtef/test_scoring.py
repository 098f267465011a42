"""Golden item scores of dtef-app."""

import math
from functools import partial

import polars as pl
import pytest

from evalframe.compat import dtef
from survey.test_scoring import table

LIST = pl.List(pl.Float64)


def scores(frame, **parameters):
    return dtef.score(frame, **parameters)["score"].to_list()


@pytest.mark.parametrize("metric", ["js-divergence", "cosine", "earth-mover"])
def test_golden_scores(golden, metric):
    cases = [c for c in golden("survey/distribution_metrics")["cases"] if "scored" in c]
    assert len(cases) >= 140
    frame = table(*((c["predicted"], c["expected"], None) for c in cases))
    expected = [case["scored"][metric] for case in cases]
    items = scores(frame, metric=metric)
    assert items == [case["item_score"] for case in expected]
    points = scores(frame, metric=metric, round_items=None)
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
    assert scores(frame) == expected
    # The statuses that the lists imply are those that are stated.
    assert scores(frame.drop("status")) == expected
    derived = dtef.score(frame.drop("status"))["status"]
    assert derived.to_list() == frame["status"].to_list()


def test_golden_prompt_scores(golden):
    cases = golden("survey/distribution_metrics")["pooled_prompt_scores"]
    points = pl.DataFrame(
        {"prompt": list(range(len(cases))), "score": [case["point_scores"] for case in cases]},
        schema_overrides={"score": LIST},
        strict=False,
    ).explode("score")
    by_original = partial(dtef.prompt_scores, points, by="prompt")
    found = by_original()
    assert found["score"].to_list() == [case["prompt_score"] for case in cases]
    assert found["n_points"].sum() == points["score"].count()
    means = by_original(round_items=None)["score"].to_list()
    assert means == pytest.approx([case["mean_clamped"] for case in cases], abs=1e-12)
