"""The tests of a replication job, from tables or from evaluation results, and the responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.core.errors import InputError
from evalframe.jobs.columns import check_found
from evalframe.jobs.inputs import Opened, open_records, open_tables
from evalframe.jobs.paths import reading

if TYPE_CHECKING:
    from evalframe.jobs.replication.job import ReplicationJob


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


@dataclass(frozen=True)
class Tests(Opened):
    """The tests of a job: of both sides, or of the human one if there are responses.

    Attributes:
        responses: Responses of participants.
        design: How these become statistics.
    """

    responses: pl.LazyFrame | None = None
    design: pl.LazyFrame | None = None


def open_tests(job: ReplicationJob, folder: Path, targets: Sequence[Path]) -> Tests:
    """Read the inputs of a job; `targets` will be written and must not be among them."""
    opened = open_records(job, folder, targets, texts=TEXTS)
    others = [
        open_tables([name], job, folder, targets, texts=TEXTS)
        for name in (job.participants, job.design)
        if name is not None
    ]
    files = [*opened.files, *(file for other in others for file in other.files)]
    check_found(job.columns, "tests", *(f.columns for f in files if f.columns is not None))
    if not others:
        return Tests(opened.table, files, opened.notes, opened.beside)
    responses, design = (other.table for other in others)
    return Tests(
        opened.table,
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


_LISTS = {"conditions": pl.String(), "categories": pl.Float64()}
_EXAMPLES = {"conditions": '["treatment", "control"]', "categories": "[1, 0]"}
