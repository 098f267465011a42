"""Comparison of two conditions with independent runs: Welch's test and Cohen's d."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import Frame, IntoExpr
from evalframe.survey.inference.common import check_columns

_ROUNDING = 1e-28
"""Squared standard errors below it, relative to the squared means, are rounding."""

_LABELS = {"negligible": 0.2, "small": 0.5, "medium": 0.8}
"""Upper bounds of the effects; others are large."""

RESULT = (
    "left",
    "right",
    "mean_left",
    "mean_right",
    "delta",
    "t",
    "df",
    "p_value",
    "cohens_d",
    "effect",
    "n_left",
    "n_right",
)
"""Columns of the result after the keys."""


@like_input
def welch_test(
    runs: Frame,
    *,
    between: IntoExpr = "condition",
    value: IntoExpr = "score",
    by: IntoExpr | Sequence[IntoExpr] | None = None,
    conditions: tuple[str, str] | None = None,
) -> pl.LazyFrame:
    """Test two conditions for a difference of means, with unequal variances.

    Runs of the conditions must be independent. If they are paired, as the same segments at two
    temperatures are, `sign_flip_test` with the segments as keys is far more powerful.

    Args:
        runs: One row per run: its mean score.
        between: The conditions, as text.
        value: Null or NaN is missing.
        by: Group keys, such as experiments; each group is tested.
        conditions: The left and the right one; by default the two of the table, sorted.

    Returns:
        by..., `left`, `right`, `mean_left`, `mean_right`, `delta` (right minus left), `t` (of
        delta), `df` (Welch-Satterthwaite), `p_value` (two-sided, null if a side has fewer than two
        runs or nothing varies), `cohens_d` (delta over the pooled standard deviation), `effect`
        (`negligible` below 0.2, `small` below 0.5, `medium` below 0.8, `large`), `n_left`,
        `n_right`. Sorted by the keys.

    Raises:
        ParameterError: There are not two conditions.

    References:
        Welch (1947), The generalization of Student's problem; Cohen (1988), Statistical power
        analysis.

    Examples:
        >>> runs = pl.DataFrame({"condition": [*"aaabbb"], "score": [1, 2, 3, 3, 4, 5]})
        >>> test = welch_test(runs)
        >>> test.select(pl.col("delta", "t", "df", "p_value", "cohens_d").round(4)).row(0)
        (2.0, 2.4495, 4.0, 0.0705, 2.0)
    """
    rows, keys = compared(runs, by, between, value, conditions)
    error = pl.col(":left") + pl.col(":right")
    varies = error > _ROUNDING * (pl.col("mean_left") ** 2 + pl.col("mean_right") ** 2)
    t, df, d = statistics(varies)
    return result_of(rows, keys, t, df, _student_p(t, df), d)


def compared(
    runs: Frame,
    by: IntoExpr | Sequence[IntoExpr] | None,
    between: IntoExpr,
    value: IntoExpr,
    conditions: tuple[str, str] | None,
    *,
    need_both: bool = True,
) -> tuple[pl.LazyFrame, Keys]:
    """Sizes, means, squared standard errors and the pooled standard deviation of two conditions."""
    keys, runs, side = Keys.of(by, taken=RESULT), lazy(runs), as_expr(between).alias(":side")
    number = as_expr(value).cast(pl.Float64).fill_nan(None).alias(":value")
    check_columns("welch_test", runs, [*keys.exprs, side, number])
    rows = runs.select(*keys.select(), side, number)
    levels = rows.select(pl.col(":side").drop_nulls().unique().sort()).collect()[":side"].to_list()
    left, right = conditions or (levels if len(levels) == 2 else (None, None))
    lacks_one = need_both and not {left, right} <= {*levels}
    if left is None or right is None or left == right or lacks_one:
        raise ParameterError(
            f"welch_test compares two conditions, found {levels}; name two of them in conditions"
        )
    moments: dict[str, pl.Expr] = {}
    for name, condition in (("left", left), ("right", right)):
        values = pl.col(":value").filter(pl.col(":side") == condition).drop_nulls()
        moments |= {f"n_{name}": values.len().cast(pl.Int64), f"mean_{name}": values.mean()}
        moments[f":var_{name}"] = values.var()
    table = rows.group_by(keys.inner).agg(**moments) if keys.names else rows.select(**moments)
    n = [pl.col(f"n_{side}").cast(pl.Float64) for side in ("left", "right")]
    variance = [pl.col(f":var_{side}") for side in ("left", "right")]
    pooled = ((n[0] - 1) * variance[0] + (n[1] - 1) * variance[1]) / (n[0] + n[1] - 2)
    table = table.with_columns(
        pl.lit(left).alias("left"),
        pl.lit(right).alias("right"),
        (pl.col("mean_right") - pl.col("mean_left")).alias("delta"),
        (variance[0] / n[0]).alias(":left"),
        (variance[1] / n[1]).alias(":right"),
        pooled.sqrt().alias(":pooled"),
    )
    return table, keys


def statistics(varies: pl.Expr) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """The statistic t, its degrees of freedom and Cohen's d; null where nothing varies."""
    left, right, delta = pl.col(":left"), pl.col(":right"), pl.col("delta")
    spare = [pl.col(f"n_{side}").cast(pl.Float64) - 1 for side in ("left", "right")]
    t = pl.when(varies).then(delta / (left + right).sqrt())
    df = pl.when(varies).then((left + right) ** 2 / (left**2 / spare[0] + right**2 / spare[1]))
    d = pl.when((pl.col(":pooled") > 0) & varies).then(delta / pl.col(":pooled"))
    return t, df, d


def result_of(
    table: pl.LazyFrame, keys: Keys, t: pl.Expr, df: pl.Expr, p_value: pl.Expr, d: pl.Expr
) -> pl.LazyFrame:
    """The result from the differences and the expressions of a test."""
    size = pl.col("cohens_d").abs()
    label = pl.lit("large")
    for name, limit in reversed(_LABELS.items()):
        label = pl.when(size < limit).then(pl.lit(name)).otherwise(label)
    effect = pl.when(size.is_not_null()).then(label)
    tests = table.with_columns(t=t, df=df, p_value=p_value, cohens_d=d).with_columns(effect=effect)
    result = tests.select(*keys.inner, *RESULT)
    return result.sort(keys.inner).rename(keys.restore()) if keys.names else result


def _student_p(t: pl.Expr, df: pl.Expr) -> pl.Expr:
    """Two-sided p-values of Student's t."""

    def p_values(columns: Sequence[pl.Series]) -> pl.Series:
        from scipy.special import stdtr

        statistic, freedom = (column.cast(pl.Float64).to_numpy() for column in columns)
        return pl.Series(values=2 * stdtr(freedom, -abs(statistic)), nan_to_null=True)

    return pl.map_batches([t, df], p_values, return_dtype=pl.Float64, is_elementwise=True)
