"""Bayes factors: golden values by both rules, impossible input, the legacy ones."""

import math

import polars as pl
import pytest

from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.compat.humanstudy_bench import bayes_factors as original
from evalframe.core.errors import ParameterError

KINDS = {
    "t_jzs": ("t", ("t", "n1", "n2")),
    "r_jzs": ("r", ("r", "n")),
    "anova_jzs": ("f", ("f", "df1", "df2", "n_total")),
    "chi2_bic": ("chi2", ("chi2", "df", "n")),
    "mannwhitney_jzs": ("u", ("u", "n1", "n2")),
    "binomial_beta11": ("binomial", ("k", "n", "p0")),
    "variance_f_vsb": ("variance_ratio", ("f", "df1", "df2")),
    "p_vsb": ("bound", ("p",)),
    "p_half_vsb": ("directional_bound", ("p", "direction_match")),
}
LEGACY = {
    "t_bic_legacy": ("t", ("t", "n1", "n2")),
    "r_bic_legacy": ("r", ("r", "n")),
    "binomial_bic_legacy": ("binomial", ("k", "n", "p0")),
    "variance_f_bic_legacy": ("variance_ratio", ("f", "df1", "df2")),
    "mannwhitney_bic_legacy": ("u", ("u", "n1", "n2")),
}


def values(name, rows, room=replication):
    """The Bayes factors of rows of arguments by position."""
    columns = {str(place): [*cells] for place, cells in enumerate(zip(*rows, strict=True))}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64), strict=False)
    make = getattr(original if name.startswith("bic_") else room, name)
    return frame.select(make(*columns)).to_series().to_list()


def value(name, row, room=replication):
    """One Bayes factor."""
    return values(name, [row], room)[0]


def by_name(cases):
    """The rows of each function, and what stands behind them."""
    names = dict.fromkeys(name for name, *_ in cases)
    return {name: [case[1:] for case in cases if case[0] == name] for name in names}


def arguments(inputs, roles):
    """What a golden case holds: null there is NaN, and an absent key is missing."""
    return [
        None if role not in inputs else math.nan if inputs[role] is None else float(inputs[role])
        for role in roles
    ]


@pytest.fixture
def cases(golden):
    return golden("replication/bayes_factor")


def same(found, expected, tolerance):
    if expected is None:
        return math.isnan(found)
    return found == pytest.approx(float(expected), rel=tolerance, abs=0)


@pytest.mark.parametrize("family", [*KINDS, *LEGACY])
def test_original_is_reproduced(cases, family):
    name, roles = (KINDS | LEGACY)[family]
    prefix = "" if family in KINDS else "bic_"
    ours = [case for case in cases if case["inputs"]["family"] == family]
    rows = [arguments(case["inputs"], roles) for case in ours]
    made = values(f"{prefix}bayes_factor_{name}", rows, humanstudy_bench)
    for case, found in zip(ours, made, strict=True):
        expected = case["expected"]["bf10"]
        loose = family == "variance_f_vsb" and expected is not None and expected > 1e8
        tolerance = 1e-12 if prefix else 1e-4 if loose else 1e-6
        assert same(found, expected, tolerance), case["id"]
    assert ours


@pytest.mark.parametrize("family", [name for name in KINDS if name not in ("r_jzs", "p_half_vsb")])
def test_documented_values_are_exact(cases, family):
    name, roles = KINDS[family]
    known = [c for c in cases if c["inputs"]["family"] == family and c.get("reference")]
    rows = [arguments(case["inputs"], roles) for case in known]
    assert rows
    logs = values(f"log_bayes_factor_{name}", rows)
    for case, log, plain in zip(known, logs, values(f"bayes_factor_{name}", rows), strict=True):
        exact = case["reference"]["ln_bf10_exact"]
        assert log == pytest.approx(exact, abs=1e-10, rel=1e-12), case["id"]
        if exact < 700:
            assert plain == pytest.approx(math.exp(exact), rel=1e-9), case["id"]


def test_plain_is_infinite_where_the_logarithm_is_not():
    assert value("bayes_factor_chi2", [2000, 1, 300]) == math.inf
    assert value("log_bayes_factor_chi2", [2000, 1, 300]) == pytest.approx(997.1481087626719)
    assert value("bayes_factor_chi2", [2000, 1, 300], humanstudy_bench) == 1.0


CERTAIN = [
    ("t", [math.inf, 20, None]),
    ("t", [-math.inf, 20, 20]),
    ("r", [1.0, 20]),
    ("r", [-1.0, 20]),
    ("f", [math.inf, 2, 20, 23]),
    ("chi2", [math.inf, 1, 20]),
    ("bound", [0.0]),
    ("variance_ratio", [0.0, 10, 10]),
    ("variance_ratio", [math.inf, 10, 10]),
]


def test_no_uncertainty_is_infinite_evidence():
    for name, cases in by_name(CERTAIN).items():
        for scale in ("log_", ""):
            found = values(f"{scale}bayes_factor_{name}", [row for (row,) in cases])
            assert found == [math.inf] * len(cases), name


IMPOSSIBLE = [
    ("t", [2.0, 1, None]),
    ("t", [2.0, 1, 1]),
    ("t", [2.0, 0, 5]),
    ("t", [2.0, -5, None]),
    ("t", [2.0, math.inf, None]),
    ("r", [1.01, 20]),
    ("r", [0.5, 2]),
    ("f", [-1.0, 1, 20, 22]),
    ("f", [4.0, 0, 20, 22]),
    ("f", [4.0, 1, 0, 22]),
    ("f", [4.0, 5, 20, 6]),
    ("chi2", [-1.0, 1, 20]),
    ("chi2", [1.0, 0, 20]),
    ("chi2", [1.0, 1, 0]),
    ("u", [101, 10, 10]),
    ("u", [-1, 10, 10]),
    ("u", [0, 1, 1]),
    ("binomial", [11, 10, 0.5]),
    ("binomial", [-1, 10, 0.5]),
    ("binomial", [1.5, 10, 0.5]),
    ("binomial", [1, 10, 0.0]),
    ("binomial", [1, 10, 1.0]),
    ("bound", [-0.1]),
    ("bound", [1.1]),
    ("directional_bound", [1.1, 1]),
    ("variance_ratio", [-1.0, 10, 10]),
    ("variance_ratio", [1.0, 0, 10]),
]


@pytest.mark.parametrize(("name", "cases"), by_name(IMPOSSIBLE).items())
def test_impossible_is_null(name, cases):
    rows = [row for (row,) in cases]
    assert values(f"bayes_factor_{name}", rows) == [None] * len(rows)
    assert values(f"log_bayes_factor_{name}", rows) == [None] * len(rows)


POSSIBLE = {
    "t": [2.0, 20, 20],
    "r": [0.5, 20],
    "f": [4.0, 1, 20, 22],
    "chi2": [1.0, 1, 20],
    "u": [30, 10, 10],
    "binomial": [3, 10, 0.5],
    "bound": [0.01],
    "directional_bound": [0.01, 1],
    "variance_ratio": [2.0, 10, 10],
}


@pytest.mark.parametrize("name", POSSIBLE)
def test_missing_is_null(name):
    row = POSSIBLE[name]
    lacking = [
        [missing if at == place else cell for at, cell in enumerate(row)]
        for missing in (None, math.nan)
        for place in range(len(row))
        if (name, place) != ("t", 2)  # which is one sample
    ]
    found, *others = values(f"bayes_factor_{name}", [row, *lacking])
    assert found is not None
    assert others == [None] * len(lacking)
    assert value(f"bayes_factor_{name}", [None, *row[1:]], humanstudy_bench) is None


@pytest.mark.parametrize("missing", [None, math.nan])
def test_t_without_second_group_is_of_one_sample(missing):
    frame = pl.DataFrame({"t": [3.0], "n": [30]})
    alone = frame.select(replication.bayes_factor_t("t", "n")).item()
    assert value("bayes_factor_t", [3.0, 30, missing]) == alone


CAPS = [
    ("t", [10.001, 30, 30], 1e6),
    ("t", [2.0, 0, 0], 1.0),
    ("t", [2.0, 1, None], 1.0),
    ("t", [2.0, None, None], 1.0),
    ("t", [math.nan, 20, 20], math.nan),
    ("r", [-1.0, 30], 1e6),
    ("r", [0.9, 100], 1e6),
    ("r", [0.9, 2], 1.0),
    ("f", [100.001, 1, 20, 22], 1e6),
    ("f", [-30.0, 1, 20, 22], 1.0),
    ("f", [0.0, 0, 0, 0], 1.0),
    ("chi2", [5.0, 1, 0], 1.0),
    ("u", [0, 0, 10], 1.0),
    ("binomial", [3.9, 10.9, 0.5], 1024 / 120 / 11),
    ("binomial", [0, 0, 0.5], 1.0),
    ("binomial", [11, 10, 0.5], 1.0),
    ("binomial", [550, 1100, 0.5], 0.0),
    ("binomial", [math.nan, 10, 0.5], 1.0),
    ("bound", [9e-301], 1e6),
    ("bound", [-1.0], 1e6),
    ("directional_bound", [9e-301, 1], 1e6),
    ("directional_bound", [0.01, 0], 0.1),
    ("variance_ratio", [1e5, 100, 100], 1e6),
    ("variance_ratio", [-1.0, 100, 100], 1e6),
]


def test_caps_and_failures_of_the_original():
    for name, cases in by_name(CAPS).items():
        made = values(f"bayes_factor_{name}", [row for row, _ in cases], humanstudy_bench)
        for found, (row, expected) in zip(made, cases, strict=True):
            assert same(found, None if math.isnan(expected) else expected, 1e-12), (name, row)


def test_logarithms_of_the_original():
    assert value("bayes_factor_t", [50, 2, None], humanstudy_bench) == 1e6
    assert value("bayes_factor_binomial", [1100, 2000, 0.5], humanstudy_bench) == 0.0


def test_scales():
    frame = pl.DataFrame({"t": [2.0], "n": [20]})
    narrow, wide = (
        frame.select(replication.bayes_factor_t("t", "n", scale=scale)).item()
        for scale in (0.707, 10.0)
    )
    assert narrow > wide
    with pytest.raises(
        ParameterError, match="scale must be a number above 0 and up to 1e\\+100, got 0"
    ):
        replication.bayes_factor_t("t", "n", scale=0)
    with pytest.raises(ParameterError, match=r"kappa must be a number from 0.001 to 100, got 0"):
        replication.bayes_factor_r("r", "n", kappa=0)


def test_expressions_are_elementwise_anywhere():
    frame = pl.DataFrame({"g": ["a", "b", "a"], "t": [1.0, 2.0, None], "n": [10, 20, 30]})
    factor = replication.log_bayes_factor_t("t", "n")
    plain = frame.select("g", factor)
    streamed = frame.lazy().select("g", factor).collect(engine="streaming")
    assert streamed.to_dicts() == plain.to_dicts()
    grouped = frame.group_by("g", maintain_order=True).agg(factor.sum())
    assert grouped.to_dicts() == plain.group_by("g", maintain_order=True).sum().to_dicts()
    constants = replication.bayes_factor_t(pl.lit(2.0), pl.lit(20), pl.lit(20))
    assert frame.select(constants.round(6)).to_series().unique().to_list() == [1.454]
    assert frame.head(0).select(factor).to_dict(as_series=False) == {"log_bayes_factor_t": []}


def test_legacy_without_a_number():
    assert value("bic_bayes_factor_t", [None, 20, 20]) is None
    assert math.isnan(value("bic_bayes_factor_r", [math.nan, 20]))
    assert [value("bic_bayes_factor_binomial", [3, 10, p0]) for p0 in (0, 1, -0.1, 1.1)] == [
        1.0
    ] * 4
    assert value("bic_bayes_factor_t", [2.0, 0, 0]) == 1.0
    assert value("bic_bayes_factor_variance_ratio", [0.0, 5, 5]) == 1.0


def test_yates():
    cells = pl.DataFrame([[12], [5], [7], [30]], schema=["a", "b", "c", "d"])
    found = cells.select(replication.yates_chi_square()).item()
    by_hand = 54 * (12 * 30 - 5 * 7 - 27) ** 2 / (17 * 37 * 19 * 35)
    assert found == pytest.approx(by_hand, rel=1e-14)
    odd = pl.DataFrame({"a": [0, 3, -1, None], "b": [0, 3, 2, 2], "c": [0, 3, 2, 2], "d": [4] * 4})
    values = odd.select(replication.yates_chi_square()).to_series().to_list()
    assert values == [0.0, 0.0, None, None]


FAR_OFF = [
    ("t", [2.0, math.inf, None]),
    ("t", [2.0, 20.0, math.inf]),
    ("t", [2.0, 20.0, 1e-320]),
    ("f", [4.0, 1.0, 20.0, math.inf]),
    ("f", [4.0, -5.0, 20.0, 22.0]),
    ("f", [4.0, 1e200, 20.0, 22.0]),
    ("r", [0.5, math.inf]),
]


@pytest.mark.parametrize(("name", "row"), FAR_OFF)
def test_the_original_fails_with_1_far_from_any_test(name, row):
    assert value(f"bayes_factor_{name}", row, humanstudy_bench) == 1.0
    # A sound row beside it keeps its value.
    rows = [row, POSSIBLE[name]]
    columns = {f"x{place}": list(cells) for place, cells in enumerate(zip(*rows, strict=True))}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Float64))
    made = frame.select(getattr(humanstudy_bench, f"bayes_factor_{name}")(*columns))
    assert made.to_series().to_list() == [
        1.0,
        pytest.approx(value(f"bayes_factor_{name}", POSSIBLE[name], humanstudy_bench), rel=1e-12),
    ]


@pytest.mark.parametrize("name", ["u", "variance_ratio"])
@pytest.mark.parametrize("place", [1, 2])
def test_the_original_fails_with_1_where_a_size_is_missing(name, place):
    row = [None if at == place else cell for at, cell in enumerate(POSSIBLE[name])]
    assert value(f"bayes_factor_{name}", row, humanstudy_bench) == 1.0


@pytest.mark.parametrize("scale", ["0.5", None, pl.lit(0.5), 1e200, True, math.nan, -1.0])
def test_scales_that_are_none(scale):
    with pytest.raises(ParameterError, match=r"scale must be a number above 0 and up to 1e\+100"):
        replication.bayes_factor_t("t", "n", scale=scale)


def test_a_large_t_has_a_finite_logarithm():
    assert math.isfinite(value("log_bayes_factor_t", [1e150, 20.0, None]))
    assert value("log_bayes_factor_t", [1e200, 20.0, None]) == math.inf


def test_many_deep_tails_are_those_of_each_alone():
    ratios = [1e4 + step for step in range(2500)]
    frame = pl.DataFrame({"f": ratios, "df": [100.0] * len(ratios)})
    made = frame.select(replication.log_bayes_factor_variance_ratio("f", "df", "df")).to_series()
    assert made.is_sorted()
    for place in (0, 1023, 1024, 2048, 2499):
        alone = value("log_bayes_factor_variance_ratio", [ratios[place], 100.0, 100.0])
        assert made[place] == pytest.approx(alone, rel=1e-14)
