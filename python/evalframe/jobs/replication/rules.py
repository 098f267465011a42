"""The contract of the tests of a job: what the rules of the job ask of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.replication.bridge import kind_of
from evalframe.replication.effects.finished import needs_type
from evalframe.replication.effects.kinds import usual_names, what_to_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.contract import Contract, Rule
    from evalframe.core.rules import Rules
    from evalframe.jobs.replication.inputs import Tests
    from evalframe.jobs.replication.job import ReplicationJob

_NAMES = ("study_id", "finding_id", "test_type")
_SHOWN = 3


def contract_of(opened: Tests, by: Sequence[str], job: ReplicationJob) -> Contract:
    """What the tests of a job must look like.

    By the original's rules nothing is impossible, so that only names are checked. Evaluation
    results are finished: what a test is, and its statistic, make nothing but effects.

    Args:
        opened: The tests; they are read once for their types. Where the agent side is made of
            responses, they need not say who was tested.
        by: Columns that tell apart who was tested.
        job: Says by which rules tests are scored, and what identifies one.
    """
    schema = opened.table.collect_schema()
    groups = [name for name in by if opened.responses is None or name in schema]
    contract = ef.replication.replication_contract(
        model="model" if "model" in groups else None,
        sub_study_id="sub_study_id" if "sub_study_id" in schema else None,
        test_id="test_id" if "test_id" in schema else None,
        by=[name for name in groups if name != "model"],
    )
    rules = [*contract.rules]
    if job.results:
        rules = [rule for rule in rules if "test_type" not in rule.columns]
    else:
        unknown = unknown_types(opened.table, job.rules)
        rules = [_suggesting(rule, unknown, job.rules) for rule in rules]
    if job.rules == "reference":
        rules = [rule for rule in rules if {*rule.columns} <= {*_NAMES}]
    return replace(contract, rules=tuple(rules), key=contract.key if job.key is None else job.key)


def unknown_types(tests: pl.LazyFrame, rules: Rules = "documented") -> pl.DataFrame:
    """Types of tests that are not known: `test_type` and `len`, the number of their rows. Sorted.

    Rows do not count that have what would be made of them.

    >>> unknown_types(pl.LazyFrame({"test_type": ["t-test", "guess", None]})).rows()
    [('guess', 1)]
    """
    schema = tests.collect_schema()
    dtype = schema.get("test_type")
    if not isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return pl.DataFrame(schema={"test_type": pl.String, "len": pl.UInt32})
    needed = tests.filter(needs_type(schema), pl.col("test_type").is_not_null())
    found = needed.group_by(pl.col("test_type").cast(pl.String)).len()
    unknown = found.filter(kind_of("test_type", rules).is_null())
    return unknown.sort("test_type").collect()


def told_types(unknown: pl.DataFrame) -> str:
    """Unknown types with their rows, and what may be meant.

    >>> told_types(pl.DataFrame({"test_type": ["t-tset"], "len": [2]}))
    "'t-tset' (2 rows; did you mean 't-test'?)"
    """
    told = []
    for name, rows in unknown.head(_SHOWN).select("test_type", "len").iter_rows():
        hint = what_to_write(name).strip().removesuffix(".")
        hint = hint[:1].lower() + hint[1:]
        told.append(f"{name!r} ({rows:,} row{'s' * (rows > 1)}{'; ' * bool(hint)}{hint})")
    more = len(unknown) - len(told)
    return ", ".join(told) + (f" and {more:,} more" if more > 0 else "")


def _suggesting(rule: Rule, unknown: pl.DataFrame, rules: Rules) -> Rule:
    """The rule of known types, by the rules of the job, which says what may be meant."""
    if rule.columns != ("test_type",):
        return rule
    if rules == "reference":
        known = kind_of("test_type", rules).is_not_null() | pl.col("test_type").is_null()
        rule = replace(rule, holds=known)
    if unknown.is_empty():
        return rule
    return replace(rule, remedy=f"correct {told_types(unknown)}; known are {usual_names()}")
