"""Cells: count, mean and central sums of the measures of each condition of each test."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from evalframe.replication.participants.design import (
    CATEGORY,
    KIND,
    PLACE,
    RANK_SUM,
    SPEARMAN,
)
from evalframe.replication.participants.rows import SCALE, VALID, WEIGHT, X, Y

RANKED = (RANK_SUM, SPEARMAN)
"""Kinds whose measures are replaced by their ranks."""

ROUNDING = 2.0**-50
"""Relative to their scale, differences of measures that are equal up to rounding."""

_COUNT, _CENTRE_X, _CENTRE_Y = ":count", ":centre_x", ":centre_y"
_LAST = {X: ":last_x", Y: ":last_y"}


def cells_of(rows: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    """Counts, means and central sums: one row per test, condition and category."""
    # Sums are about the mean of the cell, and 0 if all measures are equal, where rounding of the
    # mean would leave a remainder. `u` counts by how much ranks are above those within the cell.
    ranked = pl.col(KIND).is_in(RANKED)
    measured = pl.concat([rows.filter(~ranked), _ranked(rows.filter(ranked), units)])
    cell = [*units, KIND, PLACE, CATEGORY]
    weight, x, y = (pl.col(WEIGHT) * pl.col(VALID)).alias(_COUNT), pl.col(X), pl.col(Y)
    centres = (
        pl.when(VALID).then(value).mean().over(cell).fill_null(0.0).alias(centre)
        for value, centre in ((x, _CENTRE_X), (y, _CENTRE_Y))
    )
    # Products are columns of rows, so that a group is plain sums, which stream.
    w, dx, dy = pl.col(_COUNT), x - pl.col(_CENTRE_X), y - pl.col(_CENTRE_Y)
    products = {"xx": w * dx * dx, "yy": w * dy * dy, "xy": w * dx * dy}
    values = {"missing": pl.col(WEIGHT) - w, "total": w * x, "x": w * dx, "y": w * dy, **products}
    counts = {"there_x": pl.when(w > 0).then(dx), "there_y": pl.when(w > 0).then(dy)}
    summed = (
        measured.with_columns(weight, *centres)
        .with_columns(**values, **counts)
        .group_by(cell)
        .agg(
            pl.col(_COUNT, *values).sum(),
            pl.col(_CENTRE_X).first(),
            pl.col(SCALE).max(),
            *(pl.col(name).min().name.suffix("_low") for name in counts),
            *(pl.col(name).max().name.suffix("_high") for name in counts),
        )
    )
    return summed.select(*cell, **_central_sums())


def _central_sums() -> dict[str, pl.Expr]:
    n, x, y = pl.col(_COUNT), pl.col("x"), pl.col("y")
    spread_x = pl.col("there_x_high") - pl.col("there_x_low")
    spread_y = pl.col("there_y_high") - pl.col("there_y_low")
    vary_x, vary_y = spread_x > ROUNDING * pl.col(SCALE), spread_y > 0
    sums = {
        "sxx": (vary_x, pl.col("xx") - x * x / n),
        "syy": (vary_y, pl.col("yy") - y * y / n),
        "sxy": (vary_x & vary_y, pl.col("xy") - x * y / n),
    }
    return {
        "n": n,
        "n_missing": pl.col("missing"),
        "x": pl.when(n > 0).then(pl.col(_CENTRE_X) + x / n).otherwise(0.0),
        "u": pl.col("total") - n * (n + 1) / 2,
        **{name: pl.when(vary).then(value).otherwise(0.0) for name, (vary, value) in sums.items()},
    }


def _ranked(rows: pl.LazyFrame, units: Sequence[str]) -> pl.LazyFrame:
    """Replace measures by mean ranks; a row of weight w counts as w members."""
    weight = (pl.col(WEIGHT) * pl.col(VALID)).alias(_COUNT)
    # In steps, since a window within a window is another window.
    upto = [_upto(_COUNT, name, units).alias(last) for name, last in _LAST.items()]
    ranks = [
        pl.col(last).max().over(*units, name) - (pl.col(_COUNT).sum().over(*units, name) - 1) / 2
        for name, last in _LAST.items()
    ]
    x, y = (rank.alias(name) for rank, name in zip(ranks, _LAST, strict=True))
    ranked = rows.with_columns(weight).with_columns(upto).with_columns(x, y)
    return ranked.drop(_COUNT, *_LAST.values())


def _upto(weight: str, name: str, units: Sequence[str]) -> pl.Expr:
    return pl.col(weight).cum_sum().over(units, order_by=name)
