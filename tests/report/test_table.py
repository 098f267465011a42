"""Result tables, letter by letter."""

from textwrap import dedent

import polars as pl
import pytest

from evalframe.core.errors import ParameterError
from evalframe.reporting.table import render


def text(block):
    return dedent(block).strip("\n")


@pytest.fixture
def result():
    return pl.DataFrame(
        {
            "model": ["ada", "ada", "bob", "bob"],
            "mode": ["few", "few", "few", "zero"],
            "metric": ["coverage", "aurc", "aurc", "aurc"],
            "estimate": [0.75, 0.12344, None, -0.5],
            "std_error": [0.01, 0.000012345, None, 0.2],
            "lower": [0.7, 0.1, None, -0.625],
            "upper": [0.8, 0.15, None, None],
            "n": [12_345, 12_345, 0, 7],
            "n_missing": [0, 0, 0, 0],
            "n_clusters": [41, 41, None, 7],
            "drop_rate": [0.0, 0.0, None, 0.0],
        }
    )


def test_text(result):
    assert render(result, level=0.95) == text(
        """
        model  mode  metric     estimate [lower, upper]  std_error       n  n_clusters
        -----  ----  --------  ------------------------  ---------  ------  ----------
        ada    few   coverage   0.7500 [0.7000, 0.8000]     0.0100  12,345          41
                     aurc       0.1234 [0.1000, 0.1500]    1.2e-05  12,345          41
        bob    few   aurc            -                           -       0           -
               zero  aurc      -0.5000 [-0.6250, -]         0.2000       7           7

        95% intervals in brackets.
        """
    )


def test_tiny_numbers_do_not_widen_the_others():
    result = pl.DataFrame(
        {
            "metric": ["coverage", "aurc", "augrc"],
            "estimate": [0.9912, 0.00041, 0.00007161],
            "lower": [0.9878, 0.00007161, 0.0],
            "upper": [0.9942, 0.001, 0.0002],
        }
    )
    assert render(result) == text(
        """
        metric      estimate [lower, upper]
        --------  -------------------------
        coverage   0.9912 [0.9878, 0.9942]
        aurc       0.0004 [7.2e-05, 0.0010]
        augrc     7.2e-05 [0.0000, 0.0002]
        """
    )


def test_an_interval_without_an_estimate_is_not_shown():
    result = pl.DataFrame(
        {
            "metric": ["risk_at_0.90", "aurc"],
            "estimate": [None, 0.5],
            "lower": [0.1, 0.25],
            "upper": [0.2, 0.75],
            "drop_rate": [0.75, 0.0],
        }
    )
    assert render(result) == text(
        """
        metric        estimate [lower, upper]  drop_rate
        ------------  -----------------------  ---------
        risk_at_0.90       -                      0.7500
        aurc          0.5000 [0.2500, 0.7500]     0.0000
        """
    )


def test_notes_stand_beneath_the_table():
    result = pl.DataFrame({"metric": ["aurc"], "estimate": [0.5]})
    assert render(result, notes=["Convention: population."]).endswith("\n\nConvention: population.")


def test_markdown_repeats_keys_and_escapes_bars():
    result = pl.DataFrame({"model": ["a|b"] * 2, "metric": ["aurc", "n"], "estimate": [0.5, 1.0]})
    assert render(result, markdown=True, digits=2) == text(
        r"""
        | model | metric | estimate |
        | ----- | ------ | -------: |
        | a\|b  | aurc   |     0.50 |
        | a\|b  | n      |     1.00 |
        """
    )


def test_comparison():
    result = pl.DataFrame(
        {
            "task": ["qa", "qa", "qa"],
            "metric": ["aurc", "aurc", "coverage"],
            "left": ["few", "few", "few"],
            "right": ["cot", "zero", "zero"],
            "estimate_left": [0.125, 0.125, 0.75],
            "estimate_right": [0.25, 0.5, None],
            "delta": [0.125, 0.375, None],
            "std_error": [None, None, None],
            "lower": [-0.125, 0.25, None],
            "upper": [0.375, 0.5, None],
            "p_value": [0.01249, 0.0001, None],
            "n_clusters": [1041, 1041, 1041],
            "drop_rate": [0.0, 0.25, 0.0],
        }
    )
    assert render(result, digits=2, level=0.9) == text(
        """
        task  metric    left  right  estimate_left  estimate_right  delta [lower, upper]  p_value  n_clusters  drop_rate
        ----  --------  ----  -----  -------------  --------------  --------------------  -------  ----------  ---------
        qa    aurc      few   cot             0.12            0.25    0.12 [-0.12, 0.38]    0.012       1,041       0.00
              aurc      few   zero            0.12            0.50    0.38 [0.25, 0.50]    <0.001       1,041       0.25
              coverage  few   zero            0.75               -       -                      -       1,041       0.00

        90% intervals in brackets.
        """  # noqa: E501
    )


def test_long_table_is_cut_in_the_middle():
    result = pl.DataFrame(
        {"g": ["a"] * 1_001, "metric": [f"m{i}" for i in range(1_001)], "estimate": [0.5] * 1_001}
    )
    assert render(result, limit=3) == text(
        """
        g    metric  estimate
        ---  ------  --------
        a    m0        0.5000
             m1        0.5000
        ...  ...          ...
        a    m1000     0.5000

        998 of 1,001 rows left out.
        """
    )
    assert len(render(result).splitlines()) == 2 + 60 + 1 + 2
    assert len(render(result, limit=None).splitlines()) == 2 + 1_001
    assert len(render(result, limit=1_001).splitlines()) == 2 + 1_001


def test_narrow_lines_give_up_details_but_no_estimates(result):
    assert len(render(result).splitlines()[0]) == 78
    assert render(result, width=78) == render(result)
    lines = render(result, width=60).splitlines()
    assert len(lines[0]) == 55
    assert lines[-1] == "Not shown at 60 characters: std_error, n_clusters."
    assert "estimate [lower, upper]" in render(result, width=1)


def test_names_cannot_steer_a_terminal():
    name = "a\x1b[2Jb\u202e"
    shown = render(pl.DataFrame({"model": [name], "metric": "aurc", "estimate": 0.5}))
    assert "a\\u001b[2Jb\\u202e" in shown


def test_group_keys_are_labels_whatever_their_type():
    result = pl.DataFrame(
        {
            "year": [2024, 2024, None],
            "held_out": [True, False, False],
            "metric": ["aurc", "aurc", "aurc"],
            "estimate": [0.5, 0.5, 0.5],
        }
    )
    assert render(result) == text(
        """
        year  held_out  metric  estimate
        ----  --------  ------  --------
        2024  True      aurc      0.5000
              False     aurc      0.5000
        -     False     aurc      0.5000
        """
    )


@pytest.mark.parametrize(
    ("value", "digits", "written"),
    [
        (0.0, 4, "0.0000"),
        (-0.0, 4, "0.0000"),
        (0.0001, 4, "0.0001"),
        (0.00009, 4, "9e-05"),
        (-1.23456e-7, 4, "-1.2e-07"),
        (1234.5, 1, "1234.5"),
        (1.5e30, 4, "1.5e+30"),
        (0.25, 0, "0.2"),
        (3.0, 0, "3"),
        (float("nan"), 4, "nan"),
        (float("-inf"), 4, "-inf"),
        (None, 4, "-"),
    ],
)
def test_numbers(value, digits, written):
    result = pl.DataFrame(
        {"metric": ["m"], "estimate": [value]}, schema_overrides={"estimate": pl.Float64}
    )
    assert render(result, digits=digits).split()[-1] == written


def test_any_other_table_reads_as_it_is():
    curve = pl.DataFrame({"coverage": [0.5, 1.0], "threshold": [0.9, 0.2], "count": [1, 2_000]})
    assert render(curve, digits=1) == text(
        """
        coverage  threshold  count
        --------  ---------  -----
             0.5        0.9      1
             1.0        0.2  2,000
        """
    )


def test_no_rows():
    result = pl.DataFrame(schema={"metric": pl.String, "estimate": pl.Float64, "n": pl.UInt32})
    assert render(result, level=0.95) == text(
        """
        metric  estimate  n
        ------  --------  -

        No rows.
        """
    )


def test_lazy_is_the_same(result):
    assert render(result.lazy()) == render(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"digits": -1}, "digits is -1; choose 0 or more"),
        ({"limit": 1}, "limit is 1; choose 2 or more rows, or None for all"),
        ({"level": 95}, "level must lie between 0 and 1, got 95"),
    ],
)
def test_arguments_out_of_range(result, arguments, message):
    with pytest.raises(ParameterError, match=message):
        render(result, **arguments)  # type: ignore[arg-type]
