"""Agreement of weighted pairs within groups of a frame, in two passes over the rows.

For tables; as a mergeable state the same quantities are in `concordance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.state import ratio
from evalframe.replication.agreement.fisher import fisher_z

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr
    from evalframe.replication.agreement.rules import Rules

_FLAT = 1e-10


@dataclass(frozen=True)
class Agreement:
    """What pairs come to within a group.

    Attributes:
        count: How many pairs count, an aggregation.
        sums: Aggregations, by name.
        values: From these sums: `ecs`, `pearson`, `slope`, `intercept`.
        spreads: From these sums: whether both standard deviations exceed 1e-10.
    """

    count: pl.Expr
    sums: dict[str, pl.Expr]
    values: dict[str, pl.Expr]
    spreads: pl.Expr


def agreement(x: str, y: str, weight: str, *, rules: Rules) -> Agreement:
    """Concordance, correlation and regression line of the pairs of a group.

    Args:
        x: Column of one side.
        y: Column of the other.
        weight: Column of weights; pairs without a finite one above 0 do not count.
        rules: See `evalframe.replication.agreement.ecs`.
    """
    w = pl.col(weight)
    valid = pl.all_horizontal(pl.col(x).is_finite(), pl.col(y).is_finite(), w.is_finite(), w > 0)
    x_, y_, w_ = (pl.when(valid).then(column) for column in (pl.col(x), pl.col(y), w))
    mass = w_.sum()
    from_x, from_y = x_ - (w_ * x_).sum() / mass, y_ - (w_ * y_).sum() / mass
    # What the rounding of the means left is taken off again.
    rest_x, rest_y = (w_ * from_x).sum(), (w_ * from_y).sum()
    gap = y_ - x_
    sums = {
        "mass": mass,
        "mean_x": (w_ * x_).sum() / mass,
        "mean_y": (w_ * y_).sum() / mass,
        "gap": (w_ * gap).sum() / mass,
        "gap_squares": (w_ * gap**2).sum(),
        "x_squares": (w_ * from_x**2).sum() - rest_x**2 / mass,
        "y_squares": (w_ * from_y**2).sum() - rest_y**2 / mass,
        "products": (w_ * from_x * from_y).sum() - rest_x * rest_y / mass,
        "x_varies": x_.max() > x_.min(),
        "y_varies": y_.max() > y_.min(),
    }
    return Agreement(
        count=valid.sum().cast(pl.Int64), sums=sums, values=_values(rules), spreads=_spreads()
    )


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


def _values(rules: Rules) -> dict[str, pl.Expr]:
    c = pl.col
    original = rules == "reference"
    vary = c("x_varies") & c("y_varies")
    varies = c("x_varies") | c("y_varies")
    twice = 2.0 * c("products")
    # Lin's divisor by the mean square of y - x, of which nothing large cancels.
    lin = twice + c("gap_squares")
    divisor = c("x_squares") + c("y_squares") + c("gap") ** 2 if original else lin
    same = pl.lit(1.0) if original else (c("gap_squares") == 0.0).cast(pl.Float64)
    concordance = (
        pl.when(vary).then((twice / divisor).clip(-1.0, 1.0)).when(varies).then(0.0).otherwise(same)
    )
    scale = c("x_squares").sqrt() * c("y_squares").sqrt()
    correlation = pl.when(vary).then((c("products") / scale).clip(-1.0, 1.0))
    slope = pl.when(c("x_varies")).then(c("products") / c("x_squares"))
    return {
        "ecs": concordance,
        "pearson": correlation.otherwise(0.0) if original else correlation,
        "slope": slope,
        "intercept": c("mean_y") - slope * c("mean_x"),
    }


def _spreads() -> pl.Expr:
    smallest = pl.min_horizontal("x_squares", "y_squares")
    return ratio(smallest, pl.col("mass")).sqrt() > _FLAT
