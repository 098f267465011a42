"""Mean and standard deviation of a statistic over resampled rows, as the original's helper has it.

| case | `rules="documented"` | `rules="reference"` |
|---|---|---|
| no rows | null, null | 0, 0 |
| no replicate is finite | null, null | the statistic of all rows, 0 |
| one replicate is finite | it, null | it, 0 |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rules import Rules, check_choice
from evalframe.core.tables import Keys, lazy

if TYPE_CHECKING:
    from evalframe.core.typing import Frame
    from evalframe.evaluation import By


def bootstrap_moments(
    rows: Frame,
    statistic: pl.Expr,
    *,
    by: By = None,
    n: int = 1000,
    seed: int = 42,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Mean and standard deviation of any statistic over rows drawn with replacement.

    For a statistic that nothing else here resamples. Scores have intervals of their own, in
    `model_scores`, `ecs` and `participant_intervals`, and metrics in `ef.evaluate`.

    Args:
        rows: What is drawn: in each group as many as there are.
        statistic: An aggregating expression.
        by: Group keys.
        n: Number of replicates.
        seed: Of the draws.
        rules: What a group without a finite replicate has.

    Returns:
        by..., `mean` and `std_error` (Float64: standard deviation with ddof 1, of the replicates
        that are finite), `n_replicates` (Int64, how many are). Sorted by the keys. Lazy; drawn at
        once.

    Raises:
        ParameterError: An argument lies outside its domain.

    References:
        HumanStudy-Bench (HEAD of February 2026), its bootstrap of standard errors.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.uncertainty import bootstrap_moments
        >>> studies = pl.DataFrame({"pas": [0.2, 0.4, 0.6, 0.8]})
        >>> bootstrap_moments(studies, pl.col("pas").median()).collect().select(
        ...     pl.col("mean", "std_error").round(2), "n_replicates"
        ... ).rows()
        [(0.49, 0.15, 1000)]
    """
    import numpy as np

    from evalframe.core.states import CLUSTER
    from evalframe.resample.contraction import GROUP
    from evalframe.resample.join import replicates
    from evalframe.resample.methods import Bootstrap

    check_choice("rules", rules, Rules)
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
    drawn = replicates(method, numbered, [statistic], len(groups))[0][0]
    known = np.isfinite(drawn)
    count = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(known, drawn, 0.0).sum(axis=0) / count
        squares = (np.where(known, drawn - mean, 0.0) ** 2).sum(axis=0)
        spread = np.sqrt(squares / (count - 1))
    found = groups.with_columns(
        pl.Series("mean", mean),
        pl.Series("std_error", np.where(count > 1, spread, np.nan)),
        pl.Series("n_replicates", count, dtype=pl.Int64),
    )
    found = found.with_columns(pl.col("mean", "std_error").fill_nan(None))
    if rules == "reference":
        whole = numbered.group_by(GROUP).agg(statistic.cast(pl.Float64).alias("whole"))
        whole = groups.join(whole, on=GROUP, how="left", maintain_order="left")
        found = found.with_columns(
            pl.col("mean").fill_null(whole["whole"]).fill_null(0.0),
            pl.col("std_error").fill_null(0.0),
        )
    return found.drop(GROUP).lazy().rename(keys.restore())
