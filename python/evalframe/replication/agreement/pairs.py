"""Agreement of weighted pairs within groups of a frame, in two passes over the rows.

For tables; as a mergeable state the same quantities are in `concordance`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.state import ratio
from evalframe.replication.agreement.fisher import fisher_z

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

_FLAT = 1e-10

_LEAST = 1e-290
"""Sums of squares below this have lost digits, and what is divided by them."""


def pair_sums(
    rows: pl.LazyFrame, group: Sequence[str], x: str, y: str, weight: str
) -> pl.LazyFrame:
    """What pairs add up to within groups.

    In two passes over columns rather than within the aggregation, which would then not stream.

    Args:
        rows: Pairs.
        group: Columns of the group; none for all rows as one.
        x: Column of one side.
        y: Column of the other.
        weight: Column of weights; pairs without a finite one above 0 do not count.

    Returns:
        The group, `n_tests` (pairs that count), `n_missing` (others), and sums for
        `agreement_values`, in no order.
    """
    w = pl.col(weight)
    valid = pl.all_horizontal(pl.col(x).is_finite(), pl.col(y).is_finite(), w.is_finite(), w > 0)
    names = {x: "x", y: "y", weight: "w"}
    masked = rows.select(
        *group, *(pl.when(valid).then(old).alias(new) for old, new in names.items())
    )
    x_, y_, w_ = (pl.col(name) for name in names.values())
    centres = {"mean_x": (w_ * x_).sum() / w_.sum(), "mean_y": (w_ * y_).sum() / w_.sum()}
    if group:
        centres = {name: centre.over(group) for name, centre in centres.items()}
    centred = masked.with_columns(**centres)
    from_x, from_y, gap = x_ - pl.col("mean_x"), y_ - pl.col("mean_y"), y_ - x_
    products = centred.select(
        *group,
        *names.values(),
        *centres,
        gap=w_ * gap,
        gap_squares=w_ * gap**2,
        rest_x=w_ * from_x,
        rest_y=w_ * from_y,
        x_squares=w_ * from_x**2,
        y_squares=w_ * from_y**2,
        products=w_ * from_x * from_y,
    )
    sums = ("gap", "gap_squares", "rest_x", "rest_y", "x_squares", "y_squares", "products")
    aggregations = [
        pl.col(sums).sum(),
        pl.col([*centres]).first(),
        w_.sum().alias("mass"),
        (x_.max() > x_.min()).alias("x_varies"),
        (y_.max() > y_.min()).alias("y_varies"),
        x_.count().cast(pl.Int64).alias("n_tests"),
        x_.null_count().cast(pl.Int64).alias("n_missing"),
    ]
    added = products.group_by(group).agg(aggregations) if group else products.select(aggregations)
    # What the rounding of the means left is taken off again.
    mass, rest_x, rest_y = pl.col("mass"), pl.col("rest_x"), pl.col("rest_y")
    return added.with_columns(
        pl.col("gap") / mass,
        pl.col("x_squares") - rest_x**2 / mass,
        pl.col("y_squares") - rest_y**2 / mass,
        pl.col("products") - rest_x * rest_y / mass,
    ).drop("rest_x", "rest_y")


def p_null(r: IntoExpr = "pearson", n: IntoExpr = "n_tests") -> pl.Expr:
    """Two-sided p-value of a correlation against none, by Fisher's z: 2 (1 - Phi(|z| sqrt(n - 3))).

    Args:
        r: Correlation, between -1 and 1.
        n: How many pairs it is of.

    Returns:
        Float64 in [0, 1], named `p_null`; null where r is null, -1 or 1 or beyond, or n below 4.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import p_null
        >>> pl.select(p_null(pl.lit(0.5), pl.lit(19))).to_series().round(6).item()
        0.028004
    """
    correlation, count = as_expr(r).cast(pl.Float64), as_expr(n).cast(pl.Float64)
    defined = (correlation.abs() < 1.0) & (count >= 4.0)
    z = pl.when(defined).then(fisher_z(correlation).abs() * (count - 3.0).sqrt())
    return z.map_batches(_two_tails, return_dtype=pl.Float64, is_elementwise=True).alias("p_null")


def _two_tails(z: pl.Series) -> pl.Series:
    import numpy as np
    from scipy.special import erfc

    return pl.Series(z.name, erfc(z.to_numpy() / np.sqrt(2.0)), nan_to_null=True)


def agreement_values(
    rules: Rules, named: Mapping[str, pl.Expr] | None = None
) -> dict[str, pl.Expr]:
    """From the sums of pairs: `ecs`, `pearson`, `slope`, `intercept`.

    Args:
        rules: See `evalframe.replication.agreement.ecs`.
        named: The sums by name; by default the columns that `pair_sums` gives.
    """
    c = pl.col if named is None else named.__getitem__
    original = rules == "reference"
    least = 0.0 if original else _LEAST
    vary = c("x_varies") & c("y_varies")
    varies = c("x_varies") | c("y_varies")
    twice = 2.0 * c("products")
    # Lin's divisor by the mean square of y - x, of which nothing large cancels.
    lin = twice + c("gap_squares")
    divisor = c("x_squares") + c("y_squares") + c("gap") ** 2 if original else lin
    same = pl.lit(1.0) if original else (c("gap_squares") == 0.0).cast(pl.Float64)
    concordance = (
        pl.when(vary)
        .then(_quotient(twice, divisor, least).clip(-1.0, 1.0))
        .when(varies)
        .then(0.0)
        .otherwise(same)
    )
    scale = c("x_squares").sqrt() * c("y_squares").sqrt()
    apart = _quotient(c("products"), scale, least)
    correlation = pl.when(vary).then(apart.clip(-1.0, 1.0))
    slope = pl.when(c("x_varies")).then(_quotient(c("products"), c("x_squares"), least))
    return {
        "ecs": concordance,
        "pearson": correlation.otherwise(0.0) if original else correlation,
        "slope": slope,
        "intercept": c("mean_y") - slope * c("mean_x"),
    }


def _quotient(numerator: pl.Expr, divisor: pl.Expr, least: float) -> pl.Expr:
    """The quotient, null where a side is no number or the divisor is not above the least."""
    known = numerator.is_finite() & divisor.is_finite() & (divisor.abs() > least)
    return pl.when(known).then(numerator / divisor)


def both_spread() -> pl.Expr:
    """From the sums of pairs: whether both standard deviations exceed 1e-10."""
    smallest = pl.min_horizontal("x_squares", "y_squares")
    return ratio(smallest, pl.col("mass")).sqrt() > _FLAT
