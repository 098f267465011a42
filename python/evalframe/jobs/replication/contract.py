"""The contract of the tests of a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.jobs.replication.implementation import implementation_of
from evalframe.replication.effects.kinds import needs_type, usual_names, what_to_write

if TYPE_CHECKING:
    from evalframe.core.contract import Contract, Rule
    from evalframe.jobs.replication.inputs import Tests
    from evalframe.jobs.replication.job import ReplicationJob
    from evalframe.replication.chain import Chain


_KEYS = ("study_id", "finding_id", "test_type")
_LISTED = 3


def contract_of(opened: Tests, by: Sequence[str], job: ReplicationJob) -> Contract:
    """The contract of the tests of a job; tests without a column of `by` belong to all models.

    Evaluation results have scores: their test types are only read for effects. With the original's
    numbers only names are checked.
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
        chain = implementation_of(job).chain
        valid = chain.kind_of("test_type").is_not_null() | pl.col("test_type").is_null()
        unknown = unknown_types(opened.table, chain)
        rules = [
            _suggesting(replace(rule, holds=valid), unknown)
            if rule.columns == ("test_type",)
            else rule
            for rule in rules
        ]
    if job.rules == "reference":
        rules = [rule for rule in rules if {*rule.columns} <= {*_KEYS}]
    return replace(contract, rules=tuple(rules), key=contract.key if job.key is None else job.key)


def unknown_types(tests: pl.LazyFrame, chain: Chain) -> pl.DataFrame:
    """Unknown types of tests that need one: `test_type` and `len`, the number of rows; sorted."""
    schema = tests.collect_schema()
    if not isinstance(schema.get("test_type"), pl.String | pl.Categorical | pl.Enum):
        return pl.DataFrame(schema={"test_type": pl.String, "len": pl.UInt32})
    required = tests.filter(needs_type(schema), pl.col("test_type").is_not_null())
    types = required.group_by(pl.col("test_type").cast(pl.String)).len()
    return types.filter(chain.kind_of("test_type").is_null()).sort("test_type").collect()


def listed_types(unknown: pl.DataFrame) -> str:
    """Format unknown test types with row counts and suggestions.

    >>> listed_types(pl.DataFrame({"test_type": ["t-tset"], "len": [2]}))
    "'t-tset' (2 rows; did you mean 't-test'?)"
    """
    types = []
    for name, rows in unknown.head(_LISTED).select("test_type", "len").iter_rows():
        hint = what_to_write(name).strip().removesuffix(".")
        hint = hint[:1].lower() + hint[1:]
        types.append(f"{name!r} ({rows:,} row{'s' * (rows > 1)}{'; ' * bool(hint)}{hint})")
    more = len(unknown) - len(types)
    return ", ".join(types) + (f" and {more:,} more" if more > 0 else "")


def _suggesting(rule: Rule, unknown: pl.DataFrame) -> Rule:
    """The rule of known types with suggestions for the unknown ones."""
    if unknown.is_empty():
        return rule
    return replace(rule, remedy=f"correct {listed_types(unknown)}; known are {usual_names()}")
