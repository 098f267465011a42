"""PAS and concordance of HumanStudy-Bench (HEAD of February 2026).

| case | here | `ef.replication` |
|---|---|---|
| Bayes factor null or NaN | posterior 0.5 | null |
| odds overflow | undefined | posterior 1 |
| Bayes factor or prior odds negative | the formula | null |
| direction null | split in halves, as direction 0 | null |
| no direction, a statistic with a sign | PAS is two-way | that sign |
| two-way posterior of 0 or 1, or outside | clamped to 1e-6 or 1 - 1e-6 | unchanged, or null |
| two-way posterior null, NaN | PAS 0.5, 1 - 1e-6 | null |
| three-way posterior with a missing entry | the entry is 0 | null |
| three-way posterior whose sum is not 1 | the formula | null |
| human ceiling below chance | divides by it, which changes the sign | null |
| sums of squares of a concordance | not divided by the weights, unlike the shift | divided |
| both sides constant | concordance 1 | null |
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import tables
from evalframe.core.choices import MissingAgent, check_choice
from evalframe.core.frames import like_input
from evalframe.core.metric import Metric, MetricExpr
from evalframe.core.rows import as_expr
from evalframe.core.typing import Frame, IntoExpr, Role
from evalframe.replication.agreement.alignment import (
    AGENT,
    HUMAN,
    ThreeWay,
    Ways,
    both_or_neither,
    check_evidence,
    chosen_ways,
    pas_columns,
    posterior_columns,
    products,
)
from evalframe.replication.agreement.metrics import (
    central_squares,
    if_varying,
    pairs_of,
    twice_products,
)
from evalframe.replication.agreement.posteriors import (
    AGENT_PRIOR_ODDS,
    CHANCE,
    EPSILON,
    HUMAN_PRIOR_ODDS,
    WAYS,
    Scale,
    evidence_and_prior,
    split_ways,
)
from evalframe.replication.agreement.scalings import (
    NO_CEILING,
    Posterior,
    all_ways,
    ratio_above_chance,
    sum_of_squares,
)

if TYPE_CHECKING:
    from evalframe.core.state import State, Totals


_REPAIR = 100.0
_CHANGED = 1e-6


def posterior(
    bayes_factor: IntoExpr, prior_odds: IntoExpr | float, *, scale: Scale = "ratio"
) -> pl.Expr:
    """`ef.replication.posterior`, but 0.5 without a Bayes factor, and null if odds overflow.

    A negative Bayes factor gives the result of the formula, also outside [0, 1].

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import humanstudy_bench
        >>> tests = pl.DataFrame({"bayes_factor": [9.0, None, -0.1]})
        >>> tests.select(humanstudy_bench.posterior("bayes_factor", 5.0)).to_series().to_list()
        [0.9782608695652174, 0.5, -1.0]
    """
    return posteriors_of(bayes_factor, None, prior_odds, scale)[0].alias("posterior")


def posterior_three_way(
    bayes_factor: IntoExpr,
    direction: IntoExpr,
    prior_odds: IntoExpr | float,
    *,
    scale: Scale = "ratio",
) -> pl.Expr:
    """`ef.replication.posterior_three_way` of the posteriors here; a null direction is 0.

    If odds overflow `pi_zero` is 0 and the others are null.
    """
    _, *ways = posteriors_of(bayes_factor, direction, prior_odds, scale)
    fields = [way.alias(name) for name, way in zip(WAYS, ways, strict=True)]
    return pl.struct(fields).alias("posterior")


def posteriors_of(
    bayes_factor: IntoExpr, direction: IntoExpr | None, prior_odds: IntoExpr | float, scale: Scale
) -> list[pl.Expr]:
    """Posterior of an effect, with a direction followed by those of plus, minus and zero."""
    evidence, prior = evidence_and_prior(bayes_factor, prior_odds, scale)
    evidence = evidence.exp() if scale == "log" else evidence
    odds, certain = evidence * prior, evidence == float("inf")
    effect = pl.when(certain).then(1.0).otherwise(odds / (1.0 + odds))
    none = pl.when(certain).then(0.0).otherwise(1.0 / (1.0 + odds))
    effect, none = (
        pl.when(evidence.is_null()).then(0.5).otherwise(each).fill_nan(None)
        for each in (effect, none)
    )
    if direction is None:
        return [effect]
    side = as_expr(direction).cast(pl.Float64).fill_nan(None).fill_null(0.0)
    return [effect, *split_ways(effect, none, side)]


@like_input
def with_posteriors(
    tests: Frame,
    *,
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
    missing_agent: MissingAgent = "skip",
) -> pl.LazyFrame:
    """`ef.replication.with_posteriors` by the posteriors here; directions are columns only.

    `missing_agent="skip"` gives an agent without a Bayes factor the posterior 0.5.
    """
    lazy = tables.lazy(tests)
    odds = {"human": human_prior_odds, "agent": agent_prior_odds}
    check_evidence("with_posteriors", lazy, odds, missing_agent)
    return posterior_columns("with_posteriors", lazy, odds, missing_agent, posteriors_of)


def pas(pi_human: IntoExpr = "pi_human", pi_agent: IntoExpr = "pi_agent") -> pl.Expr:
    """`ef.replication.pas` of clamped posteriors: 0.5 if one is null, and NaN is 1 - 1e-6.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import humanstudy_bench
        >>> tests = pl.DataFrame({"pi_human": [1.0, None], "pi_agent": [1.0, 0.2]})
        >>> tests.select(humanstudy_bench.pas()).to_series().round(9).to_list()
        [0.999998, 0.5]
    """
    human, agent = (
        as_expr(pi).cast(pl.Float64).fill_nan(1.0).clip(EPSILON, 1.0 - EPSILON)
        for pi in (pi_human, pi_agent)
    )
    return both_or_neither(human, agent).fill_null(CHANCE).alias("pas")


def pas_three_way(human: ThreeWay = HUMAN, agent: ThreeWay = AGENT) -> pl.Expr:
    """`ef.replication.pas_three_way`, with 0 for missing entries and the others unchanged."""
    plus, minus, zero = (
        product.fill_nan(None).fill_null(0.0) for product in products(human, agent)
    )
    return (plus + minus + zero).alias("pas")


@like_input
def with_pas(tests: Frame, *, ways: Ways | None = None) -> pl.LazyFrame:
    """`ef.replication.with_pas` by `pas` or `pas_three_way` here.

    By default all rows use `pas_three_way` if both sides have its columns, else `pas`.
    """
    check_choice("ways", ways, Ways, optional=True)
    lazy = tables.lazy(tests)
    return pas_columns(lazy, *pas_of_posteriors("with_pas", lazy.collect_schema(), ways))


def pas_of_posteriors(
    caller: str, schema: Collection[str], ways: Ways | None
) -> tuple[pl.Expr, pl.Expr]:
    """PAS from the posteriors of a table, and whether it is two-way."""
    ways = chosen_ways(caller, schema, ways)
    return pas_three_way() if ways == "three" else pas(), pl.lit(ways == "two")


def pas_ratio(pas: IntoExpr = "pas", pi_human: Posterior = "pi_human") -> pl.Expr:
    """`ef.replication.pas_ratio` also by ceilings below chance, of unchecked posteriors."""
    room = 2.0 * sum_of_squares(all_ways(pi_human)).fill_nan(None) - 1.0
    share = as_expr(pas).cast(pl.Float64)
    return ratio_above_chance(share, room, room.abs() >= NO_CEILING).alias("pas_ratio")


def prior_repair(
    pi_human: IntoExpr = "pi_human", is_significant: IntoExpr = "is_significant_human"
) -> pl.Expr:
    """Repair human posteriors that contradict the published significance.

    If a test is significant and its posterior is below 0.5, its odds are multiplied by 100; if it
    is not significant and the posterior is above 0.5, they are divided by 100.

    Args:
        pi_human: Two-way posterior of the human side.
        is_significant: Boolean: True if the published test is significant; null changes nothing.

    Returns:
        Float64 in [0, 1], named `pi_human`; 0.5 if the posterior is null or NaN; null if it is 1
        and would be lowered, where the original divides by 0.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import prior_repair
        >>> tests = pl.DataFrame({"pi_human": [0.99, 0.99], "significant": [True, False]})
        >>> tests.select(prior_repair("pi_human", "significant")).to_series().round(4).to_list()
        [0.99, 0.4975]
    """
    pi = as_expr(pi_human).cast(pl.Float64).fill_nan(None)
    significant = as_expr(is_significant)
    odds = pi / (1.0 - pi)
    raised, lowered = odds * _REPAIR, odds / _REPAIR
    repaired = (
        pl.when(pi.is_null())
        .then(0.5)
        .when(significant & (pi < 0.5))
        .then(raised / (1.0 + raised))
        .when(~significant & (pi > 0.5))
        .then(lowered / (1.0 + lowered))
        .otherwise(pi)
    )
    return repaired.fill_nan(None).alias("pi_human")


def repaired_pas(
    pas_before: IntoExpr = "pas",
    pi_human: IntoExpr = "pi_human",
    pi_agent: IntoExpr = "pi_agent",
    is_significant: IntoExpr = "is_significant_human",
) -> pl.Expr:
    """The published PAS, after the repair of human posteriors.

    If `prior_repair` changes a posterior by more than 1e-6, PAS is the two-way one of the repaired
    posterior, whatever the directions; an agent's posterior that is 0 or missing becomes 0.5.

    Args:
        pas_before: PAS before the repair.
        pi_human: Two-way posterior of humans.
        pi_agent: Two-way posterior of agents.
        is_significant: True if the published test is significant.

    Returns:
        Float64 in [0, 1], named `pas`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import repaired_pas
        >>> tests = pl.DataFrame({"pas": [0.2], "pi_human": [0.99], "pi_agent": [0.0]})
        >>> round(tests.select(repaired_pas(is_significant=pl.lit(False))).item(), 6)
        0.5
    """
    before = as_expr(pi_human).cast(pl.Float64).fill_nan(None)
    repaired = prior_repair(pi_human, is_significant)
    agent = as_expr(pi_agent).cast(pl.Float64).fill_nan(None)
    agent = pl.when(agent != 0.0).then(agent).otherwise(CHANCE)
    changed = ((repaired - before).abs() > _CHANGED).fill_null(before.is_null())
    return pl.when(changed).then(pas(repaired, agent)).otherwise(as_expr(pas_before)).alias("pas")


def concordance_correlation(
    x: IntoExpr = "effect_d_human",
    y: IntoExpr = "effect_d_agent",
    *,
    weight: IntoExpr | None = None,
) -> MetricExpr:
    """`ef.concordance_correlation`, but the scale of the weights matters.

    Sums of squares are not divided by the sum of the weights, and the squared difference of means
    is not multiplied by it: a shift matters less the larger the weights. The result is 1 if both
    sides are constant, even if they differ, and null for a single pair. A pair of weight 2 is one
    pair.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat import humanstudy_bench
        >>> effects = pl.DataFrame({"human": [0.0, 1.0, 2.0], "agent": [1.0, 2.0, 3.0]})
        >>> effects.select(humanstudy_bench.concordance_correlation("human", "agent")).item()
        0.8
    """
    return _CONCORDANCE.bind((x, y), weight=weight)


def _concordance_state(
    x: Role = "effect_d_human", y: Role = "effect_d_agent", *, weight: Role = None
) -> State:
    return pairs_of(x, y, weight, _concordance)


def _concordance(t: Totals) -> pl.Expr:
    squares = central_squares(t.x_squares, t.x_rest, t.mass)
    squares += central_squares(t.y_squares, t.y_rest, t.mass)
    value = twice_products(t) / (squares + (t.gap / t.mass) ** 2)
    return pl.when(t.pairs > 1).then(if_varying(t, value, 1.0))


_CONCORDANCE = Metric(
    name="concordance_correlation",
    define=_concordance_state,
    direction="maximize",
    range=(-1.0, 1.0),
    roles={"x": "effect_d_human", "y": "effect_d_agent"},
    labels=frozenset(),
    params={},
    family="replication",
)
"""Not registered: the name is that of the metric in `ef.replication`."""
