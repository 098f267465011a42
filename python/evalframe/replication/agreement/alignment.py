"""PAS of single tests: the probability that humans and agents are on the same side.

Where the original program differs:

| case | `rules="documented"` | `rules="reference"` |
|---|---|---|
| two-way posteriors of 0 or 1 | as they are | moved to 1e-6 or 1 - 1e-6 |
| a two-way posterior outside [0, 1] | null | moved into it, likewise |
| a two-way posterior is null | null | PAS 0.5 |
| a two-way posterior is NaN | null | 1 - 1e-6 |
| a three-way posterior lacks an entry | null | the entry is 0 |
| a three-way posterior does not sum to 1 | null | the formula |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.rules import Rules, check_choice
from evalframe.core.typing import IntoExpr
from evalframe.replication.agreement.possible import are_posterior, possible_share
from evalframe.replication.agreement.posteriors import WAYS, prior_repair
from evalframe.replication.agreement.rules import CHANCE, EPSILON

if TYPE_CHECKING:
    from collections.abc import Iterable

ThreeWay: TypeAlias = IntoExpr | Sequence[IntoExpr]
"""A three-way posterior: three columns (plus, minus, zero), or one struct of these fields."""

HUMAN = tuple(f"{way}_human" for way in WAYS)
AGENT = tuple(f"{way}_agent" for way in WAYS)

_CHANGED = 1e-6


def pas(
    pi_human: IntoExpr = "pi_human",
    pi_agent: IntoExpr = "pi_agent",
    *,
    rules: Rules = "documented",
) -> pl.Expr:
    """PAS of a test from two posteriors of an effect: both see one, or neither does.

    A row-level expression: pi_h pi_a + (1 - pi_h) (1 - pi_a).

    Args:
        pi_human: Posterior of an effect in humans, in [0, 1].
        pi_agent: Posterior of an effect in agents, in [0, 1].
        rules: `reference` keeps posteriors 1e-6 from 0 and 1, takes NaN for the highest of them,
            and gives 0.5 where one is null.

    Returns:
        Float64 in [0, 1], named `pas`. Null where a posterior is null, NaN or outside [0, 1] by
        more than rounding.

    Raises:
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026), PAS of single tests; arXiv 2602.00685.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import pas
        >>> tests = pl.DataFrame({"pi_human": [1.0, 0.5, 0.9], "pi_agent": [0.0, 0.3, None]})
        >>> tests.select(pas()).to_series().to_list()
        [0.0, 0.5, None]
    """
    check_choice("rules", rules, Rules)
    pi_h, pi_a = (as_expr(pi).cast(pl.Float64) for pi in (pi_human, pi_agent))
    if rules == "reference":
        pi_h, pi_a = (pi.fill_nan(1.0).clip(EPSILON, 1.0 - EPSILON) for pi in (pi_h, pi_a))
        return _both_or_neither(pi_h, pi_a).fill_null(CHANCE).alias("pas")
    pi_h, pi_a = (possible_share(pi) for pi in (pi_h, pi_a))
    return _both_or_neither(pi_h, pi_a).alias("pas")


def pas_three_way(
    human: ThreeWay = HUMAN, agent: ThreeWay = AGENT, *, rules: Rules = "documented"
) -> pl.Expr:
    """PAS of a test from two three-way posteriors: the same side, or no effect in both.

    A row-level expression: the sum over a positive effect, a negative effect and none of the
    product of the two posteriors. With the usual split of posteriors it is at most 0.9998.

    Args:
        human: Posteriors of humans: three columns in the order plus, minus, zero, or one struct as
            `posterior_three_way` gives it.
        agent: Posteriors of agents, likewise.
        rules: `reference` takes missing entries for 0, and all others as they are.

    Returns:
        Float64 in [0, 1], named `pas`. Null where an entry is null, NaN or outside [0, 1], or the
        entries of a side are further than 1e-6 from a sum of 1. By `reference` whatever the formula
        gives.

    Raises:
        ParameterError: Unknown rules, or not three columns.

    References:
        HumanStudy-Bench (HEAD of February 2026), evaluators.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import pas_three_way
        >>> columns = ["pi_plus_human", "pi_minus_human", "pi_zero_human"]
        >>> columns += ["pi_plus_agent", "pi_minus_agent", "pi_zero_agent"]
        >>> tests = pl.DataFrame([[0.5, 0.0, 0.5, 0.25, 0.25, 0.5]], schema=columns, orient="row")
        >>> tests.select(pas_three_way()).item()
        0.375
    """
    check_choice("rules", rules, Rules)
    products = [h * a for h, a in zip(ways_of(human), ways_of(agent), strict=True)]
    if rules == "reference":
        products = [product.fill_nan(None).fill_null(0.0) for product in products]
        return _added(products).alias("pas")
    possible = are_posterior(ways_of(human)) & are_posterior(ways_of(agent))
    return pl.when(possible).then(_added(products).clip(0.0, 1.0)).alias("pas")


def repaired_pas(
    pas_given: IntoExpr = "pas",
    pi_human: IntoExpr = "pi_human",
    pi_agent: IntoExpr = "pi_agent",
    is_significant: IntoExpr = "is_significant_human",
) -> pl.Expr:
    """The PAS that the original publishes after its repair of human posteriors.

    For those who must reproduce published numbers. Where `prior_repair` changes a posterior by more
    than 1e-6 the PAS is the two-way one of the repaired posterior, whatever the directions; an
    agent's posterior that is 0 or missing counts as 0.5.

    Args:
        pas_given: The PAS before.
        pi_human: Two-way posterior of humans.
        pi_agent: Two-way posterior of agents.
        is_significant: Whether the published test is significant.

    Returns:
        Float64 in [0, 1], named `pas`.

    References:
        HumanStudy-Bench (HEAD of February 2026), `pas` of `test_results`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import repaired_pas
        >>> tests = pl.DataFrame({"pas": [0.0, 0.2], "pi_human": [0.99] * 2, "pi_agent": [0.0] * 2})
        >>> tests = tests.with_columns(is_significant_human=pl.Series([True, False]))
        >>> tests.select(repaired_pas()).to_series().round(6).to_list()
        [0.0, 0.5]
    """
    before = as_expr(pi_human).cast(pl.Float64).fill_nan(None)
    repaired = prior_repair(pi_human, is_significant)
    agent = as_expr(pi_agent).cast(pl.Float64).fill_nan(None)
    agent = pl.when(agent != 0.0).then(agent).otherwise(CHANCE)
    changed = ((repaired - before).abs() > _CHANGED).fill_null(before.is_null())
    two_way = pas(repaired, agent, rules="reference")
    return pl.when(changed).then(two_way).otherwise(as_expr(pas_given)).alias("pas")


def ways_of(given: ThreeWay) -> list[pl.Expr]:
    """The three posteriors of a side, as Float64.

    Raises:
        ParameterError: It is neither a struct nor three columns.
    """
    if isinstance(given, str | pl.Expr):
        parts = [as_expr(given).struct.field(way) for way in WAYS]
    elif isinstance(given, Sequence) and len(given) == len(WAYS):
        parts = [as_expr(way) for way in given]
    else:
        raise ParameterError(
            f"a three-way posterior is a struct, or three columns: plus, minus, zero; got {given!r}"
        )
    return [part.cast(pl.Float64) for part in parts]


def _both_or_neither(pi_human: pl.Expr, pi_agent: pl.Expr) -> pl.Expr:
    return pi_human * pi_agent + (1.0 - pi_human) * (1.0 - pi_agent)


def _added(parts: Iterable[pl.Expr]) -> pl.Expr:
    plus, minus, zero = parts
    return plus + minus + zero
