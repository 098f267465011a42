"""Calibrators as expressions: values, missing input, contexts, groups."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalframe as ef
from evalframe.core.errors import ContractError, ParameterError
from evalframe.selective.calibrators.linear import fit_linear
from evalframe.selective.calibrators.maps import Grouped, Isotonic, Linear, Temperature
from evalframe.selective.calibrators.scalar import fit_isotonic, fit_temperature
from evalframe.selective.calibrators.training import feature, feature_default, target

NAN, INF = math.nan, math.inf
ISOTONIC = Isotonic(("x",), (0.0, 1.0, 3.0), (0.2, 0.4, 0.8))
LINEAR = Linear(("x", "z"), (1.0, -2.0), 0.5, (1.0, 0.0), (2.0, 1.0))


def values(calibrator, **columns):
    return pl.DataFrame(columns, strict=False).select(calibrator.apply())["calibrated"].to_list()


def test_temperature_takes_a_root_of_the_odds():
    assert values(Temperature(2.0), confidence=[0.9]) == pytest.approx([0.75])  # odds 9 -> 3
    assert values(Temperature(0.5), confidence=[0.75]) == pytest.approx([0.9])  # odds 3 -> 9
    assert values(Temperature(1e-300), confidence=[0.5, 0.6, 0.4]) == [0.5, 1.0, 0.0]


def test_temperature_clips_what_is_no_probability():
    clipped, one, count = values(Temperature(1.0), confidence=[-0.2, 1.0, 7.0])
    assert clipped == pytest.approx(1e-6)
    assert one == count == pytest.approx(1 - 1e-6)


@pytest.mark.parametrize("calibrator", [Temperature(2.0, ("x",)), ISOTONIC])
def test_missing_gives_null(calibrator):
    assert values(calibrator, x=[None, NAN, 0.5])[:2] == [None, None]
    assert values(calibrator, x=[None]) == [None]
    assert pl.DataFrame(schema={"x": pl.Int64}).select(calibrator.apply()).height == 0


def test_linear():
    score = 0.5 + (3 - 1) / 2 - 2 * 0.25
    assert values(LINEAR, x=[3], z=[0.25]) == pytest.approx([1 / (1 + math.exp(-score))])
    assert values(LINEAR, x=[None, 1, NAN], z=[1, None, 1]) == [None, None, None]
    assert values(LINEAR, x=[INF, INF], z=[0.0, INF]) == [1.0, None]
    line = Linear(("x",), (1.0,), 0.5, (0.0,), (1.0,), link="identity")
    assert values(line, x=[-1, 0.25, 1, None]) == [0.0, 0.75, 1.0, None]


def test_isotonic_is_linear_between_knots_and_constant_beyond():
    query = [-INF, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 9.0, INF]
    expected = [0.2, 0.2, 0.2, 0.3, 0.4, 0.6, 0.8, 0.8, 0.8]
    assert values(ISOTONIC, x=query) == pytest.approx(expected)
    assert values(Isotonic(("x",), (2.0,), (0.7,)), x=[1.0, 2.0, 3.0, None]) == [0.7] * 3 + [None]


def test_isotonic_is_clipped_and_jumps_where_knots_meet():
    steep = Isotonic(("x",), (0, 1, 4), (-0.2, 0.5, 1.3))
    assert values(steep, x=[0, 1, 4]) == [0.0, 0.5, 1.0]
    jump = Isotonic(("x",), (0.0, 1.0, 1.0, 2.0), (0.0, 0.2, 0.6, 1.0))
    assert values(jump, x=[0.5, 1.0, 1.5]) == pytest.approx([0.1, 0.6, 0.8])


@settings(max_examples=20)
@given(
    st.lists(st.sampled_from([*np.arange(-5, 5.5, 0.5), 0.123]), min_size=1, max_size=12),
    st.lists(st.floats(-6, 6), min_size=1, max_size=20),
)
def test_isotonic_equals_numpy_interpolation(x, query):
    x, query = sorted(x), [*query, *x]
    y = np.linspace(0, 1, len(x))
    found = values(Isotonic(("x",), tuple(x), tuple(y)), x=query)
    assert found == pytest.approx(np.interp(query, x, y), abs=1e-12)


MANY = pl.DataFrame({"x": np.random.RandomState(0).normal(1, 2, 20_000)}).with_columns(
    z=pl.col("x") / 3, model=pl.int_range(20_000) % 3
)
GROUPED = Grouped(
    (pl.col("model"),),
    pl.DataFrame({"model": [0, 1, 2]}),
    (ISOTONIC, Isotonic(("x",), (0.5,), (0.3,)), Isotonic(("x",), (-1.0, 0.5), (0.0, 1.0))),
)


@pytest.mark.parametrize("calibrator", [Temperature(3.0, ("x",)), LINEAR, ISOTONIC, GROUPED])
def test_every_context_gives_the_same(calibrator):
    value = calibrator.apply()
    expected = MANY.select(value)["calibrated"]
    lazy = MANY.lazy().select(value)
    assert lazy.collect(engine="streaming")["calibrated"].equals(expected)
    assert lazy.collect(engine="in-memory")["calibrated"].equals(expected)
    assert MANY.select(value.over("model"))["calibrated"].equals(expected)
    means = MANY.group_by("model").agg(value.mean()).sort("model")["calibrated"]
    held = MANY.with_columns(held=expected).group_by("model").agg(pl.col("held").mean())
    assert means.to_list() == pytest.approx(held.sort("model")["held"].to_list(), abs=1e-12)


@pytest.mark.parametrize("calibrator", [Temperature(3.0, ("x",)), LINEAR, ISOTONIC, GROUPED])
def test_a_metric_takes_the_expression_as_its_role(calibrator):
    items = MANY.with_columns(correct=pl.col("x") > 1)
    direct = ef.evaluate(items, ef.aurc("correct", calibrator.apply()))
    added = ef.evaluate(items.with_columns(calibrator.apply()), ef.aurc("correct", "calibrated"))
    assert direct["estimate"].item() == pytest.approx(added["estimate"].item(), abs=1e-12)


@pytest.mark.parametrize(
    ("calibrator", "told"),
    [
        (Temperature(0.0), "temperature must be a finite number above 0, got 0.0"),
        (Temperature(-1.0), "above 0, got -1.0"),
        (Temperature(NAN), "got nan"),
        (Temperature(INF), "got inf"),
        (Temperature(1.0, ()), "exactly one feature"),
        (Linear((), (), 0.0, (), ()), "no features"),
        (Linear(("a", "b"), (1.0,), 0.0, (0.0, 0.0), (1.0, 1.0)), "2 features .* 1 in coeff"),
        (Linear(("a",), (1.0,), 0.0, (0.0,), (0.0,)), "std must be above 0"),
        (Linear(("a",), (1.0,), 0.0, (NAN,), (1.0,)), "mean must be finite"),
        (Linear(("a",), (1.0,), INF, (0.0,), (1.0,)), "intercept must be a finite"),
        (Linear(("a",), (1.0,), 0.0, (0.0,), (1.0,), "probit"), "link must be"),
        (Linear(("a",), (1.0,), 0.0, (0.0,), (1.0,), "sigmoid", "svm"), "method must be"),
        (Isotonic(("a",), (0.0, 2.0, 1.0), (0.0, 0.5, 1.0)), "must ascend, got 2.0 before 1.0"),
        (Isotonic(("a",), (0.0, NAN), (0.0, 0.5)), "finite"),
        (Isotonic(("a",), (0.0, 1.0), (0.0,)), "as many x_thresholds as y_thresholds"),
        (Isotonic(("a",), (), ()), "as many x_thresholds"),
        (Isotonic(("a", "b"), (0.0,), (0.0,)), "exactly one feature"),
    ],
)
def test_faults_are_told_when_applied(calibrator, told):
    with pytest.raises(ParameterError, match=told):
        calibrator.apply(*calibrator.features)


def test_columns_must_fit_the_features():
    with pytest.raises(ParameterError, match=r"takes 2 columns in this order, got 1"):
        LINEAR.apply("x")
    items = pl.DataFrame({"a": [3.0], "b": [0.25]})
    assert items.select(LINEAR.apply("a", pl.col("b"))).item() == values(LINEAR, x=[3], z=[0.25])[0]


def test_grouped_by_several_keys_of_which_some_are_null():
    groups = pl.DataFrame({"model": ["a", "a", None], "mode": [1, None, 1]})
    stack = (Temperature(1.0), Temperature(2.0), Temperature(0.5))
    grouped = Grouped((pl.col("model"), pl.col("mode")), groups, stack)
    items = pl.DataFrame(
        {
            "model": ["a", None, "a", "b", None],
            "mode": [None, 1, 1, 1, None],
            "confidence": [0.9, 0.75, 0.9, 0.9, 0.9],
        }
    )
    assert items.select(grouped.apply().round(12))["calibrated"].to_list() == [
        0.75,
        0.9,
        0.9,
        None,
        None,
    ]
    with pytest.raises(ContractError, match=r"no calibrator for 2 rows in 2 groups, such as"):
        grouped.check(items)
    grouped.check(items.head(3))
    assert (grouped.method, grouped.features) == ("temperature_scaling", ("confidence",))


def test_grouped_tables_show_all_parameters():
    rows = {"model": ["a", "a", "b", "b"], "x": [0.1, 0.9, 0.2, 0.8], "y": [0.0, 1.0, 1.0, 0.0]}
    items = pl.DataFrame(rows)
    knots = fit_isotonic(items, "x", "y", by="model").table()
    assert knots.select("model", "y_thresholds").rows() == [("a", [0.0, 1.0]), ("b", [0.5, 0.5])]
    line = fit_linear(items, "x", "y", by="model").table()
    assert line["intercept"].to_list() == [0.5, 0.5]
    assert {"coefficients", "mean", "std", "link"} <= {*line.columns}


def test_grouped_equals_each_group_by_itself():
    for fit in (fit_isotonic, fit_linear, fit_temperature):
        items = MANY.head(600).with_columns(
            x=pl.col("x").abs() / 8, y=(pl.col("x") > 1 + pl.col("model") / 2).cast(pl.Int8)
        )
        together = fit(items, "x", "y", by="model")
        for number, own in enumerate(items.partition_by("model", maintain_order=True)):
            alone = own.select(fit(own, "x", "y").apply())["calibrated"].to_list()
            assert own.select(together.apply())["calibrated"].to_list() == pytest.approx(alone)
            assert together.groups["model"][number] == own["model"][0]


@pytest.mark.filterwarnings("ignore:fit_temperature")
def test_keys_may_be_expressions_and_calibrators_take_other_columns():
    items = pl.DataFrame(
        {"name": ["A", "a", "B", "b"], "p": [0.9, 0.9, 0.8, 0.2], "correct": [1, 0, 1, 0]}
    )
    grouped = fit_temperature(items, "p", by=pl.col("name").str.to_lowercase())
    assert grouped.table()["name"].to_list() == ["a", "b"]
    assert items.select(grouped.apply(pl.col("p")))["calibrated"].null_count() == 0


def test_features_take_the_original_defaults():
    signals = pl.DataFrame(
        {
            "similarity_confidence": [None, NAN, 0.5],
            "token_msp": [None, NAN, 1.0],
            "consistency_modal_confidence": [None, NAN, 0.4],
            "nothing": [None, None, None],
        }
    )
    found = signals.select(map(feature, signals.columns))
    assert found.to_dict(as_series=False) == {
        "similarity_confidence": [0.0, 0.0, 0.5],
        "token_msp": [0.0, 0.0, 1.0],
        "consistency_modal_confidence": [3.0, 3.0, 0.4],
        "nothing": [0.0, 0.0, 0.0],
    }
    assert feature_default("Confidence") == 0.0  # capitals count


def test_golden_feature_extraction(golden):
    for case in golden("selective/calibration")["feature_extraction"]:
        given = {name: [case["signals"].get(name)] for name in case["features"]}
        signals = pl.DataFrame(given)
        for place, name in enumerate(case["features"]):
            if case["error_type"]:
                with pytest.raises(pl.exceptions.PolarsError):
                    signals.select(feature(name))
            else:
                assert signals.select(feature(name)).item() == case["expected"][place]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("correctness", [1.0, 0.0, 0.0, None, None, None]),
        ("near_correct", [1.0, 1.0, 0.0, None, None, None]),
        ("loss", [1.0, 1 - 1 / 3, 0.0, None, None, None]),
    ],
)
def test_targets(name, expected):
    items = pl.DataFrame(
        {"prediction": [2, 1, 0, None, 1, 1], "label": [2.0, 2.0, 3.0, 1.0, None, NAN]}
    )
    assert items.select(target(name))[name].to_list() == expected


def test_unknown_target():
    with pytest.raises(ParameterError, match=r"target must be one of .*'correct'. Did you mean"):
        target("correct")
