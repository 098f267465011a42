"""The agent side of tests, from responses of participants."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

import evalframe as ef
from evalframe.core.contract import validate
from evalframe.core.errors import ContractError, MissingColumnsError
from evalframe.jobs.replication.inputs import implementation_of
from evalframe.replication.contract import KEYS
from evalframe.replication.effects.kinds import kind_of

if TYPE_CHECKING:
    from evalframe.jobs.replication import ReplicationJob
    from evalframe.jobs.replication.inputs import Tests
    from evalframe.replication.agreement.ecs import EcsLevel
    from evalframe.replication.chain import Level


_FINISHED = ("pas", "pas_normalised", "n_eff", "z_difference")
"""Columns of tests that rest on both sides."""

_PRIOR = "prior_odds_agent"
_ORDER, _TYPE = ":order", ":designed"
_LISTED = 3


class Joined(NamedTuple):
    """Tests of both sides, and the number of tests of responses without a human side."""

    tests: pl.LazyFrame
    without_humans: int


def check_responses(responses: pl.LazyFrame, design: pl.LazyFrame, by: Sequence[str]) -> None:
    """Raise if responses break their contract, or do not match their design."""
    schema = responses.collect_schema()
    names = {name: name if name in schema else None for name in (*KEYS, "condition", "value_2")}
    contract = ef.replication.responses_contract(
        model="model" if "model" in by else None,
        sub_study_id=names["sub_study_id"],
        test_id=names["test_id"],
        condition=names["condition"],
        value_2=names["value_2"],
        by=[name for name in by if name != "model"],
    )
    validate(responses, contract)
    unmatched = ef.replication.unmatched_responses(responses.lazy(), design).collect()
    if len(unmatched):
        first = [_described(row) for row in unmatched.head(_LISTED).iter_rows(named=True)]
        more = len(unmatched) - len(first)
        first += [f"and {more:,} more"] * (more > 0)
        raise ContractError(
            f"responses: {unmatched['rows'].sum():,} rows are not foreseen by the design.\n"
            + "".join(f"  {each}\n" for each in first)
            + "  Remedy: correct their names, add them to the design, or drop these responses."
        )


def _described(row: dict[str, object]) -> str:
    test = ", ".join(f"{name}={row[name]!r}" for name in KEYS if row.get(name) is not None)
    value = "" if row["found"] is None else f" {row['found']!r}"
    return f"{row['reason']}{value}: {test} ({row['rows']:,} rows)"


def human_side(tests: pl.LazyFrame) -> pl.LazyFrame:
    """The tests without columns of agents, except for their prior odds."""
    return tests.select(
        name
        for name in tests.collect_schema().names()
        if name == _PRIOR or not (name.endswith("_agent") or name in _FINISHED)
    )


def with_agents(
    tests: pl.LazyFrame, responses: pl.LazyFrame, design: pl.LazyFrame, by: Sequence[str]
) -> Joined:
    """Replace the agent side of tests by statistics of responses, null without responses.

    Tests without the columns `by` of a model are repeated for every model.
    """
    humans = human_side(tests).with_row_index(_ORDER)
    keys = _shared_keys(humans.collect_schema(), design.collect_schema())
    agents = ef.replication.participant_statistics(responses.lazy(), design, by=by).collect()
    schema = humans.collect_schema()
    shared = [name for name in by if name in schema]
    _check_same_types(schema, agents.schema, [*shared, *keys])
    groups = agents.lazy().select(by).unique()
    if len(shared) < len(by):
        humans = (
            humans.join(groups, on=shared, how="left", nulls_equal=True)
            if shared
            else humans.join(groups, how="cross")
        )
    on = [*by, *keys]
    statistics = agents.lazy().rename({"test_type": _TYPE})
    table = humans.join(statistics, on=on, how="left", nulls_equal=True).sort(*by, _ORDER)
    if "test_type" in schema:
        _check_types(table, on)
        table = table.drop(_TYPE)
    table = table.drop(_ORDER).rename({_TYPE: "test_type"}, strict=False)
    without_humans = statistics.join(humans, on=on, how="anti", nulls_equal=True)
    return Joined(table, without_humans.select(pl.len()).collect().item())


def drawn_scores(
    tests: pl.DataFrame,
    level: EcsLevel,
    *,
    opened: Tests,
    by: Sequence[str],
    job: ReplicationJob,
    resample: ef.Bootstrap,
) -> pl.DataFrame:
    """Scores of a level, with their uncertainty from drawing participants."""
    assert opened.responses is not None
    assert opened.design is not None
    implementation = implementation_of(job)
    columns = dict.fromkeys(n for n in (*by, *KEYS, *_OF_HUMANS) if n in tests.columns)
    scores: pl.LazyFrame = implementation.room.participant_intervals(
        opened.responses,
        opened.design,
        tests.select(*columns),
        resample=resample,
        level=_LEVELS[level],
        by=by,
        **asdict(implementation.settings),
        human_prior_odds=job.human_prior_odds,
        agent_prior_odds=job.agent_prior_odds,
    )
    return scores.collect()


_LEVELS: dict[EcsLevel, Level] = {"overall": "model", "domain": "domain", "study": "study"}
_OF_HUMANS = (
    *("domain", "test_type", "test_weight", "finding_weight", "effect_d_human", "prior_odds_agent"),
    *("pi_human", "pi_plus_human", "pi_minus_human", "pi_zero_human", "direction_human"),
)


def _shared_keys(tests: Collection[str], design: Collection[str]) -> list[str]:
    """The columns that name a test on both sides."""
    for caller, lacking, other in (
        ("the design, as the tests have it,", design, tests),
        ("the table of tests, as the design has it,", tests, design),
    ):
        if missing := {name for name in KEYS if name in other} - {*lacking}:
            raise MissingColumnsError.of(caller, missing, lacking)
    return [name for name in KEYS if name in design]


def _check_same_types(tests: pl.Schema, agents: pl.Schema, names: Sequence[str]) -> None:
    for name in names:
        ours, theirs = tests[name], agents[name]
        if ours != theirs and pl.Null() not in (ours, theirs):
            raise ContractError(
                f"{name!r} is {ours} in the tests, but {theirs} in the responses; write it alike"
            )


def _check_types(table: pl.LazyFrame, names: Sequence[str]) -> None:
    """Raise if humans and agents have different tests."""
    differ = table.filter(kind_of("test_type") != kind_of(_TYPE))
    for row in differ.select(*names, "test_type", _TYPE).head(1).collect().iter_rows(named=True):
        here, there = row.pop("test_type"), row.pop(_TYPE)
        test = ", ".join(f"{name}={value!r}" for name, value in row.items() if value is not None)
        raise ContractError(
            f"the tests and the design do not agree about {test}: it is a {here!r} here and a "
            f"{there!r} there. Correct one of them."
        )
