"""The original's repair of human posteriors that contradict their p-values. Not to be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.replication.effects.numbers import number

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr

_FACTOR = 100.0
_EPSILON = 1e-6
_UNKNOWN = 0.5


def repaired_posterior(
    pi_human: IntoExpr = "pi_human", is_significant: IntoExpr = "is_significant_human"
) -> pl.Expr:
    """A human posterior whose odds are multiplied by 100, or divided, to agree with the p-value.

    It is left as it is where it is 0.5 or more and the human result significant, or 0.5 or less and
    not significant. The original does this after the fact; there is no reason for the number 100.

    Args:
        pi_human: Posterior probability of an effect.
        is_significant: Boolean; null is not significant.

    Returns:
        Float64, named `repaired_posterior`, never null: 0.5 where the posterior is null or NaN.

    References:
        HumanStudy-Bench (HEAD of February 2026).

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import repaired_posterior
        >>> tests = pl.DataFrame({"pi_human": [0.8], "is_significant_human": [False]})
        >>> round(tests.select(repaired_posterior()).item(), 4)
        0.0385
    """
    pi = number(pi_human, "reference")
    significant = as_expr(is_significant).fill_null(value=False)
    agrees = pl.when(significant).then(pi >= 0.5).otherwise(pi <= 0.5)
    factor = pl.when(significant).then(_FACTOR).otherwise(1.0 / _FACTOR)
    repaired = pi * factor / (pi * factor + 1.0 - pi)
    kept = pl.when(agrees).then(pi).otherwise(repaired)
    return kept.fill_null(_UNKNOWN).alias("repaired_posterior")


def scalar_pas(pi_human: pl.Expr, pi_agent: pl.Expr) -> pl.Expr:
    """The two-way PAS that the original sets after a repair, for which 0 is a missing posterior.

    Its clamp takes NaN for 1.

    >>> sides = pl.DataFrame({"human": [1.0], "agent": [0.0]})
    >>> sides.select(scalar_pas(pl.col("human"), pl.col("agent"))).item()
    0.5
    """
    agent = pl.when(pi_agent != 0).then(pi_agent).fill_nan(1.0).fill_null(_UNKNOWN)
    human, agent = (pi.clip(_EPSILON, 1.0 - _EPSILON) for pi in (pi_human, agent))
    return human * agent + (1.0 - human) * (1.0 - agent)
