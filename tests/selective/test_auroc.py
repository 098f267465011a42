"""The area under the ROC curve, as the share of ordered pairs."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.selective.screening import auroc


def area(score, label, **options):
    frame = pl.DataFrame({"score": score, "label": label}, schema_overrides={"score": pl.Float64})
    return frame.select(auroc(**options)).item()


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), max_size=40))
def test_it_is_the_share_of_ordered_pairs(rows):
    positives = np.array([score for score, label in rows if label])
    negatives = np.array([score for score, label in rows if not label])
    if len(positives) and len(negatives):
        gap = positives[:, None] - negatives
        expected = pytest.approx(((gap > 0) + (gap == 0) / 2).mean(), abs=1e-12)
    else:
        expected = None
    frame = pl.DataFrame(rows, schema={"score": pl.Float64, "label": pl.Boolean}, orient="row")
    assert frame.select(auroc()).item() == expected


def test_the_ends_of_its_range_and_one_class():
    assert area([1, 2, 3], [False, False, True]) == 1.0
    assert area([1, 2, 3], [True, True, False]) == 0.0
    assert area([-math.inf, math.inf], [False, True]) == 1.0
    assert area([0.0, -0.0], [False, True]) == 0.5
    assert area([1, 2], [True, True]) is None
    assert area([], []) is None


def test_score_and_label_that_are_swapped_are_told():
    """Confidences would else be labels of which only 1.0 is positive."""
    rows = pl.DataFrame({"confidence": [0.9, 1.0], "correct": [False, True]})
    assert ef.evaluate(rows, ef.auroc("confidence", "correct"))["estimate"].item() == 1.0
    with pytest.raises(ParameterError, match=r"are they swapped\? Name them: score=\.\.\., label="):
        ef.evaluate(rows, ef.auroc("correct", "confidence"))


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([1, 0, 1], True),
        ([1.0, 0.0, 1.0], 1),
        (["a", "b", "a"], "a"),
        (pl.Series(["a", "b", "a"], dtype=pl.Categorical), "a"),
        (pl.Series(["a", "b", "a"], dtype=pl.Enum(["b", "a"])), "a"),
        ([7, 3, 7], 7),
    ],
)
def test_labels_of_any_type(labels, positive):
    assert area([3, 2, 1], labels, positive=positive) == 0.5


def test_text_labels_need_the_positive_class():
    with pytest.raises(ParameterError, match="such as positive='depressed'"):
        area([1, 2], ["depressed", "not_depressed"])


def test_weights_count_pairs():
    frame = pl.DataFrame({"score": [1, 2, 3], "label": [0, 1, 0], "w": [3.0, 1.0, 1.0]})
    assert frame.select(auroc(weight="w")).item() == 0.75


def test_abstentions_leave_the_ranking_and_missing_scores_are_counted():
    frame = pl.DataFrame(
        {
            "score": [1.0, 2.0, 9.0, None, math.nan, 5.0, None],
            "label": [False, True, False, True, True, None, None],
            "prediction": ["x", "x", None, "x", "x", "x", None],
        }
    )
    with_role = ef.evaluate(frame, auroc("score", "label", "prediction"))
    assert with_role.select("estimate", "n", "n_missing").row(0) == (1.0, 4, 3)
    without = ef.evaluate(frame, auroc())
    assert without.select("estimate", "n", "n_missing").row(0) == (0.5, 3, 4)


def test_the_area_under_generalized_risk_follows_from_it():
    rng = np.random.default_rng(2)
    items = pl.DataFrame(
        {"confidence": rng.integers(0, 9, 200), "correct": rng.random(200) < 0.6}
    ).with_columns(loss=1 - pl.col("correct").cast(pl.Float64))
    shape, accuracy, augrc = items.select(
        auroc("confidence", "correct"), pl.col("correct").mean(), ef.augrc()
    ).row(0)
    expected = (1 - shape) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
    assert augrc == pytest.approx(expected, abs=1e-12)
