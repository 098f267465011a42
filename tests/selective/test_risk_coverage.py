"""Risk and coverage by groups, columns and expressions."""

import functools
import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal as assert_equal

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.selective.curves import CURVE, rc_curve

assert_same = functools.partial(assert_equal, abs_tol=1e-14, rel_tol=1e-14)
ITEMS = pl.DataFrame(
    {
        "model": ["b", "a", "a", "a", "b", "a", "c", "a"],
        "loss": [1.0, 1.0, 0.0, 2.0, None, None, None, 0.0],
        "confidence": [0.5, 0.8, 0.9, 0.8, 0.9, 1.0, 0.1, 0.2],
    }
)


def test_groups():
    expected = pl.DataFrame(
        [
            ("a", 0.2, 0.0, 0.0, 0.9, 1, 1),
            ("a", 0.6, 1.0, 0.6, 0.8, 2, 3),
            ("a", 0.8, 0.75, 0.6, 0.2, 1, 4),
            ("b", 0.5, 1.0, 0.5, 0.5, 1, 1),
        ],
        schema=["model", *CURVE],
        orient="row",
    )
    assert_same(rc_curve(ITEMS, by="model"), expected)
    assert_same(rc_curve(ITEMS.reverse(), by=["model"]), expected)
    first = ITEMS.lazy().filter(model="a")
    assert_same(rc_curve(first).collect(), expected.head(3).drop("model"))


def test_columns_and_expressions():
    items = ITEMS.rename({"confidence": "token_msp"})
    made = rc_curve(items, pl.col("loss") * 3, "token_msp", by=pl.col("model").alias("system"))
    expected = (
        rc_curve(ITEMS, by="model")
        .rename({"model": "system"})
        .with_columns(pl.col("selective_risk", "generalized_risk") * 3)
    )
    assert_same(made, expected)


def test_null_is_a_group_like_any_other():
    items = ITEMS.with_columns(pl.col("model").replace("a", None))
    expected = rc_curve(ITEMS, by="model").with_columns(pl.col("model").replace("a", None))
    assert_same(rc_curve(items, by="model"), expected)


@pytest.mark.parametrize("by", [None, "model"])
def test_coverage_is_the_nearest_float(by):
    """So that it can be compared with 0.3, as `risk_at(0.3)` does."""
    count = 49
    items = pl.DataFrame({"model": "a", "loss": 1.0, "confidence": range(count)})
    coverage = rc_curve(items, by=by)["coverage"]
    assert coverage.to_list() == [accepted / count for accepted in range(1, count + 1)]


def test_signed_zeros_tie():
    items = pl.DataFrame({"loss": [1.0, 0.0], "confidence": [0.0, -0.0]})
    assert rc_curve(items).select("coverage", "threshold", "count").rows() == [(1, 0, 2)]


def test_rows_that_metrics_leave_out():
    """A loss that is NaN, a loss without confidence: as for the areas of the same rows."""
    unusable = pl.DataFrame(
        {"model": "a", "loss": [math.nan, 1.0, 1.0], "confidence": [0.9, math.nan, None]}
    )
    abstained = pl.DataFrame({"model": "a", "loss": [None], "confidence": [math.nan]})
    items = pl.concat([ITEMS, unusable])
    assert_same(rc_curve(items, by="model"), rc_curve(ITEMS, by="model"))
    more = pl.concat([ITEMS.filter(model="a"), abstained], how="diagonal_relaxed")
    assert rc_curve(more)["coverage"].to_list() == [1 / 6, 3 / 6, 4 / 6]


def test_weights_count_rows():
    weight = [2, 1, 3, 1, 1, 2, 1, 0]
    weighted = ITEMS.with_columns(weight=pl.Series(weight))
    repeated = ITEMS.select(pl.all().repeat_by(pl.Series(weight)).explode(empty_as_null=False))
    result = rc_curve(weighted, by="model", weight="weight")
    assert result.schema["count"] == result.schema["accepted"] == pl.Float64
    expected = rc_curve(repeated, by="model")
    assert_same(result, expected, check_dtypes=False)


@pytest.mark.parametrize("items", [ITEMS.clear(), ITEMS.filter(model="c")])
def test_nothing_predicted(items):
    assert rc_curve(items).schema == rc_curve(ITEMS).schema
    assert rc_curve(items).is_empty()
    assert rc_curve(items, by="model").is_empty()


def test_areas_read_the_same_points():
    """The trapezoids over the curve are AURC and AUGRC."""
    before = pl.col("accepted") - pl.col("count")
    previous = pl.col("selective_risk").shift(1).over("model").fill_null(pl.col("selective_risk"))
    last = pl.col("generalized_risk").shift(1, fill_value=0.0).over("model")
    width = pl.col("coverage") * (1 - before / pl.col("accepted"))
    areas = (
        rc_curve(ITEMS, by="model")
        .group_by("model")
        .agg(
            aurc=(width * (pl.col("selective_risk") + previous) / 2).sum(),
            augrc=(width * (pl.col("generalized_risk") + last) / 2).sum(),
        )
    )
    expected = ITEMS.filter(pl.col("model") != "c").group_by("model").agg(ef.aurc(), ef.augrc())
    assert_same(areas, expected, check_row_order=False)


def test_errors():
    with pytest.raises(
        MissingColumnsError, match=r"'rc_curve' needs column 'confidense'; .* mean 'confidence'\?"
    ):
        rc_curve(ITEMS, "loss", "confidense")
    with pytest.raises(MissingColumnsError, match="grouping needs column 'mode'"):
        rc_curve(ITEMS, by="mode")
    with pytest.raises(ParameterError, match="the result has a column 'coverage' of its own"):
        rc_curve(ITEMS, by=pl.col("model").alias("coverage"))
