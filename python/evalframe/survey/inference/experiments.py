"""Comparison of two conditions whose runs share nothing: Welch's test and Cohen's d."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import check_rules
from evalframe.core.tables import Keys, lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr

_POLYNOMIAL = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
_STEP = 0.2316419
"""Constants of Abramowitz and Stegun, 26.2.17."""

_ROUNDING = 1e-28
"""Squared standard errors below it, relative to the squared means, are rounding."""

_LABELS = {"negligible": 0.2, "small": 0.5, "medium": 0.8}
"""Effects below these numbers are called so; others are large."""

_RESULT = (
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


def welch_test(
    runs: Frame,
    *,
    between: IntoExpr = "condition",
    value: IntoExpr = "score",
    by: IntoExpr | Sequence[IntoExpr] | None = None,
    conditions: tuple[str, str] | None = None,
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Test two conditions for a difference of means, with unequal variances.

    Runs of one condition must not belong to runs of the other; where they do, as for the same
    segments at two temperatures, `sign_flip_test` with the segments as keys is far more powerful.

    Args:
        runs: One row per run: its mean score.
        between: The conditions, as text.
        value: Null or NaN is missing.
        by: Test within each group of these keys, such as experiments.
        conditions: The left and the right one; by default the two that there are, in sorted order.
        rules: `documented`: p-values of Student's t, null where a side has fewer than two runs or
            nothing varies. `reference`: of the normal distribution, which is too small for few
            runs; then t is 0 and p is 1, also for a condition in `conditions` without runs, and
            df is 0 for fewer than two runs, else that of equal variances.

    Returns:
        by..., `left`, `right`, `mean_left`, `mean_right`, `delta` (right minus left), `t` (of
        delta), `df` (Welch-Satterthwaite), `p_value` (two-sided), `cohens_d` (delta over the pooled
        standard deviation), `effect` (`negligible` below 0.2, `small` below 0.5, `medium` below
        0.8, `large`), `n_left`, `n_right`. Sorted by the keys. Lazy.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: There are not two conditions.

    References:
        Welch (1947), The generalization of Student's problem; Cohen (1988), Statistical power
        analysis. dtef-app 52d79c0, its experiments.

    Examples:
        >>> import polars as pl
        >>> runs = pl.DataFrame(
        ...     {"condition": ["a", "a", "a", "b", "b", "b"], "score": [1, 2, 3, 3, 4, 5]}
        ... )
        >>> test = welch_test(runs).collect()
        >>> test.select(pl.col("delta", "t", "df", "p_value", "cohens_d").round(4)).row(0)
        (2.0, 2.4495, 4.0, 0.0705, 2.0)
    """
    check_rules(rules)
    keys, rows = Keys.of(by, taken=_RESULT), lazy(runs)
    side, column = as_expr(between), as_expr(value).cast(pl.Float64).fill_nan(None)
    present = rows.collect_schema().names()
    exprs = [*keys.exprs, side, column]
    if missing := columns_read(exprs) - {*present}:
        raise MissingColumnsError.of("welch_test", missing, present)
    known = rows.select(*keys.select(), side.alias(":side"), column.alias(":value"))
    sides = known.select(pl.col(":side").drop_nulls().unique().sort()).collect()
    found = sides[":side"].to_list()
    left, right = conditions or (found if len(found) == 2 else (None, None))
    of_original = rules == "reference" and left is not None is not right
    if left == right or not (of_original or {left, right} <= {*found}):
        raise ParameterError(
            f"welch_test compares two conditions, found {found}; name two of them in conditions"
        )
    moments: dict[str, pl.Expr] = {}
    for name, condition in (("left", left), ("right", right)):
        values = pl.col(":value").filter(pl.col(":side") == condition).drop_nulls()
        moments |= {f"n_{name}": values.len().cast(pl.Int64), f"mean_{name}": values.mean()}
        moments[f":var_{name}"] = values.var()
    table = known.group_by(keys.inner).agg(**moments) if keys.names else known.select(**moments)
    named = table.with_columns(left=pl.lit(left), right=pl.lit(right)).with_columns(_difference())
    tested = named.with_columns(*_tests(rules)).with_columns(_effect())
    shown = tested.select(*keys.inner, *_RESULT)
    return shown.sort(keys.inner).rename(keys.restore()) if keys.names else shown


def _difference() -> list[pl.Expr]:
    """Of means, its squared standard error by sides, and the pooled standard deviation."""
    n = [pl.col(f"n_{side}").cast(pl.Float64) for side in ("left", "right")]
    variance = [pl.col(f":var_{side}") for side in ("left", "right")]
    pooled = ((n[0] - 1) * variance[0] + (n[1] - 1) * variance[1]) / (n[0] + n[1] - 2)
    return [
        (pl.col("mean_right") - pl.col("mean_left")).alias("delta"),
        (variance[0] / n[0]).alias(":left"),
        (variance[1] / n[1]).alias(":right"),
        pooled.sqrt().alias(":pooled"),
    ]


def _tests(rules: Rules) -> list[pl.Expr]:
    left, right, delta = pl.col(":left"), pl.col(":right"), pl.col("delta")
    spare = [pl.col(f"n_{side}").cast(pl.Float64) - 1 for side in ("left", "right")]
    varies = left + right > _ROUNDING * (pl.col("mean_left") ** 2 + pl.col("mean_right") ** 2)
    if rules == "reference":
        varies = left + right > 0
    t = pl.when(varies).then(delta / (left + right).sqrt())
    df = pl.when(varies).then((left + right) ** 2 / (left**2 / spare[0] + right**2 / spare[1]))
    d = pl.when((pl.col(":pooled") > 0) & varies).then(delta / pl.col(":pooled"))
    if rules == "reference":
        p = 2 * (1 - _normal_cdf(t.abs()))
        enough = pl.min_horizontal(spare) >= 1
        nothing = pl.when(enough).then(spare[0] + spare[1]).otherwise(0.0)
        exprs = [t.fill_null(0.0), df.fill_null(nothing), p.fill_null(1.0), d.fill_null(0.0)]
    else:
        exprs = [t, df, _student_p(t, df), d]
    names = ("t", "df", "p_value", "cohens_d")
    return [expr.alias(name) for expr, name in zip(exprs, names, strict=True)]


def _effect() -> pl.Expr:
    size = pl.col("cohens_d").abs()
    label = pl.lit("large")
    for name, bound in reversed(_LABELS.items()):
        label = pl.when(size < bound).then(pl.lit(name)).otherwise(label)
    return pl.when(size.is_not_null()).then(label).alias("effect")


def _normal_cdf(x: pl.Expr) -> pl.Expr:
    """Of numbers from 0, to some 1e-7, as the original has it."""
    step = 1 / (1 + _STEP * x)
    tail = pl.lit(0.0)
    for constant in reversed(_POLYNOMIAL):
        tail = step * (constant + tail)
    return 1 - (-x * x / 2).exp() / math.sqrt(2 * math.pi) * tail


def _student_p(t: pl.Expr, df: pl.Expr) -> pl.Expr:
    """Two-sided p-values of Student's t."""

    def p_values(columns: Sequence[pl.Series]) -> pl.Series:
        from scipy.special import stdtr

        statistic, freedom = (column.cast(pl.Float64).to_numpy() for column in columns)
        return pl.Series(values=2 * stdtr(freedom, -abs(statistic)), nan_to_null=True)

    return pl.map_batches([t, df], p_values, return_dtype=pl.Float64, is_elementwise=True)
