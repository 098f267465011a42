"""Tables of tests with their posteriors and their PAS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import MissingColumnsError
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.rules import Rules, check_choice
from evalframe.replication.agreement.alignment import AGENT, HUMAN, pas, pas_three_way
from evalframe.replication.agreement.directions import check_both_sides, with_directions
from evalframe.replication.agreement.given import TWO_WAY, check_numbers, with_all_ways
from evalframe.replication.agreement.posteriors import (
    AGENT_PRIOR_ODDS,
    HUMAN_PRIOR_ODDS,
    WAYS,
    Scale,
    posterior,
    three_ways,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from evalframe.core.typing import Frame, IntoExpr

MissingAgent: TypeAlias = Literal["skip", "null_finding", "uniform", "half_null"]
Ways: TypeAlias = Literal["two", "three"]

_LOG: Scale = "log"
_RATIO: Scale = "ratio"

_READ = ("log_bayes_factor", "bayes_factor", "direction", "prior_odds")

FALLBACKS: dict[str, tuple[float, float, float]] = {
    "null_finding": (0.0, 0.0, 1.0),
    "uniform": (1 / 3, 1 / 3, 1 / 3),
    "half_null": (0.0, 0.0, 0.5),
}
"""Three-way posteriors that the evaluators give to agents without data."""


def with_posteriors(
    tests: Frame,
    *,
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
    missing_agent: MissingAgent = "skip",
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """The tests with the posteriors of both sides, from their Bayes factors.

    Where both sides have a direction, the posterior of an effect is split into those of a positive
    and of a negative one. A direction that is given counts. Where none is, it is the sign of the
    effect, if the statistic has one: t, r, z and coefficients; U, as the first group is ahead or
    behind; shares above or below `p0`; tables of two by two with their cells `a` to `d`; and where
    the statistic says nothing, `effect_d_human` or `effect_size_human`, and the agent's. F, Wald's,
    chi-square and p-values alone have no direction, so that PAS is two-way there.

    Args:
        tests: One row per test, with `log_bayes_factor_human` or else `bayes_factor_human`, and the
            same of the agent; as far as there are `direction_human`, `direction_agent` (above 0,
            below 0, or 0), `test_type` with statistics, and `prior_odds_human`, `prior_odds_agent`.
            It is read once before, if it has directions.
        human_prior_odds: Prior odds of the human side where the table has none: 10 in the
            evaluators, and 0.1 for a published null; see `human_prior_odds`.
        agent_prior_odds: Prior odds of the agents where the table has none.
        missing_agent: What stands for an agent without a Bayes factor. `skip`: null, so that the
            test is missing; by the original's rules the posterior of 0.5 that `posterior` gives. As
            the evaluators have it, `null_finding`: surely no effect, in most
            studies; `uniform`: a third each, in studies 010 to 012; `half_null`: no effect with
            0.5, and nothing else, in study 001 for too few but balanced answers. That does not sum
            to 1, so that only `rules="reference"` has a PAS of it.
        rules: See `posterior`.

    Returns:
        The table with `pi_human` and `pi_agent` (Float64, posteriors of an effect), and where it
        has directions `pi_plus_human`, `pi_minus_human`, `pi_zero_human` and the same of the agent.
        Then it has `direction_human` and `direction_agent`, too, and, where there are statistics
        with a sign, `has_direction_conflict`: whether a given direction contradicts it, as where a
        t is stored without its sign. By `reference` directions are those that are given. Columns of
        these names are replaced. Lazy.

    Raises:
        ContractError: A test with data on both sides has a direction on one of them.
        MissingColumnsError: A side has no Bayes factors, or prior odds are of a column that is not
            there.
        ParameterError: An argument lies outside its domain, or a column holds no numbers.

    References:
        HumanStudy-Bench (HEAD of February 2026), evaluators.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import with_posteriors
        >>> tests = pl.DataFrame({"bayes_factor_human": [1.0, 9.9]})
        >>> tests = tests.with_columns(bayes_factor_agent=pl.Series([1.0, None]))
        >>> found = with_posteriors(tests).select("pi_human", "pi_agent").collect()
        >>> found.select(pl.all().round(4)).rows()
        [(0.9091, 0.5), (0.99, None)]
    """
    check_choice("missing_agent", missing_agent, MissingAgent)
    check_choice("rules", rules, Rules)
    odds = {"human": human_prior_odds, "agent": agent_prior_odds}
    return posteriors_of("with_posteriors", tests, odds, missing_agent, rules)


def posteriors_of(
    caller: str,
    tests: Frame,
    prior_odds: Mapping[str, IntoExpr | float],
    missing_agent: MissingAgent,
    rules: Rules,
) -> pl.LazyFrame:
    """`with_posteriors` of the sides for which there are prior odds."""
    lazy = tables.lazy(tests)
    schema = lazy.collect_schema()
    given = [as_expr(odds) for odds in prior_odds.values() if not isinstance(odds, int | float)]
    if missing := columns_read(given) - {*schema}:
        raise MissingColumnsError.of(caller, missing, schema)
    names = [f"{kind}_{side}" for side in prior_odds for kind in _READ]
    check_numbers(caller, lazy, [*given, *(name for name in names if name in schema)])
    if rules == "documented":
        if len(prior_odds) > 1:
            check_both_sides(lazy)
        lazy = with_directions(lazy, [*prior_odds])
        schema = lazy.collect_schema()
    made: dict[str, pl.Expr] = {}
    for name, odds in prior_odds.items():
        column, scale = f"log_bayes_factor_{name}", _LOG
        if column not in schema:
            column, scale = f"bayes_factor_{name}", _RATIO
        if column not in schema:
            raise MissingColumnsError.of(caller, [column], schema)
        prior = _prior(f"prior_odds_{name}", odds, schema)
        absent = pl.col(column).cast(pl.Float64).fill_nan(None).is_null()
        stands_in = FALLBACKS.get(missing_agent) if name == "agent" else None
        two_way: pl.Expr = posterior(column, prior, scale=scale, rules=rules)
        if stands_in is not None:
            two_way = pl.when(absent).then(sum(stands_in[:2])).otherwise(two_way)
        made[f"pi_{name}"] = two_way
        if f"direction_{name}" in schema:
            split = three_ways(column, f"direction_{name}", prior, scale, rules)
            for place, (way, part) in enumerate(zip(WAYS, split, strict=True)):
                if stands_in is not None:
                    part = pl.when(absent).then(stands_in[place]).otherwise(part)
                made[f"{way}_{name}"] = part
    return lazy.with_columns(**made)


def with_pas(
    tests: Frame, *, ways: Ways | None = None, rules: Rules = "documented"
) -> pl.LazyFrame:
    """The tests with their PAS, from the posteriors of both sides.

    Args:
        tests: One row per test, with posteriors as `with_posteriors` gives them.
        ways: `three`: both on the same side, or both without effect. `two`: both with an effect, or
            both without, whatever the directions. By default `three` if the table has them, and by
            the documented rules `two` for rows in which one of them is missing, and `three` where
            two-way posteriors have directions beside them, see `with_posteriors`.
        rules: See `pas` and `pas_three_way`.

    Returns:
        The table with `pas` (Float64 in [0, 1], null where a posterior is missing or impossible)
        and `is_two_way` (Boolean, null without a PAS); columns of these names are replaced. Lazy.

    Raises:
        MissingColumnsError: A posterior is not there.
        ParameterError: An argument lies outside its domain, or a posterior is no number.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication.agreement import with_pas
        >>> tests = pl.DataFrame({"pi_human": [1.0, 0.5], "pi_agent": [0.8, 0.8]})
        >>> with_pas(tests).collect()["pas"].to_list()
        [0.8, 0.5]
    """
    check_choice("rules", rules, Rules)
    if ways is not None:
        check_choice("ways", ways, Ways)
    lazy = tables.lazy(tests)
    if ways is None and rules == "documented":
        lazy = with_all_ways("with_pas", lazy)
    schema = lazy.collect_schema()
    made, two_way = pas_of_posteriors("with_pas", schema, ways, rules)
    check_numbers("with_pas", lazy, sorted(columns_read([made])))
    known = pl.when(pl.col("pas").is_not_null()).then(two_way)
    return lazy.with_columns(made).with_columns(known.alias(TWO_WAY))


def pas_of_posteriors(
    caller: str, schema: Collection[str], ways: Ways | None, rules: Rules
) -> tuple[pl.Expr, pl.Expr]:
    """PAS from the posteriors that a table has, and whether it is two-way.

    Raises:
        MissingColumnsError: It lacks one of them.
    """
    scalars = {"pi_human", "pi_agent"}
    if ways is None and rules == "documented" and {*HUMAN, *AGENT, *scalars} <= {*schema}:
        sides = [pl.col(name).cast(pl.Float64).fill_nan(None) for name in (*HUMAN, *AGENT)]
        lacking = pl.any_horizontal(side.is_null() for side in sides)
        return pl.when(lacking).then(pas()).otherwise(pas_three_way()).alias("pas"), lacking
    if ways is None:
        ways = "three" if {*HUMAN, *AGENT} <= {*schema} else "two"
    needed = {*HUMAN, *AGENT} if ways == "three" else scalars
    if missing := needed - {*schema}:
        raise MissingColumnsError.of(caller, missing, schema)
    made = pas_three_way(rules=rules) if ways == "three" else pas(rules=rules)
    return made, pl.lit(ways == "two")


def _prior(name: str, default: IntoExpr | float, schema: pl.Schema) -> pl.Expr:
    """The prior odds of a side: the table's own, and the default where it has none."""
    odds = pl.lit(float(default)) if isinstance(default, int | float) else as_expr(default)
    if name not in schema:
        return odds
    return pl.col(name).cast(pl.Float64).fill_nan(None).fill_null(odds)
