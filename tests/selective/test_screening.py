"""Sensitivity, specificity and their kin."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalframe as ef
from evalframe.compat import ai_psychiatrist
from evalframe.core.errors import ParameterError
from evalframe.core.per import Forest
from evalframe.core.states import share
from evalframe.selective.screening import (
    accuracy,
    f1_score,
    false_negatives,
    false_positives,
    precision,
    recall,
    true_negatives,
    true_positives,
)

SIDED = (precision, recall, f1_score)
COUNTS = (true_positives, false_positives, true_negatives, false_negatives)


def values(prediction, label, *, positive=True, weight=None):
    frame = pl.DataFrame({"prediction": prediction, "label": label})
    exprs = [f(positive=positive, weight=weight) for f in (*SIDED, *COUNTS)]
    return list(frame.select(exprs).row(0))


def test_one_class_against_the_rest():
    said, true = ["a", "a", "b", "c", None], ["a", "b", "b", "a", "a"]
    assert values(said, true, positive="a") == [0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0]
    assert values(said, true, positive="b") == [1.0, 0.5, pytest.approx(2 / 3), 1, 0, 2, 1]
    assert values(said, true, positive="c") == [0.0, None, 0.0, 0.0, 1.0, 3.0, 0.0]
    frame = pl.DataFrame({"prediction": said, "label": true})
    assert frame.select(accuracy()).item() == 0.5


@pytest.mark.parametrize(
    ("said", "true", "expected"),
    [
        ([None, None], [True, False], [None] * 7),
        ([True, False], [False, True], [0.0, 0.0, 0.0, 0, 1, 0, 1]),
        ([False, False], [False, True], [None, 0.0, 0.0, 0, 0, 1, 1]),
        ([True, True], [False, False], [0.0, None, 0.0, 0, 2, 0, 0]),
        ([False, False], [False, None], [None, None, None, 0, 0, 1, 0]),
        ([True, False], [True, False], [1.0, 1.0, 1.0, 1, 0, 1, 0]),
    ],
)
def test_undefined_is_null(said, true, expected):
    assert values(said, true) == expected


def test_f1_of_replicates_that_find_no_positive_is_0_and_not_dropped():
    rare = pl.DataFrame({"person": [1, 2, 3, 4], "label": [True] * 4})
    rare = rare.with_columns(prediction=pl.col("person") == 1)
    method = ef.Bootstrap(cluster="person", n=300, interval="percentile")
    none, some = (
        ef.evaluate(rare, score(), resample=method)
        for score in (ai_psychiatrist.f1_score, f1_score)
    )
    assert none["estimate"].item() == some["estimate"].item() == pytest.approx(0.4)
    assert none["drop_rate"].item() == pytest.approx(0.75**4, abs=0.1)
    assert (none["lower"].item() > 0, some["lower"].item()) == (True, 0.0)
    assert some["drop_rate"].item() == 0.0


def test_numbers_stand_for_booleans():
    assert values([1, 0, 1, None], [1, 1, 0, 0]) == values(
        [True, False, True, None], [True, True, False, False]
    )
    assert values([1.0, 0.0], [1, 0], positive=0) == [1.0, 1.0, 1.0, 1, 0, 1, 0]


def test_text_classes_need_the_positive_one():
    told = "the classes in 'prediction' are text, such as 'yes'.* such as positive='yes'"
    with pytest.raises(ParameterError, match=told):
        values(["yes"], ["yes"])


@pytest.mark.parametrize(
    ("prediction", "label", "told"),
    [
        ([1, 2], ["a", "b"], "'prediction' are Int64, those in 'label' are String"),
        ([True, False], ["a", "b"], "are Boolean, those in 'label' are String"),
        (["a", "b"], [[1], [2]], "are String, those in 'label' are List"),
    ],
)
def test_classes_of_two_types_are_never_equal(prediction, label, told):
    frame = pl.DataFrame({"prediction": prediction, "label": label})
    asked = [
        lambda: frame.select(accuracy()),
        lambda: frame.group_by("prediction").agg(accuracy()),
        lambda: ef.evaluate(frame, accuracy()).collect(),
        lambda: ef.evaluate(frame, accuracy(), resample=ef.Jackknife()),
    ]
    for ask in asked:
        with pytest.raises(ParameterError, match=told):
            ask()


def test_a_text_is_none_of_the_numbers():
    with pytest.raises(ParameterError, match="are numbers, such as 1, and positive='yes'"):
        values([1, 0], [1, 1], positive="yes")


def test_columns_of_nulls_are_of_every_type():
    frame = pl.DataFrame({"prediction": [None, None], "label": ["a", "b"]})
    assert frame.select(accuracy(), precision(positive="a")).row(0) == (None, None)


def test_metrics_of_one_positive_class_share_their_sums():
    pair = [precision(positive="a").bound, recall(positive="a").bound]
    assert len(share(Forest.of(pair))) == 1


def test_a_prediction_without_a_label_is_missing_and_an_abstention_is_not():
    frame = pl.DataFrame({"prediction": ["a", None, "b", None], "label": ["a", "a", None, None]})
    made = ef.evaluate(frame, [accuracy(), *(f(positive="a") for f in SIDED)])
    assert made["n"].to_list() == [3] * 4
    assert made["n_missing"].to_list() == [1] * 4
    assert made["estimate"].to_list() == [1.0] * 4


def test_abstaining_on_positives_raises_recall():
    bold = values([True, False], [True, True])
    shy = values([True, None], [True, True])
    assert (bold[1], shy[1]) == (0.5, 1.0)


def test_weights():
    frame = pl.DataFrame({"prediction": [1, 1, 0], "label": [1, 0, 0], "w": [3.0, 1.0, 2.0]})
    assert frame.select(accuracy(weight="w"), precision(weight="w")).row(0) == (5 / 6, 0.75)
    assert frame.select(true_negatives(weight="w")).item() == 2.0


CLASSES = st.sampled_from([None, "yes", "yes", "no", "no", "maybe"])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(CLASSES, CLASSES), min_size=1, max_size=30))
def test_counts_add_up_to_the_predicted_rows(rows):
    frame = pl.DataFrame(rows, schema={"prediction": pl.String, "label": pl.String}, orient="row")
    tp, fp, tn, fn = frame.select(f(positive="yes") for f in COUNTS).row(0)
    predicted = frame.drop_nulls().height
    assert (tp is None) == (predicted == 0)
    if predicted:
        assert tp + fp + tn + fn == predicted
        right = frame.with_columns(pl.all() == "yes").select(accuracy()).item()
        assert right == pytest.approx((tp + tn) / predicted, abs=1e-15)
