"""Similarities of dtef-app: golden values, and numbers that are not a distribution."""

import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from evalframe.compat import dtef
from evalframe.survey.similarity.divergences import jensen_shannon_similarity
from evalframe.survey.similarity.registry import similarity_table
from survey.distributions import pairs, value, values


def floats(numbers):
    return [math.nan if number is None else float(number) for number in numbers]


def test_golden_values(golden):
    cases = golden("survey/distribution_metrics")["cases"]
    assert len(cases) >= 160
    frame = pairs(*((floats(c["predicted"]), floats(c["expected"])) for c in cases))
    found = frame.select(
        js=dtef.jensen_shannon_similarity(),
        js_swapped=dtef.jensen_shannon_similarity("actual", "predicted"),
        cosine=dtef.cosine_similarity(),
        emd=dtef.earth_mover_similarity(),
    )
    for case, row in zip(cases, found.iter_rows(named=True), strict=True):
        for name, got in row.items():
            # The tolerance of a case is for its logarithms alone; ours are as good.
            expected = case[name]
            assert got == (expected if expected is None else pytest.approx(expected, abs=1e-15))


def test_golden_values_without_the_floor(golden):
    cases = [c for c in golden("survey/distribution_metrics")["cases"] if c["js_noeps"] is not None]
    frame = pairs(*((floats(c["predicted"]), floats(c["expected"])) for c in cases))
    found = frame.select(
        jensen_shannon_similarity(),
        dtef.jensen_shannon_similarity(epsilon=0).alias("without_a_floor"),
    )
    for case, (ours, theirs) in zip(cases, found.iter_rows(), strict=True):
        assert theirs == pytest.approx(case["js_noeps"], abs=1e-14)
        if case["tag"] in ("all_zero", "negative_zero_sum"):
            assert ours is None
        else:
            assert ours == pytest.approx(case["js_noeps"], abs=1e-14)


def test_golden_per_option_accuracy(golden):
    for case in golden("survey/distribution_metrics")["per_option_accuracy"]:
        rows = (floats(case["predicted"]), floats(case["expected"]))
        found = value(
            dtef.per_option_accuracy,
            *rows,
            option=case["option_index"],
            tolerance=case["tolerance"],
        )
        assert found == pytest.approx(case["score"], abs=1e-12)


def test_the_original_takes_what_is_no_distribution():
    assert values(dtef.jensen_shannon_similarity, ([], []), ([0, 0], [1, 1])) == [1.0, 1.0]
    assert values(dtef.cosine_similarity, ([], []), ([0, 0], [1, 1]), ([-1, 0], [1, 0])) == [
        0,
        0,
        -1,
    ]
    assert values(dtef.earth_mover_similarity, ([], []), ([1, 2], [1])) == [1.0, None]
    assert values(dtef.per_option_accuracy, ([1, 2], [1]), ([], [])) == [0.0, None]


def test_a_long_table_of_an_original_similarity():
    options = pl.DataFrame(
        {
            "question_id": ["b", "a", "a", "b", "a"],
            "option_index": [0, 2, 0, 1, 1],
            "predicted": [1.0, 3.0, 1.0, 0.0, 2.0],
            "actual": [0.0] * 5,
        }
    )
    metric = dtef.jensen_shannon_similarity()
    table = similarity_table(options, metric=metric, by="question_id")
    lists = pairs(([1, 2, 3], [0] * 3), ([1, 0], [0] * 2))
    assert_frame_equal(table.select("jensen_shannon_similarity"), lists.select(metric))


def test_golden_scores_of_persons(golden):
    cases = golden("survey/distribution_metrics")["individual_metric"]
    frame = pl.DataFrame(
        {"response": [c["text"] for c in cases], "actual": [c["expected"] for c in cases]},
        schema_overrides={"actual": pl.List(pl.Float64)},
        strict=False,
    )
    for kind in ("binary", "brier", "confidence"):
        found = frame.select(dtef.individual_score(kind=kind)).to_series().to_list()
        assert found == pytest.approx([case["scores"][kind] for case in cases], abs=1e-12)
