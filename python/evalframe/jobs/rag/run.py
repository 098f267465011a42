"""Run a job of the rag family: open, validate, label, count, write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

import evalframe as ef
from evalframe.core.contract import Contract, Report, validate
from evalframe.jobs.outputs import write_result, write_tables
from evalframe.jobs.paths import reading
from evalframe.jobs.provenance import provenance
from evalframe.jobs.rag.inputs import open_responses
from evalframe.jobs.rag.job import KEYS
from evalframe.jobs.rag.outputs import TABLES, tables_of
from evalframe.jobs.rag.report import rates_report
from evalframe.jobs.targets import check_targets, set_apart, target_of, targets_of
from evalframe.rag.contract import responses_contract
from evalframe.rag.rates import RATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.jobs.rag.job import RagJob
    from evalframe.jobs.targets import Target
    from evalframe.resample.methods import Progress


LEVEL = 0.95
"""The confidence level of intervals unless a job names one."""


@dataclass(frozen=True)
class Outcome:
    """What a job came to.

    Attributes:
        job: The job.
        keys: What its responses are grouped by.
        rates: The table of rates.
        report: What the validation found.
        provenance: What a Parquet output carries in its metadata.
    """

    job: RagJob
    keys: list[str]
    rates: pl.DataFrame
    report: Report
    provenance: dict[str, Any]

    @property
    def level(self) -> float | None:
        """The confidence level of the intervals, if there are any."""
        if self.job.bootstrap is not None:
            return self.job.bootstrap.level
        return None if self.job.intervals == "none" else self.job.level or LEVEL


def run(job: RagJob, *, folder: Path = Path(), progress: Progress | None = None) -> Outcome:
    """Run a job; with an output, write it whole or leave what was there.

    Args:
        job: What to run.
        folder: What relative names in the job are relative to.
        progress: Called as replicates are done; by default long runs report on a terminal.

    Raises:
        InputError: An input cannot be read.
        OutputError: The output cannot be written; said before anything is computed.
        ContractError: The responses break their contract.
        MissingColumnsError: The table lacks a column that the job needs.

    Example:
        >>> import tempfile
        >>> from evalframe.jobs.parsing import parse
        >>> from evalframe.rag.sample import sample_responses
        >>> job = parse({"family": "rag", "items": ["responses.parquet"], "by": ["model"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sample_responses(questions=3).write_parquet(f"{folder}/responses.parquet")
        ...     outcome = run(job, folder=Path(folder))
        >>> outcome.rates["model"].to_list(), outcome.report.rejected
        (['harbor-7b', 'lantern-13b', 'quill-70b'], 0)
    """
    target = target_of(job.output, folder)
    rejects = check_targets(target, TABLES, job.on_invalid)
    with set_apart(rejects) as temporary:
        return _run(job, folder, progress, target, rejects, temporary)


def _run(
    job: RagJob,
    folder: Path,
    progress: Progress | None,
    target: Target | None,
    rejects: Path | None,
    temporary: Path | None,
) -> Outcome:
    """Run a job, with rejected rows in a temporary file."""
    targets = targets_of(target, TABLES) + ([] if rejects is None else [rejects])
    opened = open_responses(job, folder, targets)
    schema = opened.table.collect_schema()
    keys = [*(key for key in KEYS if key in schema)] if job.by is None else [*job.by]
    contract = _contract(job, schema, keys)
    with reading(", ".join(job.items)):
        report = validate(opened.table, contract, on_invalid=job.on_invalid, quarantine=temporary)
        labelled = _labelled(job, report.valid, schema)
        resample = _resample(job, schema, progress)
        if target is not None and target.is_folder:  # several tables read it
            labelled = _in_memory(labelled, [*keys, *_question(schema)], job)
        rates = ef.rag.rates(
            labelled,
            by=keys,
            weight=job.weight,
            dropped=job.dropped,
            intervals=None if resample or job.intervals == "none" else "wilson",
            level=job.level or LEVEL,
            resample=resample,
        ).collect()
    record = provenance(
        job,
        [metric.alias(name) for name, metric in RATES.items()],
        opened.describe(),
        {"rows": report.rows, "rejected": report.rejected},
    )
    outcome = Outcome(job, keys, rates, replace(report, quarantine=rejects), record)
    if target is None:
        return outcome
    if not target.is_folder:
        write_result(rates, target.path, record, readable=lambda: written(outcome, markdown=True))
    else:
        tables = tables_of(job, labelled, rates, keys, resample)
        write_tables(tables, target.path, record)
    return outcome


def written(outcome: Outcome, *, markdown: bool = False, width: int | None = None) -> str:
    """The rates for a reader."""
    return rates_report(
        outcome.rates, outcome.keys, markdown=markdown, level=outcome.level, width=width
    )


def _contract(job: RagJob, present: pl.Schema, keys: Sequence[str]) -> Contract:
    """The contract of the columns that the table has."""
    roles = {role: role if role in present else None for role in (*KEYS, *_TEXTS)}
    labelled = job.mode is None and "label" in present
    contract = responses_contract(
        **roles,
        answers="answers" if not labelled and "answers" in present else None,
        label="label" if labelled else None,
        factlabel="factlabel" if labelled and "factlabel" in present else None,
        weight=job.weight,
        by=[key for key in keys if key not in KEYS],
    )
    return contract if job.key is None else replace(contract, key=job.key)


def _question(present: pl.Schema) -> list[str]:
    return [name for name in ("dataset", "id") if name in present]


def _in_memory(labelled: pl.LazyFrame, needed: list[str], job: RagJob) -> pl.LazyFrame:
    """What tables read of the responses, without their texts, so that they are labelled once."""
    cluster = None if job.bootstrap is None else job.bootstrap.cluster
    read = [*needed, "label", "factlabel", "noise_rate", "evaluation", job.weight, cluster]
    known = labelled.collect_schema()
    wanted = dict.fromkeys(name for name in read if name is not None and name in known)
    return labelled.select(*wanted).collect().lazy()


_TEXTS = ("id", "response", "evaluation")


def _labelled(job: RagJob, responses: pl.LazyFrame, schema: pl.Schema) -> pl.LazyFrame:
    """The responses with labels: their own, unless a mode is asked for or there are none."""
    if job.mode is None and "label" in schema:
        return responses
    return ef.rag.label(responses, mode=job.mode or "strict")


def _resample(job: RagJob, schema: pl.Schema, progress: Progress | None) -> ef.Bootstrap | None:
    if job.bootstrap is None:
        return None
    question = pl.struct(_question(schema))
    asked = msgspec.structs.asdict(job.bootstrap)
    cluster = job.bootstrap.cluster or question
    return ef.Bootstrap(**asked | {"cluster": cluster, "progress": progress})
