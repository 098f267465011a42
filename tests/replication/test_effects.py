"""Golden effect sizes by both rule sets, hand-checkable ones, and impossible input."""

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalframe import replication as effects
from evalframe.compat import humanstudy_bench

FUNCTIONS = {
    "t_to_d": lambda effects: {"": effects.cohens_d_t("t", "n1", "n2", independent="independent")},
    "d_se": lambda effects: {"": effects.cohens_d_std_error("d", "n1", "n2")},
    "r_to_fisher_z": lambda effects: {"": effects.fisher_z("r")},
    "fisher_z_se": lambda effects: {"": effects.fisher_z_std_error("r", "n")},
    "log_or": lambda effects: {
        "log_or": effects.log_odds_ratio("a", "b", "c", "d"),
        "se": effects.log_odds_ratio_std_error("a", "b", "c", "d"),
    },
    "u_to_rank_biserial": lambda effects: {"": effects.rank_biserial("u", "n1", "n2")},
    "rank_biserial_se": lambda effects: {"": effects.rank_biserial_std_error("r_rb", "n1", "n2")},
    "proportion_diff_se": lambda effects: {
        "": effects.proportion_difference_std_error("p1", "n1", "p2", "n2")
    },
    "effect_to_d": lambda effects: {"": effects.effect_d("test_type", "effect")},
    "effect_to_r": lambda effects: {"": effects.effect_r("test_type", "effect")},
}

ALL = [
    effects.cohens_d_t("x", "n", "n"),
    effects.cohens_d_f("x", "n", "n"),
    effects.cohens_d_std_error("x", "n", "n"),
    effects.fisher_z("x"),
    effects.fisher_z_std_error("x", "n"),
    effects.log_odds_ratio("x", "n", "n", "n"),
    effects.log_odds_ratio_std_error("x", "n", "n", "n"),
    effects.rank_biserial("x", "n", "n"),
    effects.rank_biserial_std_error("x", "n", "n"),
    effects.proportion("x", "n"),
    effects.proportion_std_error("x", "n"),
    effects.proportion_difference("x", "x"),
    effects.proportion_difference_std_error("x", "n", "x", "n"),
]
NAMES = [expr.meta.output_name() for expr in ALL]


def number(value):
    if isinstance(value, dict):
        return None  # the original raises
    return float(value) if value is not None else None


def cases_of(golden, family):
    cases = golden("replication/effect_sizes")
    return [case for case in cases if case["inputs"]["family"] == family]


def computed(family, cases, room=effects):
    """The values of a family, from one frame of all its cases."""
    names = {"t_to_d": ["n2"], "d_se": ["n2"]}.get(family, [])
    names += [name for name in cases[0]["inputs"] if name not in names and name != "family"]
    of = {"test_type": str, "independent": bool}
    frame = pl.DataFrame(
        {
            name: [
                case["inputs"].get(name) if name in of else number(case["inputs"].get(name))
                for case in cases
            ]
            for name in names
        },
        schema_overrides={
            name: {str: pl.String, bool: pl.Boolean}.get(of.get(name, float), pl.Float64)
            for name in names
        },
    )
    exprs = FUNCTIONS[family](room)
    return frame.select(**{name or "value": expr for name, expr in exprs.items()}).to_dict(
        as_series=False
    )


@pytest.mark.parametrize("family", FUNCTIONS)
def test_golden_values_of_the_original(family, golden):
    cases = cases_of(golden, family)
    assert cases
    for name, values in computed(family, cases, humanstudy_bench).items():
        for case, value in zip(cases, values, strict=True):
            expected = case["expected"] if name == "value" else case["expected"][name]
            tolerance = {"rel": 1e-9 if "edge" in case.get("tags", ()) else 1e-12, "abs": 1e-12}
            wanted = number(expected)
            assert value == (wanted if wanted is None else pytest.approx(wanted, **tolerance)), case


def sound(case):
    """The sound value, from that of the original."""
    inputs, family = case["inputs"], case["inputs"]["family"]
    unknown = any(name in inputs and inputs[name] in (None, "inf") for name in ("effect", "r"))
    if unknown or min(inputs.get("n1", 1), inputs.get("n2", 1)) <= 0 or inputs.get("n", 4) <= 3:
        return None
    if family == "fisher_z_se" and abs(inputs["r"]) >= 1:
        return None
    expected = case["expected"]
    if family == "rank_biserial_se":
        expected = case["reference"]["seed_document_value"]
    if family == "u_to_rank_biserial":
        expected = -expected
    return expected


@pytest.mark.parametrize("family", FUNCTIONS)
def test_documented_values_are_the_original_ones_where_these_are_sound(family, golden):
    differ = {
        "effect_to_d": {"binomtest", "mann-whitney", "wilcoxon", "ttest_ind"},
        "effect_to_r": {"chi-square", "mannwhitneyu", "binomial", "x"},
    }
    names = differ.get(family, set())
    cases = [c for c in cases_of(golden, family) if c["inputs"].get("test_type") not in names]
    for name, values in computed(family, cases).items():
        for case, value in zip(cases, values, strict=True):
            expected = sound(case)
            wanted = number(expected if name == "value" else expected[name])
            assert value == (wanted if wanted is None else pytest.approx(wanted, rel=1e-9)), case


def test_signs_are_of_the_first_group():
    ahead = pl.DataFrame({"u": [25.0], "t": [2.0], "a": [9], "b": [1], "n": [5]})
    found = ahead.select(
        effects.rank_biserial("u", "n", "n"),
        effects.cohens_d_t("t", "n", "n"),
        effects.log_odds_ratio("a", "b", "b", "a"),
    )
    assert all(value > 0 for value in found.row(0))
    original = humanstudy_bench.rank_biserial("u", "n", "n")
    assert ahead.select(original).item() == -1.0


@pytest.mark.parametrize("expr", ALL, ids=NAMES)
@pytest.mark.parametrize("role", ["x", "n"])
@pytest.mark.parametrize("bad", [None, math.nan, math.inf, -math.inf])
def test_what_is_missing_or_infinite_gives_null(expr, role, bad):
    rows = pl.DataFrame({"x": [0.5], "n": [9.0]}).with_columns(pl.lit(bad, pl.Float64).alias(role))
    assert (rows.select(expr).item() is None) == (role in expr.meta.root_names())


@pytest.mark.parametrize("expr", ALL, ids=NAMES)
def test_impossible_sizes_and_values_give_null(expr):
    if "n" not in expr.meta.root_names():
        return
    sizes = pl.DataFrame({"x": [0.5, 0.5], "n": [-3.0, 0.0]})
    assert sizes.select(expr).to_series().to_list() == [None, None]


def test_integer_columns_and_literals_are_welcome():
    frame = pl.DataFrame({"t": [2, 4]}, schema={"t": pl.Int16})
    d = effects.cohens_d_t("t", pl.lit(8), pl.lit(8))
    assert frame.select(d).to_series().to_list() == [1.0, 2.0]


def test_f_is_signed_by_its_direction_and_needs_one_contrast():
    tests = pl.DataFrame({"f": [4.0, -4.0, 4.0, 4.0], "df1": [1, None, 2, 1], "to": [0, 1, 1, -1]})
    d = effects.cohens_d_f("f", pl.lit(8), pl.lit(8), df1="df1", direction="to")
    assert tests.select(d).to_series().to_list() == [1.0, -1.0, None, -1.0]
    original = humanstudy_bench.cohens_d_f("f", pl.lit(8), pl.lit(8), df1="df1")
    assert tests.select(original).to_series().to_list() == [1.0] * 4


@settings(max_examples=12, deadline=None)
@given(st.floats(-0.999998, 0.999998))
def test_fisher_z_is_atanh_and_goes_back(r):
    frame = pl.DataFrame({"r": [r], "test_type": ["pearson"]})
    z = frame.select(effects.fisher_z("r")).item()
    assert z == pytest.approx(math.atanh(r), rel=1e-13, abs=0)
    frame = frame.with_columns(effects.fisher_z("r").alias("effect_size"))
    assert frame.select(effects.effect_r()).item() == pytest.approx(r, rel=1e-12, abs=0)
    d = frame.select(effects.effect_d()).item()
    assert d == pytest.approx(2 * r / math.sqrt((1 - r) * (1 + r)), rel=1e-9, abs=0)


@settings(max_examples=12, deadline=None)
@given(st.floats(-1e3, 1e3), st.integers(1, 10**6), st.integers(1, 10**6))
def test_groups_that_change_places_change_the_sign(t, n1, n2):
    frame = pl.DataFrame({"t": [t], "n1": [n1], "n2": [n2]})
    d = frame.select(effects.cohens_d_t("t", "n1", "n2")).item()
    swapped = frame.select(effects.cohens_d_t(-pl.col("t"), "n2", "n1")).item()
    assert swapped == pytest.approx(-d, rel=1e-14)
    assert d == pytest.approx(t * math.sqrt(1 / n1 + 1 / n2), rel=1e-13)


def test_equivalents_of_all_kinds_agree_with_each_other():
    tests = pl.DataFrame(
        {
            "test_type": ["t-test", "ANOVA", "pearson", "chi2", "U", "sign_test", "guess"],
            "effect_size": [1.5, 1.5, math.atanh(0.6), 1.5 * math.pi / 3**0.5, 0.6, 0.875, 1.0],
        }
    )
    found = tests.select(effects.effect_d(), effects.effect_r())
    assert found["effect_d"].to_list() == [pytest.approx(1.5)] * 6 + [None]
    assert found["effect_r"].to_list() == [pytest.approx(0.6)] * 6 + [None]


@pytest.mark.parametrize("missing", [None, math.nan])
def test_nothing_known_of_nobody_is_null_for_the_original_too(missing):
    frame = pl.DataFrame(
        {"x": [missing, 1.0], "n": [0.0, 0.0], "m": [0.0, missing]},
        schema_overrides={"x": pl.Float64},
    )
    made = frame.select(
        t=humanstudy_bench.cohens_d_t("x", "n"),
        u=humanstudy_bench.rank_biserial("x", "n", "m"),
    )
    assert made["t"].to_list() == [None, 0.0]
    assert made["u"].to_list() == [None, None]
