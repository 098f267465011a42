"""All of rc_curve.json: item sets and what ai-psychiatrist 36e9fba computes from them."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.selective.contract import loss
from evalframe.selective.curves import rc_curve

KEYS = ["case", "loss_name"]
POINT = ["coverage", "selective_risk", "generalized_risk", "threshold"]
WHOLE = [
    ef.aurc,
    ef.augrc,
    ef.aurc_optimal,
    ef.augrc_optimal,
    ef.eaurc,
    ef.eaugrc,
    ef.aurc_achievable,
    ef.aurc_gap_pct,
    ef.augrc_gap_pct,
    ef.achievable_gain_pct,
]
AT = {
    "aurc_at": ef.aurc_at,
    "augrc_at": ef.augrc_at,
    "risk_at": ef.risk_at,
    "achieved_coverage": ef.achieved_coverage_at,
}


@pytest.fixture(scope="module")
def curves(golden):
    return golden("selective/rc_curve")


@pytest.fixture(scope="module")
def metrics(curves):
    at = [f(target)() for f in AT.values() for target in curves["coverage_targets"]]
    return [ef.coverage(), *(function() for function in WHOLE), *at]


@pytest.fixture(scope="module")
def items(curves):
    """The items of all cases under both losses, in one table."""
    rows = pl.DataFrame(
        [
            (case["id"], prediction, label, float(confidence))
            for case in curves["cases"]
            for prediction, label, confidence in zip(
                case["pred"], case["gt"], case["confidence"], strict=True
            )
        ],
        schema={"case": str, "prediction": int, "label": int, "confidence": float},
        orient="row",
    )
    return pl.concat(
        rows.with_columns(loss(name), pl.lit(name).alias("loss_name"))
        for name in ("abs", "abs_norm")
    )


@pytest.fixture(scope="module")
def expected(curves):
    """All expected values: case, loss, metric, estimate."""
    targets = curves["coverage_targets"]
    bound = {key: [f(t)().meta.output_name() for t in targets] for key, f in AT.items()}
    rows = []
    for case in curves["cases"]:
        for name, values in case["expected"]["by_loss"].items():
            values = values | case["expected"]
            named = {"coverage": values["cmax"]} | {f.__name__: values[f.__name__] for f in WHOLE}
            for key, names in bound.items():
                named |= dict(zip(names, values[key], strict=True))
            rows += [(case["id"], name, metric, value) for metric, value in named.items()]
    return pl.DataFrame(rows, schema=[*KEYS, "metric", "estimate"], orient="row")


def assert_agree(result, expected):
    """Closed forms to 1e-12, percentages relative to 1e-9."""
    percent = pl.col("metric").str.ends_with("_pct")
    for these, tolerances in (
        (~percent, {"abs_tol": 1e-12, "rel_tol": 1e-10}),
        (percent, {"abs_tol": 1e-12, "rel_tol": 1e-9}),
    ):
        left, right = (frame.filter(these).sort(*KEYS, "metric") for frame in (result, expected))
        assert len(right)
        assert_frame_equal(left, right, **tolerances)


@pytest.mark.parametrize("plan", ["sorted", "levels"])
def test_tables(items, metrics, expected, plan):
    result = ef.evaluate(items, metrics, by=KEYS, plan=plan)
    assert_agree(result.select(*KEYS, "metric", "estimate"), expected)


def test_expressions(items, metrics, expected):
    wide = items.group_by(KEYS).agg(metrics)
    assert_agree(wide.unpivot(index=KEYS, variable_name="metric", value_name="estimate"), expected)


def test_working_points(curves, items):
    result = rc_curve(items, by=KEYS)
    numbered = result.with_columns(pl.int_range(pl.len()).over(KEYS).alias("index"))
    expected = pl.DataFrame(
        [
            (case["id"], name, *point)
            for case in curves["cases"]
            for name in case["expected"]["by_loss"]
            for point in points(case["expected"], name)
        ],
        schema=[*KEYS, "index", *POINT],
        orient="row",
    )
    chosen = expected.select(*KEYS, "index").join(numbered, on=[*KEYS, "index"], how="left")
    assert_frame_equal(chosen.select(expected.columns), expected, abs_tol=1e-12, rel_tol=1e-10)
    sizes = {case["id"]: case["expected"]["n_points"] for case in curves["cases"]}
    counted = dict(result.group_by("case").agg(pl.len() // 2).iter_rows())
    assert counted == {case: size for case, size in sizes.items() if size}


def points(expected, name):
    """Index and values of the points that are stored: all, or of a long curve some."""
    if samples := expected.get("curve_samples"):
        for sample in samples:
            risks = (sample[f"{risk}_{name}"] for risk in POINT[1:3])
            yield sample["index"], sample["coverage"], *risks, sample["threshold"]
        return
    values = expected | expected["by_loss"][name]
    columns = [values[column] for column in POINT[:3]] + [map(float, values["threshold"])]
    yield from zip(range(expected["n_points"]), *columns, strict=True)


def test_invalid_coverage(curves):
    for case in curves["invalid_coverage"]:
        given = case["coverage"]
        coverage = float(given["$float"]) if isinstance(given, dict) else given
        assert case["error_type"] == "ValueError"
        for function in AT.values():
            with pytest.raises(ValueError, match=r"coverage must lie in \(0, 1\], got"):
                function(coverage)
