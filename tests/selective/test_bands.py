"""Bands of curves and reliability tables: what they hold, by hand and in simulated worlds."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from scipy.stats import binom

import evalframe as ef
from evalframe.core.errors import ContractError, ParameterError
from evalframe.selective.bands import BANDS, simultaneous
from evalframe.selective.curves import RELIABILITY, rc_curve, reliability_table

DRAWN = ef.Bootstrap(cluster="person", n=200, interval="percentile")
WORLDS, PEOPLE, ITEMS, LARGE = 50, 20, 6, 20_000


def worlds(count, people, seed):
    """Items of people who differ; a tenth are abstentions, most of them unsure."""
    rng = np.random.default_rng(seed)
    rows = count * people * ITEMS
    person = np.arange(rows) // ITEMS
    sure = rng.random(rows).round(3)
    effect = rng.normal(0, 0.6, count * people)[person]
    correct = rng.random(rows) < 1 / (1 + np.exp(2 - 4 * sure - effect))
    answered = rng.random(rows) > 0.2 * (1 - sure)
    return pl.DataFrame(
        {
            "world": person // people,
            "person": person % people,
            "confidence": sure,
            "correct": correct,
            "loss": np.where(answered, 1.0 - correct, np.nan),
        }
    ).with_columns(pl.col("loss").fill_nan(None))


@pytest.fixture(scope="module")
def simulated():
    return worlds(WORLDS, PEOPLE, 1), worlds(1, LARGE, 2)


def in_all(table, value, lower, upper):
    """In how many worlds all points lie between."""
    held = pl.col(value).is_between(lower, upper).all()
    return table.drop_nulls([lower, upper]).group_by("world").agg(held)[value].sum()


def holds(count):
    """Whether a band of 0.95 would hold so often in all worlds, with the chance of 0.999."""
    return binom.ppf(0.0005, WORLDS, 0.95) <= count <= binom.ppf(0.9995, WORLDS, 0.95)


def test_a_band_holds_the_whole_curve_and_intervals_do_not(simulated):
    items, population = simulated
    truth = rc_curve(population)
    curves = rc_curve(items, by="world", resample=DRAWN)
    at = np.interp(curves["coverage"], truth["coverage"], truth["selective_risk"])
    curves = curves.with_columns(truth=pl.Series(at))
    assert holds(in_all(curves, "truth", "band_lower", "band_upper"))
    assert not holds(in_all(curves, "truth", "lower", "upper"))
    known = curves.drop_nulls("lower")
    assert (known["band_lower"] <= known["lower"]).all()
    assert (known["band_upper"] >= known["upper"]).all()


def test_a_band_holds_all_bins_and_intervals_do_not(simulated):
    items, population = simulated
    truth = reliability_table(population).select("bin", truth="accuracy")
    table = reliability_table(items, by="world", resample=DRAWN).join(truth, on="bin")
    assert holds(in_all(table, "truth", "band_lower", "band_upper"))
    assert not holds(in_all(table, "truth", "lower", "upper"))


def test_the_end_of_a_curve_is_the_risk_of_all_predicted(simulated):
    items = simulated[0].filter(pl.col("world") < 3)
    ends = rc_curve(items, by="world", resample=DRAWN).group_by("world", maintain_order=True).last()
    risk = ef.evaluate(items, ef.selective_risk(), by="world", resample=DRAWN)
    assert ends["selective_risk"].to_list() == pytest.approx(risk["estimate"].to_list())
    assert ends["lower"].to_list() == pytest.approx(risk["lower"].to_list())
    assert ends["upper"].to_list() == pytest.approx(risk["upper"].to_list())
    plain = rc_curve(items, by="world").group_by("world", maintain_order=True).last()
    assert ends["coverage"].to_list() == plain["coverage"].to_list()


def test_risks_within_a_plateau_are_linear_in_what_is_accepted():
    items = pl.DataFrame({"loss": [0.0, 1.0, 1.0, 0.5], "confidence": [0.9, 0.5, 0.5, 0.1]})
    curve = rc_curve(items.with_row_index("person"), resample=DRAWN)
    risk = dict(zip(curve["coverage"].to_list(), curve["selective_risk"].to_list(), strict=True))
    assert risk[0.24] == 0.0
    assert risk[0.5] == pytest.approx(0.5)  # one right, one of the two wrong
    assert risk[0.6] == pytest.approx(1.4 / 2.4)
    assert risk[1.0] == pytest.approx(2.5 / 4)
    assert dict(zip(curve["coverage"], curve["threshold"], strict=True))[0.6] == 0.5
    assert curve["lower"].null_count() == len(curve)  # four people are not enough


def test_a_band_by_hand():
    points = np.array([[0.0], [10.0]])
    drawn = np.array([[[-1.0], [1.0], [-1.0], [1.0]], [[4.0], [10.0], [10.0], [16.0]]])
    lower, upper = simultaneous(points, drawn, 0.75, np.array([[True], [True]]))
    # Standard errors are sqrt(4 / 3) and sqrt(24). Largest deviations are sqrt(3 / 2), twice, and
    # sqrt(3 / 4), twice: the third of four is the first of the larger ones.
    assert upper.ravel() == pytest.approx([2**0.5, 16.0])
    assert lower.ravel() == pytest.approx([-(2**0.5), 4.0])
    lower, _ = simultaneous(points, drawn, 0.75, np.array([[True], [False]]))
    assert lower.ravel() == pytest.approx([-1.0, np.nan], nan_ok=True)
    # Of five clusters by t of 4 degrees, and errors that are short by 4 / 5.
    few = np.array([5]), np.array([1])
    lower, _ = simultaneous(points, drawn, 0.75, np.array([[True], [True]]), few)
    t = stats.t.isf(stats.norm.sf(1.5**0.5), 4)
    assert lower[0] == pytest.approx(-t * (4 / 3) ** 0.5 * (5 / 4) ** 0.5)


def test_bands_of_a_table_are_added_to_it(simulated):
    items = simulated[0].filter(pl.col("world") < 2)
    for how in ({}, {"binning": "equal_mass", "bins": 4}):
        plain = reliability_table(items, by="world", **how)
        table = reliability_table(items, by="world", resample=DRAWN, **how)
        assert table.columns == ["world", *RELIABILITY, "band_lower", "band_upper"]
        assert_frame_equal(table.select(plain.columns), plain, abs_tol=1e-12)
        few = table.filter(pl.col("n") < 5)
        assert few["band_lower"].null_count() == len(few)
        known = table.drop_nulls("band_lower")
        assert len(known)
        assert (known["band_lower"] <= known["lower"]).all()


def test_order_of_rows_and_laziness_do_not_matter(simulated):
    items = simulated[0].filter(pl.col("world") < 2)
    for made in (
        lambda rows: rc_curve(rows, by="world", resample=DRAWN),
        lambda rows: reliability_table(rows, by="world", resample=DRAWN),
    ):
        again = made(items.reverse().lazy()).collect()
        assert_frame_equal(made(items), again, abs_tol=1e-12)


def test_a_weight_is_a_number_of_items():
    items = worlds(1, 12, 3).with_columns(twice=pl.lit(2))
    pairs = (
        (
            rc_curve(pl.concat([items] * 2), resample=DRAWN),
            rc_curve(items, weight="twice", resample=DRAWN),
        ),
        (
            reliability_table(pl.concat([items] * 2), resample=DRAWN),
            reliability_table(items, weight="twice", resample=DRAWN),
        ),
    )
    for repeated, weighted in pairs:
        assert_frame_equal(repeated, weighted, check_dtypes=False, abs_tol=1e-12)
    drawn = ef.Bootstrap(cluster="person", within="half", n=100)
    halves = items.with_columns(half=pl.col("person") % 2)
    assert rc_curve(halves, resample=drawn)["band_upper"].is_not_null().any()


def test_without_items_there_are_no_rows():
    nothing = worlds(1, 1, 0).clear()
    curve = rc_curve(nothing, by="world", resample=DRAWN)
    assert curve.schema["lower"] == pl.Float64
    assert len(curve) == len(reliability_table(nothing, by="world", resample=DRAWN)) == 0
    assert set(BANDS) < set(curve.columns)


def test_what_bands_refuse():
    items = worlds(1, 6, 0)
    for function in (rc_curve, reliability_table):
        with pytest.raises(ParameterError, match="bands are of joint draws; use "):
            function(items, resample=ef.Jackknife(cluster="person"))
        with pytest.raises(ParameterError, match="a column 'band_lower' of its own"):
            function(items.with_columns(band_lower=1), by="band_lower", resample=DRAWN)
    negative = pl.DataFrame({"loss": [-1.0, 0.0], "confidence": 0.5, "person": [1, 2]})
    with pytest.raises(ContractError, match="rc_curve: a loss is negative in 1 row;"):
        rc_curve(negative, resample=DRAWN)
