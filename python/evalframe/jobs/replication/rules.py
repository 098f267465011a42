"""The contract of the tests of a job: what the rules of the job ask of them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.core.contract import Contract, Rule, validate
from evalframe.core.errors import ContractError, did_you_mean
from evalframe.jobs.replication.evidence import sides_with_statistics
from evalframe.replication.bayes_factors.kinds import (
    FURTHER_NAMES,
    KINDS,
    ROLES,
    SOURCES,
    arguments,
    kind_of,
)
from evalframe.replication.effects.kinds import SOME_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalframe.jobs.replication.inputs import Opened
    from evalframe.jobs.replication.job import ReplicationJob
    from evalframe.replication.contract import Side

_NAMES = ("study_id", "finding_id", "test_type")
_SHOWN = 3


def contract_of(opened: Opened, by: Sequence[str], job: ReplicationJob) -> Contract:
    """What the tests of a job must look like.

    By the original's rules nothing is impossible, so that only names are checked.

    Args:
        opened: The tests; they are read once for their types. Where the agent side is made of
            responses, they need not say who was tested.
        by: Columns that tell apart who was tested.
        job: Says by which rules tests are scored, and what identifies one.
    """
    schema = opened.tests.collect_schema()
    groups = [name for name in by if opened.responses is None or name in schema]
    contract = ef.replication.replication_contract(
        model="model" if "model" in groups else None,
        sub_study_id="sub_study_id" if "sub_study_id" in schema else None,
        test_id="test_id" if "test_id" in schema else None,
        by=[name for name in groups if name != "model"],
    )
    key = contract.key if job.key is None else job.key
    _, unknown = _types(opened.tests, schema)
    rules = [_suggesting(rule, unknown) for rule in contract.rules]
    if job.rules == "reference":
        rules = [rule for rule in rules if {*rule.columns} <= {*_NAMES}]
    return replace(contract, rules=tuple(rules), key=key)


def with_bayes_factors(contract: Contract, tests: pl.LazyFrame) -> Contract:
    """The contract, and what Bayes factors need of each kind of test beyond it.

    These are many rules, which take longer to plan than to check.

    Args:
        contract: What tests must look like.
        tests: Their table, whose types are known.
    """
    return replace(contract, rules=(*contract.rules, *_of_bayes_factors(tests)))


@contextmanager
def naming_tests(tests: pl.LazyFrame, contract: Contract) -> Iterator[None]:
    """Say which test it is that no Bayes factor can be made of.

    Args:
        tests: The tests that one is made of.
        contract: Theirs, which they keep.
    """
    try:
        yield
    except ContractError:
        rules = tuple(_of_bayes_factors(tests))
        validate(tests, Contract(contract.table, (), rules=rules, key=contract.key))
        raise


def _types(tests: pl.LazyFrame, schema: pl.Schema) -> tuple[dict[str, list[str]], pl.DataFrame]:
    """The spellings of each kind of test in the table, and those of no kind with their rows."""
    if not isinstance(schema.get("test_type"), pl.String | pl.Categorical | pl.Enum):
        return {}, pl.DataFrame()
    name = pl.col("test_type").cast(pl.String)
    found = tests.group_by(name).len().with_columns(kind=kind_of("test_type")).collect()
    named = found.drop_nulls().group_by("kind").agg("test_type")
    unknown = found.filter(pl.col("kind").is_null()).drop_nulls("test_type").sort("test_type")
    return dict(named.iter_rows()), unknown


def _suggesting(rule: Rule, unknown: pl.DataFrame) -> Rule:
    """The rule of known types, which says what may be meant."""
    if rule.columns != ("test_type",) or unknown.is_empty():
        return rule
    known = sorted([*SOME_KINDS, *FURTHER_NAMES])
    told = []
    for name, rows in unknown.head(_SHOWN).select("test_type", "len").iter_rows():
        hint = did_you_mean(name.lower(), known).strip().lower()
        told.append(f"{name!r} ({rows:,} row{'s' * (rows > 1)}{'; ' * bool(hint)}{hint})")
    more = len(unknown) - len(told)
    listed = ", ".join(told) + (f" and {more:,} more" if more > 0 else "")
    return replace(rule, remedy=f"correct {listed}; known are {', '.join(known)}")


def _of_bayes_factors(tests: pl.LazyFrame) -> Iterator[Rule]:
    """What Bayes factors need of each kind of test."""
    schema = tests.collect_schema()
    spellings, _ = _types(tests, schema)
    for side in sides_with_statistics(schema):
        yield from _of_side(side, spellings, schema)


def _of_side(side: Side, spellings: dict[str, list[str]], schema: pl.Schema) -> Iterator[Rule]:
    columns = {role: f"{role}_{side}" for role in ROLES if f"{role}_{side}" in schema}
    taken = arguments({role: pl.col(name) for role, name in columns.items()}, pl.lit(value=True))
    for kind, names in spellings.items():
        first, *rest = taken[kind]
        is_kind = pl.col("test_type").cast(pl.String).is_in(names)
        stat = pl.when(is_kind).then(first).fill_nan(None)
        for text, holds, about in KINDS[kind].conditions(stat, *rest):
            sources = dict.fromkeys(s for role in about for s in SOURCES.get(role, (role,)))
            shown = tuple(columns[name] for name in sources if name in columns)
            yield Rule(
                f"{text}, in {kind.replace('_', ' ')} tests ({side})",
                stat.is_null() | holds,
                ("test_type", *shown),
                "correct it, or set the statistic to null if it is unknown",
            )
