"""From Bayes factors to posteriors of an effect; and PAS as a number, with its Fisher z.

PAS is a correlation moved to [0, 1]. With r = 2 PAS - 1, Fisher's z is half the log odds of PAS, so
pooling z is pooling log odds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.replication.effects.sizes import atanh

CHANCE = 0.5
"""PAS of a finding without a test and of a study without a finding under `missing="chance"`."""

EPSILON = 1e-6
"""Smallest distance of a clamped correlation from -1 and 1."""

ROUNDING = 1e-9
"""Rounding that may move a share out of [0, 1]."""

SLACK = 1e-6
"""Largest distance of the sum of a posterior from 1."""

_FLAT = 1e-10
"""Correlations closer to 0 than this have z = 0."""


def possible_share(share: pl.Expr, least: float = 0.0) -> pl.Expr:
    """The share clipped to `least` and 1, null if it is outside by more than rounding."""
    inside = share.is_between(least - ROUNDING, 1.0 + ROUNDING)
    return pl.when(inside).then(share.clip(least, 1.0))


def are_posterior(ways: Sequence[pl.Expr]) -> pl.Expr:
    """True if all values are in [0, 1] and their sum is 1."""
    inside = [way.is_between(-ROUNDING, 1.0 + ROUNDING) for way in ways]
    return pl.all_horizontal(*inside, (reduce(add, ways) - 1.0).abs() <= SLACK)


def fisher_z(r: pl.Expr) -> pl.Expr:
    """Fisher's z of a correlation, infinite at -1 and 1 and beyond."""
    return pl.when(r.abs() < _FLAT).then(0.0).otherwise(atanh(r.clip(-1.0, 1.0)))


def clamped_fisher_z(r: pl.Expr) -> pl.Expr:
    """Fisher's z of a correlation clamped to 1e-6 from its ends, at most 7.2543."""
    return fisher_z(r.clip(-1.0 + EPSILON, 1.0 - EPSILON))


def z_of_pas(pas: pl.Expr) -> pl.Expr:
    """Half the log odds of PAS, which is clamped to [5e-7, 1 - 5e-7]."""
    # Computed from the nearer end: PAS and 1 - PAS have the same z except for the sign.
    below = pas <= 0.5
    tail = pl.when(below).then(pas).otherwise(1.0 - pas).clip(EPSILON / 2, 0.5)
    z = 0.5 * (tail.log() - (-tail).log1p())
    return pl.when(below).then(z).otherwise(-z)


def pas_of_z(z: pl.Expr) -> pl.Expr:
    """PAS with this z: (tanh z + 1) / 2."""
    return 1.0 / (1.0 + (-2.0 * z).exp())


Scale: TypeAlias = Literal["ratio", "log"]

HUMAN_PRIOR_ODDS, NULL_FINDING_PRIOR_ODDS, AGENT_PRIOR_ODDS = 10.0, 0.1, 1.0
"""Prior odds of an effect in the evaluators of HumanStudy-Bench; its documentation has none."""

SAME_SIDE, OTHER_SIDE = 0.9999, 0.0001
"""Shares of the posterior of an effect: the side of its direction, and the other side."""

WAYS = ("pi_plus", "pi_minus", "pi_zero")
"""Fields of a three-way posterior: a positive effect, a negative effect, no effect."""


def posterior(
    bayes_factor: IntoExpr, prior_odds: IntoExpr | float, *, scale: Scale = "ratio"
) -> pl.Expr:
    """Posterior probability of an effect: odds / (1 + odds), odds = Bayes factor * prior odds.

    A row-level expression. An infinite Bayes factor gives 1, and large ones do not overflow.

    Args:
        bayes_factor: BF10, evidence for an effect against no effect, 0 or more.
        prior_odds: Odds of an effect before the data: a column, or a number. The evaluators use 10
            for humans (see `human_prior_odds`) and 1 for agents.
        scale: `log` if `bayes_factor` contains natural logarithms.

    Returns:
        Float64 in [0, 1], named `posterior`. Null if either argument is null, NaN or negative, or
        their product is undefined.

    References:
        HumanStudy-Bench (HEAD of February 2026), posteriors.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"bayes_factor": [0.1, float("inf")]})
        >>> tests.select(ef.posterior("bayes_factor", 10.0)).to_series().round(4).to_list()
        [0.5, 1.0]
    """
    return posteriors_of(bayes_factor, None, prior_odds, scale)[0].alias("posterior")


def posterior_three_way(
    bayes_factor: IntoExpr,
    direction: IntoExpr,
    prior_odds: IntoExpr | float,
    *,
    scale: Scale = "ratio",
) -> pl.Expr:
    """Posteriors of a positive effect, of a negative effect, and of no effect.

    A row-level expression. The side of the direction gets the posterior of an effect except for one
    part in 10,000. With direction 0 each side gets half.

    Args:
        bayes_factor: As in `posterior`.
        direction: Above 0 for a positive effect, below 0 for a negative one, 0 for neither.
        prior_odds: As in `posterior`.
        scale: As in `posterior`.

    Returns:
        Struct of Float64 `pi_plus`, `pi_minus`, `pi_zero`, which sum to 1, named `posterior`; all
        three null if the posterior or the direction is undefined.

    References:
        HumanStudy-Bench (HEAD of February 2026), evaluators.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> split = ef.replication.posterior_three_way(pl.lit(1.0), pl.lit(1), 1.0)
        >>> pl.select(split).unnest("posterior").row(0)
        (0.49995, 5e-05, 0.5)
    """
    _, *ways = posteriors_of(bayes_factor, direction, prior_odds, scale)
    return pl.struct(way.alias(name) for name, way in zip(WAYS, ways, strict=True)).alias(
        "posterior"
    )


def posteriors_of(
    bayes_factor: IntoExpr, direction: IntoExpr | None, prior_odds: IntoExpr | float, scale: Scale
) -> list[pl.Expr]:
    """Posterior of an effect, with a direction followed by those of plus, minus and zero."""
    evidence, prior = evidence_and_prior(bayes_factor, prior_odds, scale)
    if scale == "log":
        log_odds = pl.when(prior >= 0).then(evidence + prior.log())
        effect, none = 1.0 / (1.0 + (-log_odds).exp()), 1.0 / (1.0 + log_odds.exp())
    else:
        odds = pl.when((evidence >= 0) & (prior >= 0)).then(evidence * prior)
        effect, none = 1.0 / (1.0 + 1.0 / odds), 1.0 / (1.0 + odds)
    effect, none = effect.fill_nan(None), none.fill_nan(None)
    if direction is None:
        return [effect]
    return [effect, *split_ways(effect, none, as_expr(direction).cast(pl.Float64).fill_nan(None))]


def evidence_and_prior(
    bayes_factor: IntoExpr, prior_odds: IntoExpr | float, scale: Scale
) -> tuple[pl.Expr, pl.Expr]:
    """Bayes factor and prior odds as Float64 without NaN."""
    check_choice("scale", scale, Scale)
    odds = pl.lit(float(prior_odds)) if isinstance(prior_odds, int | float) else prior_odds
    evidence, prior = (as_expr(each).cast(pl.Float64) for each in (bayes_factor, odds))
    return evidence.fill_nan(None), prior.fill_nan(None)


def split_ways(effect: pl.Expr, none: pl.Expr, direction: pl.Expr) -> list[pl.Expr]:
    """Posteriors of plus, minus and zero, null without a direction."""
    plus, minus = _share(direction) * effect, _share(-direction) * effect
    return [plus, minus, pl.when(direction.is_not_null()).then(none)]


def _share(side: pl.Expr) -> pl.Expr:
    """Share of the posterior of an effect that the side of this sign gets."""
    decided = pl.when(side > 0).then(SAME_SIDE).when(side < 0).then(OTHER_SIDE)
    return decided.when(side == 0).then(0.5)


def human_prior_odds(is_null_finding: IntoExpr = "is_null_finding") -> pl.Expr:
    """Prior odds of the human side in the evaluators: 10, or 0.1 for a published null.

    Args:
        is_null_finding: Boolean: True if the published finding is that there is no effect. Null
            means False.

    Returns:
        Float64, named `prior_odds`.

    References:
        HumanStudy-Bench (HEAD of February 2026), evaluators.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> pl.select(ef.replication.human_prior_odds(pl.lit(True))).item()
        0.1
    """
    null = as_expr(is_null_finding)
    odds = pl.when(null).then(NULL_FINDING_PRIOR_ODDS).otherwise(HUMAN_PRIOR_ODDS)
    return odds.alias("prior_odds")
