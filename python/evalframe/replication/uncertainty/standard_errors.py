"""Standard errors: of any statistic by a bootstrap of rows, and which of several to use."""

from __future__ import annotations

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import By, Frame, IntoExpr


@like_input
def bootstrap_moments(
    rows: Frame,
    statistic: pl.Expr,
    *,
    by: By = None,
    n: int = 1000,
    seed: int = 42,
) -> pl.LazyFrame:
    """Mean and standard deviation of any statistic over rows drawn with replacement.

    For other statistics than scores and metrics: these have intervals in `model_scores`, `ecs`,
    `participant_intervals` and `ef.evaluate`.

    Args:
        rows: Rows to draw, in each group as many as it has.
        statistic: An aggregating expression.
        by: Group keys.
        n: Number of replicates.
        seed: Seed of the draws.

    Returns:
        by..., `mean` (Float64, of the finite replicates, null without one), `std_error` (their
        standard deviation with ddof 1, null below two) and `n_replicates` (Int64, their number).
        Sorted by the keys. Computed at once.

    Raises:
        ParameterError: An argument is invalid.

    References:
        HumanStudy-Bench (HEAD of February 2026), its bootstrap of standard errors.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import bootstrap_moments
        >>> studies = pl.DataFrame({"pas": [0.2, 0.4, 0.6, 0.8]})
        >>> bootstrap_moments(studies, pl.col("pas").median()).select(
        ...     pl.col("mean", "std_error").round(2), "n_replicates"
        ... ).rows()
        [(0.49, 0.15, 1000)]
    """
    import numpy as np

    from evalframe.core.states import CLUSTER
    from evalframe.resample.contraction import GROUP
    from evalframe.resample.join import replicates
    from evalframe.resample.methods import Bootstrap

    keys = Keys.of(by, ["mean", "std_error", "n_replicates"])
    table = lazy(rows).with_columns(keys.select()).collect()
    if keys.inner:
        groups = table.select(keys.inner).unique().sort(keys.inner).with_row_index(GROUP)
        numbered = table.join(groups, on=keys.inner, nulls_equal=True, maintain_order="left")
    else:
        groups = pl.DataFrame({GROUP: [0]}, schema={GROUP: pl.UInt32})
        numbered = table.with_columns(pl.lit(0, dtype=pl.UInt32).alias(GROUP))
    numbered = numbered.with_columns(pl.int_range(pl.len()).over(GROUP).alias(CLUSTER))
    method = Bootstrap(cluster=CLUSTER, n=n, seed=seed)
    values = replicates(method, numbered, [statistic], len(groups))[0]
    finite = np.isfinite(values)
    count = finite.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(finite, values, 0.0).sum(axis=0) / count
        squares = (np.where(finite, values - mean, 0.0) ** 2).sum(axis=0)
        spread = np.sqrt(squares / (count - 1))
    moments = groups.with_columns(
        pl.Series("mean", mean),
        pl.Series("std_error", np.where(count > 1, spread, np.nan)),
        pl.Series("n_replicates", count, dtype=pl.Int64),
    )
    moments = moments.with_columns(pl.col("mean", "std_error").fill_nan(None))
    return moments.drop(GROUP).lazy().rename(keys.restore())


def preferred_std_error(
    repeat: IntoExpr | None = None,
    bootstrap: IntoExpr | None = "pas_std_error",
    stored: IntoExpr | None = None,
) -> pl.Expr:
    """The first valid standard error of a PAS: of repeated runs, of a bootstrap, or stored.

    A row-level expression; null, NaN, infinite and negative values are not valid. Repeated runs
    contain all variation, a bootstrap of participants only that of sampling them.

    Args:
        repeat: Standard error over repeated runs.
        bootstrap: Standard error of a bootstrap, such as that of `participant_intervals`.
        stored: Standard error stored with the scores.

    Returns:
        Struct of Float64 `std_error` and String `se_method` (`repeat`, `bootstrap`, `stored`),
        named `preferred_std_error`; both null without a valid one.

    Raises:
        ParameterError: All arguments are None.

    References:
        HumanStudy-Bench (HEAD of February 2026), `raw_se` and `se_method` of its legacy summary.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import preferred_std_error
        >>> studies = pl.DataFrame({"pas_std_error": [0.1, None], "score_se": [0.3, 0.2]})
        >>> studies.select(preferred_std_error(stored="score_se")).unnest(pl.all()).rows()
        [(0.1, 'bootstrap'), (0.2, 'stored')]
    """
    columns = {"repeat": repeat, "bootstrap": bootstrap, "stored": stored}
    errors = {name: _std_error(column) for name, column in columns.items() if column is not None}
    if not errors:
        raise ParameterError(f"name a column of standard errors: {', '.join(columns)}")
    methods = (pl.when(error.is_not_null()).then(pl.lit(name)) for name, error in errors.items())
    return pl.struct(
        pl.coalesce(*errors.values()).alias("std_error"),
        pl.coalesce(*methods).alias("se_method"),
    ).alias("preferred_std_error")


def _std_error(column: IntoExpr) -> pl.Expr:
    error = as_expr(column).cast(pl.Float64)
    return pl.when(error.is_finite() & (error >= 0)).then(error)
