"""From what a table of tests holds to the PAS and the effects of each test.

A table may hold statistics, Bayes factors, posteriors or PAS, and a row may hold some of them: what
is there stays, and what is not is made from the level before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.core.errors import MissingColumnsError
from evalframe.replication.agreement.alignment import AGENT, HUMAN
from evalframe.replication.contract import SIDES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from evalframe.jobs.replication.job import ReplicationJob
    from evalframe.replication.contract import Side

_EVIDENCE = ("stat", "k", "p_value", "a")
"""Columns of a side, any of which a Bayes factor can be made from."""

_THREE_WAY = {"human": HUMAN, "agent": AGENT}
_GIVEN = ":given:"


def with_evidence(tests: pl.LazyFrame, job: ReplicationJob) -> pl.DataFrame:
    """The tests with Bayes factors, posteriors, PAS, effects and n_eff, as far as can be made.

    Args:
        tests: The tests.
        job: Says by which rules, and with which prior odds.

    Raises:
        MissingColumnsError: There is no PAS, and nothing to make it from.
        ContractError: A test is impossible.
        UnknownNameError: A test type is not known.
    """
    _check_sides(tests.collect_schema().names(), job)
    # Evaluation results report statistics as text, and p-values beside posteriors of their own.
    evidence = () if job.results else (_with_bayes_factors, _with_posteriors)
    for step in (*evidence, _with_pas, _with_effects):
        # In one plan for all of them the integrals of Bayes factors would be computed twice.
        tests = step(tests, job).collect().lazy()
    return tests.collect()


def sides_with_statistics(present: Collection[str]) -> list[Side]:
    """The sides that have statistics."""
    return [side for side in SIDES if any(f"{name}_{side}" in present for name in _EVIDENCE)]


def _check_sides(present: Sequence[str], job: ReplicationJob) -> None:
    """Raise if a side has nothing that a PAS can be made from.

    Raises:
        MissingColumnsError: Where that cannot be stood in for.
    """
    needed = SIDES if job.missing_agent == "skip" else SIDES[:1]
    statistics = sides_with_statistics(present)
    for side in needed if "pas" not in present else ():
        made = _has_factors(side, present) or _has_posteriors(side, present)
        if side not in statistics and not made:
            raise MissingColumnsError(
                f"nothing says what came out on the {side} side: a table of tests needs 'pas', or "
                f"of both sides posteriors ('pi_{side}', or 'pi_plus_{side}' and so on) or "
                f"statistics ('test_type', 'stat_{side}' and so on); the table has {[*present]}. "
                "Name the column to use, or rename it."
            )


def is_finished(present: Collection[str]) -> bool:
    """Whether a table needs no Bayes factors, since it has PAS or posteriors of both sides."""
    return "pas" in present or all(_has_posteriors(side, present) for side in SIDES)


def _with_bayes_factors(tests: pl.LazyFrame, job: ReplicationJob) -> pl.LazyFrame:
    present = tests.collect_schema().names()
    sides = sides_with_statistics(present)
    tests = _on_both_scales(tests, present)
    if not sides or ("test_type" not in present and is_finished(present)):
        return tests
    made = [f"{scale}bayes_factor_{side}" for side in sides for scale in ("log_", "")]
    return _filled(
        tests,
        made,
        lambda table: ef.replication.with_bayes_factors(table, sides, rules=job.rules),
    )


def _on_both_scales(tests: pl.LazyFrame, present: Collection[str]) -> pl.LazyFrame:
    """Bayes factors with their logarithms, where the table has only one of them."""
    for side in SIDES:
        log, ratio = f"log_bayes_factor_{side}", f"bayes_factor_{side}"
        if ratio in present and log not in present:
            tests = tests.with_columns(pl.col(ratio).log().alias(log))
        if log in present and ratio not in present:
            tests = tests.with_columns(pl.col(log).exp().alias(ratio))
    return tests


def _with_posteriors(tests: pl.LazyFrame, job: ReplicationJob) -> pl.LazyFrame:
    present = tests.collect_schema().names()
    factors = [side for side in SIDES if _has_factors(side, present)]
    if not factors:
        return tests
    nothing = pl.lit(None, pl.Float64)
    absent = [f"log_bayes_factor_{side}" for side in SIDES if side not in factors]
    if "direction_human" in present and "direction_agent" not in present:
        absent.append("direction_agent")
    made = [f"pi_{side}" for side in SIDES] + [*HUMAN, *AGENT]
    odds = {"human_prior_odds": job.human_prior_odds, "agent_prior_odds": job.agent_prior_odds}
    return _filled(
        tests.with_columns(nothing.alias(name) for name in absent),
        made,
        lambda table: ef.replication.with_posteriors(
            table, **odds, missing_agent=job.missing_agent, rules=job.rules
        ),
    ).drop(absent)


def _with_pas(tests: pl.LazyFrame, job: ReplicationJob) -> pl.LazyFrame:
    present = tests.collect_schema().names()
    if not all(_has_posteriors(side, present) for side in SIDES):
        return tests
    return _filled(tests, ["pas"], lambda table: ef.replication.with_pas(table, rules=job.rules))


def _with_effects(tests: pl.LazyFrame, job: ReplicationJob) -> pl.LazyFrame:
    present = tests.collect_schema().names()
    effects = {f"effect_size_{side}" for side in SIDES}
    if "test_type" not in present or not (sides_with_statistics(present) or effects & {*present}):
        return tests
    return ef.replication.with_effect_sizes(tests, rules=job.rules)


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


def _has_factors(side: Side, present: Collection[str]) -> bool:
    return f"log_bayes_factor_{side}" in present or f"bayes_factor_{side}" in present


def _has_posteriors(side: Side, present: Collection[str]) -> bool:
    return f"pi_{side}" in present or {*_THREE_WAY[side]} <= {*present}
