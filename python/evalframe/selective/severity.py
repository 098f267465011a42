"""Severity tiers of a PHQ-8 total, and how often a predicted total falls into the true one's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.metric import metric
from evalframe.core.rows import as_expr
from evalframe.core.state import State, ratio
from evalframe.selective.score_error import scored

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr, Role

ITEM_NAMES = (
    "NoInterest",
    "Depressed",
    "Sleep",
    "Tired",
    "Appetite",
    "Failure",
    "Concentrating",
    "Moving",
)
"""The items of the PHQ-8, in its order."""

TIERS = ("MINIMAL", "MILD", "MODERATE", "MOD_SEVERE", "SEVERE")
"""The tiers, in order."""

UPPER_BOUNDS = (4, 9, 14, 19)
"""The highest total of each tier but the last, which has none."""

Tier = pl.Enum(TIERS)


def severity_tier(total: IntoExpr = "total") -> pl.Expr:
    """The severity tier of a PHQ-8 total.

    A row-level expression. Tiers end at 4, 9, 14 and 19; totals outside 0 to 24 belong to the
    first or the last.

    Args:
        total: The total, a number.

    Returns:
        Enum of `TIERS`, which compares in their order, named `severity_tier`; null where the
        total is null or NaN.

    References:
        Kroenke et al. (2009), The PHQ-8 as a measure of current depression in the general
        population.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> totals = pl.DataFrame({"total": [4, 10, 24, None]})
        >>> totals.select(ef.selective.severity_tier()).to_series().to_list()
        ['MINIMAL', 'MODERATE', 'SEVERE', None]
    """
    value = as_expr(total).cast(pl.Float64)
    bounded = (
        pl.when(value <= bound).then(pl.lit(tier))
        for tier, bound in zip(TIERS, UPPER_BOUNDS, strict=False)
    )
    beyond = pl.when(value.is_not_nan()).then(pl.lit(TIERS[-1]))
    return pl.coalesce(*bounded, beyond).cast(Tier).alias("severity_tier")


def is_mdd(total: IntoExpr = "total") -> pl.Expr:
    """True if a PHQ-8 total indicates a major depressive disorder: at least the tier MODERATE.

    Args:
        total: The total, a number; the tier begins at 10.

    Returns:
        Boolean, named `is_mdd`; null where the total is null or NaN.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> totals = pl.DataFrame({"total": [9, 10, None]})
        >>> totals.select(ef.selective.is_mdd()).to_series().to_list()
        [False, True, None]
    """
    return (severity_tier(total) >= pl.lit("MODERATE", dtype=Tier)).alias("is_mdd")


@metric(family="selective", direction="maximize", range=(0.0, 1.0))
def severity_tier_accuracy(
    prediction: Role = "prediction", label: Role = "label", *, weight: Role = None
) -> State:
    """Share of the predicted totals that fall into the tier of the true total.

    Returns:
        Null if nothing is predicted.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> totals = pl.DataFrame({"prediction": [4, 10, None], "label": [0, 9, 3]})
        >>> totals.select(ef.severity_tier_accuracy()).item()
        0.5
    """
    same = severity_tier(prediction) == severity_tier(label)
    return State(
        sums={
            "mass": pl.when(prediction.is_not_null()).then(weight),
            "same_tier": pl.when(same).then(weight),
        },
        finish=lambda t: ratio(t.same_tier, t.mass),
        valid=scored(prediction, label),
    )
