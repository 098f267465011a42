"""The tests of a replication job: how they are opened, their contract, and their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.compat import humanstudy_bench
from evalframe.compat.humanstudy_bench.scores import SETTINGS
from evalframe.compat.humanstudy_bench.uncertainty import CHAIN
from evalframe.core.errors import InputError
from evalframe.core.scan import reading
from evalframe.jobs.inputs import Opened, check_found, open_records, open_tables
from evalframe.replication.agreement.scored_tests import Settings
from evalframe.replication.chain import Chain
from evalframe.replication.effects.kinds import (
    kind_of,
    needs_type,
    usual_names,
    what_to_write,
)
from evalframe.replication.evidence import agreement_by
from evalframe.replication.possible_tests import of_kinds

if TYPE_CHECKING:
    from evalframe.core.contract import Contract, Rule
    from evalframe.jobs.replication import ReplicationJob
    from evalframe.jobs.rows import Rows, Workers


TEXTS = (
    *("model", "study_id", "sub_study_id", "finding_id", "test_id", "domain", "test_type"),
    *("participant_id", "condition", "samples", "conditions", "categories"),
)
"""Columns that are read as text from formats without types."""

_CONTRACTS = (
    ef.replication.replication_contract(),
    ef.replication.responses_contract(value_2="value_2"),
    ef.replication.designs_contract(),
)
_MADE = ("bayes_factor", "log_bayes_factor", "effect_size", "std_error", "effect_d")
ROLES = {
    *(column.name for contract in _CONTRACTS for column in contract.columns),
    *(f"{name}_{side}" for name in _MADE for side in ("human", "agent")),
    "n_eff",
}
"""What tests, responses and designs are read for, which a job may name columns for."""


_LISTS = {"conditions": pl.String(), "categories": pl.Float64()}
_EXAMPLES = {"conditions": '["treatment", "control"]', "categories": "[1, 0]"}

_TYPE = ":test_type"
_KEYS = ("study_id", "finding_id", "test_type")
_LISTED_TYPES = 3


@dataclass(frozen=True)
class Tests(Opened):
    """The tests of a job: of both sides, or of the human one if there are responses.

    Attributes:
        responses: Responses of participants.
        design: How these become statistics.
    """

    responses: pl.LazyFrame | None = None
    design: pl.LazyFrame | None = None


def open_tests(
    job: ReplicationJob, folder: Path, targets: Sequence[Path], workers: Workers | None = None
) -> Tests:
    """Read the inputs of a job; `targets` will be written and must not be among them."""
    if job.participants is not None:  # those of a test may be anywhere
        workers = None
    opened = open_records(job, folder, targets, texts=TEXTS, workers=workers)
    others = [
        open_tables([name], job, folder, targets, texts=TEXTS)
        for name in (job.participants, job.design)
        if name is not None
    ]
    files = [*opened.files, *(file for other in others for file in other.files)]
    check_found(job.columns, "tests", *(f.columns for f in files if f.columns is not None))
    if not others:
        return Tests(opened.rows, files, opened.notes, opened.beside)
    responses, design = (other.table for other in others)
    return Tests(
        opened.rows,
        files,
        opened.notes,
        responses=responses,
        design=_with_lists(design, str(job.design)),
    )


def groups_of(job: ReplicationJob, opened: Tests) -> list[str]:
    """The columns to group by: those of the job, or the model if the table has it."""
    if job.by is not None:
        return [*job.by]
    table = opened.table if opened.responses is None else opened.responses
    return ["model"] if "model" in table.collect_schema() else []


def _with_lists(design: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Conditions and categories as lists; text formats store them as JSON."""
    with reading(name):
        table = design.collect()
    for column, dtype in _LISTS.items():
        if table.schema.get(column) == pl.String:
            try:
                table = table.with_columns(pl.col(column).str.json_decode(pl.List(dtype)))
            except pl.exceptions.PolarsError:
                raise InputError(
                    f"{name}: {column!r} must be lists, or their JSON such as {_EXAMPLES[column]}; "
                    "write them so"
                ) from None
    return table.lazy()


@dataclass(frozen=True)
class Implementation:
    """Functions of scores, the chain from statistics to them, and how scores are pooled."""

    room: Any
    chain: Chain
    settings: Settings


def implementation_of(job: ReplicationJob) -> Implementation:
    """The functions that a job computes with, and its settings."""
    original = job.rules == "reference"
    defaults = SETTINGS if original else Settings()
    settings = Settings(
        job.finding_rule or defaults.finding_rule,
        job.study_rule or defaults.study_rule,
        job.finding_key,
        job.missing or defaults.missing,
    )
    if original:
        return Implementation(humanstudy_bench, CHAIN, settings)
    return Implementation(ef.replication, Chain(), settings)


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
        types = types_of(opened.rows)
        kinds = types.select(kind_of("test_type")).to_series()
        rules = [*of_kinds(contract, {*kinds.drop_nulls()}).rules]
        unknown = unknown_types(types, chain)
        rules = [
            _suggesting(replace(rule, holds=valid), unknown)
            if rule.columns == ("test_type",)
            else rule
            for rule in rules
        ]
    if job.rules == "reference":
        rules = [rule for rule in rules if {*rule.columns} <= {*_KEYS}]
    return replace(contract, rules=tuple(rules), key=contract.key if job.key is None else job.key)


def types_of(tests: Rows) -> pl.DataFrame:
    """Types of tests: `test_type` and `len`, the number of rows that need a known type."""
    schema = tests.schema
    if not isinstance(schema.get("test_type"), pl.String | pl.Categorical | pl.Enum):
        return pl.DataFrame(schema={"test_type": pl.String, "len": pl.UInt32})
    return tests.collect(partial(_types, needs_type(schema))).group_by("test_type").sum()


def _types(needed: pl.Expr, table: pl.LazyFrame) -> pl.LazyFrame:
    by_type = table.group_by(pl.col("test_type").cast(pl.String))
    return by_type.agg(needed.sum().alias("len")).filter(pl.col("test_type").is_not_null())


def unknown_types(types: pl.DataFrame, chain: Chain) -> pl.DataFrame:
    """Those of `types_of` that are unknown where a known one is needed; sorted."""
    needed = types.filter(pl.col("len") > 0)
    return needed.filter(chain.kind_of("test_type").is_null()).sort("test_type")


def listed_types(unknown: pl.DataFrame) -> str:
    """Format unknown test types with row counts and suggestions.

    >>> listed_types(pl.DataFrame({"test_type": ["t-tset"], "len": [2]}))
    "'t-tset' (2 rows; did you mean 't-test'?)"
    """
    types = []
    for name, rows in unknown.head(_LISTED_TYPES).select("test_type", "len").iter_rows():
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


def with_evidence(job: ReplicationJob, tests: pl.LazyFrame) -> pl.LazyFrame:
    """Add Bayes factors, posteriors, PAS, effects and n_eff to the tests, as far as possible."""
    implementation = implementation_of(job)
    if not job.results:
        table = implementation.room.with_evidence(
            tests,
            human_prior_odds=job.human_prior_odds,
            agent_prior_odds=job.agent_prior_odds,
            missing_agent=job.missing_agent,
        )
        evidence: pl.LazyFrame = table
        return evidence
    # Results have posteriors and p-values. Tests of an unknown type get no effects.
    original = original_type()
    valid = pl.when(implementation.chain.kind_of(original).is_not_null()).then(original)
    hidden = tests.with_columns(valid.alias("test_type"), pl.col("test_type").alias(_TYPE))
    table = agreement_by(implementation.chain, hidden)
    return table.with_columns(test_type=_TYPE).drop(_TYPE)


def original_type() -> pl.Expr:
    """Type of a test of evaluation results, where `wilcoxon` means Mann-Whitney."""
    name = pl.col("test_type").cast(pl.String)
    ranked = name.str.to_lowercase() == "wilcoxon"
    return pl.when(ranked).then(pl.lit("mannwhitneyu")).otherwise(name)
