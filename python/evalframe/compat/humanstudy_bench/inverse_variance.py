"""PAS of studies pooled by their precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.rules import Rules, check_choice
from evalframe.replication.agreement.possible import possible_share

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr

_LEAST = 1e-10


def inverse_variance_pas(
    pas: IntoExpr = "pas", std_error: IntoExpr = "std_error", *, rules: Rules = "documented"
) -> pl.Expr:
    """PAS of several studies, weighted by w = 1 / SE^2, and its standard error 1 / sqrt(sum w).

    An aggregation. A study whose standard error is not known, or below 1e-10, has no weight if any
    other study has one. If none has, the PAS is the plain mean, and its standard error the root of
    the sum of SE^2 over the number of studies, unknown ones counted as 0.

    Args:
        pas: PAS of the studies; null, NaN and those outside [0, 1] are left out.
        std_error: Their standard errors.
        rules: `reference` gives 0 for both where there is no study, and a standard error of 0 where
            none is known; only infinite PAS lie outside then.

    Returns:
        Struct of Float64 `pas` and `std_error`, named `inverse_variance_pas`; both null without a
        study, the standard error also where none is known.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026), `pas_agg` and `pas_agg_se`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import inverse_variance_pas
        >>> studies = pl.DataFrame({"pas": [0.5, 0.7], "std_error": [0.1, 0.2]})
        >>> pooled = studies.select(inverse_variance_pas()).unnest("inverse_variance_pas")
        >>> pooled.select(pl.all().round(6)).rows()
        [(0.54, 0.089443)]
    """
    check_choice("rules", rules, Rules)
    given, error = (as_expr(column).cast(pl.Float64) for column in (pas, std_error))
    share = possible_share(given)
    if rules == "reference":
        share = pl.when(given.is_finite()).then(given)
    known = pl.when(error.is_finite() & share.is_not_null()).then(error)
    weight = pl.when(known >= _LEAST).then(known**-2.0)
    total, count = weight.sum(), share.count()
    pooled = (weight * share).sum() / total
    rough: pl.Expr = (known**2).sum().sqrt() / count
    if rules == "documented":
        rough = pl.when(known.count() > 0).then(rough)
    value: pl.Expr = pl.when(total > 0.0).then(pooled).otherwise(share.mean())
    spread: pl.Expr = pl.when(total > 0.0).then(total**-0.5).when(count > 0).then(rough)
    if rules == "reference":
        value, spread = value.fill_null(0.0), spread.fill_null(0.0)
    return pl.struct(value.alias("pas"), spread.alias("std_error")).alias("inverse_variance_pas")
