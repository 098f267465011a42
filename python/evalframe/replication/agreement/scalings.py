"""PAS of single tests on other scales, relative to the range that the human posterior allows.

If the human posterior of a test is undecided, PAS is near 0.5 whatever the agents do. Each scaling
corrects for that in a different way.

A human posterior is two-way (one column) or three-way (three columns: plus, minus, zero).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import TypeAlias

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.replication.agreement.alignment import ways_of
from evalframe.replication.agreement.posteriors import are_posterior, possible_share

Posterior: TypeAlias = IntoExpr | Sequence[IntoExpr]
"""A posterior: one column, or three columns for plus, minus and zero."""

NO_CEILING = 1e-8
"""Smallest distance of a ceiling from chance that PAS is divided by."""

_NO_ROOM = 1e-6


def human_ceiling(pi_human: Posterior = "pi_human") -> pl.Expr:
    """The PAS of humans with themselves: the sum of the squares of their posteriors.

    Args:
        pi_human: Posterior of humans.

    Returns:
        Float64, named `human_ceiling`: at least 1/2 for two ways, 1/3 for three. Null if a
        posterior is null, NaN or outside [0, 1], or three ways do not sum to 1 within 1e-6.

    References:
        HumanStudy-Bench (HEAD of February 2026), normalised PAS.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.human_ceiling(pl.lit(0.9))).to_series().round(12).item()
        0.82
    """
    ways = all_ways(pi_human)
    return pl.when(are_posterior(ways)).then(sum_of_squares(ways)).alias("human_ceiling")


def pas_ratio(pas: IntoExpr = "pas", pi_human: Posterior = "pi_human") -> pl.Expr:
    """PAS above chance as a share of what humans would have with themselves.

    (2 PAS - 1) / (2 H - 1), H the human ceiling. It is not clamped and can be far outside [-1, 1].

    Args:
        pas: PAS of the test.
        pi_human: Posterior of humans.

    Returns:
        Float64, named `pas_ratio`; null if an argument is null, NaN or impossible, or the ceiling
        is less than 1e-8 above chance, as a three-way ceiling can be.

    References:
        HumanStudy-Bench (HEAD of February 2026), normalised PAS.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"pas": [0.82, 0.9], "pi_human": [0.9, 0.5]})
        >>> tests.select(ef.replication.pas_ratio()).to_series().round(12).to_list()
        [1.0, None]
    """
    share, room = as_expr(pas).cast(pl.Float64), 2.0 * human_ceiling(pi_human) - 1.0
    return ratio_above_chance(share, room, room >= NO_CEILING).alias("pas_ratio")


def ratio_above_chance(share: pl.Expr, room: pl.Expr, divisible: pl.Expr) -> pl.Expr:
    """PAS above chance divided by the room of humans, null if this is not divisible or NaN."""
    return pl.when(divisible).then((2.0 * share - 1.0) / room).fill_nan(None)


def pas_within_range(pas: IntoExpr = "pas", pi_human: Posterior = "pi_human") -> pl.Expr:
    """Position of PAS between the least and the most that the human posterior allows, 0 to 1.

    (PAS - low) / (high - low), clipped. For two ways low and high are the smaller and the larger of
    pi and 1 - pi; for three, high is the human ceiling, and low is 0.5 zero + 0.25 (plus + minus).

    Args:
        pas: PAS of the test.
        pi_human: Posterior of humans.

    Returns:
        Float64 in [0, 1], named `pas_within_range`; 0 if low and high differ by less than 1e-8,
        null if an argument is null or NaN.

    References:
        HumanStudy-Bench (HEAD of February 2026), normalised test scores.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"pas": [0.5, 0.95], "pi_human": [0.9, 0.9]})
        >>> tests.select(ef.replication.pas_within_range()).to_series().to_list()
        [0.5, 1.0]
    """
    share = as_expr(pas).cast(pl.Float64)
    ways = all_ways(pi_human)
    if len(ways) == 2:
        low, high = pl.min_horizontal(ways), pl.max_horizontal(ways)
    else:
        plus, minus, zero = ways
        low, high = 0.5 * zero + 0.25 * (plus + minus), sum_of_squares(ways)
    valid = share.is_not_nan() & _sum(ways).is_not_nan()
    inside = ((share - low) / (high - low)).clip(0.0, 1.0)
    scaled = pl.when(high - low < NO_CEILING).then(0.0).otherwise(inside)
    return pl.when(valid).then(scaled).alias("pas_within_range")


def pas_above_chance(pas: IntoExpr = "pas", pi_human: IntoExpr = "pi_human") -> pl.Expr:
    """PAS above 0.5 as a share of the largest possible distance, -1 to 1.

    (PAS - 0.5) / (max(pi, 1 - pi) - 0.5), clipped.

    Args:
        pas: PAS of the test.
        pi_human: Two-way posterior of humans.

    Returns:
        Float64 in [-1, 1], named `pas_above_chance`; 2 PAS - 1 if the divisor is below 1e-6,
        null if an argument is null or NaN.

    References:
        HumanStudy-Bench (HEAD of February 2026), normalised PAS of single tests.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"pas": [0.8, 0.0], "pi_human": [0.9, 1.0]})
        >>> tests.select(ef.replication.pas_above_chance()).to_series().round(12).to_list()
        [0.75, -1.0]
    """
    share = as_expr(pas).cast(pl.Float64).fill_nan(None)
    pi = as_expr(pi_human).cast(pl.Float64).fill_nan(None)
    room = (pi - 0.5).abs()
    plain = 2.0 * share - 1.0
    scaled = ((share - 0.5) / room).clip(-1.0, 1.0)
    value = pl.when(room < _NO_ROOM).then(plain).when(room.is_not_null()).then(scaled)
    return value.alias("pas_above_chance")


def field_comparable_pas(
    pas: IntoExpr = "pas", pi_human: Posterior = "pi_human", pi_agent: Posterior = "pi_agent"
) -> pl.Expr:
    """The agents' posterior of an effect, or PAS within its range without a posterior.

    Args:
        pas: PAS of the test.
        pi_human: Posterior of humans.
        pi_agent: Posterior of agents; of three ways the larger of plus and minus. An impossible
            posterior is missing.

    Returns:
        Float64 in [0, 1], named `field_comparable_pas`; null without either.

    References:
        HumanStudy-Bench (HEAD of February 2026), field-comparable scores.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"pas": [0.5], "pi_human": [0.9], "pi_agent": [0.7]})
        >>> tests.select(ef.replication.field_comparable_pas()).item()
        0.7
    """
    ways = [way.fill_nan(None) for way in all_ways(pi_agent)]
    largest = ways[0] if len(ways) == 2 else pl.max_horizontal(ways[:2])
    effect = pl.when(are_posterior(ways)).then(possible_share(largest))
    scaled = pas_within_range(pas, pi_human)
    return pl.coalesce(effect, scaled).alias("field_comparable_pas")


def all_ways(pi: Posterior) -> list[pl.Expr]:
    """Posteriors of an effect and of no effect, or of plus, minus and zero."""
    if isinstance(pi, str | pl.Expr):
        effect = as_expr(pi).cast(pl.Float64)
        return [effect, 1.0 - effect]
    return ways_of(pi)


def sum_of_squares(ways: Sequence[pl.Expr]) -> pl.Expr:
    """Probability that two independent draws of these ways agree."""
    return _sum(way * way for way in ways)


def _sum(parts: Iterable[pl.Expr]) -> pl.Expr:
    return reduce(add, parts)
