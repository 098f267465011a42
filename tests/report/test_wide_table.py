"""Wide tables for readers: intervals, nulls, keys that repeat, narrow terminals."""

import polars as pl
import pytest

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.reporting.table import wide_table

RATES = pl.DataFrame(
    {
        "model": ["a", "a", None],
        "noise_rate": [0.0, 0.8, 0.0],
        "n": [1200, 300, 0],
        "accuracy": [0.9, 0.75, None],
        "accuracy_lower": [0.86, 0.7, None],
        "accuracy_upper": [0.93, 0.8, None],
        "rejected": [0.0, 0.25, None],
        "rejected_lower": [None, None, None],
        "rejected_upper": [None, None, None],
        "judged": [None, None, None],
    },
    schema_overrides={"judged": pl.Float64},
)
KEYS = ["model", "noise_rate"]
SHOWN = {"n": "n", "accuracy": "accuracy", "rejected": "refused", "judged": "judged"}


def test_a_table_with_intervals_nulls_and_a_column_of_nothing():
    assert wide_table(RATES, KEYS, SHOWN, digits=2, level=0.9).splitlines() == [
        "model  noise_rate      n  accuracy [lower, upper]  refused",
        "-----  ----------  -----  -----------------------  -------",
        "a             0.0  1,200        0.90 [0.86, 0.93]     0.00",
        "              0.8    300        0.75 [0.70, 0.80]     0.25",
        "-             0.0      0           -                     -",
        "",
        "90% intervals in brackets.",
    ]


def test_markdown_repeats_keys_and_says_no_level_without_one():
    lines = wide_table(RATES, KEYS, {"accuracy": "accuracy"}, markdown=True).splitlines()
    assert len(lines) == 5
    assert lines[3].startswith("| a     |        0.8 |")
    assert "intervals" not in lines[-1]


def test_columns_go_from_the_right_in_a_narrow_terminal():
    text = wide_table(RATES, KEYS, SHOWN, digits=2, level=0.9, width=46)
    assert text.splitlines()[0] == "model  noise_rate      n"
    assert text.endswith("Not shown at 46 characters: accuracy [lower, upper], refused.")


def test_no_rows_and_no_keys():
    assert wide_table(RATES.clear(), KEYS, {"n": "n"}).endswith("No rows.")
    assert wide_table(RATES.head(1), [], {"n": "n"}).splitlines() == ["    n", "-----", "1,200"]


def test_refusals():
    with pytest.raises(MissingColumnsError, match="Did you mean 'accuracy'"):
        wide_table(RATES, KEYS, {"acuracy": "accuracy"})
    with pytest.raises(ParameterError, match="digits is -1"):
        wide_table(RATES, KEYS, SHOWN, digits=-1)
