"""PAS of studies pooled by their precision."""

from __future__ import annotations

import polars as pl

from evalframe.core.typing import IntoExpr
from evalframe.replication.agreement.posteriors import possible_share
from evalframe.replication.numbers import finite, raw_number

_LEAST = 1e-10


def inverse_variance_pas(pas: IntoExpr = "pas", std_error: IntoExpr = "std_error") -> pl.Expr:
    """PAS of several studies, weighted by w = 1 / SE², and its standard error 1 / sqrt(sum w).

    An aggregation. A study whose standard error is unknown, or below 1e-10, has no weight if any
    other study has one. Without weights the PAS is the plain mean, and its standard error the root
    of the sum of SE² over the number of studies, unknown ones counted as 0.

    Args:
        pas: PAS of the studies; null, NaN and those outside [0, 1] are left out.
        std_error: Their standard errors.

    Returns:
        Struct of Float64 `pas` and `std_error`, named `inverse_variance_pas`; both null without a
        study, the standard error also if none is known.

    References:
        HumanStudy-Bench (HEAD of February 2026), `pas_agg` and `pas_agg_se`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import inverse_variance_pas
        >>> studies = pl.DataFrame({"pas": [0.5, 0.7], "std_error": [0.1, 0.2]})
        >>> pooled = studies.select(inverse_variance_pas()).unnest("inverse_variance_pas")
        >>> pooled.select(pl.all().round(6)).rows()
        [(0.54, 0.089443)]
    """
    share, error = possible_share(raw_number(pas)), finite(std_error)
    pooled, spread = pooled_by_precision(share, error)
    known = pl.when(share.is_not_null()).then(error).count() > 0
    return pl.struct(pooled.alias("pas"), pl.when(known).then(spread).alias("std_error")).alias(
        "inverse_variance_pas"
    )


def pooled_by_precision(share: pl.Expr, error: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """The pooled share and its standard error; 0 if no error is known, null without a share."""
    known = pl.when(share.is_not_null()).then(error)
    weight = pl.when(known >= _LEAST).then(known**-2.0)
    total, count = weight.sum(), share.count()
    pooled = (weight * share).sum() / total
    rough: pl.Expr = (known**2).sum().sqrt() / count
    value: pl.Expr = pl.when(total > 0.0).then(pooled).otherwise(share.mean())
    spread: pl.Expr = pl.when(total > 0.0).then(total**-0.5).when(count > 0).then(rough)
    return value, spread
