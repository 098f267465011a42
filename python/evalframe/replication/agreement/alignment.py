"""PAS of single tests: the probability that humans and agents are on the same side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.choices import MissingAgent, check_choice
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.typing import Frame, IntoExpr
from evalframe.replication.agreement.directions import check_both_sides, with_directions
from evalframe.replication.agreement.posteriors import (
    AGENT_PRIOR_ODDS,
    HUMAN_PRIOR_ODDS,
    WAYS,
    Scale,
    are_posterior,
    possible_share,
    posteriors_of,
)
from evalframe.replication.agreement.scored_tests import TWO_WAY, check_numbers, with_all_ways

ThreeWay: TypeAlias = IntoExpr | Sequence[IntoExpr]
"""A three-way posterior: three columns (plus, minus, zero), or one struct of these fields."""

Ways: TypeAlias = Literal["two", "three"]

Posteriors: TypeAlias = Callable[
    [IntoExpr, IntoExpr | None, IntoExpr | float, Scale], Sequence[pl.Expr]
]
"""A function like `posteriors_of`."""

HUMAN = tuple(f"{way}_human" for way in WAYS)
AGENT = tuple(f"{way}_agent" for way in WAYS)

MISSING_AGENTS: dict[str, tuple[float, float, float]] = {
    "null_finding": (0.0, 0.0, 1.0),
    "uniform": (1 / 3, 1 / 3, 1 / 3),
    "half_null": (0.0, 0.0, 0.5),
}
"""Three-way posteriors that the evaluators give to agents without data."""

_EVIDENCE = ("log_bayes_factor", "bayes_factor", "direction", "prior_odds")


def pas(pi_human: IntoExpr = "pi_human", pi_agent: IntoExpr = "pi_agent") -> pl.Expr:
    """PAS of a test from two posteriors of an effect: both sides see one, or neither does.

    A row-level expression: pi_h pi_a + (1 - pi_h) (1 - pi_a).

    Args:
        pi_human: Posterior of an effect in humans, in [0, 1].
        pi_agent: Posterior of an effect in agents, in [0, 1].

    Returns:
        Float64 in [0, 1], named `pas`. Null if a posterior is null, NaN or outside [0, 1] by more
        than rounding.

    References:
        HumanStudy-Bench (HEAD of February 2026), PAS of single tests; arXiv 2602.00685.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"pi_human": [1.0, 0.5, 0.9], "pi_agent": [0.0, 0.3, None]})
        >>> tests.select(ef.pas()).to_series().to_list()
        [0.0, 0.5, None]
    """
    human, agent = (possible_share(as_expr(pi).cast(pl.Float64)) for pi in (pi_human, pi_agent))
    return both_or_neither(human, agent).alias("pas")


def pas_three_way(human: ThreeWay = HUMAN, agent: ThreeWay = AGENT) -> pl.Expr:
    """PAS of a test from two three-way posteriors: the same side, or no effect in both.

    A row-level expression: the sum over a positive effect, a negative effect and no effect of the
    product of the two posteriors. With the usual split of posteriors it is at most 0.9998.

    Args:
        human: Posteriors of humans: three columns in the order plus, minus, zero, or one struct as
            returned by `posterior_three_way`.
        agent: Posteriors of agents in the same form.

    Returns:
        Float64 in [0, 1], named `pas`. Null if an entry is null, NaN or outside [0, 1], or the
        entries of a side differ from a sum of 1 by more than 1e-6.

    References:
        HumanStudy-Bench (HEAD of February 2026), evaluators.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> human, agent = [*map(pl.lit, (0.5, 0, 0.5))], [*map(pl.lit, (0.3, 0.2, 0.5))]
        >>> pl.select(ef.replication.pas_three_way(human, agent)).item()
        0.4
    """
    possible = are_posterior(ways_of(human)) & are_posterior(ways_of(agent))
    plus, minus, zero = products(human, agent)
    return pl.when(possible).then((plus + minus + zero).clip(0.0, 1.0)).alias("pas")


def both_or_neither(pi_human: pl.Expr, pi_agent: pl.Expr) -> pl.Expr:
    """Probability that two independent sides both see an effect, or both see none."""
    return pi_human * pi_agent + (1.0 - pi_human) * (1.0 - pi_agent)


def products(human: ThreeWay, agent: ThreeWay) -> list[pl.Expr]:
    """Products of the posteriors of both sides for plus, minus and zero."""
    return [h * a for h, a in zip(ways_of(human), ways_of(agent), strict=True)]


def ways_of(posterior: ThreeWay) -> list[pl.Expr]:
    """The three posteriors of a side as Float64."""
    if isinstance(posterior, str | pl.Expr):
        ways = [as_expr(posterior).struct.field(way) for way in WAYS]
    elif isinstance(posterior, Sequence) and len(posterior) == len(WAYS):
        ways = [as_expr(way) for way in posterior]
    else:
        raise ParameterError(
            "a three-way posterior is a struct, or three columns: plus, minus, zero; got "
            f"{posterior!r}"
        )
    return [way.cast(pl.Float64) for way in ways]


@like_input
def with_posteriors(
    tests: Frame,
    *,
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
    missing_agent: MissingAgent = "skip",
) -> pl.LazyFrame:
    """Add the posteriors of both sides, computed from their Bayes factors.

    If both sides have a direction, the posterior of an effect is split into those of a positive and
    of a negative effect. The direction is the column `direction_human` or `direction_agent`, or
    else the sign of the statistic: of t, r, z and coefficients; of U by the group that is ahead; of
    shares relative to `p0`; of tables of two by two with cells `a` to `d`; otherwise of
    `effect_d_human` or `effect_size_human`. F, Wald, chi-square and p-values alone have no
    direction: PAS of such tests is two-way.

    Args:
        tests: One row per test with `log_bayes_factor_human` or `bayes_factor_human`, and the same
            for the agent. Read if present: `direction_human`, `direction_agent` (above 0, below 0,
            or 0), `test_type` with statistics, `prior_odds_human`, `prior_odds_agent`. A table with
            directions is read once in advance.
        human_prior_odds: Prior odds of the human side in rows without a value: 10 in the
            evaluators, 0.1 for a published null; see `human_prior_odds`.
        agent_prior_odds: Prior odds of the agents in rows without a value.
        missing_agent: Posterior of an agent without a Bayes factor. `skip`: null, the test is
            missing. As in the evaluators, `null_finding`: certainly no effect (most studies);
            `uniform`: a third each (studies 010 to 012); `half_null`: no effect with 0.5 and
            nothing else (study 001). `half_null` does not sum to 1, so PAS of it is null here.

    Returns:
        The table with `pi_human` and `pi_agent` (Float64, posteriors of an effect). With
        directions also `pi_plus_human`, `pi_minus_human`, `pi_zero_human` and the same of the
        agent, `direction_human`, `direction_agent`, and, if statistics have a sign,
        `has_direction_conflict`: True if a direction column contradicts it, for example a t that
        is stored without its sign. Columns of these names are replaced.

    Raises:
        ContractError: A test with data on both sides has a direction on one of them.
        MissingColumnsError: A side has no Bayes factors, or a column of prior odds is missing.

    References:
        HumanStudy-Bench (HEAD of February 2026), evaluators.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"bayes_factor_human": [9.9], "bayes_factor_agent": [1.0]})
        >>> ef.replication.with_posteriors(tests).select("pi_human", "pi_agent").row(0)
        (0.99, 0.5)
    """
    lazy = tables.lazy(tests)
    odds = {"human": human_prior_odds, "agent": agent_prior_odds}
    check_evidence("with_posteriors", lazy, odds, missing_agent)
    check_both_sides(lazy)
    lazy = with_directions(lazy)
    return posterior_columns("with_posteriors", lazy, odds, missing_agent, posteriors_of)


def check_evidence(
    caller: str,
    tests: pl.LazyFrame,
    prior_odds: Mapping[str, IntoExpr | float],
    missing_agent: MissingAgent = "skip",
) -> None:
    """Raise unless columns of evidence are numeric and columns of prior odds exist."""
    check_choice("missing_agent", missing_agent, MissingAgent)
    schema = tests.collect_schema()
    columns = [as_expr(odds) for odds in prior_odds.values() if not isinstance(odds, int | float)]
    if missing := columns_read(columns) - {*schema}:
        raise MissingColumnsError.of(caller, missing, schema)
    names = [f"{kind}_{side}" for side in prior_odds for kind in _EVIDENCE]
    check_numbers(caller, tests, [*columns, *(name for name in names if name in schema)])


def posterior_columns(
    caller: str,
    tests: pl.LazyFrame,
    prior_odds: Mapping[str, IntoExpr | float],
    missing_agent: MissingAgent,
    posteriors: Posteriors,
) -> pl.LazyFrame:
    """Add the posteriors of the sides that have prior odds, by a function like `posteriors_of`."""
    schema = tests.collect_schema()
    columns: dict[str, pl.Expr] = {}
    for side, odds in prior_odds.items():
        scales: dict[str, Scale] = {
            f"log_bayes_factor_{side}": "log",
            f"bayes_factor_{side}": "ratio",
        }
        factor = next((name for name in scales if name in schema), None)
        if factor is None:
            raise MissingColumnsError.of(caller, [f"bayes_factor_{side}"], schema)
        direction = f"direction_{side}" if f"direction_{side}" in schema else None
        prior = _prior(f"prior_odds_{side}", odds, schema)
        exprs = posteriors(factor, direction, prior, scales[factor])
        fallback = MISSING_AGENTS.get(missing_agent) if side == "agent" else None
        if fallback is not None:
            absent = pl.col(factor).cast(pl.Float64).fill_nan(None).is_null()
            values = (sum(fallback[:2]), *fallback)
            exprs = [
                pl.when(absent).then(value).otherwise(expr)
                for value, expr in zip(values, exprs, strict=False)
            ]
        names = [f"{name}_{side}" for name in ("pi", *WAYS)]
        columns |= dict(zip(names, exprs, strict=False))
    return tests.with_columns(**columns)


def _prior(name: str, default: IntoExpr | float, schema: pl.Schema) -> pl.Expr:
    """Prior odds of a side: the column of the table, and the default in rows without a value."""
    odds = pl.lit(float(default)) if isinstance(default, int | float) else as_expr(default)
    if name not in schema:
        return odds
    return pl.col(name).cast(pl.Float64).fill_nan(None).fill_null(odds)


@like_input
def with_pas(tests: Frame, *, ways: Ways | None = None) -> pl.LazyFrame:
    """Add the PAS of each test, computed from the posteriors of both sides.

    Args:
        tests: One row per test, with posteriors as returned by `with_posteriors`.
        ways: `three`: both on the same side, or both without an effect. `two`: both with an effect,
            or both without, whatever the directions. By default each row is three-way if it has
            three-way posteriors of both sides, also those that follow from two-way posteriors and
            directions (see `with_posteriors`), otherwise two-way.

    Returns:
        The table with `pas` (Float64 in [0, 1], null if a posterior is missing or impossible) and
        `is_two_way` (Boolean, null without a PAS); columns of these names are replaced.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"pi_human": [1.0, 0.5], "pi_agent": [0.8, 0.8]})
        >>> ef.replication.with_pas(tests)["pas"].to_list()
        [0.8, 0.5]
    """
    check_choice("ways", ways, Ways, optional=True)
    lazy = tables.lazy(tests)
    if ways is None:
        lazy = with_all_ways("with_pas", lazy)
    return pas_columns(lazy, *pas_of_posteriors("with_pas", lazy.collect_schema(), ways))


def pas_columns(tests: pl.LazyFrame, pas: pl.Expr, two_way: pl.Expr) -> pl.LazyFrame:
    """Add PAS, and for rows with a PAS whether it is two-way."""
    check_numbers("with_pas", tests, sorted(columns_read([pas])))
    valid = pl.when(pl.col("pas").is_not_null()).then(two_way)
    return tests.with_columns(pas.alias("pas")).with_columns(valid.alias(TWO_WAY))


def pas_of_posteriors(
    caller: str, schema: Collection[str], ways: Ways | None
) -> tuple[pl.Expr, pl.Expr]:
    """PAS from the posteriors of a table, and whether it is two-way."""
    if ways is None and {*HUMAN, *AGENT, "pi_human", "pi_agent"} <= {*schema}:
        sides = [pl.col(name).cast(pl.Float64).fill_nan(None) for name in (*HUMAN, *AGENT)]
        lacking = pl.any_horizontal(side.is_null() for side in sides)
        return pl.when(lacking).then(pas()).otherwise(pas_three_way()), lacking
    ways = chosen_ways(caller, schema, ways)
    return pas_three_way() if ways == "three" else pas(), pl.lit(ways == "two")


def chosen_ways(caller: str, schema: Collection[str], ways: Ways | None) -> Ways:
    """By default three ways if both sides have them; raise if a posterior is missing."""
    three = {*HUMAN, *AGENT}
    if ways is None:
        ways = "three" if three <= {*schema} else "two"
    if missing := (three if ways == "three" else {"pi_human", "pi_agent"}) - {*schema}:
        raise MissingColumnsError.of(caller, missing, schema)
    return ways
