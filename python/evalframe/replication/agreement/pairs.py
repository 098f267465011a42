"""Agreement of weighted pairs within groups of a table, in two passes over its rows.

`metrics` has the same quantities as mergeable states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import polars as pl

Values: TypeAlias = Callable[[Callable[[str], pl.Expr]], "Mapping[str, pl.Expr]"]
"""A function like `agreement_values`."""

_LEAST = 1e-290
"""Quotients by sums of squares below this have lost digits."""


X, Y, MASS = ":x", ":y", ":w"
"""Columns of pairs, and of their weight."""


def pair_sums(rows: pl.LazyFrame, group: Sequence[str]) -> pl.LazyFrame:
    """Sums of weighted pairs within groups: counts, means, squares and products about the means.

    Pairs that are not finite, or without a finite weight above 0, count as missing.
    """
    # Means first, then sums about them over columns: within one aggregation it would not stream.
    valid = pl.all_horizontal(pl.col(X, Y, MASS).is_finite(), pl.col(MASS) > 0)
    names = {X: "x", Y: "y", MASS: "w"}
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
    # Subtract what the rounding of the means left.
    mass, rest_x, rest_y = pl.col("mass"), pl.col("rest_x"), pl.col("rest_y")
    return added.with_columns(
        pl.col("gap") / mass,
        pl.col("x_squares") - rest_x**2 / mass,
        pl.col("y_squares") - rest_y**2 / mass,
        pl.col("products") - rest_x * rest_y / mass,
    ).drop("rest_x", "rest_y")


def agreement_values(sums: Callable[[str], pl.Expr] = pl.col) -> dict[str, pl.Expr]:
    """`ecs`, `pearson`, `slope` and `intercept` from the sums of `pair_sums`."""
    twice, same = 2.0 * sums("products"), sums("gap_squares") == 0.0
    # Lin's divisor by the mean square of y - x, where no large numbers cancel.
    lin = quotient(twice, twice + sums("gap_squares"), _LEAST)
    return {
        "ecs": if_varying(sums, lin, same.cast(pl.Float64)),
        "pearson": pl.when(both_vary(sums)).then(correlation(sums, _LEAST)),
        **regression(sums, _LEAST),
    }


def if_varying(sums: Callable[[str], pl.Expr], concordance: pl.Expr, constant: pl.Expr) -> pl.Expr:
    """The concordance in [-1, 1]: 0 if one side is constant, `constant` if both are."""
    value = pl.when(both_vary(sums)).then(concordance.clip(-1.0, 1.0))
    return value.when(sums("x_varies") | sums("y_varies")).then(0.0).otherwise(constant)


def both_vary(sums: Callable[[str], pl.Expr]) -> pl.Expr:
    """True if neither side is constant."""
    return sums("x_varies") & sums("y_varies")


def correlation(sums: Callable[[str], pl.Expr], least: float) -> pl.Expr:
    """Pearson's correlation of two sides that vary."""
    scale = sums("x_squares").sqrt() * sums("y_squares").sqrt()
    return quotient(sums("products"), scale, least).clip(-1.0, 1.0)


def regression(sums: Callable[[str], pl.Expr], least: float) -> dict[str, pl.Expr]:
    """Slope and intercept of the least squares line of y on x."""
    slope = quotient(sums("products"), sums("x_squares"), least)
    slope = pl.when(sums("x_varies")).then(slope)
    return {"slope": slope, "intercept": sums("mean_y") - slope * sums("mean_x")}


def quotient(numerator: pl.Expr, divisor: pl.Expr, least: float) -> pl.Expr:
    """The quotient, null if an argument is not finite or the divisor not above `least`."""
    valid = numerator.is_finite() & divisor.is_finite() & (divisor.abs() > least)
    return pl.when(valid).then(numerator / divisor)
