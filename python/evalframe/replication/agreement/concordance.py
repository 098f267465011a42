"""Whether agents' effects are those of humans: concordance and the line through them, as metrics.

Their state holds squares and products about the means, per distinct value of either side, so that
values that are large and differ by little keep their digits. Pearson's correlation is
`ef.pearson_correlation("effect_d_agent", "effect_d_human")`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.rules import Rules, check_choice
from evalframe.core.state import Axis, State, level, own, total

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalframe.core.state import Totals
    from evalframe.core.typing import Role


@metric(family="replication", direction="maximize", range=(-1.0, 1.0))
def concordance_correlation(
    x: Role = "effect_d_human",
    y: Role = "effect_d_agent",
    *,
    weight: Role = None,
    rules: Rules = "documented",
) -> State:
    """Lin's concordance correlation: how near pairs are to the line y = x.

    2 cov / (var x + var y + (mean x - mean y)^2), all weighted by shares that sum to 1, so that the
    scale of the weights does not matter. Unlike Pearson's correlation it falls with a shift or a
    stretch.

    Args:
        x: One side, such as the effects of humans; infinite values are missing, like null and NaN.
        y: The other side, in the same unit.
        weight: How often each pair counts; for the ECS the column of `with_ecs_weights`.
        rules: `reference`: sums of squares that are not divided by the sum of the weights, against
            a squared difference of means that is not multiplied by it, so that a shift matters
            less the larger the weights; 1 where both sides are constant, even if they differ, and
            null for a single pair. It counts pairs, so a pair of weight 2 is not two pairs.

    Returns:
        Float64 in [-1, 1], 0 where one side is constant. Null where both are, which covers a single
        pair: agreement of what does not vary is not defined.

    Raises:
        ParameterError: Unknown rules.

    References:
        Lin (1989), A concordance correlation coefficient to evaluate reproducibility;
        HumanStudy-Bench (HEAD of February 2026), ECS.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import concordance_correlation
        >>> effects = pl.DataFrame({"human": [0.0, 1.0, 2.0], "agent": [1.0, 2.0, 3.0]})
        >>> effects.select(concordance_correlation("human", "agent")).to_series().round(6).item()
        0.571429
    """
    check_choice("rules", rules, Rules)
    finish = _lin if rules == "documented" else _original
    return _pairs(x, y, weight, finish)


@metric(family="replication", direction="none", range=(float("-inf"), float("inf")))
def regression_slope(
    x: Role = "effect_d_human", y: Role = "effect_d_agent", *, weight: Role = None
) -> State:
    """Slope of the least squares line of y on x: above 1, agents exaggerate the effects.

    Args:
        x: Effects of humans; infinite values are missing.
        y: Effects of agents.
        weight: How often each pair counts.

    Returns:
        Float64, null where x does not vary.

    References:
        HumanStudy-Bench (HEAD of February 2026), `caricature`, its `a`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import regression_slope
        >>> effects = pl.DataFrame({"human": [0.0, 1.0, 2.0], "agent": [1.0, 3.0, 5.0]})
        >>> effects.select(regression_slope("human", "agent")).item()
        2.0
    """
    return _line(x, y, weight, _slope)


@metric(family="replication", direction="none", range=(float("-inf"), float("inf")))
def regression_intercept(
    x: Role = "effect_d_human", y: Role = "effect_d_agent", *, weight: Role = None
) -> State:
    """Intercept of the least squares line of y on x: the agents' effect where humans have none.

    Args:
        x: Effects of humans; infinite values are missing.
        y: Effects of agents.
        weight: How often each pair counts.

    Returns:
        Float64, null where x does not vary.

    References:
        HumanStudy-Bench (HEAD of February 2026), `caricature`, its `b`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import regression_intercept
        >>> effects = pl.DataFrame({"human": [0.0, 1.0, 2.0], "agent": [1.0, 3.0, 5.0]})
        >>> effects.select(regression_intercept("human", "agent")).item()
        1.0
    """

    def finish(t: Totals) -> pl.Expr:
        return t.y / t.mass - _slope(t) * (t.x / t.mass)

    return _line(x, y, weight, finish)


def _pairs(x: pl.Expr, y: pl.Expr, weight: pl.Expr, finish: Callable[[Totals], pl.Expr]) -> State:
    """Means, squares and products of weighted pairs.

    The products are those of x with y - x, which stay small where both sides are large and alike;
    the products of x with y are these and the squares of x.
    """
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
    """Means, squares of x, and products of x with y and with y - x, whichever is the smaller."""
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
    """The highest level that has mass, and minus the lowest."""
    return {
        f"{name}_high": pl.when(own.mass > 0).then(level),
        f"{name}_minus_low": pl.when(own.mass > 0).then(-level),
    }


def _varies(high: pl.Expr, minus_low: pl.Expr) -> pl.Expr:
    return high > -minus_low


def _squares(squares: pl.Expr, rest: pl.Expr, mass: pl.Expr) -> pl.Expr:
    """Squares about the mean, from those about the rounded mean and what it left."""
    return squares - rest * rest / mass


def _gaps(t: Totals) -> pl.Expr:
    """Products of x and y - x about their means."""
    return t.x_gaps - t.x_rest * t.gap_rest / t.mass


def _lin(t: Totals) -> pl.Expr:
    # var x + var y + (difference of means)^2 is 2 cov and the mean square of y - x, of which
    # nothing large cancels.
    x_varies, y_varies = _varies(t.x_high, t.x_minus_low), _varies(t.y_high, t.y_minus_low)
    twice = 2.0 * (_squares(t.x_squares, t.x_rest, t.mass) + _gaps(t))
    value = (twice / (twice + t.gap_squares)).clip(-1.0, 1.0)
    return pl.when(x_varies & y_varies).then(value).when(x_varies | y_varies).then(0.0)


def _original(t: Totals) -> pl.Expr:
    x_varies, y_varies = _varies(t.x_high, t.x_minus_low), _varies(t.y_high, t.y_minus_low)
    shift = (t.gap / t.mass) ** 2
    x_squares = _squares(t.x_squares, t.x_rest, t.mass)
    y_squares = _squares(t.y_squares, t.y_rest, t.mass)
    twice = 2.0 * (x_squares + _gaps(t))
    value = (twice / (x_squares + y_squares + shift)).clip(-1.0, 1.0)
    varied = pl.when(x_varies & y_varies).then(value).when(x_varies | y_varies).then(0.0)
    return pl.when(t.pairs > 1).then(varied.otherwise(1.0))


def _slope(t: Totals) -> pl.Expr:
    squares = _squares(t.x_squares, t.x_rest, t.mass)
    products = t.x_products - t.x_rest * t.y_rest / t.mass
    # Of two large sides that are alike the gap keeps the digits; else y itself does.
    alike = t.gap.abs() < 0.5 * t.y.abs()
    slope = pl.when(alike).then(1.0 + _gaps(t) / squares).otherwise(products / squares)
    return pl.when(_varies(t.x_high, t.x_minus_low)).then(slope)
