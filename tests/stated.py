"""Tables of stated confidences and outcomes for tests."""

import math

import polars as pl


def items(confidence, correct, **more):
    """A table of answers; both columns are Float64 whatever they hold."""
    types = {"confidence": pl.Float64, "correct": pl.Float64}
    return pl.DataFrame(
        {"confidence": confidence, "correct": correct, **more}, schema_overrides=types
    )


HARD = items(
    [0.0, 0.1, 0.3, 0.3, 0.30000000000000004, 0.6, 0.7, 0.7, 1.0, 1.0, None, math.nan, 1.5, 0.55]
    * 3,
    [0, 1, 1, 0, 1, 0.5, 1, 1, 1, 0, 1, 0, 1, None] * 3,
    model=(["a", "b", None, "a", "b", "a", "a"] * 6),
    person=[0, 1, 2, 3, 0, 1, 2, 4, 4, 4, 5, 6, 0, 2, 1, 1, 1, 3, 3, 2, 2] * 2,
    weight=[1.0, 2.0, 0.5, 0.0, 3.0, 1.0] * 7,
)
"""Ties, edges of bins, shares, values out of range, null, NaN; groups, clusters and weights."""
