"""Tables of several numbers in a row, letter by letter."""

from textwrap import dedent

import polars as pl
import pytest

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.reporting.table import long_table, written

RATES = pl.DataFrame(
    {
        "model": ["a|b", "a|b", "c"],
        "noise": [0.0, 0.8, None],
        "n": [1200, 7, 0],
        "rate": [0.9, 0.75, None],
        "rate_lower": [0.875, 0.5, None],
        "rate_upper": [0.925, 1.0, None],
        "share": [0.25, 0.5, None],
        "of_nothing": pl.Series([None] * 3, dtype=pl.Float64),
    }
)
SHOWN = {"n": "", "rate": "accuracy", "of_nothing": "", "share": "share", "absent": ""}


def text(block):
    return dedent(block).strip("\n")


def test_text():
    shown = written(RATES, SHOWN, keys=["model", "noise"], level=0.9, notes=["One.", "Two."])
    assert shown == text(
        """
        model  noise      n           accuracy  share
        -----  -----  -----  -----------------  -----
        a|b      0.0  1,200  0.90 [0.88, 0.93]   0.25
        a|b      0.8      7  0.75 [0.50, 1.00]   0.50
        c          —      0                  —      —

        90% intervals in brackets.
        One.
        Two.
        """
    )


def test_markdown():
    assert written(RATES, ["share"], keys=["model"], markdown=True, notes=["One."]) == text(
        r"""
        | model | share |
        | ----- | ----: |
        | a\|b  |  0.25 |
        | a\|b  |  0.50 |
        | c     |     — |

        One.
        """
    )


def test_columns_go_from_the_right_until_lines_fit():
    lines = written(RATES, SHOWN, keys=["model", "noise"], width=20).splitlines()
    assert lines[0] == "model  noise      n"
    assert lines[-1] == "Not shown at 20 characters: accuracy, share."
    assert written(RATES, SHOWN, keys=["model"], width=1).splitlines()[0] == "model      n"


def test_the_decision_of_a_gate_stays_where_lines_are_short():
    gate = {"left": ["old"], "right": ["new"], "estimate_left": [0.5], "delta": [-0.25]}
    gate = pl.DataFrame({"metric": ["mean"], **gate, "p_adjusted": [0.01], "decision": ["worse"]})
    assert "decision" in long_table(gate, width=40).splitlines()[0]


def test_a_long_table_has_the_digits_of_each_metric():
    result = pl.DataFrame(
        {
            "year": [2024, 2024, None, None],
            "metric": ["coverage", "aurc", "coverage", "aurc"],
            "estimate": [0.75, 0.00012344, 0.5, None],
            "lower": [0.7, 0.0001, 0.45, None],
            "upper": [0.8, 0.00015, 0.55, None],
            "p_value": [0.0001, 0.0312, None, None],
            "n": [12_345, 12_345, 7, 0],
            "n_missing": [0, 0, 0, 0],
        }
    )
    assert long_table(result) == text(
        """
        year  metric                         estimate  p value       n
        ----  --------  -----------------------------  -------  ------
        2024  coverage           0.750 [0.700, 0.800]   <0.001  12,345
        2024  aurc      0.000123 [0.000100, 0.000150]    0.031  12,345
           —  coverage           0.500 [0.450, 0.550]        —       7
           —  aurc                                  —        —       0

        Intervals in brackets.
        """
    )


def test_where_lines_are_short_the_difference_stays():
    pair = {"metric": "m", "left": "a", "right": "b", "estimate_left": 0.5, "estimate_right": 1.0}
    table = pl.DataFrame({**pair, "delta": 0.5, "lower": 0.25, "upper": 0.75, "p_adjusted": 0.01})
    lines = long_table(table, width=52).splitlines()
    assert lines[2].split() == ["m", "a", "b", "0.50", "[0.25,", "0.75]", "0.010"]
    assert lines[-1] == "Not shown at 52 characters: estimate left, estimate right."
    ranks = pl.DataFrame({"rank": [1], "estimate": 0.5, "rank_lower": 1, "rank_upper": 2})
    assert long_table(ranks).splitlines()[2].split() == ["1", "0.5", "1", "2"]


def test_a_long_table_is_cut():
    result = pl.DataFrame({"metric": [f"m{i}" for i in range(70)], "estimate": 0.5})
    assert len(long_table(result).splitlines()) == 2 + 60 + 2
    assert long_table(result).endswith("\n\nThe first 60 of 70 rows.")
    assert len(long_table(result, rows=None).splitlines()) == 2 + 70
    assert len(long_table(result, markdown=True).splitlines()) == 2 + 70


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.0], ["0.0"]),
        ([-0.0, 3.0], ["0.0", "3.0"]),
        ([0.00009], ["0.00009"]),
        ([1234.5, 0.25], ["1234.5", "0.2"]),
        ([float("nan"), 0.5], ["NaN", "0.5"]),
        ([float("inf"), 0.5, 2e9], ["∞", "0.5", "2e+09"]),
        ([-0.123456, 0.2], ["\N{MINUS SIGN}0.1235", "0.2000"]),
    ],
)
def test_numbers(values, texts):
    lines = written(pl.DataFrame({"x": values})).splitlines()[2:]
    assert [line.strip() for line in lines] == texts


def test_names_cannot_steer_a_terminal():
    shown = long_table(pl.DataFrame({"model": ["a\x1b[2Jb\u202e"], "metric": "m", "estimate": 0.5}))
    assert "a\\u001b[2Jb\\u202e" in shown


def test_no_rows_and_what_is_refused():
    assert written(RATES.clear(), SHOWN, keys=["model"]).endswith("No rows.")
    with pytest.raises(MissingColumnsError, match="modle"):
        written(RATES, keys=["modle"])
    with pytest.raises(ParameterError, match="level must lie between 0 and 1, got 95"):
        written(RATES, level=95)
