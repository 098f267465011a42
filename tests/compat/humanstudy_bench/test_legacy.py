"""Legacy quantities of the program by hand: directions, z-differences and consistencies."""

import math

import polars as pl
import pytest

from evalframe import replication
from evalframe.compat import humanstudy_bench
from evalframe.compat.humanstudy_bench.p_values import kind_of_effect


def of_one(expr, **columns):
    return pl.DataFrame({name: [value] for name, value in columns.items()}).select(expr).item()


def test_directions_are_of_the_effect():
    tests = pl.DataFrame(
        {
            "test_type": ["t-test", "pearson", "f-test", "f-test", "chi2", "U", "binomial"],
            "stat": [0.0, -0.1, -3.0, 3.0, 9.0, 80.0, 4.0],
            "n": [10] * 7,
            "a": [None] * 4 + [5] + [None] * 2,
            "b": [None] * 4 + [10] + [None] * 2,
            "expected": ["greater"] * 7,
        }
    )
    made = tests.select(humanstudy_bench.direction(expected="expected", cells=("a", "b", "b", "a")))
    assert made.to_series().to_list() == [-1] * 7  # it knows no "greater"
    assert made.schema["direction"] == pl.Int8


def test_directions_match_where_both_are_known():
    sides = pl.DataFrame(
        {"direction_human": [1, 1, 0, None, 1], "direction_agent": [1, -1, 0, 1, None]}
    )
    made = sides.select(humanstudy_bench.direction_match()).to_series().to_list()
    assert made == [True, False, False, False, False]
    nan = pl.DataFrame({"direction_human": [math.nan] * 2, "direction_agent": [math.nan, 1.0]})
    made = nan.select(humanstudy_bench.direction_match()).to_series().to_list()
    assert made == [False, False]


def test_the_original_makes_up_sizes_of_tables():
    said = of_one(humanstudy_bench.reported_statistic("r"), r="chi2(2) = 27.2")
    assert (said["n1"], said["n2"]) == (100.0, None)


@pytest.mark.parametrize(
    ("human", "se_1", "agent", "se_2", "z"),
    [
        (0.0, 0.3, 0.5, 0.4, 1.0),
        (1.0, 0.0, 1.0, 0.0, 0.0),
        (1.0, 0.0, 0.5, 0.0, math.inf),
        (1.0, math.inf, 0.5, 0.1, 0.0),
        (math.inf, 0.1, 0.5, 0.1, -math.inf),
        (math.inf, 0.0, math.inf, 0.0, 0.0),
        (math.inf, 0.0, -math.inf, 0.0, math.inf),
        (1.0, None, 0.5, 0.1, None),
        (1.0, 0.1, math.nan, 0.1, None),
    ],
)
def test_z_differences_by_hand(human, se_1, agent, se_2, z):
    row = {"h": human, "s": se_1, "a": agent, "t": se_2}
    frame = pl.DataFrame({k: [v] for k, v in row.items()}, schema=dict.fromkeys(row, pl.Float64))
    made = frame.select(humanstudy_bench.z_difference("h", "s", "a", "t")).item()
    assert made == (z if z is None else pytest.approx(z))


def test_consistency_of_what_is_missing():
    z = pl.DataFrame({"z": [None, math.nan, math.inf, -math.inf]}, schema={"z": pl.Float64})
    made = z.select(humanstudy_bench.consistency("z")).to_series().to_list()
    assert made == [0.0] * 4


def test_directions_of_t_and_kinds_of_effects():
    tests = pl.DataFrame({"stat": [2.0, 0.0, None], "expected": ["-", "+", "greater"]})
    made = tests.select(humanstudy_bench.direction(pl.lit("t-test"), expected="expected"))
    assert made.to_series().to_list() == [1, -1, -1]
    names = pl.DataFrame({"test_type": ["t_test", "T-Test", "ttest_ind", "binomtest"]})
    kinds = names.select(kind_of_effect("test_type")).to_series().to_list()
    assert kinds == ["t", None, None, "binomial"]


def test_p_values_that_are_read_or_made_up():
    texts = ["p > .10, then p < .01", "F(1, 78) = 17.7", "p = .05."]
    said = pl.DataFrame({"report": texts}).select(humanstudy_bench.reported_p_value())
    assert said.unnest("reported_p_value")["p_value"].to_list() == [0.1, 0.025, None]


def test_a_p_value_at_the_level_is_not_significant():
    tests = pl.DataFrame({"p_value_agent": [0.01, 0.05, None], "direction_match": [True] * 3})
    assert tests.select(replication.replicated()).to_series().to_list() == [True, False, None]
