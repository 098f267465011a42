"""Run a job of any family: check where it writes, let the family compute, write all or nothing."""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalframe.core.files import check_within, together
from evalframe.jobs.columns import check_columns, naming_columns
from evalframe.jobs.outputs import check_holds, write_result, write_tables
from evalframe.jobs.targets import check_targets, path_of, target_of, targets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import polars as pl

    from evalframe.core.contract import Report
    from evalframe.jobs.parsing import Job
    from evalframe.jobs.selective.records import Records
    from evalframe.jobs.targets import Target
    from evalframe.resample.methods import Progress


@dataclass(frozen=True)
class Place:
    """Where a job reads and writes.

    Attributes:
        folder: What relative names of inputs are relative to.
        targets: The files that will be written, which must not be among the inputs.
        rejects: Where rows go that break the contract; None where they are an error.
        all_tables: Whether all tables are wanted, not the main one alone.
        summary: Where the files go that some families write beside their output.
    """

    folder: Path = Path()
    targets: Sequence[Path] = ()
    rejects: Path | None = None
    all_tables: bool = False
    summary: Path | None = None


@dataclass(frozen=True)
class Outcome:
    """What a job came to.

    Attributes:
        job: The job.
        keys: What its result is grouped by.
        result: Its main table, which a file as output holds.
        report: What the validation found.
        provenance: What a Parquet output carries in its metadata.
        tables: All tables by name, which a folder as output holds.
        notes: What a reader should know beside the numbers.
        warnings: What was asked for and could not be done.
        beside: Writes what the job writes beside its output.
    """

    job: Job
    keys: Sequence[str]
    result: pl.DataFrame
    report: Report | Records
    provenance: dict[str, Any]
    tables: Callable[[], Mapping[str, pl.DataFrame]]
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    beside: Callable[[], object] | None = None


@dataclass(frozen=True)
class Family:
    """What a family does with its jobs.

    Attributes:
        tables: The names of all tables.
        compute: Opens, validates and computes: of a job, its place and its progress.
        check: What is found in records that keep their contract.
        written: The main table for a reader, in Markdown or for a terminal of some width.
        roles: The columns that a job may name, of it and of the folder of its modules.
    """

    tables: Sequence[str]
    compute: Callable[[Any, Place, Progress | None], Outcome]
    check: Callable[[Any, Place], str]
    written: Callable[..., str]
    roles: Callable[[Any, Path], Collection[str]]


def family_of(job: Job) -> Family:
    """What does jobs of this family."""
    tag = job.__struct_config__.tag
    family: Family = importlib.import_module(f"evalframe.jobs.{tag}.run").FAMILY
    return family


def run(
    job: Job,
    *,
    folder: Path = Path(),
    into: Path | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run a job; with an output, write it whole or leave what was there.

    Args:
        job: What to run.
        folder: What relative names in the job are relative to.
        into: The folder that all must lie in that is written, and to which names of outputs are
            relative then; by default it may lie anywhere.
        progress: Called as replicates are done; by default long runs report on a terminal.

    Raises:
        InputError: An input cannot be read.
        OutputError: The output cannot be written; said before anything is computed.
        ContractError: The records break their contract.
        MissingColumnsError: A table lacks a column that the job needs.
        UnknownNameError: The job names a metric or argument that does not exist.

    Example:
        >>> import tempfile
        >>> from evalframe.jobs.parsing import parse
        >>> from evalframe.rag.sample import sample_responses
        >>> job = parse({"family": "rag", "items": ["responses.parquet"], "by": ["model"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sample_responses(questions=3).write_parquet(f"{folder}/responses.parquet")
        ...     outcome = run(job, folder=Path(folder))
        >>> outcome.result["model"].to_list(), outcome.report.rejected
        (['harbor-7b', 'lantern-13b', 'quill-70b'], 0)
    """
    family = family_of(job)
    with _columns(job, family, folder), together(within=into):
        target = target_of(job.output, into or folder)
        all_tables = target is not None and target.is_folder
        rejects = check_targets(target, family.tables, job.on_invalid)
        targets = [*targets_of(target, family.tables), *([] if rejects is None else [rejects])]
        place = Place(folder, targets, rejects, all_tables, _summary(job, into or folder))
        outcome = family.compute(job, place, progress)
        if outcome.beside is not None:
            outcome.beside()
        if target is not None:
            _write(outcome, target, family)
    return outcome


def check(job: Job) -> str:
    """What is found in the records of a job that keep their contract.

    Raises:
        EvalframeError: They do not, or cannot be read.
    """
    family = family_of(job)
    with _columns(job, family, Path()):
        return family.check(job, Place())


@contextmanager
def _columns(job: Job, family: Family, folder: Path) -> Iterator[None]:
    """Check the columns that a job names; errors then speak of them."""
    roles = family.roles(job, folder)
    check_columns(job.columns, roles)
    with naming_columns(job.columns, roles):
        yield


def _summary(job: Job, folder: Path) -> Path | None:
    """What some families write beside their output, if the job wants it."""
    name: str | None = getattr(job, "summary", None)
    if name is None:
        return None
    path = path_of("summary", name, folder)
    check_within(path)
    return path


def _write(outcome: Outcome, target: Target, family: Family) -> None:
    if target.is_folder:
        write_tables(outcome.tables(), target.path, outcome.provenance)
        return
    check_holds(target.path, outcome.result.schema)
    write_result(
        outcome.result,
        target.path,
        outcome.provenance,
        readable=lambda: family.written(outcome, markdown=True),
    )
