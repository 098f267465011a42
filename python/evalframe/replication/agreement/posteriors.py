"""From Bayes factors to posteriors, two-way and three-way, and what stands for missing agents.

Where the original program differs:

| case | `rules="documented"` | `rules="reference"` |
|---|---|---|
| Bayes factor null or NaN | null | posterior 0.5 |
| Bayes factor times prior odds overflows | posterior 1 | undefined |
| Bayes factor or prior odds negative | null | the formula |
| direction null | null | split in halves, as direction 0 |
| no direction given, a statistic with a sign | that sign | PAS is two-way |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.rules import Rules, check_choice

if TYPE_CHECKING:
    from evalframe.core.typing import IntoExpr

Scale: TypeAlias = Literal["ratio", "log"]

HUMAN_PRIOR_ODDS, NULL_FINDING_PRIOR_ODDS, AGENT_PRIOR_ODDS = 10.0, 0.1, 1.0
"""Prior odds of an effect that the evaluators use; the method's documentation is silent on them."""

SAME_SIDE, OTHER_SIDE = 0.9999, 0.0001
"""How the posterior of an effect is split between the side of its direction and the other."""

WAYS = ("pi_plus", "pi_minus", "pi_zero")
"""Fields of a three-way posterior: a positive effect, a negative effect, none."""

_REPAIR = 100.0


def posterior(
    bayes_factor: IntoExpr,
    prior_odds: IntoExpr | float,
    *,
    scale: Scale = "ratio",
    rules: Rules = "documented",
) -> pl.Expr:
    """Posterior probability of an effect: odds / (1 + odds), odds = Bayes factor * prior odds.

    A row-level expression. An infinite Bayes factor gives 1, and none overflows.

    Args:
        bayes_factor: BF10, evidence for an effect against none, 0 or more.
        prior_odds: Odds of an effect before the data: a column, or a number. The evaluators take 10
            for humans (see `human_prior_odds`) and 1 for agents.
        scale: `log` if `bayes_factor` holds natural logarithms.
        rules: `reference` has 0.5 where there is no Bayes factor, and nothing where the odds of a
            finite one overflow.

    Returns:
        Float64 in [0, 1], named `posterior`. Null where either is null or NaN, negative, or their
        product is not defined. By `reference` 0.5 for a Bayes factor that is null or NaN, and for a
        negative one whatever the formula gives, also outside [0, 1].

    Raises:
        ParameterError: Unknown scale or rules.

    References:
        HumanStudy-Bench (HEAD of February 2026), posteriors.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import posterior
        >>> tests = pl.DataFrame({"bayes_factor": [0.1, 1.0, float("inf"), None]})
        >>> tests.select(posterior("bayes_factor", 10.0)).to_series().round(4).to_list()
        [0.5, 0.9091, 1.0, None]
        >>> tests.select(posterior(pl.lit(1e4), pl.lit(1.0), scale="log")).item()
        1.0
    """
    effect, _ = _posteriors(bayes_factor, prior_odds, scale, rules)
    return effect.alias("posterior")


def posterior_three_way(
    bayes_factor: IntoExpr,
    direction: IntoExpr,
    prior_odds: IntoExpr | float,
    *,
    scale: Scale = "ratio",
    rules: Rules = "documented",
) -> pl.Expr:
    """Posteriors of a positive effect, of a negative effect, and of none.

    A row-level expression. The posterior of an effect goes to the side of its direction but for one
    part in 10,000; without a direction each side has half.

    Args:
        bayes_factor: BF10, evidence for an effect against none, 0 or more.
        direction: Above 0 for a positive effect, below 0 for a negative one, 0 for neither.
        prior_odds: Odds of an effect before the data: a column, or a number.
        scale: `log` if `bayes_factor` holds natural logarithms.
        rules: As in `posterior`; `reference` also takes a null direction for none.

    Returns:
        Struct of Float64 `pi_plus`, `pi_minus`, `pi_zero`, which sum to 1, named `posterior`; all
        three null where one of them is not defined. By `reference` as in `posterior`, and where the
        odds overflow `pi_zero` is 0 and the others are null.

    Raises:
        ParameterError: Unknown scale or rules.

    References:
        HumanStudy-Bench (HEAD of February 2026), evaluators.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import posterior_three_way
        >>> tests = pl.DataFrame({"bayes_factor": [1.0, 1.0], "direction": [1, 0]})
        >>> split = posterior_three_way("bayes_factor", "direction", 1.0)
        >>> tests.select(split).unnest("posterior").rows()
        [(0.49995, 5e-05, 0.5), (0.25, 0.25, 0.5)]
    """
    parts = three_ways(bayes_factor, direction, prior_odds, scale, rules)
    return pl.struct(parts).alias("posterior")


def three_ways(
    bayes_factor: IntoExpr,
    direction: IntoExpr,
    prior_odds: IntoExpr | float,
    scale: Scale,
    rules: Rules,
) -> list[pl.Expr]:
    """The fields of `posterior_three_way`, each by its name."""
    effect, none = _posteriors(bayes_factor, prior_odds, scale, rules)
    side = as_expr(direction).cast(pl.Float64).fill_nan(None)
    if rules == "reference":
        side = side.fill_null(0.0)
    parts = split_ways(effect, none, side)
    return [part.alias(way) for way, part in zip(WAYS, parts, strict=True)]


def split_ways(effect: pl.Expr, none: pl.Expr, direction: pl.Expr) -> list[pl.Expr]:
    """Posteriors of an effect and of none as those of plus, minus and zero.

    Null where there is no direction.
    """
    plus, minus = _share(direction) * effect, _share(-direction) * effect
    return [plus, minus, pl.when(direction.is_not_null()).then(none)]


def _share(side: pl.Expr) -> pl.Expr:
    """What the side of this sign has of the posterior of an effect."""
    decided = pl.when(side > 0).then(SAME_SIDE).when(side < 0).then(OTHER_SIDE)
    return decided.when(side == 0).then(0.5)


def _posteriors(
    bayes_factor: IntoExpr, prior_odds: IntoExpr | float, scale: Scale, rules: Rules
) -> tuple[pl.Expr, pl.Expr]:
    """The posteriors of an effect and of none."""
    check_choice("scale", scale, Scale)
    check_choice("rules", rules, Rules)
    evidence = as_expr(bayes_factor).cast(pl.Float64).fill_nan(None)
    given = pl.lit(float(prior_odds)) if isinstance(prior_odds, int | float) else prior_odds
    prior = as_expr(given).cast(pl.Float64).fill_nan(None)
    if rules == "reference":
        return _original_posteriors(evidence.exp() if scale == "log" else evidence, prior)
    if scale == "log":
        log_odds = pl.when(prior >= 0).then(evidence + prior.log())
        effect, none = 1.0 / (1.0 + (-log_odds).exp()), 1.0 / (1.0 + log_odds.exp())
    else:
        odds = pl.when((evidence >= 0) & (prior >= 0)).then(evidence * prior)
        effect, none = 1.0 / (1.0 + 1.0 / odds), 1.0 / (1.0 + odds)
    return effect.fill_nan(None), none.fill_nan(None)


def _original_posteriors(evidence: pl.Expr, prior: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    odds = evidence * prior
    certain = evidence == float("inf")
    effect = pl.when(certain).then(1.0).otherwise(odds / (1.0 + odds))
    none = pl.when(certain).then(0.0).otherwise(1.0 / (1.0 + odds))
    unknown = evidence.is_null()
    halves = (pl.when(unknown).then(0.5).otherwise(part) for part in (effect, none))
    first, second = (half.fill_nan(None) for half in halves)
    return first, second


def human_prior_odds(is_null_finding: IntoExpr = "is_null_finding") -> pl.Expr:
    """Prior odds of the human side as the evaluators have them: 10, or 0.1 for a published null.

    Args:
        is_null_finding: Boolean: whether the published finding is that there is no effect. Null
            counts as false.

    Returns:
        Float64, named `prior_odds`.

    References:
        HumanStudy-Bench (HEAD of February 2026), evaluators.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import human_prior_odds
        >>> pl.select(human_prior_odds(pl.lit(True))).item()
        0.1
    """
    null = as_expr(is_null_finding)
    odds = pl.when(null).then(NULL_FINDING_PRIOR_ODDS).otherwise(HUMAN_PRIOR_ODDS)
    return odds.alias("prior_odds")


def prior_repair(
    pi_human: IntoExpr = "pi_human", is_significant: IntoExpr = "is_significant_human"
) -> pl.Expr:
    """The original's repair of human posteriors that contradict the published significance.

    For those who must reproduce published numbers; no function here applies it by itself. Where a
    test is significant and its posterior below 0.5 its odds are multiplied by 100; where it is not
    significant and the posterior above 0.5 they are divided by 100.

    Args:
        pi_human: Two-way posterior of the human side.
        is_significant: Boolean: whether the published test is significant; null leaves a posterior
            as it is.

    Returns:
        Float64 in [0, 1], named `pi_human`; 0.5 where the posterior is null or NaN, null where it
        is 1 and would have to be lowered, where the original divides by 0.

    References:
        HumanStudy-Bench (HEAD of February 2026), `pi_human` of `test_results`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import prior_repair
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
