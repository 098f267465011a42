"""ECS as an additive state of tests.

It is `concordance_correlation` with the conventions of the tables: the smallest number of tests,
and the values of a constant side. Hence it is not registered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.metric import Metric, MetricExpr
from evalframe.core.state import State, Totals
from evalframe.replication.agreement.ecs import LEAST
from evalframe.replication.agreement.pairs import MASS, X, Y

if TYPE_CHECKING:
    from evalframe.replication.agreement.pairs import Values


VALUES = ("ecs", "pearson", "slope", "intercept")

_UNBOUNDED = (float("-inf"), float("inf"))
_CENTRE_X, _CENTRE_Y = ":centre_x", ":centre_y"
_NOISE = 2.0**-40
"""Rounding of a central sum of squares, relative to the sum of squares about another centre."""


def with_effects(tests: pl.DataFrame, entry: str) -> pl.LazyFrame:
    """Add the means of usable effects of each entry; without mass if squares overflow."""
    x, y, w = pl.col(X), pl.col(Y), pl.col(MASS)
    valid = pl.all_horizontal(x.is_finite(), y.is_finite(), w.is_finite(), w > 0)
    usable = pl.when(valid.fill_null(value=False))
    masked = tests.lazy().with_columns(
        usable.then(x).alias(X), usable.then(y).alias(Y), usable.then(w).alias(MASS)
    )
    mass = w.sum().over(entry)
    centred = masked.with_columns(
        ((w * x).sum().over(entry) / mass).alias(_CENTRE_X),
        ((w * y).sum().over(entry) / mass).alias(_CENTRE_Y),
    )
    squares = w * ((x - pl.col(_CENTRE_X)) ** 2 + (y - pl.col(_CENTRE_Y)) ** 2 + (y - x) ** 2)
    small = (squares.is_finite() | squares.is_null()).all().over(entry)
    return centred.with_columns(pl.when(w.is_not_null()).then(small * w).alias(MASS))


def concordance(values: Values) -> list[MetricExpr]:
    """Concordance, correlation and the regression line, by name."""
    roles = {"x": X, "y": Y, "mass": MASS, "centre_x": _CENTRE_X, "centre_y": _CENTRE_Y}
    return [
        Metric(
            name=name,
            define=_pairs(name, values),
            direction="none",
            range=_UNBOUNDED if name in ("slope", "intercept") else (-1.0, 1.0),
            roles=roles,
            labels=frozenset(),
            params={},
            family="replication",
        ).bind()
        for name in VALUES
    ]


def _pairs(name: str, values: Values) -> Callable[..., State]:
    """Sums of squares and products about the means of all tests of an entry."""

    def finish(t: Totals) -> pl.Expr:
        mass = pl.when(t.mass > 0).then(t.mass)
        x_squares = _central(t.xx, t.x**2 / mass)
        y_squares = _central(t.yy, t.y**2 / mass)
        sums = {
            "mean_x": t.all_x / mass,
            "mean_y": t.all_y / mass,
            "gap": t.gap / mass,
            "gap_squares": t.gap_squares,
            "x_squares": x_squares,
            "y_squares": y_squares,
            "products": t.xy - t.x * t.y / mass,
            "x_varies": x_squares > 0,
            "y_varies": y_squares > 0,
        }
        value = values(sums.__getitem__)[name]
        return pl.when((t.n >= LEAST) & (t.mass > 0)).then(value)

    def define(
        x: pl.Expr,
        y: pl.Expr,
        mass: pl.Expr,
        centre_x: pl.Expr,
        centre_y: pl.Expr,
        *,
        weight: pl.Expr,
    ) -> State:
        w, gap = weight * mass, y - x
        from_x, from_y = x - centre_x, y - centre_y
        used = pl.when(mass > 0)
        sums = {
            "all_x": w * x,
            "all_y": w * y,
            "x": w * from_x,
            "y": w * from_y,
            "xx": w * from_x**2,
            "yy": w * from_y**2,
            "xy": w * from_x * from_y,
            "gap": w * gap,
            "gap_squares": w * gap**2,
        }
        return State(
            sums={
                "mass": w,
                **{name: used.then(value) for name, value in sums.items()},
            },
            finish=finish,
            valid=mass.is_not_null(),
        )

    return define


def _central(squares: pl.Expr, correction: pl.Expr) -> pl.Expr:
    central = squares - correction
    return pl.when(central > _NOISE * squares).then(central).otherwise(0.0)
