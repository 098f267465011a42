"""Fits: golden values of the original, hand-made cases, weights, groups, refusals."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe.compat import ai_psychiatrist
from evalframe.core.errors import (
    ContractError,
    MissingColumnsError,
    ParameterError,
)
from evalframe.selective.calibrators.linear import fit_linear, fit_logistic
from evalframe.selective.calibrators.maps import Temperature
from evalframe.selective.calibrators.saved import to_artifact
from evalframe.selective.calibrators.scalar import fit_isotonic, fit_temperature
from evalframe.selective.calibrators.training import feature
from evalframe.selective.confidences import confidence
from evalframe.selective.scoring import negative_log_likelihood


def rows(case):
    """A golden case as a frame, and the names of its features."""
    x = np.array(case["x"], dtype=float).reshape(len(case["y"]), -1)
    names = [f"f{place}" for place in range(x.shape[1])]
    return pl.DataFrame(dict(zip(names, x.T, strict=True)) | {"y": case["y"]}), names


def pairs(case):
    return pl.DataFrame({"confidence": list(map(float, case["p"])), "correct": case["y"]})


def nll(frame, calibrator):
    scaled = frame.with_columns(calibrator.apply())
    return scaled.select(negative_log_likelihood("calibrated")).item()


def test_golden_temperatures_applied(golden):
    for case in golden("selective/calibration")["temperature_apply"]:
        calibrator = Temperature(case["temperature"])
        if case["error_type"]:
            with pytest.raises(ParameterError):
                calibrator.apply()
        else:
            frame = pl.DataFrame({"confidence": list(map(float, case["p"]))})
            found = frame.select(calibrator.apply())["calibrated"].to_list()
            assert found == pytest.approx(case["expected"], abs=1e-12)


@pytest.mark.filterwarnings("ignore:fit_temperature")
def test_golden_temperatures_fitted(golden):
    for case in golden("selective/calibration")["temperature_fit"]:
        fitted = ai_psychiatrist.fit_temperature(pairs(case))
        assert fitted.temperature == pytest.approx(case["temperature"], abs=1e-9), case["id"]
        assert nll(pairs(case), fitted) == pytest.approx(case["nll_after"], abs=1e-9)


@pytest.mark.filterwarnings("ignore:fit_temperature")
def test_documented_temperature_is_at_least_as_good_as_a_dense_grid(golden):
    for case in golden("selective/calibration")["temperature_fit"]:
        fitted = fit_temperature(pairs(case))
        assert nll(pairs(case), fitted) <= case["dense_grid_nll"] + 1e-9, case["id"]
        assert 0.05 <= fitted.temperature <= 10.0


def test_golden_temperature_errors(golden):
    for case in golden("selective/calibration")["temperature_fit_errors"]:
        with pytest.raises((ParameterError, pl.exceptions.ShapeError)):
            fit_temperature(pl.DataFrame({"confidence": case["p"], "correct": case["y"]}))


def test_temperature_by_hand():
    nine_tenths = pl.DataFrame({"confidence": [0.9] * 4, "correct": [True, True, True, False]})
    assert fit_temperature(nine_tenths).temperature == pytest.approx(2.0, abs=1e-12)


@pytest.mark.parametrize("fit", [fit_temperature, ai_psychiatrist.fit_temperature])
def test_temperature_at_the_ends(fit):
    half = pl.DataFrame({"confidence": [0.5, 0.5], "correct": [1, 0]})
    assert fit(half).temperature == 1.0
    right = pl.DataFrame({"confidence": [0.6, 0.6], "correct": [1, 1]})
    with pytest.warns(UserWarning, match=r"is 0\.05, an end of the search \[0\.05, 10\]: the rows"):
        assert fit(right).temperature == pytest.approx(0.05)
    wrong = pl.DataFrame({"confidence": [0.6, 0.6], "correct": [0, 0]})
    with pytest.warns(UserWarning, match=r"temperature is 10, an end .* check both columns"):
        assert fit(wrong).temperature == pytest.approx(10.0)


def test_of_many_groups_at_an_end_the_first_is_named_and_the_others_counted():
    groups = pl.DataFrame({"g": ["a", "b", "c"], "confidence": [0.9, 0.6, 0.6], "correct": 0})
    with pytest.warns(UserWarning, match="temperature in group g='a', and of 2 other groups is 10"):
        fit_temperature(groups, by="g")


def test_percent_are_refused_with_the_remedy():
    percent = pl.DataFrame({"confidence": [95, 80, 60, 30], "correct": [1, 1, 0, 1]})
    told = r"'confidence' is in \[0, 1\] \(divide percent by 100\): not so in 4"
    for by in (None, "correct"):
        with pytest.raises(ContractError, match=told):
            fit_temperature(percent, by=by)
    with pytest.warns(UserWarning, match="an end of the search"):
        ai_psychiatrist.fit_temperature(percent)  # which clips them to nearly 1
    share = fit_temperature(percent, pl.col("confidence") / 100)
    assert 0.05 < share.temperature < 10.0
    # Other maps take a feature on any scale.
    assert fit_isotonic(percent, "confidence").x_thresholds[-1] == 95
    fit_logistic(percent, "confidence")


def test_reference_cuts_correct_to_an_integer_and_documented_refuses():
    odd = pl.DataFrame({"confidence": [0.9, 0.9, 0.9], "correct": [1.0, 1.9, 0.2]})
    cut = pl.DataFrame({"confidence": [0.9, 0.9, 0.9], "correct": [1, 1, 0]})
    assert ai_psychiatrist.fit_temperature(odd) == ai_psychiatrist.fit_temperature(cut)
    with pytest.raises(ContractError, match=r"'correct' is 0 or 1: not so in 2"):
        fit_temperature(odd)


def test_golden_logistic_is_the_exact_optimum(golden):
    for case in golden("selective/calibration")["logistic_fit"]:
        frame, names = rows(case)
        fitted = fit_logistic(frame, names, "y")
        exact = case["exact_optimum"]
        assert fitted.coefficients == pytest.approx(exact["coefficients"], abs=1e-9), case["id"]
        assert fitted.intercept == pytest.approx(exact["intercept"], abs=1e-9)
        assert fitted.mean == pytest.approx(case["scaler_mean"], abs=1e-12)
        assert fitted.std == pytest.approx(case["scaler_std"], abs=1e-12)
        first = frame.head(5).select(fitted.apply())["calibrated"].to_list()
        assert first == pytest.approx(case["predict_first5"], abs=5e-4)


def test_golden_ridge(golden):
    for case in golden("selective/calibration")["linear_fit"]:
        frame, names = rows(case)
        fitted = fit_linear(frame, names, "y")
        assert fitted.coefficients == pytest.approx(case["coefficients"], abs=1e-12), case["id"]
        assert fitted.intercept == pytest.approx(case["intercept"], abs=1e-12)
        first = frame.head(5).select(fitted.apply())["calibrated"].to_list()
        assert first == pytest.approx(case["predict_first5"], abs=1e-12)


def test_golden_isotonic(golden):
    for case in golden("selective/calibration")["isotonic_fit"]:
        frame, _ = rows(case)
        fitted = fit_isotonic(frame, "f0", "y")
        assert fitted.x_thresholds == pytest.approx(case["x_thresholds"], abs=1e-12), case["id"]
        assert fitted.y_thresholds == pytest.approx(case["y_thresholds"], abs=1e-12)
        query = pl.DataFrame({"f0": list(map(float, case["query"]))})
        found = query.select(fitted.apply())["calibrated"].to_list()
        assert found == pytest.approx(case["predict"], abs=1e-12)


ITEMS = pl.DataFrame(
    {
        "model": ["a", "b"] * 30,
        "x": [round(math.sin(3 * i) ** 2, 2) for i in range(60)],
        "z": [round(math.cos(5 * i), 1) for i in range(60)],
        "y": [int(math.sin(3 * i) ** 2 + math.sin(7 * i) / 2 > 0.5) for i in range(60)],
        "w": [i % 3 for i in range(60)],
    }
)
FITS = {
    "temperature": lambda frame, **given: fit_temperature(frame, "x", "y", **given),
    "reference": lambda frame, **given: ai_psychiatrist.fit_temperature(frame, "x", "y", **given),
    "logistic": lambda frame, **given: fit_logistic(frame, ["x", "z"], "y", **given),
    "linear": lambda frame, **given: fit_linear(frame, ["x", "z"], "y", **given),
    "isotonic": lambda frame, **given: fit_isotonic(frame, "x", "y", **given),
}


def same(one, other):
    columns = [c for c, dtype in one.schema.items() if dtype not in (pl.String, pl.List(pl.String))]
    for column in columns:
        a, b = (frame[column].explode(empty_as_null=True).to_list() for frame in (one, other))
        assert a == pytest.approx(b, abs=1e-9)


def table(fitted):
    return fitted.table()


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_weights_are_repeated_rows_and_row_order_never_matters(fit):
    weighted = table(fit(ITEMS, by="model", weight="w"))
    repeated = ITEMS.select(pl.all().repeat_by("w").explode(empty_as_null=False)).drop_nulls()
    same(weighted, table(fit(repeated, by="model")))
    same(
        weighted, table(fit(ITEMS.sample(fraction=1, shuffle=True, seed=3), by="model", weight="w"))
    )
    same(weighted, table(fit(ITEMS.lazy(), by="model", weight="w")))


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_groups_are_fitted_by_themselves_and_a_null_key_is_a_group(fit):
    keyed = ITEMS.with_columns(model=pl.col("model").replace({"b": None}))
    grouped = fit(keyed, by="model")
    assert {*grouped.groups["model"]} == {"a", None}
    for own in keyed.partition_by("model"):
        alone = own.select(fit(own).apply())["calibrated"].to_list()
        assert own.select(grouped.apply())["calibrated"].to_list() == pytest.approx(alone, abs=1e-9)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize("bad", [None, math.nan, math.inf])
def test_missing_rows_are_refused_with_their_number(fit, bad):
    broken = ITEMS.with_columns(
        x=pl.when(pl.int_range(60) < 4).then(pl.lit(bad)).otherwise("x"),
        w=pl.when(pl.int_range(60) == 7).then(-1).otherwise("w"),
    )
    with pytest.raises(ContractError, match=r"60 rows, of which some cannot be used") as told:
        fit(broken, weight="w")
    assert "'x' is finite: not so in 4" in str(told.value)
    assert "percent" not in str(told.value), "what is not there is in no other unit"
    assert "the weight is finite and at least 0: not so in 1" in str(told.value)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_other_refusals(fit):
    with pytest.raises(ParameterError, match="no rows to fit on"):
        fit(ITEMS.clear())
    with pytest.raises(ParameterError, match="no rows to fit on"):
        fit(ITEMS, weight=pl.col("w") * 0)
    with pytest.raises(MissingColumnsError, match=r"needs column 'modle'.*Did you mean 'model'"):
        fit(ITEMS, by="modle")
    with pytest.raises(ParameterError, match="'x' must be a number, but is String"):
        fit(ITEMS.with_columns(pl.col("x").cast(pl.String)))


def test_defaults_stand_in_only_where_asked_for():
    items = pl.DataFrame({"token_pe": [None, 1.0, 2.0, 0.0], "correct": [1, 0, 0, 1]})
    with pytest.raises(ContractError, match=r"feature\(...\)"):
        fit_logistic(items, "token_pe")
    filled = items.with_columns(pl.col("token_pe").fill_null(0.0))
    assert fit_logistic(items, feature("token_pe")) == fit_logistic(filled, "token_pe")


def test_one_class_is_refused_and_its_group_named():
    items = ITEMS.with_columns(y=pl.when(pl.col("model") == "b").then(1).otherwise("y"))
    with pytest.raises(ParameterError, match=r"both classes, .* all rows are right in .*model='b'"):
        fit_logistic(items, "x", "y", by="model")
    with pytest.raises(ParameterError, match=r"all rows are wrong$"):
        fit_logistic(ITEMS.with_columns(y=0), "x", "y")


@pytest.mark.parametrize("fit", [fit_logistic, fit_linear])
def test_linear_parameters(fit):
    assert fit(ITEMS, "x", "y", method="platt").method == "platt"
    with pytest.raises(ParameterError, match="'platt' takes exactly one feature"):
        fit(ITEMS, ["x", "z"], "y", method="platt")
    with pytest.raises(ParameterError, match="needs at least one feature"):
        fit(ITEMS, [], "y")
    with pytest.raises(ParameterError, match="different names"):
        fit(ITEMS, ["x", "x"], "y")
    with pytest.raises(ParameterError, match="method must be one of"):
        fit(ITEMS, "x", "y", method="plat")


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf])
def test_penalties_are_above_zero(value):
    with pytest.raises(ParameterError, match="penalty must be a finite number above 0"):
        fit_logistic(ITEMS, "x", "y", penalty=value)
    with pytest.raises(ParameterError, match="alpha must be a finite number above 0"):
        fit_linear(ITEMS, "x", "y", alpha=value)


def test_several_features_of_isotonic():
    with pytest.raises(ParameterError, match="exactly one feature"):
        fit_isotonic(ITEMS, ["x", "z"], "y")


def test_a_constant_feature_has_no_say_also_where_its_mean_would_round():
    items = ITEMS.head(10).with_columns(constant=pl.lit(0.1))
    for fitted in (
        fit_logistic(items, ["x", "constant"], "y"),
        fit_linear(items, ["x", "constant"], "y"),
    ):
        assert (fitted.mean[1], fitted.std[1], fitted.coefficients[1]) == (0.1, 1.0, 0.0)


@pytest.mark.parametrize("penalty", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("kind", ["separable", "rare", "outlier"])
def test_logistic_gradient_vanishes_on_hard_data(penalty, kind):
    x = np.random.RandomState(1).normal(1e6, 1e3, 3000)
    y = (x > np.median(x)).astype(int) if kind != "rare" else np.arange(3000) == 0
    x[0] += 1e10 if kind == "outlier" else 0
    fitted = fit_logistic(pl.DataFrame({"x": x, "y": y}), "x", "y", penalty=penalty)
    z = (x - fitted.mean[0]) / fitted.std[0]
    miss = 1 / (1 + np.exp(-(fitted.intercept + fitted.coefficients[0] * z))) - y
    assert abs(miss.sum()) < 1e-6
    assert abs(miss @ z + penalty * fitted.coefficients[0]) < 1e-6


@pytest.mark.filterwarnings("ignore:fit_temperature")
@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=2, max_size=30, unique_by=None)
)
def test_documented_temperature_is_a_minimum(levels):
    frame = pl.DataFrame(
        {"confidence": [p / 10 for p, _ in levels], "correct": [y for _, y in levels]}
    )
    best = fit_temperature(frame).temperature

    def loss(temperature):
        p = frame["confidence"].to_numpy()
        z = np.log(p / (1 - p)) / temperature
        return np.logaddexp(0, np.where(frame["correct"].to_numpy(), -z, z)).mean()

    for other in (0.05, best / 1.01, best * 1.01, 10.0):
        if 0.05 <= other <= 10:
            assert loss(best) <= loss(other) + 1e-12


def test_isotonic_ties_are_averaged_and_runs_keep_their_ends():
    items = pl.DataFrame(
        {"x": [1.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": [0.0, 1.0, 0.0, 0.25, 0.25, 1.0]}
    )
    fitted = fit_isotonic(items, "x", "y")
    assert fitted.x_thresholds == (1.0, 4.0, 5.0)
    assert fitted.y_thresholds == pytest.approx((0.3, 0.3, 1.0))  # (0 + 1 + 0 + .25 + .25) / 5


@pytest.mark.parametrize("by", [None, "model"])
@pytest.mark.parametrize(
    "fit",
    [
        lambda rows, by: fit_temperature(rows, pl.col("percent") / 100, by=by),
        lambda rows, by: fit_isotonic(rows, pl.col("percent") / 100, by=by),
        lambda rows, by: fit_logistic(rows, [pl.col("percent") / 100], by=by),
        lambda rows, by: fit_linear(rows, pl.col("percent") / 100, "correct", by=by),
    ],
)
def test_what_was_fitted_on_an_expression_is_applied_to_it(fit, by):
    rng = np.random.default_rng(0)
    rows = pl.DataFrame({"percent": rng.integers(0, 100, 200), "model": ["a", "b"] * 100})
    rows = rows.with_columns(correct=(pl.col("percent") > rng.integers(0, 100, 200)).cast(float))
    fitted = fit(rows, by)
    share = rows.with_columns(percent=pl.col("percent") / 100)
    expected = share.select(fitted.apply("percent"))
    assert_frame_equal(rows.select(fitted.apply()), expected)


def test_a_default_of_a_feature_is_kept():
    rows = pl.DataFrame({"x": [0.1, None, 0.5, 0.9], "correct": [0.0, 0.0, 1.0, 1.0]})
    fitted = fit_isotonic(rows, feature("x"))
    assert rows.select(fitted.apply()).to_series().to_list() == [0.0, 0.0, 1.0, 1.0]


def test_features_that_cannot_be_standardised():
    rows = pl.DataFrame({"x": [1e308, -1e308, 1e308, 0.0], "correct": [0.0, 1.0, 1.0, 0.0]})
    for fit in (fit_logistic, fit_linear):
        with pytest.raises(ParameterError, match="'x' varies too widely"):
            fit(rows, "x", "correct")


def test_what_knows_features_by_name_refuses_computed_ones():
    rows = pl.DataFrame({"x": [10, 50, 90, 20], "correct": [0.0, 1.0, 1.0, 0.0]})
    fitted = fit_logistic(rows, pl.col("x") / 100)
    with pytest.raises(ParameterError, match=r"an artifact knows .* and 'x' is computed"):
        to_artifact(fitted, target="correctness")
    with pytest.raises(ParameterError, match=r"confidence 'calibrated' knows .* 'x' is computed"):
        confidence("calibrated", calibration=fitted)
    for kept in (feature("x"), (pl.col("x") / 100).alias("share")):
        assert to_artifact(fit_logistic(rows, kept), target="correctness")["features"]
