"""How far an agent's effect lies from the human one, in standard errors. Not a primary result."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench.legacy.tails import TWO_SIDED, normal_p_value
from evalframe.core.rules import check_rules
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from evalframe.core.rules import Rules
    from evalframe.core.typing import IntoExpr

_INFINITY = math.inf


def z_difference(
    effect_human: IntoExpr = "effect_size_human",
    std_error_human: IntoExpr = "std_error_human",
    effect_agent: IntoExpr = "effect_size_agent",
    std_error_agent: IntoExpr = "std_error_agent",
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """The agent's effect less the human one, over the standard error of the difference.

    Where both standard errors are 0, equal effects give 0 and others infinity.

    Args:
        effect_human: Effect of the human side.
        std_error_human: Its standard error.
        effect_agent: Effect of the agent's side, in the same unit.
        std_error_agent: Its standard error.
        rules: `reference`: an infinite standard error gives 0, and effects that differ with
            standard errors of 0 give plus infinity, also where the agent's is lower.

    Returns:
        Float64, named `z_difference`. Null where an input is null or NaN; documented also where one
        is infinite or a standard error is negative.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import z_difference
        >>> effects = pl.DataFrame({"human": [0.25], "agent": [0.5], "se_1": [0.3], "se_2": [0.4]})
        >>> effects.select(z_difference("human", "se_1", "agent", "se_2")).item()
        0.5
    """
    check_rules(rules)
    human, error, agent, other = (
        number(column, rules)
        for column in (effect_human, std_error_human, effect_agent, std_error_agent)
    )
    gap, variance = agent - human, error**2 + other**2
    apart = _INFINITY if rules == "reference" else gap.sign() * _INFINITY
    # Infinite effects can be equal, though they have no difference.
    exact = pl.when(agent == human).then(0.0).otherwise(apart)
    known = gap.is_not_null() & variance.is_not_null()
    if rules == "documented":
        known &= (error >= 0) & (other >= 0)
    scaled = pl.when(variance > 0).then(gap / variance.sqrt()).otherwise(exact)
    z = pl.when(known).then(scaled)
    return z.fill_nan(None).alias("z_difference")


def consistency(z: IntoExpr = "z_difference", *, rules: Rules = "documented") -> pl.Expr:
    """The two-sided p-value of a z-difference: 1 where effects are equal, near 0 far apart.

    High values also come from small samples, in which nothing differs beyond doubt.

    Args:
        z: The z-difference.
        rules: `reference`: one less the probability below, and 0 where z is null, NaN or infinite.

    Returns:
        Float64 in [0, 1], named `consistency`; 0 where z is infinite. Documented null where z is
        null or NaN.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import consistency
        >>> z = pl.DataFrame({"z_difference": [0.0, -1.959964]})
        >>> z.select(consistency().round(6)).to_series().to_list()
        [1.0, 0.05]
    """
    check_rules(rules)
    p = normal_p_value(number(z, "reference"), pl.lit(TWO_SIDED), rules)
    if rules == "reference":
        p = p.fill_null(0.0)
    return p.alias("consistency")
