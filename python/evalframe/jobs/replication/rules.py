"""The contract of the tests of a job: what the rules of the job ask of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.core.errors import did_you_mean
from evalframe.replication.effects.kinds import kind_of, known_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.contract import Contract, Rule
    from evalframe.jobs.replication.inputs import Opened
    from evalframe.jobs.replication.job import ReplicationJob

_NAMES = ("study_id", "finding_id", "test_type")
_SHOWN = 3


def contract_of(opened: Opened, by: Sequence[str], job: ReplicationJob) -> Contract:
    """What the tests of a job must look like.

    By the original's rules nothing is impossible, so that only names are checked. Evaluation
    results are finished: what a test is, and its statistic, make nothing but effects.

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
    rules = [*contract.rules]
    if job.results:
        rules = [rule for rule in rules if "test_type" not in rule.columns]
    else:
        unknown = unknown_types(opened.tests)
        rules = [_suggesting(rule, unknown) for rule in rules]
    if job.rules == "reference":
        rules = [rule for rule in rules if {*rule.columns} <= {*_NAMES}]
    return replace(contract, rules=tuple(rules), key=contract.key if job.key is None else job.key)


def unknown_types(tests: pl.LazyFrame) -> pl.DataFrame:
    """Types of tests that are not known: `test_type` and `len`, the number of their rows. Sorted.

    >>> unknown_types(pl.LazyFrame({"test_type": ["t-test", "guess", None]})).rows()
    [('guess', 1)]
    """
    dtype = tests.collect_schema().get("test_type")
    if not isinstance(dtype, pl.String | pl.Categorical | pl.Enum):
        return pl.DataFrame(schema={"test_type": pl.String, "len": pl.UInt32})
    found = tests.group_by(pl.col("test_type").cast(pl.String)).len()
    unknown = found.filter(kind_of("test_type").is_null(), pl.col("test_type").is_not_null())
    return unknown.sort("test_type").collect()


def told_types(unknown: pl.DataFrame) -> str:
    """Unknown types with their rows, and what may be meant.

    >>> told_types(pl.DataFrame({"test_type": ["t-tset"], "len": [2]}))
    "'t-tset' (2 rows; did you mean 't-test'?)"
    """
    told = []
    for name, rows in unknown.head(_SHOWN).select("test_type", "len").iter_rows():
        hint = did_you_mean(name.lower(), known_names()).strip().lower()
        told.append(f"{name!r} ({rows:,} row{'s' * (rows > 1)}{'; ' * bool(hint)}{hint})")
    more = len(unknown) - len(told)
    return ", ".join(told) + (f" and {more:,} more" if more > 0 else "")


def _suggesting(rule: Rule, unknown: pl.DataFrame) -> Rule:
    """The rule of known types, which says what may be meant."""
    if rule.columns != ("test_type",) or unknown.is_empty():
        return rule
    known = ", ".join(sorted(known_names()))
    return replace(rule, remedy=f"correct {told_types(unknown)}; known are {known}")
