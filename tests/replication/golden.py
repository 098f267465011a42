"""Golden values of replication: inputs with names for what JSON lacks, and how near outputs are."""

import math

import polars as pl
import pytest

_SPECIAL = {"inf": math.inf, "-inf": -math.inf, None: math.nan}


def number(value):
    """A golden input: null is NaN."""
    return _SPECIAL[value] if value in _SPECIAL else float(value)


def near(value):
    """A golden output: null is undefined."""
    return None if value is None else pytest.approx(number(value), rel=1e-12, abs=1e-12)


def cases(golden, name, family):
    """The golden cases of a family, of which there are some."""
    found = [case for case in golden(f"replication/{name}") if case["inputs"]["family"] == family]
    assert found, family
    return found


def value(expr):
    """The value of an expression of one row."""
    return pl.DataFrame({"row": [0]}).select(expr.fill_nan(None)).item()


def lit(x):
    return pl.lit(x, dtype=pl.Float64)
