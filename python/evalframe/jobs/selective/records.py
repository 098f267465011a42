"""Hold the records of a job against their contract, and set apart the rows that break it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from evalframe.core.contract import BROKEN_RULES, ROW, Contract, Report, Rule, validate
from evalframe.core.errors import ContractError
from evalframe.core.files import replacing, scratch
from evalframe.jobs.paths import reading
from evalframe.jobs.selective.choosing import CORRECT, Chosen
from evalframe.jobs.selective.job import ITEM, LABEL, PARTICIPANT, PREDICTION, SelectiveJob
from evalframe.selective.contract import items_contract

REJECTED_FOR = "rejected_for"
"""The column of a quarantined row that names the confidence it lacks; null if it serves none."""

_NUMBER = "__evalframe_number__"


@dataclass(frozen=True)
class Records:
    """The rows that are valid for each confidence.

    Attributes:
        confidence: The confidences.
        common: Report on all columns; with a quarantine, on all but the confidences.
        own: With a quarantine, the report on each confidence, for the rows that remain.
        quarantine: The file of rejected rows.
        tables: Tables that were collected together with the validation.
    """

    confidence: Sequence[str]
    common: Report
    own: Mapping[str, Report] = field(default_factory=dict)
    quarantine: Path | None = None
    tables: Sequence[pl.DataFrame] = ()

    @property
    def rows(self) -> int:
        """Rows of the input."""
        return self.common.rows

    @property
    def rejected(self) -> dict[str, int]:
        """For each confidence that is short of rows, how many."""
        by_confidence = {confidence: report.rejected for confidence, report in self.own.items()}
        counts = {c: self.common.rejected + by_confidence.get(c, 0) for c in self.confidence}
        return {confidence: count for confidence, count in counts.items() if count}

    def valid(self, confidence: str) -> pl.LazyFrame:
        """The rows that serve a confidence."""
        return self.own.get(confidence, self.common).valid

    def describe(self) -> dict[str, Any]:
        """The counts, for the provenance."""
        return {"rows": self.rows, "rejected": self.rejected}

    def __str__(self) -> str:
        """The number of valid rows for each confidence, with the reasons for the others."""
        if not self.rejected:
            return str(self.common)
        lines = [f"{self.common.table}: rejected rows are written to {self.quarantine}"]
        lines += _reasons(self.common)
        for confidence in self.confidence:
            accepted = self.rows - self.rejected.get(confidence, 0)
            lines.append(f"{confidence}: {accepted:,} of {self.rows:,} rows accepted")
            lines += _reasons(self.own[confidence]) if confidence in self.own else []
        return "\n".join(lines)


def check_records(
    job: SelectiveJob,
    items: pl.LazyFrame,
    chosen: Chosen,
    quarantine: Path | None,
    *,
    probability: bool = False,
    queries: Callable[[pl.LazyFrame], Sequence[pl.LazyFrame]] | None = None,
) -> Records:
    """Hold the records of a job against their contract.

    The tables of `queries` are collected together with the counts of the contract, so that the
    records are read once; if rows are set apart, later.
    """
    schema = items.collect_schema()
    _check_subtraction(chosen, schema)
    if schema.get(chosen.column or "") == pl.Boolean:
        items = items.with_columns(pl.col(str(chosen.column)).cast(pl.Int8))
    if PREDICTION in schema:
        judged = [name for name in {chosen.column or CORRECT, CORRECT} if name in schema]
        answered = pl.col(PREDICTION).is_not_null()
        items = items.with_columns(
            pl.when(answered).then(pl.col(name)).alias(name) for name in judged
        )
    contract = _contract(job, schema, chosen, job.confidence, probability=probability)
    with reading(", ".join(job.items)):
        if quarantine is None:
            plans = [contract.query(items), *(queries(items) if queries else ())]
            counts, *tables = pl.collect_all(plans)
            report = validate(items, contract, counts=counts)
            return Records(job.confidence, report, tables=tables)
        contract.check_schema(items.collect_schema())
        return _set_apart(job, items, chosen, contract, quarantine)


def _set_apart(
    job: SelectiveJob, items: pl.LazyFrame, chosen: Chosen, contract: Contract, path: Path
) -> Records:
    """First what holds for every confidence, then, of what is left, each by itself."""
    schema = items.collect_schema()
    if REJECTED_FOR in schema:
        raise ContractError(f"items: rename {REJECTED_FOR!r}, which quarantined rows gain.")
    numbered = items.with_row_index(_NUMBER)
    by_confidence: dict[str, Report] = {}
    with replacing(path) as partial, scratch(len(job.confidence) + 1) as parts:
        shared = _contract(job, schema, chosen, ())
        common = validate(numbered, shared, on_invalid="quarantine", quarantine=parts[0])
        rejected = [_named(parts[0], None)]
        if common.rejected < common.rows:
            for confidence, part in zip(job.confidence, parts[1:], strict=True):
                column = (c for c in contract.columns if c.name == confidence)
                rules = (rule for rule in contract.rules if confidence in rule.columns)
                alone = Contract(contract.table, tuple(column), tuple(rules))
                by_confidence[confidence] = validate(
                    common.valid, alone, on_invalid="quarantine", quarantine=part
                )
                rejected.append(_named(part, confidence))
        pl.concat(rejected).sink_parquet(partial)
    return Records(job.confidence, common, by_confidence, path)


def _named(part: Path, confidence: str | None) -> pl.LazyFrame:
    """Quarantined rows with their number in the input and what they are rejected for."""
    return pl.scan_parquet(part, glob=False).select(
        pl.exclude(_NUMBER, ROW, BROKEN_RULES),
        pl.col(_NUMBER).alias(ROW),
        pl.lit(confidence, pl.String).alias(REJECTED_FOR),
        BROKEN_RULES,
    )


def _reasons(report: Report) -> list[str]:
    reasons = report.breaches.select("rule", "rows").iter_rows()
    return [f"  {rule}: not so in {rows:,}" for rule, rows in reasons]


def _check_subtraction(chosen: Chosen, schema: pl.Schema) -> None:
    """Raise ContractError if the loss subtracts answers that are not numbers."""
    loss = chosen.loss
    if loss is None or loss.column or loss.name == "zero_one":
        return
    for name in (PREDICTION, LABEL):
        dtype = schema.get(name, pl.Null())
        if not dtype.is_numeric() and dtype != pl.Null:
            raise ContractError(
                f"items: column {name!r} is {dtype}, and the loss {loss.name} subtracts "
                "numbers. For answers that are right or wrong take the loss zero_one "
                '(--loss zero_one, or loss = { name = "zero_one" } in a job file).'
            )


def _contract(
    job: SelectiveJob,
    present: Collection[str],
    chosen: Chosen,
    confidence: Sequence[str],
    *,
    probability: bool = False,
) -> Contract:
    """The contract of the columns the job reads; participant and item only if present."""
    named = chosen.loss is not None and chosen.loss.name
    contract = items_contract(
        confidence=confidence,
        loss=chosen.column,
        participant=PARTICIPANT if PARTICIPANT in present else None,
        item=ITEM if ITEM in present else None,
        weight=job.weight,
        cluster=job.cluster if job.bootstrap else None,
        by=job.by,
        key=job.key,
        answers="number" if named and named != "zero_one" else "value",
        probability=probability,
    )
    if chosen.loss is not None or chosen.column != CORRECT:
        return contract
    share = Rule(
        f"{CORRECT} lies in [0, 1]",
        pl.col(CORRECT).is_between(0, 1),
        (CORRECT,),
        "make it 1 where the answer is right and 0 where it is wrong, or a share of 1",
    )
    return replace(contract, rules=(*contract.rules, share))
