"""Sampling noise of dtef-app 52d79c0.

| | evalframe.survey | dtef |
|---|---|---|
| expected divergence | (k - 1) / (8 n ln 2), of Jensen-Shannon | (k - 1) / (2 n ln 2), \
of Kullback-Leibler: the distance is doubled |
| few respondents | at least 0 | below 0 |
| no respondents, or one option | null; 1 for one option | 0 |
| ceiling not above the uniform score | null | 0 |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.survey import noise

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr

_FACTOR = 2.0


def noise_ceiling(
    n_options: IntoExpr = "n_options", sample_size: IntoExpr = "sample_size"
) -> pl.Expr:
    """`computeNoiseFloor`, whose divergence is that of Kullback and Leibler.

    Examples:
        >>> import polars as pl
        >>> pairs = pl.DataFrame({"n_options": [4, 4], "sample_size": [50, 1000]})
        >>> pairs.select(noise_ceiling().round(3)).to_series().to_list()
        [0.792, 0.953]
    """
    k, n = as_expr(n_options), as_expr(sample_size)
    is_undefined = ((n <= 0) | (k <= 1)).fill_null(value=False)
    ceiling = pl.when(is_undefined).then(0.0).otherwise(noise.ceiling_of(k, n, _FACTOR))
    return ceiling.fill_nan(None).alias("noise_ceiling")


def normalised_score(
    score: IntoExpr = "score", uniform: IntoExpr = "uniform", ceiling: IntoExpr = "noise_ceiling"
) -> pl.Expr:
    """The normalised score, 0 if the ceiling is not above the uniform score."""
    inputs = [as_expr(each).cast(pl.Float64) for each in (score, uniform, ceiling)]
    is_complete = pl.all_horizontal(each.is_not_null() for each in inputs)
    is_below = is_complete & ~(inputs[2] > inputs[1])
    position = noise.normalised_score(*inputs)
    return pl.when(is_below).then(0.0).otherwise(position).alias("normalised_score")
