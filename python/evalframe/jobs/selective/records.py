"""Hold the records of a job against their contract, and set apart the rows that break it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.contract import BROKEN_RULES, ROW, Contract, Report, validate
from evalframe.core.errors import ContractError, MissingColumnsError
from evalframe.core.files import replacing, scratch
from evalframe.jobs.paths import reading
from evalframe.selective.contract import items_contract

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from evalframe.jobs.selective.job import SelectiveJob

REJECTED_FOR = "rejected_for"
"""The column of a quarantined row that names the confidence it lacks; null if it serves none."""

_NUMBER = "__evalframe_number__"


@dataclass(frozen=True)
class Records:
    """Which rows serve which confidence.

    Attributes:
        confidence: The confidences.
        common: What was found apart from confidences; or at all, if nothing is set apart.
        own: What was then found for each confidence, of the rows that were left.
        quarantine: Where the rejected rows are.
    """

    confidence: Sequence[str]
    common: Report
    own: Mapping[str, Report] = field(default_factory=dict)
    quarantine: Path | None = None

    @property
    def rows(self) -> int:
        """Rows of the input."""
        return self.common.rows

    @property
    def rejected(self) -> dict[str, int]:
        """For each confidence that is short of rows, how many."""
        own = {confidence: report.rejected for confidence, report in self.own.items()}
        counts = {c: self.common.rejected + own.get(c, 0) for c in self.confidence}
        return {confidence: count for confidence, count in counts.items() if count}

    def valid(self, confidence: str) -> pl.LazyFrame:
        """The rows that serve a confidence."""
        return self.own.get(confidence, self.common).valid

    def describe(self) -> dict[str, Any]:
        """The counts, for the provenance."""
        return {"rows": self.rows, "rejected": self.rejected}

    def __str__(self) -> str:
        """How many rows serve each confidence, and why not the others."""
        if not self.rejected:
            return str(self.common)
        lines = [f"{self.common.table}: rejected rows are written to {self.quarantine}"]
        lines += _reasons(self.common)
        for confidence in self.confidence:
            kept = self.rows - self.rejected.get(confidence, 0)
            lines.append(f"{confidence}: {kept:,} of {self.rows:,} rows accepted")
            lines += _reasons(self.own[confidence]) if confidence in self.own else []
        return "\n".join(lines)


def check_records(job: SelectiveJob, items: pl.LazyFrame, quarantine: Path | None) -> Records:
    """Hold the records of a job against their contract; a loss of true and false is 1 and 0.

    Args:
        job: The job.
        items: Its records.
        quarantine: A file for rows that break the contract, each for all confidences or for
            those that it lacks; None for an error that tells of them.

    Raises:
        MissingColumnsError: A column that the job names is absent.
        ContractError: The records break the contract and are not to be set apart.
    """
    schema = items.collect_schema()
    if missing := job.columns.named - schema.keys():
        raise MissingColumnsError.of("items", missing, schema)
    _check_subtraction(job, schema)
    if schema.get(job.loss.column or "") == pl.Boolean:
        items = items.with_columns(pl.col(str(job.loss.column)).cast(pl.Int8))
    contract = _contract(job, schema, job.confidence)
    with reading(", ".join(job.items)):
        if quarantine is None:
            return Records(job.confidence, validate(items, contract))
        contract.check_schema(items.collect_schema())
        return _set_apart(job, items, contract, quarantine)


def _set_apart(job: SelectiveJob, items: pl.LazyFrame, contract: Contract, path: Path) -> Records:
    """First what holds for every confidence, then, of what is left, each by itself."""
    schema = items.collect_schema()
    if REJECTED_FOR in schema:
        raise ContractError(f"items: rename {REJECTED_FOR!r}, which quarantined rows gain.")
    numbered = items.with_row_index(_NUMBER)
    own: dict[str, Report] = {}
    with replacing(path) as partial, scratch(len(job.confidence) + 1) as parts:
        shared = _contract(job, schema, ())
        common = validate(numbered, shared, on_invalid="quarantine", quarantine=parts[0])
        rejected = [_named(parts[0], None)]
        if common.rejected < common.rows:
            for confidence, part in zip(job.confidence, parts[1:], strict=True):
                column = (c for c in contract.columns if c.name == confidence)
                alone = Contract(contract.table, tuple(column))
                own[confidence] = validate(
                    common.valid, alone, on_invalid="quarantine", quarantine=part
                )
                rejected.append(_named(part, confidence))
        pl.concat(rejected).sink_parquet(partial)
    return Records(job.confidence, common, own, path)


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


def _check_subtraction(job: SelectiveJob, schema: pl.Schema) -> None:
    """Numbers can be subtracted; who answers in words wants another loss."""
    if job.loss.column or job.loss.name == "zero_one":
        return
    for name in (job.columns.of("prediction"), job.columns.of("label")):
        dtype = schema.get(name, pl.Null())
        if not dtype.is_numeric() and dtype != pl.Null:
            raise ContractError(
                f"items: column {name!r} is {dtype}, and the loss {job.loss.name} subtracts "
                "numbers. For answers that are right or wrong take the loss zero_one "
                '(--loss zero_one, or loss = { name = "zero_one" } in a job file).'
            )


def _contract(job: SelectiveJob, present: Collection[str], confidence: Sequence[str]) -> Contract:
    """The contract of the columns the job reads; participant and item only as far as present.

    Whoever resamples participants needs that column, and the contract says so.
    """
    columns = job.columns
    participant, item = columns.of("participant"), columns.of("item")
    return items_contract(
        confidence=confidence,
        prediction=columns.of("prediction"),
        label=columns.of("label"),
        loss=job.loss.column,
        participant=participant if participant in present else None,
        item=item if item in present else None,
        weight=columns.weight,
        cluster=job.cluster if job.bootstrap else None,
        by=job.by,
        key=job.key,
        answers="value" if job.loss.name == "zero_one" else "number",
    )
