"""Losses of predictions."""

import math
from typing import get_args

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.jobs.selective import LossName
from evalframe.selective.contract import LOSSES, loss

ITEMS = pl.DataFrame({"prediction": [3, None, 1, 0], "label": [1, 2, 1, 3]})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("abs", [2.0, None, 0.0, 3.0]),
        ("abs_norm", [2 / 3, None, 0.0, 1.0]),
        ("squared", [4.0, None, 0.0, 9.0]),
        ("zero_one", [1.0, None, 0.0, 1.0]),
    ],
)
@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt8, pl.Float32, pl.Decimal(10, 2)])
def test_values(name, expected, dtype):
    result = ITEMS.cast(dtype).select(loss(name))
    assert result.schema == {"loss": pl.Float64}
    assert result["loss"].to_list() == expected


def test_scale_and_columns():
    items = ITEMS.rename({"prediction": "guess"})
    losses = items.select(loss("abs_norm", pl.col("guess") * 2, "label", scale=10))
    assert losses["loss"].round(12).to_list() == [0.5, None, 0.1, 0.3]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["a", "b"])])
def test_zero_one_of_any_type(dtype):
    items = pl.DataFrame({"prediction": ["a", "b", None], "label": ["a", "a", "a"]}).cast(dtype)
    assert items.select(loss("zero_one"))["loss"].to_list() == [0.0, 1.0, None]
    booleans = pl.DataFrame({"prediction": [True, False, None], "label": [True, True, False]})
    assert booleans.select(loss("zero_one"))["loss"].to_list() == [0.0, 1.0, None]


@pytest.mark.parametrize("name", ["abs", "abs_norm", "squared", "zero_one"])
def test_a_missing_label_is_missing_and_no_abstention(name):
    items = pl.DataFrame({"prediction": [1, 2, None], "label": [1, None, None]})
    losses = items.select(loss(name))["loss"]
    assert losses[0] == 0.0
    assert math.isnan(losses[1])
    assert losses[2] is None
    result = ef.evaluate(items.with_columns(loss(name)), ef.generalized_risk())
    assert result.select("n", "n_missing").row(0) == (2, 1)


def test_unknown_name():
    with pytest.raises(
        UnknownNameError, match=r"unknown loss 'zero-one'. Did you mean 'zero_one'\?"
    ):
        loss("zero-one")


@pytest.mark.parametrize("scale", [0, -3.0, math.nan])
def test_scale_must_be_positive(scale):
    with pytest.raises(ParameterError, match="scale must be above 0, got"):
        loss("abs_norm", scale=scale)


def test_jobs_and_the_docstring_name_every_loss():
    assert {*get_args(LossName)} == {*LOSSES}
    assert all(f"`{name}`:" in loss.__doc__ for name in LOSSES)
