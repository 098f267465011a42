"""The tests of a replication job, from tables or from evaluation results, and the responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

import evalframe as ef
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import InputError, ParameterError
from evalframe.jobs.columns import check_found
from evalframe.jobs.inputs import describing, open_files
from evalframe.jobs.paths import File, find, reading, refuse_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from evalframe.jobs.inputs import Source
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
class Opened:
    """What a job reads, and what describes the files that it comes from.

    Attributes:
        tests: The tests, of both sides, or of the human one alone where there are responses.
        describe: Describes the inputs.
        responses: Responses of participants.
        design: How these become statistics.
        runs: What evaluation results say beside their tests.
        files: The files.
    """

    tests: pl.LazyFrame
    describe: Callable[[], list[dict[str, Any]]]
    responses: pl.LazyFrame | None = None
    design: pl.LazyFrame | None = None
    runs: pl.DataFrame | None = None
    files: Sequence[File] = ()


def open_tests(job: ReplicationJob, folder: Path, targets: Sequence[Path]) -> Opened:
    """What a job reads.

    Args:
        job: The job.
        folder: What relative names are relative to.
        targets: Files that will be written, which must not be among the inputs.

    Raises:
        InputError: An input cannot be read.
        OutputError: A target is one of the inputs.
        ParameterError: JSON among the tables.
        MissingColumnsError: No table has a column that the job names.
    """
    if job.results:
        return _results(job, folder, targets)
    opened: list[Source] = []
    tables, all_files = [], []
    for given in (job.items, *[(name,) for name in (job.participants, job.design) if name]):
        files = find(given, folder)
        if any(file.path.suffix.lower() == ".json" for file in files):
            raise ParameterError(
                "tests are tables; evaluation results in JSON are read by results = true "
                "(--from-results)"
            )
        for path in targets:
            refuse_inputs(path, files, given, folder)
        table, sources = open_files(files, texts=TEXTS, columns=job.columns)
        tables.append(table)
        opened += sources
        all_files += files

    check_found(job.columns, "tests", *(table.collect_schema() for table in tables))

    def describe() -> list[dict[str, Any]]:
        return [each.describe(digest=job.hash_inputs) for each in opened]

    tests, *others = tables
    if not others:
        return Opened(tests, describe, files=all_files)
    responses, design = others
    design = _with_lists(design, str(job.design))
    return Opened(tests, describe, responses, design, files=all_files)


def groups_of(job: ReplicationJob, opened: Opened) -> list[str]:
    """The columns to group by: those asked for, or the model where a table has one."""
    if job.by is not None:
        return [*job.by]
    asked = opened.tests if opened.responses is None else opened.responses
    return ["model"] if "model" in asked.collect_schema() else []


def _results(job: ReplicationJob, folder: Path, targets: Sequence[Path]) -> Opened:
    check_found(job.columns, "tests")
    evaluations = humanstudy_bench.read_evaluation([folder / item for item in job.items])
    tests = evaluations.tests
    counts = evaluations.runs.select("file", "n_tests").rows()
    files = [File.at(name) for name, _ in counts]
    for path in targets:
        refuse_inputs(path, files, (), folder)
    if tests.is_empty():
        raise InputError(f"no test in these {len(files):,} evaluation results")

    describe = describing(files, [rows for _, rows in counts], digest=job.hash_inputs)
    return Opened(tests.lazy(), describe, runs=evaluations.runs, files=files)


def _with_lists(design: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """Conditions and categories as lists, also from JSON, which formats of text hold them in.

    Raises:
        InputError: A text is no such list.
    """
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
