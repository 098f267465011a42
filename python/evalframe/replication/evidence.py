"""From what a table of tests holds to the PAS and the effects of each test.

A table may hold statistics, Bayes factors, posteriors or PAS, and a row may hold some of them: what
is there stays, and what is not is made from the level before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core import tables
from evalframe.core.errors import MissingColumnsError
from evalframe.replication.agreement.alignment import AGENT, HUMAN
from evalframe.replication.agreement.columns import MissingAgent, with_pas, with_posteriors
from evalframe.replication.agreement.directions import check_both_sides
from evalframe.replication.agreement.given import TWO_WAY, check_numbers
from evalframe.replication.agreement.posteriors import AGENT_PRIOR_ODDS, HUMAN_PRIOR_ODDS
from evalframe.replication.bridge import kind_of, with_bayes_factors, with_effect_sizes
from evalframe.replication.effects.finished import STATISTICS, needs_type
from evalframe.replication.effects.types import SIDES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.replication.effects.types import Side

_THREE_WAY = {"human": HUMAN, "agent": AGENT}
_GIVEN, _TOLD = ":given:", ":told:"
_TYPE = ":test_type"
_GIVEN_NUMBERS = (
    *(
        f"{name}_{side}"
        for side in SIDES
        for name in ("log_bayes_factor", "bayes_factor", "pi", "direction")
    ),
    *(*HUMAN, *AGENT, "pas"),
)
"""What a table may have beside statistics."""


def with_evidence(
    tests: Frame,
    *,
    human_prior_odds: IntoExpr | float = HUMAN_PRIOR_ODDS,
    agent_prior_odds: IntoExpr | float = AGENT_PRIOR_ODDS,
    missing_agent: MissingAgent = "skip",
    rules: Rules = "documented",
) -> pl.LazyFrame:
    """Tests with Bayes factors, posteriors, PAS, effects and n_eff, as far as they can be made.

    The whole way from statistics to what `model_scores` and `ecs` read, in one call: that of
    `with_bayes_factors`, `with_posteriors`, `with_pas` and `with_effect_sizes`, but what a row
    already has stays. A row that has its Bayes factors (or posteriors, or PAS) and its effects may
    be of any type.

    PAS is three-way where both sides have a direction: `direction_human` and `direction_agent`,
    where they are given, or else what `with_posteriors` derives from signed statistics. Elsewhere
    it is two-way and asks only whether both sides find an effect; `is_two_way` says where.

    Args:
        tests: One row per test, with statistics of both sides (`test_type`, `stat_human`, ...),
            Bayes factors, posteriors or `pas`.
        human_prior_odds: As of `with_posteriors`.
        agent_prior_odds: Likewise.
        missing_agent: Likewise.
        rules: `documented`, or `reference` for the original's numbers.

    Returns:
        The table with the columns that these functions add. Computed at once; lazy all the same.

    Raises:
        MissingColumnsError: There is no PAS, and nothing to make it from.
        ContractError: A test is impossible, or has a direction on one side only.
        UnknownNameError: A test type is unknown; the message says what to write.
        ParameterError: An argument lies outside its domain, or a column of Bayes factors,
            posteriors or PAS holds no numbers.

    Examples:
        >>> import polars as pl
        >>> from evalframe.replication import with_evidence
        >>> tests = pl.DataFrame(
        ...     {
        ...         "test_type": ["t-test"],
        ...         "stat_human": [3.0],
        ...         "n1_human": [40],
        ...         "n2_human": [40],
        ...         "stat_agent": [2.5],
        ...         "n1_agent": [40],
        ...         "n2_agent": [40],
        ...     }
        ... )
        >>> made = with_evidence(tests).select("pi_human", "pi_agent", "pas", "effect_d_agent")
        >>> made.collect().select(pl.all().round(4)).row(0)
        (0.9904, 0.7686, 0.7633, 0.559)
    """
    odds = {"human_prior_odds": human_prior_odds, "agent_prior_odds": agent_prior_odds}
    lazy = tables.lazy(tests)
    present = lazy.collect_schema().names()
    check_numbers("with_evidence", lazy, [name for name in _GIVEN_NUMBERS if name in present])
    _check_sides(present, missing_agent)
    if rules == "documented":
        check_both_sides(lazy)
    lazy, back = _without_needless_types(lazy, rules)
    with_factors = _with_bayes_factors(lazy, rules)
    # In one plan with what follows the integrals of Bayes factors would be computed twice.
    with_odds = _with_posteriors(with_factors.collect().lazy(), odds, missing_agent, rules)
    return back(with_agreement(with_odds.collect(), rules=rules))


def with_agreement(tests: Frame, *, rules: Rules = "documented") -> pl.LazyFrame:
    """Tests with PAS, effects and n_eff, of posteriors and statistics: the end of `with_evidence`.

    Args:
        tests: One row per test.
        rules: `documented`, or `reference` for the original's numbers.
    """
    made = _with_pas(tables.lazy(tests), rules).collect().lazy()
    return _with_effects(made, rules).collect().lazy()


def sides_with_statistics(present: Collection[str]) -> list[Side]:
    """The sides that have statistics."""
    return [side for side in SIDES if any(f"{name}_{side}" in present for name in STATISTICS)]


def _check_sides(present: Sequence[str], missing_agent: MissingAgent) -> None:
    """Raise if a side has nothing that a PAS can be made from.

    Raises:
        MissingColumnsError: Where that cannot be stood in for.
    """
    needed = SIDES if missing_agent == "skip" else SIDES[:1]
    statistics = sides_with_statistics(present)
    for side in needed if "pas" not in present else ():
        made = _has_factors(side, present) or _has_posteriors(side, present)
        if side not in statistics and not made:
            raise MissingColumnsError.saying(
                f"nothing says what came out on the {side} side: a table of tests needs 'pas', or "
                f"of both sides posteriors ('pi_{side}', or 'pi_plus_{side}' and so on) or "
                f"statistics ('test_type', 'stat_{side}' and so on); the table has {[*present]}.",
                ["pas", *(f"{name}_{side}" for name in ("pi", "pi_plus", "test_type", "stat"))],
            )


def is_finished(present: Collection[str]) -> bool:
    """Whether a table has PAS, or posteriors or Bayes factors of both sides."""
    return "pas" in present or all(
        _has_posteriors(side, present) or _has_factors(side, present) for side in SIDES
    )


def _without_needless_types(
    tests: pl.LazyFrame, rules: Rules
) -> tuple[pl.LazyFrame, Callable[[pl.LazyFrame], pl.LazyFrame]]:
    """The tests without unknown types of rows that need none, and what puts these back."""
    schema = tests.collect_schema()
    if not isinstance(schema.get("test_type"), pl.String | pl.Categorical | pl.Enum):
        return tests, lambda made: made
    needed = kind_of("test_type", rules).is_not_null() | needs_type(schema)
    hidden = tests.with_columns(
        pl.when(needed).then("test_type").alias("test_type"), pl.col("test_type").alias(_TYPE)
    )
    return hidden, lambda made: made.with_columns(test_type=_TYPE).drop(_TYPE)


def _with_bayes_factors(tests: pl.LazyFrame, rules: Rules) -> pl.LazyFrame:
    present = tests.collect_schema().names()
    sides = sides_with_statistics(present)
    tests = _on_both_scales(tests, present)
    if not sides or ("test_type" not in present and is_finished(present)):
        return tests
    made = [f"{scale}bayes_factor_{side}" for side in sides for scale in ("log_", "")]
    return _filled(
        tests,
        made,
        lambda table: with_bayes_factors(table, sides, rules=rules),
    )


def _on_both_scales(tests: pl.LazyFrame, present: Collection[str]) -> pl.LazyFrame:
    """Bayes factors with their logarithms, where a row has only one of them."""
    made: list[pl.Expr] = []
    for side in SIDES:
        if _has_factors(side, present):
            names = (f"log_bayes_factor_{side}", f"bayes_factor_{side}")
            log, ratio = (_number(name, present) for name in names)
            made += [
                pl.coalesce(log, ratio.log()).alias(names[0]),
                pl.coalesce(ratio, log.exp()).alias(names[1]),
            ]
    return tests.with_columns(made)


def _with_posteriors(
    tests: pl.LazyFrame,
    odds: Mapping[str, IntoExpr | float],
    missing_agent: MissingAgent,
    rules: Rules,
) -> pl.LazyFrame:
    present = tests.collect_schema().names()
    factors = [side for side in SIDES if _has_factors(side, present)]
    if not factors:
        return tests
    nothing = pl.lit(None, pl.Float64)
    absent = [f"log_bayes_factor_{side}" for side in SIDES if side not in factors]
    if "direction_human" in present and "direction_agent" not in present:
        absent.append("direction_agent")
    made = [f"pi_{side}" for side in SIDES] + [*HUMAN, *AGENT]

    def step(table: pl.LazyFrame) -> pl.LazyFrame:
        found = with_posteriors(
            table,
            human_prior_odds=odds["human_prior_odds"],
            agent_prior_odds=odds["agent_prior_odds"],
            missing_agent=missing_agent,
            rules=rules,
        )
        return found if rules == "reference" else _without_ways_of_given(found)

    filled = _filled(tests.with_columns(nothing.alias(name) for name in absent), made, step)
    return filled.drop(absent)


def _without_ways_of_given(tests: pl.LazyFrame) -> pl.LazyFrame:
    """The tests without three-way posteriors of Bayes factors where a two-way one is given."""
    schema = tests.collect_schema()
    return tests.with_columns(
        pl.when(pl.col(f"{_GIVEN}pi_{side}").cast(pl.Float64).fill_nan(None).is_null()).then(way)
        for side in SIDES
        for way in _THREE_WAY[side]
        if f"{_GIVEN}pi_{side}" in schema and way in schema
    )


def _with_pas(tests: pl.LazyFrame, rules: Rules) -> pl.LazyFrame:
    schema = tests.collect_schema()
    if not all(_has_posteriors(side, schema) for side in SIDES):
        return tests
    told = pl.col(TWO_WAY) if TWO_WAY in schema else pl.lit(None, pl.Boolean)
    given = _number("pas", schema).is_not_null()
    kept = tests.with_columns(pl.when(given).then(told).alias(_TOLD), given.alias(_GIVEN))
    made = _filled(kept, ["pas"], lambda table: with_pas(table, rules=rules))
    two_way = pl.when(_GIVEN).then(_TOLD).otherwise(TWO_WAY).alias(TWO_WAY)
    return made.with_columns(two_way).drop(_GIVEN, _TOLD)


def _with_effects(tests: pl.LazyFrame, rules: Rules) -> pl.LazyFrame:
    present = tests.collect_schema().names()
    effects = {f"effect_size_{side}" for side in SIDES}
    if "test_type" not in present or not (sides_with_statistics(present) or effects & {*present}):
        return tests
    return with_effect_sizes(tests, rules=rules)


def _filled(
    tests: pl.LazyFrame,
    made: Sequence[str],
    step: Callable[[pl.LazyFrame], pl.LazyFrame],
) -> pl.LazyFrame:
    """What a step makes of a table, but where the table has a value of its own."""
    schema = tests.collect_schema()
    given = {name: f"{_GIVEN}{name}" for name in made if name in schema}
    kept = tests.with_columns(pl.col(name).alias(other) for name, other in given.items())
    after = step(kept)
    return after.with_columns(
        pl.coalesce(pl.col(other).cast(pl.Float64).fill_nan(None), name).alias(name)
        for name, other in given.items()
    ).drop(given.values())


def _number(name: str, present: Collection[str]) -> pl.Expr:
    """A number of the table, null where it is NaN, or there is none."""
    if name not in present:
        return pl.lit(None, pl.Float64)
    return pl.col(name).cast(pl.Float64).fill_nan(None)


def _has_factors(side: Side, present: Collection[str]) -> bool:
    return f"log_bayes_factor_{side}" in present or f"bayes_factor_{side}" in present


def _has_posteriors(side: Side, present: Collection[str]) -> bool:
    return f"pi_{side}" in present or {*_THREE_WAY[side]} <= {*present}
