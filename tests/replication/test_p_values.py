"""Tails, p-values and reports: by hand, and against scipy."""

import math

import numpy as np
import polars as pl
import pytest
import scipy.stats

from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.replication import p_values


def of_one(expr, **columns):
    return pl.DataFrame({name: [value] for name, value in columns.items()}).select(expr).item()


@pytest.mark.parametrize(
    ("z", "p"), [(5.0, 5.733031437583878e-07), (30.0, 9.813427854297537e-198), (0.0, 1.0)]
)
def test_far_tails_of_z(z, p):
    made = p_values.normal_p_value(pl.col("z"), pl.lit(p_values.TWO_SIDED))
    assert of_one(made, z=z) == pytest.approx(p, rel=1e-12)
    assert of_one(humanstudy_bench.consistency("z"), z=z) == pytest.approx(p, abs=1e-15)


@pytest.mark.parametrize(
    ("t", "df", "p"),
    [(30.0, 1e7, 1.0014613690805535e-197), (20.0, 1e3, 4.06228849938e-75), (9.0, 2.0, 0.012121660)],
)
def test_far_tails_of_t(t, df, p):
    made = p_values.t_p_value(pl.col("t"), pl.col("df"), pl.lit(p_values.TWO_SIDED))
    assert of_one(made, t=t, df=df) == pytest.approx(p, rel=1e-8)


def test_f_of_one_contrast_is_t_squared_and_chi_square_z_squared():
    t, df = pl.col("t"), pl.col("df")
    tests = pl.DataFrame({"t": [0.5, 3.0, 25.0], "df": [4.0, 80.0, 1e6]})
    found = tests.select(
        t=p_values.t_p_value(t, df, pl.lit(0)),
        f=p_values.f_p_value(t * t, pl.lit(1.0), df),
        z=p_values.normal_p_value(t, pl.lit(0)),
        chi2=p_values.chi2_p_value(t * t, pl.lit(1.0)),
    )
    np.testing.assert_allclose(found["t"], found["f"], rtol=1e-10)
    np.testing.assert_allclose(found["z"], found["chi2"], rtol=1e-10)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_binomial_p_values_are_exact(alternative):
    rng = np.random.default_rng(0)
    n = np.concatenate([rng.integers(1, 3001, 40), rng.integers(1, 12, 20)])
    k = rng.integers(0, n + 1)
    p0 = np.where(
        rng.random(60) < 0.5, rng.choice([0.5, 0.21, 1 / 3, 0.001, 0.0, 1.0], 60), rng.random(60)
    )
    made = replication.p_value("type", "k", "n", p0="p0", alternative="alternative")
    tests = pl.DataFrame({"type": "binomial", "k": k, "n": n, "p0": p0, "alternative": alternative})
    found = tests.select(made).to_series().to_list()
    wanted = [
        scipy.stats.binomtest(*counts, share, alternative).pvalue
        for *counts, share in zip(k.tolist(), n.tolist(), p0.tolist(), strict=True)
    ]
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-300)


def test_sides_of_mann_whitney_add_up():
    rng = np.random.default_rng(0)
    n1, n2 = rng.integers(1, 51, (2, 100))
    u = rng.choice([0.0, 0.5, 1.0, *rng.random(7)], 100) * n1 * n2
    tests = pl.DataFrame({"type": "mannwhitneyu", "u": u, "n1": n1, "n2": n2})
    greater, less, both = (
        tests.select(replication.p_value("type", "u", "n1", "n2", alternative=pl.lit(side)))
        .to_series()
        .to_numpy()
        for side in ("positive", "<", "any")
    )
    np.testing.assert_allclose(greater + less, 1.0, rtol=1e-6)
    np.testing.assert_allclose(both, 2 * np.minimum(greater, less), rtol=1e-6)


def test_documented_p_values_use_what_the_original_ignores():
    tests = pl.DataFrame(
        {
            "test_type": ["anova", "anova", "chi-square", "mann-whitney", "guess"],
            "stat": [4.0, 4.0, 3.841458820694124, 1608.0, 1.0],
            "n1": [None, 40, None, 48, 4],
            "n2": [None, 40, None, 67, 4],
            "df1": [2, None, None, None, None],
            "df2": [30, None, None, None, None],
        }
    )
    found = tests.select(replication.p_value(n2="n2", df1="df1", df2="df2")).to_series().to_list()
    f = scipy.stats.f.sf(4, [2, 1], [30, 78])
    assert found == [pytest.approx(p) for p in (*f, 0.05, 1.0)] + [None]
    original = tests.select(humanstudy_bench.p_value(n2="n2")).to_series().to_list()
    assert original[0] is None
    assert original[1] == pytest.approx(scipy.stats.f.sf(4, 40, 40))
    assert original[2:] == [None, 0.0, None]  # U of 1608 is taken for z


@pytest.mark.parametrize(
    "row",
    [
        {"test_type": "t-test", "stat": 2.0, "n1": 1, "n2": None},
        {"test_type": "t-test", "stat": math.inf, "n1": 20, "n2": None},
        {"test_type": "correlation", "stat": 1.1, "n1": 20, "n2": None},
        {"test_type": "correlation", "stat": 0.5, "n1": 2, "n2": None},
        {"test_type": "mannwhitneyu", "stat": 101.0, "n1": 10, "n2": 10},
        {"test_type": "f-test", "stat": -1.0, "n1": 10, "n2": 10},
        {"test_type": "chi2", "stat": math.nan, "n1": 10, "n2": 10},
        {"test_type": "binomial", "stat": 11.0, "n1": 10, "n2": None},
        {"test_type": "binomial", "stat": 2.5, "n1": 10, "n2": None},
    ],
)
def test_impossible_tests_have_no_p_value(row):
    schema = {"test_type": pl.String, "stat": pl.Float64, "n1": pl.Int64, "n2": pl.Int64}
    frame = pl.DataFrame([row], schema=schema)
    assert frame.select(replication.p_value(n2="n2", p0=pl.lit(0.5))).item() is None


def test_counts_stand_in_for_the_statistic_and_half_for_no_chance():
    counts = pl.DataFrame({"test_type": ["binomial"], "k": [7], "n": [7]})
    p = counts.select(replication.p_value(k="k", n="n", p0=pl.lit(0.5))).item()
    assert p == pytest.approx(2 / 2**7)
    assert counts.select(replication.p_value(k="k", n="n")).item() == p
    assert counts.select(humanstudy_bench.p_value(k="k", n="n")).item() is None
    both = counts.with_columns(stat=pl.lit(3), k=pl.lit(None, pl.Int64), n1=pl.lit(4), n=None)
    assert both.select(replication.p_value(k="k", n="n")).item() == pytest.approx(0.625)
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="stat"):
        counts.select(replication.p_value())


@pytest.mark.parametrize(
    ("report", "p", "significant"),
    [
        ("t(79) = 2.66, p = .010", 0.01, True),
        ("p = .05", 0.05, False),
        ("p < .05", 0.05, True),
        ("P<.001", 0.001, True),
        ("p ≤ 0.2", 0.2, None),
        ("p > .05", None, False),
        ("p > .01", None, None),
        ("p = 3e-4", 3e-4, True),
        ("F(1, 78) = 17.7", None, None),
        ("", None, None),
        ("p = 1.5", None, None),
        ("p < 2", None, None),
    ],
)
def test_reports_are_read_and_not_guessed(report, p, significant):
    said = of_one(replication.reported_p_value("report"), report=report)
    assert (said["p_value"], said["is_significant"]) == (p, significant)


@pytest.mark.parametrize(
    ("report", "wanted"),
    [
        ("2.66", (2.66, None, None, None, None)),
        ("t(79) = -2.66", (-2.66, 79, None, 40, 41)),
        ("F(1, 78) = 17.7, p < .001", (17.7, 1, 78, 40, 40)),
        ("r(58) = .42", (0.42, 58, None, 60, None)),
        ("t(10) = 1, n1 = 4, n2 = 8", (1, 10, None, 4, 8)),
        ("z = 3.29, nA = 48, nB = 67", (3.29, None, None, 48, 67)),
        ("χ²(2, N = 90) = 4.6", (4.6, 2, None, 90, None)),
        ("no difference", (None,) * 5),
        ("cohort (20): F(1, 78) = 17.7", (17.7, 1, 78, 40, 40)),
        ("F(1,234) = 9", (9, 1, 234, 118, 118)),
        ("t(1,234) = 2.1", (2.1, 1234, None, 618, 618)),
        ("t(10) = 1, n1 = 4", (1, 10, None, 4, 8)),
        ("t(10) = 1, n2 = 4", (1, 10, None, 8, 4)),
        ("t(10) = 1, n1 = 40", (1, 10, None, 40, None)),
        ("t(38) < 1", (None, 38, None, 20, 20)),
        ("U = 130, n = 20 per cell", (130, None, None, 20, 20)),
        ("chi-square(2, N = 1,200) = 4.6", (4.6, 2, None, 1200, None)),
        ("1,234.5", (1234.5, None, None, None, None)),
        ("inf", (None,) * 5),
    ],
)
def test_statistics_in_reports(report, wanted):
    said = of_one(replication.reported_statistic("report"), report=report)
    assert tuple(said.values()) == wanted


def test_sides_of_words():
    words = pl.DataFrame({"expected_direction": ["positive", "<", "any", None]})
    sides = words.select(p_values.side_of("expected_direction")).to_series().to_list()
    assert sides == [1, -1, 0, None]
