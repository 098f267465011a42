"""Metrics of PAS, and of the agreement of effects: concordance and the regression line.

States of concordance and line hold squares and products about the means, per distinct value of
either side: large values that differ by little keep their digits. Pearson's correlation is
`ef.pearson_correlation("effect_d_agent", "effect_d_human")`.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.state import Axis, State, Totals, level, own, ratio, total
from evalframe.core.typing import Role
from evalframe.replication.agreement.posteriors import pas_of_z, possible_share, z_of_pas


@metric(family="replication", direction="maximize", range=(0.0, 1.0))
def mean_pas(pas: Role = "pas", *, weight: Role = None) -> State:
    """Mean PAS; of studies, the score of a model.

    A PAS outside [0, 1] is missing, like null and NaN.

    Returns:
        Float64 in [0, 1], null where no row has a PAS.

    References:
        HumanStudy-Bench (HEAD of February 2026), `pas_raw` of models.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.DataFrame({"pas": [0.75, 0.0, None]}).select(ef.mean_pas()).item()
        0.375
    """
    return State(
        sums={"pas": weight * possible_share(pas), "rows": weight},
        finish=lambda totals: ratio(totals.pas, totals.rows),
        valid=possible_share(pas).is_not_null(),
    )


@metric(family="replication", direction="maximize", range=(0.0, 1.0))
def pooled_pas(pas: Role = "pas", *, weight: Role = None) -> State:
    """PAS pooled through Fisher's z, that is by the mean of log odds.

    PAS is clamped to [5e-7, 1 - 5e-7] first, also that of a single row: no row decides alone.
    One outside [0, 1] is missing.

    Args:
        weight: How much each row counts: of tests usually the column `n_eff`.

    Returns:
        Float64 in [5e-7, 1 - 5e-7], null where no row has a PAS, or all weights are 0.

    References:
        HumanStudy-Bench (HEAD of February 2026), aggregation of PAS.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"pas": [0.9, 0.1, 0.5], "n_eff": [10, 10, 80]})
        >>> tests.select(ef.pooled_pas(weight="n_eff")).to_series().round(12).item()
        0.5
    """
    return State(
        sums={"z": weight * z_of_pas(pas), "rows": weight},
        finish=lambda totals: pas_of_z(ratio(totals.z, totals.rows)),
        valid=possible_share(pas).is_not_null(),
    )


@metric(family="replication", direction="maximize", range=(-1.0, 1.0))
def concordance_correlation(
    x: Role = "effect_d_human", y: Role = "effect_d_agent", *, weight: Role = None
) -> State:
    """Lin's concordance correlation: closeness of pairs to the line y = x.

    2 cov / (var x + var y + (mean x - mean y)^2), all weighted by shares that sum to 1, so that the
    scale of the weights does not matter. Unlike Pearson's correlation it falls with a shift or a
    stretch.

    Args:
        weight: How often each pair counts; for the ECS the column of `with_ecs_weights`.

    Returns:
        Float64 in [-1, 1]: 0 if one side is constant; null if both are, as for a single pair.
        Infinite values are missing.

    References:
        Lin (1989), A concordance correlation coefficient to evaluate reproducibility;
        HumanStudy-Bench (HEAD of February 2026), ECS.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> effects = pl.DataFrame({"human": [0.0, 1.0, 2.0], "agent": [1.0, 2.0, 3.0]})
        >>> effects.select(ef.concordance_correlation("human", "agent")).to_series().round(6).item()
        0.571429
    """
    return pairs_of(x, y, weight, _lin)


@metric(family="replication", direction="none", range=(float("-inf"), float("inf")))
def regression_slope(
    x: Role = "effect_d_human", y: Role = "effect_d_agent", *, weight: Role = None
) -> State:
    """Slope of the least squares line of y on x: above 1, agents exaggerate the effects.

    Returns:
        Float64, null where x does not vary. Infinite values are missing.

    References:
        HumanStudy-Bench (HEAD of February 2026), `caricature`, its `a`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> effects = pl.DataFrame({"human": [0.0, 1.0], "agent": [1.0, 3.0]})
        >>> effects.select(ef.regression_slope("human", "agent")).item()
        2.0
    """
    return _line(x, y, weight, _slope)


@metric(family="replication", direction="none", range=(float("-inf"), float("inf")))
def regression_intercept(
    x: Role = "effect_d_human", y: Role = "effect_d_agent", *, weight: Role = None
) -> State:
    """Intercept of the least squares line of y on x: the agents' effect where humans have none.

    Returns:
        Float64, null where x does not vary. Infinite values are missing.

    References:
        HumanStudy-Bench (HEAD of February 2026), `caricature`, its `b`.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> effects = pl.DataFrame({"human": [0.0, 1.0], "agent": [1.0, 3.0]})
        >>> effects.select(ef.regression_intercept("human", "agent")).item()
        1.0
    """

    def finish(t: Totals) -> pl.Expr:
        return t.y / t.mass - _slope(t) * (t.x / t.mass)

    return _line(x, y, weight, finish)


def pairs_of(x: pl.Expr, y: pl.Expr, weight: pl.Expr, finish: Callable[[Totals], pl.Expr]) -> State:
    """Means, squares and products of weighted pairs."""
    # Products of x with y - x, which stay small if both sides are large and similar. The products
    # of x with y are these plus the squares of x.
    from_x, from_y = level - total.x / total.mass, level - total.y / total.mass
    gap_from_mean = own.gap - own.mass * (total.gap / total.mass)
    mass, gap = weight, weight * (y - x)
    by_x = Axis(
        level=x,
        sums={"mass": mass, "gap": gap},
        terms={
            "x_squares": own.mass * from_x**2,
            "x_gaps": from_x * gap_from_mean,
            "x_rest": own.mass * from_x,
            "gap_rest": gap_from_mean,
        },
        maxima=_ends("x"),
    )
    by_y = Axis(
        level=y,
        sums={"mass": mass},
        terms={"y_squares": own.mass * from_y**2, "y_rest": own.mass * from_y},
        maxima=_ends("y"),
    )
    sums = {
        "x": weight * x,
        "y": weight * y,
        "gap_squares": weight * (y - x) ** 2,
        "pairs": (weight > 0).cast(pl.Float64),
    }
    finite = (x.is_finite() & y.is_finite()).fill_null(value=False)
    return State(sums=sums, axes=(by_x, by_y), finish=finish, valid=finite)


def _line(x: pl.Expr, y: pl.Expr, weight: pl.Expr, finish: Callable[[Totals], pl.Expr]) -> State:
    """Means, squares of x, and products of x with y and with y - x; the smaller are used."""
    from_x = level - total.x / total.mass
    gap_from_mean = own.gap - own.mass * (total.gap / total.mass)
    y_from_mean = own.y - own.mass * (total.y / total.mass)
    by_x = Axis(
        level=x,
        sums={"mass": weight, "gap": weight * (y - x), "y": weight * y},
        terms={
            "x_squares": own.mass * from_x**2,
            "x_gaps": from_x * gap_from_mean,
            "x_products": from_x * y_from_mean,
            "x_rest": own.mass * from_x,
            "gap_rest": gap_from_mean,
            "y_rest": y_from_mean,
        },
        maxima=_ends("x"),
    )
    finite = (x.is_finite() & y.is_finite()).fill_null(value=False)
    return State(sums={"x": weight * x}, axes=(by_x,), finish=finish, valid=finite)


def _ends(name: str) -> dict[str, pl.Expr]:
    """The highest level with mass, and minus the lowest."""
    return {
        f"{name}_high": pl.when(own.mass > 0).then(level),
        f"{name}_minus_low": pl.when(own.mass > 0).then(-level),
    }


def _varies(high: pl.Expr, minus_low: pl.Expr) -> pl.Expr:
    return high > -minus_low


def central_squares(squares: pl.Expr, rest: pl.Expr, mass: pl.Expr) -> pl.Expr:
    """Squares about the mean, from squares about its rounded value and the rest of the sums."""
    return squares - rest * rest / mass


def gap_products(t: Totals) -> pl.Expr:
    """Products of x and y - x about their means."""
    return t.x_gaps - t.x_rest * t.gap_rest / t.mass


def _lin(t: Totals) -> pl.Expr:
    # var x + var y + (difference of means)^2 = 2 cov + mean square of y - x, where no large
    # numbers cancel.
    twice = twice_products(t)
    return if_varying(t, twice / (twice + t.gap_squares), None)


def twice_products(t: Totals) -> pl.Expr:
    """Twice the sum of products about the means."""
    return 2.0 * (central_squares(t.x_squares, t.x_rest, t.mass) + gap_products(t))


def if_varying(t: Totals, concordance: pl.Expr, constant: float | None) -> pl.Expr:
    """The concordance in [-1, 1]: 0 if one side is constant, `constant` if both are."""
    x_varies, y_varies = _varies(t.x_high, t.x_minus_low), _varies(t.y_high, t.y_minus_low)
    value = pl.when(x_varies & y_varies).then(concordance.clip(-1.0, 1.0))
    return value.when(x_varies | y_varies).then(0.0).otherwise(constant)


def _slope(t: Totals) -> pl.Expr:
    squares = central_squares(t.x_squares, t.x_rest, t.mass)
    products = t.x_products - t.x_rest * t.y_rest / t.mass
    # If both sides are large and similar, the gap keeps more digits than y.
    alike = t.gap.abs() < 0.5 * t.y.abs()
    slope = pl.when(alike).then(1.0 + gap_products(t) / squares).otherwise(products / squares)
    return pl.when(_varies(t.x_high, t.x_minus_low)).then(slope)
