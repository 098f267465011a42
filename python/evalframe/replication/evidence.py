"""From the columns of a table of tests to the PAS and the effects of each test.

A table, and each row, may contain statistics, Bayes factors, posteriors or PAS: values that are
present stay, and missing ones are computed from the level before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

import polars as pl

from evalframe.core import tables
from evalframe.core.choices import MissingAgent
from evalframe.core.errors import MissingColumnsError
from evalframe.core.frames import like_input
from evalframe.core.typing import Frame, IntoExpr
from evalframe.replication.agreement.alignment import AGENT, HUMAN
from evalframe.replication.agreement.directions import check_both_sides
from evalframe.replication.agreement.posteriors import AGENT_PRIOR_ODDS, HUMAN_PRIOR_ODDS
from evalframe.replication.agreement.scored_tests import TWO_WAY, check_numbers
from evalframe.replication.chain import GIVEN, Chain
from evalframe.replication.effects.kinds import STATISTICS, needs_type
from evalframe.replication.effects.types import SIDES, Side
from evalframe.replication.numbers import number_if_present

_THREE_WAY = {"human": HUMAN, "agent": AGENT}
_TYPE, _IS_TWO_WAY = ":test_type", ":is_two_way"
_EVIDENCE = ("log_bayes_factor", "bayes_factor", "pi", "direction")
_NUMBERS = (*(f"{name}_{side}" for side in SIDES for name in _EVIDENCE), *HUMAN, *AGENT, "pas")
"""Numeric columns that a table may have in addition to statistics."""


@like_input
def with_evidence(
    tests: Frame,
    *,
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
    missing_agent: MissingAgent = "skip",
) -> pl.LazyFrame:
    """Add Bayes factors, posteriors, PAS, effects and n_eff to tests, as far as possible.

    One call for `with_bayes_factors`, `with_posteriors`, `with_pas` and `with_effect_sizes`: from
    statistics to the input of `model_scores` and `ecs`. Values of a row that are present stay. A
    row with Bayes factors (or posteriors, or PAS) and effects may be of any test type.

    PAS is three-way if both sides have a direction: the columns `direction_human` and
    `direction_agent`, or the signs that `with_posteriors` derives from statistics. Otherwise it is
    two-way: whether both sides have an effect. `is_two_way` tells them apart.

    Args:
        tests: One row per test, with statistics of both sides (`test_type`, `stat_human`, ...),
            Bayes factors, posteriors or `pas`.
        human_prior_odds: Prior odds of the human side; see `with_posteriors`.
        agent_prior_odds: Prior odds of the agents; see `with_posteriors`.
        missing_agent: Posterior of an agent without a Bayes factor; see `with_posteriors`.

    Returns:
        The table with the columns that these functions add. Computed at once.

    Raises:
        MissingColumnsError: PAS is missing, and there is nothing to compute it from.
        ContractError: A test is impossible, or has a direction on one side only.
        UnknownNameError: A test type is unknown; the message suggests others.
        ParameterError: A column of Bayes factors, posteriors or PAS is not numeric.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import with_evidence
        >>> sizes = {f"{name}_{side}": 40 for name in ("n1", "n2") for side in ("human", "agent")}
        >>> stats = {"test_type": ["t-test"], "stat_human": [3.0], "stat_agent": [2.5]}
        >>> result = with_evidence(pl.DataFrame(stats | sizes)).select("pi_human", "pas")
        >>> result.select(pl.all().round(4)).row(0)
        (0.9904, 0.7633)
    """
    lazy = tables.lazy(tests)
    check_tests(lazy, missing_agent)
    check_both_sides(lazy)
    return evidence_by(Chain(), lazy, human_prior_odds, agent_prior_odds, missing_agent)


def evidence_by(
    chain: Chain,
    tests: pl.LazyFrame,
    human_prior_odds: IntoExpr | float,
    agent_prior_odds: IntoExpr | float,
    missing_agent: MissingAgent,
) -> pl.LazyFrame:
    """`with_evidence` by the functions of a chain, of checked tests."""
    tests, with_types = _without_needless_types(chain, tests)
    # In one plan with the next steps the integrals of Bayes factors would be computed twice.
    factors = _with_bayes_factors(chain, tests).collect().lazy()
    step = partial(
        chain.with_posteriors,
        human_prior_odds=human_prior_odds,
        agent_prior_odds=agent_prior_odds,
        missing_agent=missing_agent,
    )
    posteriors = _with_posteriors(factors, step)
    return with_types(agreement_by(chain, posteriors.collect().lazy()))


def agreement_by(chain: Chain, tests: pl.LazyFrame) -> pl.LazyFrame:
    """Add PAS, effects and n_eff, from posteriors and statistics: the end of `with_evidence`."""
    tests = _with_pas(chain, tests).collect().lazy()
    columns = tests.collect_schema().names()
    effects = {f"effect_size_{side}" for side in SIDES} & {*columns}
    if "test_type" in columns and (sides_with_statistics(columns) or effects):
        tests = chain.effect_sizes(tests)
    return tests.collect().lazy()


def sides_with_statistics(columns: Collection[str]) -> list[Side]:
    """The sides that have statistics."""
    return [side for side in SIDES if any(f"{name}_{side}" in columns for name in STATISTICS)]


def check_tests(tests: pl.LazyFrame, missing_agent: MissingAgent) -> None:
    """Raise if evidence is not numeric, or a side has no column to compute a PAS from."""
    columns = tests.collect_schema().names()
    check_numbers("with_evidence", tests, [name for name in _NUMBERS if name in columns])
    required = SIDES if missing_agent == "skip" else ("human",)
    statistics = sides_with_statistics(columns)
    for side in required if "pas" not in columns else ():
        finished = _has_factors(side, columns) or _has_posteriors(side, columns)
        if side not in statistics and not finished:
            raise MissingColumnsError.saying(
                f"nothing says what came out on the {side} side: a table of tests needs 'pas', or "
                f"of both sides posteriors ('pi_{side}', or 'pi_plus_{side}' and so on) or "
                f"statistics ('test_type', 'stat_{side}' and so on); the table has {columns}.",
                ["pas", *(f"{name}_{side}" for name in ("pi", "pi_plus", "test_type", "stat"))],
            )


def is_finished(columns: Collection[str]) -> bool:
    """True if a table has PAS, or posteriors or Bayes factors of both sides."""
    return "pas" in columns or all(
        _has_posteriors(side, columns) or _has_factors(side, columns) for side in SIDES
    )


def _without_needless_types(
    chain: Chain, tests: pl.LazyFrame
) -> tuple[pl.LazyFrame, Callable[[pl.LazyFrame], pl.LazyFrame]]:
    """Hide unknown types of rows that need none; also return a function that restores them."""
    schema = tests.collect_schema()
    if not isinstance(schema.get("test_type"), pl.String | pl.Categorical | pl.Enum):
        return tests, lambda table: table
    required = chain.kind_of("test_type").is_not_null() | needs_type(schema)
    hidden = tests.with_columns(
        pl.when(required).then("test_type").alias("test_type"), pl.col("test_type").alias(_TYPE)
    )
    return hidden, lambda table: table.with_columns(test_type=_TYPE).drop(_TYPE)


def _with_bayes_factors(chain: Chain, tests: pl.LazyFrame) -> pl.LazyFrame:
    columns = tests.collect_schema().names()
    sides = sides_with_statistics(columns)
    tests = _on_both_scales(tests, columns)
    if not sides or ("test_type" not in columns and is_finished(columns)):
        return tests
    factors = [f"{scale}bayes_factor_{side}" for side in sides for scale in ("log_", "")]
    return _where_missing(tests, factors, lambda table: chain.bayes_factors(table, sides))


def _on_both_scales(tests: pl.LazyFrame, columns: Collection[str]) -> pl.LazyFrame:
    """Fill in missing logarithms of Bayes factors, and Bayes factors of logarithms."""
    exprs: list[pl.Expr] = []
    for side in SIDES:
        if _has_factors(side, columns):
            names = (f"log_bayes_factor_{side}", f"bayes_factor_{side}")
            log, ratio = (number_if_present(name, columns) for name in names)
            exprs.append(pl.coalesce(log, ratio.log()).alias(names[0]))
            exprs.append(pl.coalesce(ratio, log.exp()).alias(names[1]))
    return tests.with_columns(exprs)


def _with_posteriors(
    tests: pl.LazyFrame, step: Callable[[pl.LazyFrame], pl.LazyFrame]
) -> pl.LazyFrame:
    columns = tests.collect_schema().names()
    factors = [side for side in SIDES if _has_factors(side, columns)]
    if not factors:
        return tests
    absent = [f"log_bayes_factor_{side}" for side in SIDES if side not in factors]
    if "direction_human" in columns and "direction_agent" not in columns:
        absent.append("direction_agent")
    posteriors = [*(f"pi_{side}" for side in SIDES), *HUMAN, *AGENT]
    null = pl.lit(None, pl.Float64)
    complete = tests.with_columns(null.alias(name) for name in absent)
    return _where_missing(complete, posteriors, step).drop(absent)


def _with_pas(chain: Chain, tests: pl.LazyFrame) -> pl.LazyFrame:
    schema = tests.collect_schema()
    if not all(_has_posteriors(side, schema) for side in SIDES):
        return tests
    two_way = pl.col(TWO_WAY) if TWO_WAY in schema else pl.lit(None, pl.Boolean)
    has_pas = number_if_present("pas", schema).is_not_null()
    marked = tests.with_columns(
        pl.when(has_pas).then(two_way).alias(_IS_TWO_WAY), has_pas.alias(GIVEN)
    )
    table = _where_missing(marked, ["pas"], chain.pas)
    two_way = pl.when(GIVEN).then(_IS_TWO_WAY).otherwise(TWO_WAY).alias(TWO_WAY)
    return table.with_columns(two_way).drop(GIVEN, _IS_TWO_WAY)


def _where_missing(
    tests: pl.LazyFrame, names: Sequence[str], step: Callable[[pl.LazyFrame], pl.LazyFrame]
) -> pl.LazyFrame:
    """Apply a step that computes columns, and keep the values that the table already has."""
    schema = tests.collect_schema()
    before = {name: f"{GIVEN}{name}" for name in names if name in schema}
    table = step(tests.with_columns(pl.col(name).alias(other) for name, other in before.items()))
    return table.with_columns(
        pl.coalesce(pl.col(other).cast(pl.Float64).fill_nan(None), name).alias(name)
        for name, other in before.items()
    ).drop(before.values())


def _has_factors(side: Side, columns: Collection[str]) -> bool:
    return f"log_bayes_factor_{side}" in columns or f"bayes_factor_{side}" in columns


def _has_posteriors(side: Side, columns: Collection[str]) -> bool:
    return f"pi_{side}" in columns or {*_THREE_WAY[side]} <= {*columns}
